"""The objects a pod template names: config maps, secrets, its service account and its volume claims.

All three lists of containers are read, optional references count like others, and empty names do not.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from render.resources import DependentObject

from .fields import mapping_at, objects_at, text_at

CONTAINERS = ("initContainers", "containers", "ephemeralContainers")
SECRET_VOLUMES = (
    ("secret", "secretName"),
    ("azureFile", "secretName"),
    ("cephfs", "secretRef", "name"),
    ("cinder", "secretRef", "name"),
    ("flexVolume", "secretRef", "name"),
    ("rbd", "secretRef", "name"),
    ("scaleIO", "secretRef", "name"),
    ("iscsi", "secretRef", "name"),
    ("storageos", "secretRef", "name"),
    ("csi", "nodePublishSecretRef", "name"),
)
Reference = tuple[str, str]
"""A kind of the core group and a name."""


def pod_dependencies(spec: Mapping[str, Any], namespace: str) -> set[DependentObject]:
    """Return the objects a pod with this spec needs beside it in its namespace."""
    return dependent_objects_of(pod_references(spec), namespace)


def dependent_objects_of(references: Iterable[Reference], namespace: str) -> set[DependentObject]:
    """Return the core objects of these kinds and names in a namespace, leaving out empty names."""
    return {
        DependentObject(api_version="v1", kind=kind, namespace=namespace, name=name)
        for kind, name in references
        if name
    }


def pod_references(spec: Mapping[str, Any]) -> Iterator[Reference]:
    """Yield every reference of a pod spec, repeated and empty names included."""
    for containers in CONTAINERS:
        if spec.get(containers):
            for container in objects_at(spec, containers):
                yield from container_references(container)
    for volume in objects_at(spec, "volumes"):
        yield from volume_references(volume)
    for secret in objects_at(spec, "imagePullSecrets"):
        yield "Secret", text_at(secret, "name")
    if (account := text_at(spec, "serviceAccountName")) != "default":
        yield "ServiceAccount", account


def container_references(container: Mapping[str, Any]) -> Iterator[Reference]:
    """Yield the objects a container's environment comes from."""
    for source in objects_at(container, "envFrom"):
        yield "ConfigMap", text_at(source, "configMapRef", "name")
        yield "Secret", text_at(source, "secretRef", "name")
    for variable in objects_at(container, "env"):
        if variable.get("valueFrom"):
            yield "ConfigMap", text_at(variable, "valueFrom", "configMapKeyRef", "name")
            yield "Secret", text_at(variable, "valueFrom", "secretKeyRef", "name")


def volume_references(volume: Mapping[str, Any]) -> Iterator[Reference]:
    """Yield the objects a volume is made of or mounted with."""
    yield "ConfigMap", text_at(volume, "configMap", "name")
    yield "PersistentVolumeClaim", text_at(volume, "persistentVolumeClaim", "claimName")
    for path in SECRET_VOLUMES:
        if path[0] in volume:
            yield "Secret", text_at(volume, *path)
    for source in objects_at(mapping_at(volume, "projected"), "sources"):
        yield "ConfigMap", text_at(source, "configMap", "name")
        yield "Secret", text_at(source, "secret", "name")
