"""Edits that are wrong whatever they meet: image values that no image can be made of, and renames."""

from collections.abc import Iterable, Iterator

from overrides.errors import LintFinding, Refused
from overrides.identity import MOVED, identity_field
from overrides.overriders.image import ImageReference, is_tag_or_digest, parse_image, with_component
from overrides.pointer import tokens_of
from overrides.policy import ImageOverrider, OverridePolicy, RuleWithCluster
from overrides.record import origin_of

_SAMPLE = ImageReference(registry="registry.example", repository="app", tag="v1")


def image_value_findings(policies: Iterable[OverridePolicy]) -> Iterator[LintFinding]:
    """Yield the image overriders whose value is ignored, or makes a reference that cannot be read."""
    for policy in policies:
        for rule in policy.rules:
            for index, overrider in enumerate(rule.overriders.image):
                message, hint = _complaint(overrider)
                if message:
                    field = f"{rule.path}.overriders.imageOverrider[{index}]"
                    yield LintFinding(origin=origin_of(policy), field=field, message=message, hint=hint)


def _complaint(overrider: ImageOverrider) -> tuple[str, str]:
    if overrider.component == "Tag":
        return _tag_complaint(overrider)
    image = str(with_component(_SAMPLE, overrider))
    try:
        read = parse_image(image)
    except Refused as refusal:
        return f"makes {image!r} of {str(_SAMPLE)!r}, which {refusal.message}", _scheme_hint(overrider.value)
    if overrider.component == "Registry" and overrider.operator != "remove" and overrider.value and not read.registry:
        hint = "a registry has a '.' or a ':', or is localhost"
        return f"makes {image!r} of {str(_SAMPLE)!r}, in which {overrider.value!r} is no registry", hint
    return "", ""


def _tag_complaint(overrider: ImageOverrider) -> tuple[str, str]:
    value, operator = overrider.value, overrider.operator
    if operator == "replace" and not is_tag_or_digest(value):
        message = f"is ignored: {value!r} is neither a tag nor a digest"
    elif operator == "add" and not is_tag_or_digest(f"x{value}"):
        message = f"is ignored: no tag can end with {value!r}"
    else:
        return "", ""
    bare = value.lstrip(":@")
    return message, f"write {bare!r}" if bare != value and is_tag_or_digest(bare) else ""


def _scheme_hint(value: str) -> str:
    _, scheme, rest = value.partition("://")
    return f"write {rest.rstrip('/')!r}" if scheme else ""


def renames(policies: Iterable[OverridePolicy]) -> Iterator[LintFinding]:
    """Yield the edits of apiVersion, kind, namespace or name."""
    for policy in policies:
        for rule in policy.rules:
            for field, path in _edited_paths(rule):
                changed = identity_field(tokens_of(path) or ())
                if changed:
                    yield LintFinding(
                        origin=origin_of(policy),
                        field=f"{rule.path}.overriders.{field}",
                        message=f"changes {changed}, which is an error in every cluster it applies to",
                        hint=MOVED,
                    )


def _edited_paths(rule: RuleWithCluster) -> Iterator[tuple[str, str]]:
    for index, image in enumerate(rule.overriders.image):
        yield f"imageOverrider[{index}]", image.predicate or ""
    for index, field in enumerate(rule.overriders.field):
        yield f"fieldOverrider[{index}]", field.field_path
    for index, operation in enumerate(rule.overriders.plaintext):
        yield f"plaintext[{index}]", operation.path
