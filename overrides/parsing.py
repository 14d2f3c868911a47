"""OverridePolicies and ClusterOverridePolicies from admitted objects."""

from collections.abc import Iterable

from render.model import Manifest
from render.parsing.selectors import cluster_affinity, resource_selectors

from .policy import (
    CommandArgsOverrider,
    FieldOverrider,
    ImageOverrider,
    LabelAnnotationOverrider,
    OverridePolicy,
    Overriders,
    PlaintextOverrider,
    RuleWithCluster,
)

Plains = Iterable[Manifest] | None


def override_policy(manifest: Manifest, *, path: str = "", document: int = 0) -> OverridePolicy:
    """Return the value of an admitted policy of either kind.

    Without ``overrideRules`` the deprecated ``targetCluster`` and ``overriders`` are its one rule.
    """
    metadata, spec = manifest["metadata"], manifest["spec"]
    rules = [
        _rule(plain, path=f"spec.overrideRules[{index}]") for index, plain in enumerate(spec.get("overrideRules") or ())
    ]
    return OverridePolicy(
        name=metadata["name"],
        namespace=metadata.get("namespace") or "",
        resource_selectors=resource_selectors(spec.get("resourceSelectors")),
        rules=tuple(rules or [_rule(spec, path="spec")]),
        path=path,
        document=document,
    )


def _rule(plain: Manifest, *, path: str) -> RuleWithCluster:
    target = plain.get("targetCluster")
    return RuleWithCluster(
        overriders=_overriders(plain.get("overriders") or {}),
        target_cluster=None if target is None else cluster_affinity(target),
        path=path,
    )


def _overriders(plain: Manifest) -> Overriders:
    return Overriders(
        image=tuple(map(_image_overrider, plain.get("imageOverrider") or ())),
        command=tuple(map(_command_args_overrider, plain.get("commandOverrider") or ())),
        args=tuple(map(_command_args_overrider, plain.get("argsOverrider") or ())),
        labels=tuple(map(_label_annotation_overrider, plain.get("labelsOverrider") or ())),
        annotations=tuple(map(_label_annotation_overrider, plain.get("annotationsOverrider") or ())),
        field=tuple(map(_field_overrider, plain.get("fieldOverrider") or ())),
        plaintext=_operations(plain.get("plaintext"), pointer="path"),
    )


def _image_overrider(plain: Manifest) -> ImageOverrider:
    predicate = plain.get("predicate")
    return ImageOverrider(
        component=plain["component"],
        operator=plain["operator"],
        value=plain.get("value") or "",
        predicate=None if predicate is None else predicate["path"],
    )


def _command_args_overrider(plain: Manifest) -> CommandArgsOverrider:
    return CommandArgsOverrider(
        container_name=plain["containerName"], operator=plain["operator"], value=tuple(plain.get("value") or ())
    )


def _label_annotation_overrider(plain: Manifest) -> LabelAnnotationOverrider:
    return LabelAnnotationOverrider(operator=plain["operator"], value=plain["value"])


def _field_overrider(plain: Manifest) -> FieldOverrider:
    return FieldOverrider(
        field_path=plain["fieldPath"],
        json=_operations(plain.get("json"), pointer="subPath"),
        yaml=_operations(plain.get("yaml"), pointer="subPath"),
    )


def _operations(plain: Plains, *, pointer: str) -> tuple[PlaintextOverrider, ...]:
    return tuple(
        PlaintextOverrider(
            path=each[pointer],
            operator=each["operator"],
            value=each.get("value"),
        )
        for each in plain or ()
    )
