"""The objects that bytes name: what an object that stays as it is cannot do without.

Karmada propagates the dependencies of a workload with it: what a pod names in its namespace. An object that is kept
needs more than that to go on as it is, such as the roles that a binding grants and the kind that it is of. A manifest
names other objects in a few shapes, whatever its kind:

1. a kind with a name, as in ``scaleTargetRef``, ``roleRef``, ``sourceRef`` or ``issuerRef``;
2. a field that means one kind, with a name (``serviceName: web``), or an object or a list of objects with names.

What is found so may be no object at all, so it only counts where an object of that kind and name is there.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from render.model import Manifest, group_of, mapping_or_empty

_KIND_BY_FIELD: Mapping[str, str] = {
    "claimName": "PersistentVolumeClaim",
    "configMapName": "ConfigMap",
    "gatewayClassName": "GatewayClass",
    "ingressClassName": "IngressClass",
    "policyName": "ValidatingAdmissionPolicy",
    "priorityClassName": "PriorityClass",
    "runtimeClassName": "RuntimeClass",
    "secretName": "Secret",
    "serviceAccountName": "ServiceAccount",
    "serviceName": "Service",
    "storageClassName": "StorageClass",
    "volumeName": "PersistentVolume",
}
"""The kind whose name a field has as its text."""

_KIND_BY_OBJECT: Mapping[str, str] = {
    "backendRefs": "Service",
    "configMap": "ConfigMap",
    "configMapKeyRef": "ConfigMap",
    "configMapRef": "ConfigMap",
    "imagePullSecrets": "Secret",
    "secret": "Secret",
    "secretKeyRef": "Secret",
    "secretRef": "Secret",
    "nodePublishSecretRef": "Secret",
    "secrets": "Secret",
    "service": "Service",
    "services": "Service",
}
"""The kind of the object, or of the objects of a list, that a field names by ``name`` where they state no kind."""

_NOT_REFERRING = frozenset({"apiVersion", "kind", "metadata", "status", "data", "stringData", "binaryData"})


class NamedObject(Struct, frozen=True, order=True):
    """An object as another one names it; ``group`` None: whatever group the kind is of."""

    kind: str
    namespace: str
    name: str
    group: str | None = None


def named_objects(manifest: Manifest) -> frozenset[NamedObject]:
    """Return what a manifest names; objects of clusters have its namespace as well, for it cannot tell them apart.

    >>> found = named_objects({"metadata": {"namespace": "shop"}, "spec": {"roleRef": {"kind": "Role", "name": "r"}}})
    >>> [(each.kind, each.namespace, each.name) for each in found]
    [('Role', 'shop', 'r')]
    """
    namespace = mapping_or_empty(manifest.get("metadata")).get("namespace")
    own = namespace if isinstance(namespace, str) else ""
    return frozenset(
        _objects_named_in({key: value for key, value in manifest.items() if key not in _NOT_REFERRING}, own)
    )


def _objects_named_in(value: Any, namespace: str) -> Iterator[NamedObject]:
    stack = [value]
    while stack:
        each = stack.pop()
        if isinstance(each, list):
            stack += each
        elif isinstance(each, dict):
            stack += each.values()
            yield from _objects_named_by_kind(each, namespace)
            yield from _objects_named_by_fields(each, namespace)


def _objects_named_by_kind(value: Mapping[str, Any], namespace: str) -> Iterator[NamedObject]:
    kind, name = value.get("kind"), value.get("name")
    if isinstance(kind, str) and isinstance(name, str):
        yield NamedObject(kind, _namespace_of_reference(value, namespace), name, _group_of_reference(value))


def _group_of_reference(value: Mapping[str, Any]) -> str | None:
    if isinstance(version := value.get("apiVersion"), str):
        return group_of(version)
    group = value.get("apiGroup", value.get("group"))
    return group if isinstance(group, str) else None


def _objects_named_by_fields(value: Mapping[str, Any], namespace: str) -> Iterator[NamedObject]:
    for key, inner in value.items():
        if isinstance(inner, str):
            if kind := _KIND_BY_FIELD.get(key):
                yield NamedObject(kind, _namespace_of_reference(value, namespace), inner)
        elif kind := _KIND_BY_OBJECT.get(key):
            for each in inner if isinstance(inner, list) else [inner]:
                if isinstance(each, dict) and isinstance(each.get("name"), str):
                    yield NamedObject(kind, _namespace_of_reference(each, namespace), each["name"])


def _namespace_of_reference(value: Mapping[str, Any], namespace: str) -> str:
    found = value.get("namespace")
    return found if isinstance(found, str) and found else namespace
