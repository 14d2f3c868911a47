"""The objects that federated kinds stand for where no FederatedTypeConfig says so."""

from render.model import Manifest

from .overriding import TargetType

_DEFAULTS = {
    "ClusterRole": ("rbac.authorization.k8s.io", "v1", False),
    "ClusterRoleBinding": ("rbac.authorization.k8s.io", "v1", False),
    "ConfigMap": ("", "v1", True),
    "CronJob": ("batch", "v1", True),
    "CustomResourceDefinition": ("apiextensions.k8s.io", "v1", False),
    "DaemonSet": ("apps", "v1", True),
    "Deployment": ("apps", "v1", True),
    "HorizontalPodAutoscaler": ("autoscaling", "v2", True),
    "Ingress": ("networking.k8s.io", "v1", True),
    "Job": ("batch", "v1", True),
    "LimitRange": ("", "v1", True),
    "Namespace": ("", "v1", True),
    "NetworkPolicy": ("networking.k8s.io", "v1", True),
    "PersistentVolumeClaim": ("", "v1", True),
    "PodDisruptionBudget": ("policy", "v1", True),
    "ReplicaSet": ("apps", "v1", True),
    "ResourceQuota": ("", "v1", True),
    "Role": ("rbac.authorization.k8s.io", "v1", True),
    "RoleBinding": ("rbac.authorization.k8s.io", "v1", True),
    "Secret": ("", "v1", True),
    "Service": ("", "v1", True),
    "ServiceAccount": ("", "v1", True),
    "StatefulSet": ("apps", "v1", True),
}
"""Group, version and scope of the kinds that ``kubefedctl enable`` is used with most; a Namespace counts as its own."""


def default_target(federated: Manifest) -> TargetType | None:
    """Return what a federated object stands for by its kind, else by the apiVersion of its template."""
    kind = str(federated.get("kind", "")).removeprefix("Federated")
    if kind in _DEFAULTS:
        group, version, is_namespaced = _DEFAULTS[kind]
        return TargetType(group=group, version=version, kind=kind, is_namespaced=is_namespaced)
    template = (federated.get("spec") or {}).get("template") or {}
    api_version = template.get("apiVersion") if isinstance(template, dict) else None
    if not isinstance(api_version, str) or not api_version:
        return None
    group, _, version = api_version.rpartition("/")
    is_namespaced = bool((federated.get("metadata") or {}).get("namespace"))
    return TargetType(group=group, version=version, kind=kind, is_namespaced=is_namespaced)
