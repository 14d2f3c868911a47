"""Changes of objects that a rollback does not undo: something stays as it became, or the server refuses the way back.

They are told from the manifests before and after, so that people know of them before the first cluster has them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence

from render.interpretation.fields import value_at
from render.interpreter import InterpreterError
from render.model import Manifest, ObjectRef, list_or_empty, mapping_or_empty
from render.quantity import parse_quantity

from .state import OneWayChange

_LABEL_SELECTOR = (("spec", "selector"),)
_ROLE = (("roleRef",),)
_FIXED_FIELDS: Mapping[str, Sequence[tuple[str, ...]]] = {
    "DaemonSet.apps": _LABEL_SELECTOR,
    "Deployment.apps": _LABEL_SELECTOR,
    "ReplicaSet.apps": _LABEL_SELECTOR,
    "StatefulSet.apps": (
        *_LABEL_SELECTOR,
        ("spec", "serviceName"),
        ("spec", "podManagementPolicy"),
        ("spec", "volumeClaimTemplates"),
    ),
    "PersistentVolumeClaim": (("spec", "storageClassName"), ("spec", "accessModes"), ("spec", "volumeMode")),
    "RoleBinding.rbac.authorization.k8s.io": _ROLE,
    "ClusterRoleBinding.rbac.authorization.k8s.io": _ROLE,
    "Secret": (("type",),),
    "StorageClass.storage.k8s.io": (("provisioner",), ("parameters",), ("reclaimPolicy",), ("volumeBindingMode",)),
    "CustomResourceDefinition.apiextensions.k8s.io": (("spec", "names", "kind"), ("spec", "scope")),
}
"""Fields that a server lets nobody change: an object with another value has to be created again."""


def one_way_changes(ref: ObjectRef, before: Manifest, after: Manifest) -> Iterator[OneWayChange]:
    """Yield what of a change of an object does not go back with it."""
    reasons = _REASONS.get(ref.group_kind)
    yield from (OneWayChange(ref=ref, reason=each) for each in (reasons(before, after) if reasons else ()))
    for path in _FIXED_FIELDS.get(ref.group_kind, ()):
        if _value_or_none(before, path) != _value_or_none(after, path):
            field = ".".join(path)
            yield OneWayChange(ref=ref, reason=f"{field} cannot be changed back without creating the object again")


def _value_or_none(manifest: Manifest, path: tuple[str, ...]) -> object:
    try:
        value: object = value_at(manifest, *path)
    except InterpreterError:
        return None
    return value


def _reasons_of_definition(before: Manifest, after: Manifest) -> Iterator[str]:
    old, new = (_stored_version(each) for each in (before, after))
    if old != new and new:
        yield f"objects that are stored as {new} stay so, and cannot be read where that version is not served"


def _stored_version(definition: Manifest) -> str:
    versions = list_or_empty(mapping_or_empty(definition.get("spec")).get("versions"))
    stored = (each for each in versions if isinstance(each, Mapping) and each.get("storage") is True)
    return next((str(each.get("name")) for each in stored), "")


def _reasons_of_job(before: Manifest, after: Manifest) -> Iterator[str]:
    if before.get("spec") != after.get("spec"):
        yield "what a Job has done is not undone"


def _reasons_of_claim(before: Manifest, after: Manifest) -> Iterator[str]:
    old, new = (_value_or_none(each, ("spec", "resources", "requests", "storage")) for each in (before, after))
    try:
        is_grown = old is not None and new is not None and parse_quantity(str(new)) > parse_quantity(str(old))
    except ValueError:
        return
    if is_grown:
        yield "a claim that has grown stays as large"


def _reasons_of_immutable_content(before: Manifest, after: Manifest) -> Iterator[str]:
    if after.get("immutable") is True and before.get("immutable") is not True:
        yield "it is immutable from then on, so that its server refuses what was before"


_REASONS: Mapping[str, Callable[[Manifest, Manifest], Iterator[str]]] = {
    "CustomResourceDefinition.apiextensions.k8s.io": _reasons_of_definition,
    "Job.batch": _reasons_of_job,
    "PersistentVolumeClaim": _reasons_of_claim,
    "ConfigMap": _reasons_of_immutable_content,
    "Secret": _reasons_of_immutable_content,
}
GROUP_KINDS_WITH_ONE_WAY_CHANGES = frozenset({*_FIXED_FIELDS, *_REASONS})
"""The kinds of which something may not go back."""
