"""API versions that Kubernetes serves no more, or not yet, and those that took their place."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from render.admission.findings import Findings
from render.model import Manifest, group_of

from .kubernetes import KubernetesSchemas

FORMER_GROUPS = frozenset({"extensions"})
"""Groups that no version with a schema has, and whose kinds are in other groups now."""


class _Removal(NamedTuple):
    """The minor version that removed kinds from an API version, before any that has a schema served them elsewhere."""

    minor: int
    successor: str


_ROLES = "ClusterRole ClusterRoleBinding Role RoleBinding"
_REVIEWS = "LocalSubjectAccessReview SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview"
_TABLE = (
    (16, "extensions/v1beta1", "DaemonSet Deployment ReplicaSet", "apps/v1"),
    (16, "extensions/v1beta1", "NetworkPolicy", "networking.k8s.io/v1"),
    (16, "extensions/v1beta1", "PodSecurityPolicy", ""),
    (16, "apps/v1beta1", "ControllerRevision Deployment StatefulSet", "apps/v1"),
    (16, "apps/v1beta2", "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet", "apps/v1"),
    (21, "batch/v2alpha1", "CronJob", "batch/v1"),
    (
        22,
        "admissionregistration.k8s.io/v1beta1",
        "MutatingWebhookConfiguration ValidatingWebhookConfiguration",
        "admissionregistration.k8s.io/v1",
    ),
    (22, "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition", "apiextensions.k8s.io/v1"),
    (22, "apiregistration.k8s.io/v1beta1", "APIService", "apiregistration.k8s.io/v1"),
    (22, "authentication.k8s.io/v1beta1", "TokenReview", "authentication.k8s.io/v1"),
    (22, "authorization.k8s.io/v1beta1", _REVIEWS, "authorization.k8s.io/v1"),
    (22, "certificates.k8s.io/v1beta1", "CertificateSigningRequest", "certificates.k8s.io/v1"),
    (22, "coordination.k8s.io/v1beta1", "Lease", "coordination.k8s.io/v1"),
    (22, "extensions/v1beta1", "Ingress", "networking.k8s.io/v1"),
    (22, "networking.k8s.io/v1beta1", "Ingress IngressClass", "networking.k8s.io/v1"),
    (22, "rbac.authorization.k8s.io/v1beta1", _ROLES, "rbac.authorization.k8s.io/v1"),
    (23, "rbac.authorization.k8s.io/v1alpha1", _ROLES, "rbac.authorization.k8s.io/v1"),
    (22, "scheduling.k8s.io/v1beta1", "PriorityClass", "scheduling.k8s.io/v1"),
    (23, "scheduling.k8s.io/v1alpha1", "PriorityClass", "scheduling.k8s.io/v1"),
    (22, "storage.k8s.io/v1beta1", "CSIDriver CSINode StorageClass VolumeAttachment", "storage.k8s.io/v1"),
    (25, "autoscaling/v2beta1", "HorizontalPodAutoscaler", "autoscaling/v2"),
    (25, "batch/v1beta1", "CronJob", "batch/v1"),
    (25, "discovery.k8s.io/v1beta1", "EndpointSlice", "discovery.k8s.io/v1"),
    (25, "events.k8s.io/v1beta1", "Event", "events.k8s.io/v1"),
    (25, "node.k8s.io/v1beta1", "RuntimeClass", "node.k8s.io/v1"),
    (25, "policy/v1beta1", "PodDisruptionBudget", "policy/v1"),
    (25, "policy/v1beta1", "PodSecurityPolicy", ""),
)
_REMOVALS: Mapping[tuple[str, str], _Removal] = {
    (api_version, kind): _Removal(minor, successor)
    for minor, api_version, kinds, successor in _TABLE
    for kind in kinds.split()
}


def findings_of_unserved_version(schemas: KubernetesSchemas, manifest: Manifest, minors: Sequence[int]) -> Findings:
    """Return the finding of an API version that none of these minor versions serves, the newest of them first."""
    findings, kind, api_version = Findings(), manifest["kind"], manifest["apiVersion"]
    removal = _removal_of_api_version(schemas, kind, api_version)
    first = schemas.minors(api_version, kind)[:1]
    if removal and minors[-1] >= removal.minor:
        message = f"Kubernetes 1.{removal.minor} removed {kind} from {api_version!r}"
    elif first and minors[0] < first[0]:
        message = f"Kubernetes serves {kind} in {api_version!r} only from 1.{first[0]} on"
    else:
        span = f"1.{minors[0]}" if minors[0] == minors[-1] else f"1.{minors[-1]} to 1.{minors[0]}"
        message = f"Kubernetes {span} does not serve {kind} in {api_version!r}"
    successor = _successor_api_version(schemas, kind, api_version, minors[0]) or (removal.successor if removal else "")
    hint = f"write {successor!r}" if successor else "the kind is gone from Kubernetes" if removal else ""
    findings.problem("apiVersion", message, hint=hint, kind="NotSupported")
    return findings


def _removal_of_api_version(schemas: KubernetesSchemas, kind: str, api_version: str) -> _Removal | None:
    """Return when and for what a kind left an API version; None where it did not, or never was there."""
    served = schemas.minors(api_version, kind)
    if not served:
        return _REMOVALS.get((api_version, kind))
    return _Removal(served[-1] + 1, "") if served[-1] < schemas.newest else None


def _successor_api_version(schemas: KubernetesSchemas, kind: str, api_version: str, newest: int) -> str:
    """Return the best API version that has a kind in a minor version of Kubernetes ("": there is none)."""
    group = group_of(api_version)
    groups = [group, *sorted(schemas.groups)] if group in FORMER_GROUPS else [group]
    versions = [version for each in groups for version in schemas.api_versions(each, kind)]
    usable = [version for version in versions if newest in schemas.minors(version, kind)]
    return usable[-1] if usable else ""
