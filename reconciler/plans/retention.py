"""The fields that stay as the cluster has them: Karmada's Retain, through field ownership.

Where a field is the cluster's to decide, we send what is there as long as we own it - leaving out what only we own
would reset it, an outage where it is replicas - and stop sending it once somebody else owns it. Either way applying
changes nothing, and what we read can only become outdated into a conflict, never into an overwrite.

The kinds Kubernetes defines have rules here. A rule of the source - Retain of a customization, a webhook or a bundled
kind - answers with a whole object; what it took from the cluster is treated in the same way.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from render.model import Manifest, ObjectRef, group_of

from .field_paths import MISSING
from .ownership import Fields, owned_part

if TYPE_CHECKING:
    from render.interpreter import Interpreter

RETAIN_REPLICAS = "resourcetemplate.karmada.io/retain-replicas"
_SCALED = frozenset({"Deployment.apps", "ReplicaSet.apps", "StatefulSet.apps", "ReplicationController"})
_SCALERS = {"HorizontalPodAutoscaler", "ScaledObject"}
_DEFAULT_TARGET = {"ScaledObject": ("apps/v1", "Deployment")}

FieldPath = tuple[str, ...]
Retain = Callable[[Manifest, Manifest], Manifest]
"""From the wanted and the live object to the object to send."""

FIXED: Mapping[str, tuple[FieldPath, ...]] = {
    "Service": (("spec", "clusterIP"), ("spec", "clusterIPs"), ("spec", "healthCheckNodePort")),
    "PersistentVolumeClaim": (("spec", "volumeName"),),
    "PersistentVolume": (("spec", "claimRef"),),
    "Job.batch": (("spec", "selector", "matchLabels"), ("spec", "template", "metadata", "labels")),
    "Pod": (
        ("spec", "nodeName"),
        ("spec", "serviceAccountName"),
        ("spec", "volumes"),
        ("spec", "containers", "*", "volumeMounts"),
        ("spec", "initContainers", "*", "volumeMounts"),
    ),
}
"""The retained fields of objects that no server changes once an object is there, but for a few exceptions."""

# The fields that members fill in themselves, as in Karmada's native interpreter; those of webhooks and CRDs are
# certificates that cert-manager and its like inject.
_RETAINED: Mapping[str, tuple[FieldPath, ...]] = {
    **FIXED,
    "APIService.apiregistration.k8s.io": (("spec", "caBundle"),),
    "CustomResourceDefinition.apiextensions.k8s.io": (("spec", "conversion", "webhook", "clientConfig", "caBundle"),),
    "ValidatingWebhookConfiguration.admissionregistration.k8s.io": (("webhooks", "*", "clientConfig", "caBundle"),),
    "MutatingWebhookConfiguration.admissionregistration.k8s.io": (("webhooks", "*", "clientConfig", "caBundle"),),
}
_CERTIFICATE = "caBundle"
_REPLICAS: FieldPath = ("spec", "replicas")
_PULL_SECRETS = "imagePullSecrets"
_TOKEN_DATA: FieldPath = ("data",)
_ABSENT: tuple[Any, ...] = (MISSING, None, "", {}, [])


def retained(
    ref: ObjectRef, want: dict[str, Any], live: Manifest, fields: Fields, *, autoscaled: bool
) -> dict[str, Any]:
    """Return what to send for an existing object: the fields that are the cluster's to decide as they are, or left out.

    ``fields`` are those we own.
    """
    for path in _retained_paths(ref, want, live, autoscaled=autoscaled):
        want = _kept(want, live, fields, path)
    want = _handed_over(want, live, fields)
    if ref.group_kind == "ServiceAccount" and want.get(_PULL_SECRETS) and not _is_ours_alone(live, fields):
        want = {**want, _PULL_SECRETS: _united(want[_PULL_SECRETS], live.get(_PULL_SECRETS) or [])}
    return want


def _is_ours_alone(live: Manifest, fields: Fields) -> bool:
    """Return whether nobody but us ever added to an account's pull secrets, so that all of them are the manifest's."""
    key = f"f:{_PULL_SECRETS}"
    owners = [each.get("fieldsV1") or {} for each in live["metadata"].get("managedFields") or ()]
    return key in fields and sum(key in owned for owned in owners) == 1


def _retained_paths(ref: ObjectRef, want: Manifest, live: Manifest, *, autoscaled: bool) -> Iterable[FieldPath]:
    yield from _RETAINED.get(ref.group_kind, ())
    if autoscaled or _asks_to_retain(want) or _asks_to_retain(live):
        yield _REPLICAS
    if ref.group_kind == "Secret" and want.get("type") == "kubernetes.io/service-account-token":
        yield _TOKEN_DATA


def handed_over(ref: ObjectRef, want: Manifest, *, autoscaled: bool) -> frozenset[FieldPath]:
    """Return the fields that a manifest hands over to others by leaving them out: the replicas of what is scaled.

    Whoever scales a workload owns them, be it an autoscaler, a person, or kubectl which wrote the first number.
    """
    is_scaled = ref.group_kind in _SCALED or autoscaled or _asks_to_retain(want)
    return frozenset({_REPLICAS} if is_scaled else ())


def _asks_to_retain(manifest: Manifest) -> bool:
    return (manifest["metadata"].get("labels") or {}).get(RETAIN_REPLICAS) == "true"


def _kept(want: Any, live: Any, fields: Fields | None, path: FieldPath) -> Any:
    """Return ``want`` with the live value at a path where we own it, and without the field where we do not."""
    name, rest = path[0], path[1:]
    if name == "*":
        return [_kept_item(item, live, fields, rest) for item in want] if isinstance(want, list) else want
    if not isinstance(want, Mapping) or name not in want or not isinstance(live, Mapping):
        return want
    present, owned = live.get(name, MISSING), (fields or {}).get(f"f:{name}")
    if present in _ABSENT:
        return want
    if rest:
        return {**want, name: _kept(want[name], present, owned, rest)}
    if owned is None:
        return {key: value for key, value in want.items() if key != name}
    # Whoever injects a certificate takes the field from us: one that is still ours is for the manifest to change.
    return {**want, name: want[name] if name == _CERTIFICATE else owned_part(present, owned)}


def _handed_over(want: dict[str, Any], live: Manifest, fields: Fields) -> dict[str, Any]:
    """Return ``want`` with the live replicas where a manifest stopped naming them while we still own them.

    Leaving them out while nobody else owns them would reset the workload to one replica, also where the autoscaler or
    the person who is to scale it comes later. Whoever scales it takes them from us with the first number it writes.
    """
    spec, replicas = want.get("spec") or {}, (live.get("spec") or {}).get("replicas")
    if "replicas" in spec or replicas is None or "f:replicas" not in (fields.get("f:spec") or {}):
        return want
    return {**want, "spec": {**spec, "replicas": replicas}}


def _kept_item(item: Any, live: Any, fields: Fields | None, rest: FieldPath) -> Any:
    name = item.get("name") if isinstance(item, Mapping) else None
    other = next((each for each in live or () if isinstance(each, Mapping) and each.get("name") == name), None)
    owned = (fields or {}).get(f'k:{{"name":"{name}"}}')
    return item if other is None else _kept(item, other, owned, rest)


def _united(want: list[Any], live: list[Any]) -> list[Any]:
    names = {item.get("name") for item in want if isinstance(item, Mapping)}
    return [*want, *(item for item in live if item.get("name") not in names)]


def scaled_objects(scalers: Iterable[Manifest]) -> frozenset[ObjectRef]:
    """Return the workloads that autoscalers - HorizontalPodAutoscalers, KEDA's ScaledObjects - set the replicas of."""
    return frozenset(ref for scaler in scalers if scaler.get("kind") in _SCALERS for ref in _targets(scaler))


def _targets(scaler: Manifest) -> Iterable[ObjectRef]:
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


def retention_by(interpreter: "Interpreter") -> Retain:
    """Return the rule that plans ask; it returns the desired object itself where the source has no rule for it.

    RetainFailed when a rule fails, or makes another object of it.
    """
    # Plans for fleets without rules of their own do without the interpreter's modules.
    from render.interpreter import InterpreterError, Layer, Operation

    custom = frozenset({Layer.CUSTOMIZATION, Layer.WEBHOOK, Layer.THIRD_PARTY})

    def retain(desired: Manifest, live: Manifest) -> Manifest:
        if interpreter.layer(Operation.RETAIN, desired) not in custom:
            return desired
        try:
            kept = interpreter.retain(desired, live)
        except InterpreterError as error:
            raise RetainFailed(str(error)) from error
        if not _is_same(kept, desired):
            raise RetainFailed(f"{desired['kind']} {desired['metadata']['name']}: Retain makes it another object")
        return kept

    return retain


def _is_same(kept: Manifest, desired: Manifest) -> bool:
    metadata = kept.get("metadata")
    if not isinstance(metadata, Mapping) or any(kept.get(key) != desired[key] for key in ("apiVersion", "kind")):
        return False
    return all(metadata.get(key) == desired["metadata"].get(key) for key in ("name", "namespace"))


def left_to_owners(want: Any, kept: Mapping[str, Any], live: Any, fields: Fields) -> dict[str, Any]:
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
            inner = left_to_owners(wanted, value, present, owned or {})
            if inner or not value:
                remaining[name] = inner
        elif owned is not None or value == wanted or value != present:
            remaining[name] = value
    return remaining
