"""The fields that stay as the cluster has them: Karmada's Retain, through field ownership.

Where a field is the cluster's to decide, we send what is there as long as we own it - leaving out what only we own
would reset it, an outage where it is replicas - and stop sending it once somebody else owns it. Either way applying
changes nothing, and what we read can only become outdated into a conflict, never into an overwrite.

The kinds Kubernetes defines state such fields in ``render.kinds``, of which the interpreter's Retain is made as well. A
rule of the source - Retain of a customization, a webhook or a bundled kind - answers with a whole object; what it took
from the cluster is treated in the same way.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from reconciler.members.discovery import Resource
from render.interpretation.retention import EACH, Retained
from render.kinds import BUILT_IN, KUBERNETES
from render.kinds.workloads import REPLICA_FIELD, asks_to_retain_replicas
from render.model import Manifest, ObjectRef, group_of

from .field_paths import MISSING
from .ownership import Fields, owned_part

if TYPE_CHECKING:
    from render.interpreter import Interpreter

SCALED = frozenset(kind.group_kind for kind in KUBERNETES if kind.is_scaled)
"""The kinds of Kubernetes that autoscalers scale."""
SCALERS = (("autoscaling", "HorizontalPodAutoscaler"), ("keda.sh", "ScaledObject"))
"""The groups and kinds of autoscalers."""
_DEFAULT_TARGET = {"ScaledObject": ("apps/v1", "Deployment")}

Retain = Callable[[Manifest, Manifest], Manifest]
"""From the wanted and the live object to the object to send."""

_REPLICAS = Retained(path=REPLICA_FIELD)
_ABSENT: tuple[Any, ...] = (MISSING, None, "", {}, [])


def manifest_with_retained_fields(
    ref: ObjectRef, want: dict[str, Any], live: Manifest, fields: Fields, *, autoscaled: bool
) -> dict[str, Any]:
    """Return what to send for an existing object: the fields that are the cluster's to decide as they are, or left out.

    ``fields`` are those we own.
    """
    for field in retained_fields_of_kind(ref):
        if field.condition(want):
            want = _manifest_with_retained_field(want, live, fields, field)
    if autoscaled or asks_to_retain_replicas(want) or asks_to_retain_replicas(live):
        want = _manifest_with_retained_field(want, live, fields, _REPLICAS)
    return want


def _manifest_with_retained_field(
    want: dict[str, Any], live: Manifest, fields: Fields, field: Retained
) -> dict[str, Any]:
    if field.is_united:
        return want if field.is_map else _manifest_with_items_of_both(want, live, fields, field.path[0])
    kept: dict[str, Any] = _value_with_retained(want, live, fields, field, field.path)
    return kept


def fields_handed_over(resource: Resource, want: Manifest, *, autoscaled: bool) -> frozenset[tuple[str, ...]]:
    """Return the fields that a manifest hands over to others by leaving them out: the replicas of what is scaled.

    Whoever scales a workload owns them, be it an autoscaler, a person, or kubectl which wrote the first number. Of a
    custom resource that has no scale subresource ``replicas`` are a field like any other.
    """
    is_scaled = resource.group_kind in SCALED or resource.is_scaled or autoscaled or asks_to_retain_replicas(want)
    return frozenset({REPLICA_FIELD} if is_scaled else ())


def manifest_with_live_replicas(want: dict[str, Any], live: Manifest, fields: Fields) -> dict[str, Any]:
    """Return ``want`` with the live replicas where a manifest handed them over while we still own them.

    Leaving them out while nobody else owns them would reset the workload to one replica, also where the autoscaler or
    the person who is to scale it comes later. Whoever scales it takes them from us with the first number it writes.
    """
    spec, replicas = want.get("spec") or {}, (live.get("spec") or {}).get("replicas")
    if "replicas" in spec or replicas is None or "f:replicas" not in (fields.get("f:spec") or {}):
        return want
    return {**want, "spec": {**spec, "replicas": replicas}}


def retained_fields_of_kind(ref: ObjectRef) -> tuple[Retained, ...]:
    """Return the fields that stay as a cluster has them, for objects of this kind."""
    kind = BUILT_IN.get((ref.group, ref.kind))
    return kind.retained if kind else ()


def _manifest_with_items_of_both(want: dict[str, Any], live: Manifest, fields: Fields, name: str) -> dict[str, Any]:
    """Return ``want`` with the items beside its own that the cluster has in a list; a list of ours alone is as wanted.

    It is ours alone where nobody else ever added to it, so that all items are the manifest's.
    """
    if not want.get(name):
        return want
    key = f"f:{name}"
    owners = [each.get("fieldsV1") or {} for each in live["metadata"].get("managedFields") or ()]
    if key in fields and sum(key in owned for owned in owners) == 1:
        return want
    return {**want, name: _items_of_both(want[name], live.get(name) or [])}


def _value_with_retained(want: Any, live: Any, fields: Fields | None, field: Retained, path: tuple[str, ...]) -> Any:
    """Return ``want`` with the live value at a path where we own it, and without the field where we do not."""
    name, rest = path[0], path[1:]
    if name == EACH:
        return (
            [_item_with_retained_field(item, live, fields, field, rest) for item in want]
            if isinstance(want, list)
            else want
        )
    if not isinstance(want, Mapping) or name not in want or not isinstance(live, Mapping):
        return want
    present, owned = live.get(name, MISSING), (fields or {}).get(f"f:{name}")
    if present in _ABSENT:
        return want
    if rest:
        return {**want, name: _value_with_retained(want[name], present, owned, field, rest)}
    if owned is None:
        return {key: value for key, value in want.items() if key != name}
    return {**want, name: want[name] if field.is_injected else owned_part(present, owned)}


def _item_with_retained_field(
    item: Any, live: Any, fields: Fields | None, field: Retained, rest: tuple[str, ...]
) -> Any:
    name = item.get("name") if isinstance(item, Mapping) else None
    other = next((each for each in live or () if isinstance(each, Mapping) and each.get("name") == name), None)
    owned = (fields or {}).get(f'k:{{"name":"{name}"}}')
    return item if other is None else _value_with_retained(item, other, owned, field, rest)


def _items_of_both(want: list[Any], live: list[Any]) -> list[Any]:
    """Return the items of both lists: the live one as it is where it has them all, for order is part of its value."""
    if all(item in live for item in want):
        return live
    names = {item.get("name") for item in want if isinstance(item, Mapping)}
    return [*want, *(item for item in live if item.get("name") not in names)]


def scaled_objects(scalers: Iterable[Manifest]) -> frozenset[ObjectRef]:
    """Return the workloads that autoscalers - HorizontalPodAutoscalers, KEDA's ScaledObjects - set the replicas of."""
    return frozenset(ref for scaler in scalers if is_scaler(scaler) for ref in _targets_of_scaler(scaler))


def is_scaler(manifest: Manifest) -> bool:
    """Say whether an object is an autoscaler."""
    return (group_of(str(manifest.get("apiVersion") or "")), manifest.get("kind")) in SCALERS


def _targets_of_scaler(scaler: Manifest) -> Iterable[ObjectRef]:
    target = (scaler.get("spec") or {}).get("scaleTargetRef") or {}
    version, kind = _DEFAULT_TARGET.get(str(scaler["kind"]), ("", ""))
    if target.get("name"):
        yield ObjectRef(
            group_of(str(target.get("apiVersion") or version)),
            str(target.get("kind") or kind),
            str(scaler["metadata"].get("namespace") or ""),
            str(target["name"]),
        )


class RetainFailed(Exception):
    """A rule of the source fails, or makes another object of it."""


def retention_rule_by_interpreter(interpreter: "Interpreter") -> Retain:
    """Return the rule that plans ask; it returns the desired object itself where the source has no rule for it.

    RetainFailed when a rule fails, or makes another object of it.
    """
    # Plans for fleets without rules of their own do without the interpreter's modules.
    from render.interpreter import InterpreterError, Layer, Operation

    custom = frozenset({Layer.CUSTOMIZATION, Layer.WEBHOOK, Layer.THIRD_PARTY})

    def retain(desired: Manifest, live: Manifest) -> Manifest:
        if interpreter.answering_layer(Operation.RETAIN, desired) not in custom:
            return desired
        try:
            kept = interpreter.retain(desired, live)
        except InterpreterError as error:
            raise RetainFailed(str(error)) from error
        if not _is_same_object(kept, desired):
            raise RetainFailed(f"{desired['kind']} {desired['metadata']['name']}: Retain makes it another object")
        return kept

    return retain


def _is_same_object(kept: Manifest, desired: Manifest) -> bool:
    metadata = kept.get("metadata")
    if not isinstance(metadata, Mapping) or any(kept.get(key) != desired[key] for key in ("apiVersion", "kind")):
        return False
    return all(metadata.get(key) == desired["metadata"].get(key) for key in ("name", "namespace"))


def fields_left_to_owners(want: Any, kept: Mapping[str, Any], live: Any, fields: Fields) -> dict[str, Any]:
    """Return what a rule kept, without the fields it took from the cluster that are not ours there.

    ``fields`` are those we own. Leaving out what somebody else owns changes nothing; claiming it would be a write
    whenever its owner writes.
    """
    remaining: dict[str, Any] = {}
    for name, value in kept.items():
        wanted = want.get(name, MISSING) if isinstance(want, Mapping) else MISSING
        present = live.get(name, MISSING) if isinstance(live, Mapping) else MISSING
        owned = fields.get(f"f:{name}")
        if isinstance(value, Mapping) and isinstance(present, Mapping) and value != wanted:
            inner = fields_left_to_owners(wanted, value, present, owned or {})
            if inner or not value:
                remaining[name] = inner
        elif owned is not None or value == wanted or value != present:
            remaining[name] = value
    return remaining
