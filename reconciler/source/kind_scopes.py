"""Scopes of kinds: whether their objects live in namespaces.

Four places tell the scope of a kind, the best first:

1. the kinds of Kubernetes, Karmada and Argosy, which are built in;
2. the CustomResourceDefinitions of the source;
3. the facts of members: the APIs they serve;
4. ``spec.kinds`` of argosy.yaml.

A kind that neither of the first two tells is *fact-scoped*. A pass that observes its members meets a circle there: it
has to load the source to learn how members are reached, and needs their facts to load templates of such a kind. So it
loads the source without facts first, in which a scope that nothing tells is no problem yet; it observes the members,
and loads the source again with their facts, if there is a template of a fact-scoped kind at all
(``Desired.fact_scoped_kinds``). Other commands take the facts that the status branch recorded, and load once.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from render.fleet import Fleet
from render.model import ARGOSY_GROUP, Manifest

from .facts import Facts

GroupKind = tuple[str, str]

_NAMESPACED = {
    "": "Binding ConfigMap Endpoints Event LimitRange PersistentVolumeClaim Pod PodTemplate ReplicationController "
    "ResourceQuota Secret Service ServiceAccount",
    "apps": "ControllerRevision DaemonSet Deployment ReplicaSet StatefulSet",
    "authorization.k8s.io": "LocalSubjectAccessReview",
    "autoscaling": "HorizontalPodAutoscaler",
    "batch": "CronJob Job",
    "coordination.k8s.io": "Lease LeaseCandidate",
    "discovery.k8s.io": "EndpointSlice",
    "events.k8s.io": "Event",
    "extensions": "DaemonSet Deployment Ingress NetworkPolicy ReplicaSet",
    "networking.k8s.io": "Ingress NetworkPolicy",
    "policy": "PodDisruptionBudget",
    "rbac.authorization.k8s.io": "Role RoleBinding",
    "resource.k8s.io": "ResourceClaim ResourceClaimTemplate",
    "scheduling.k8s.io": "PodGroup Workload",
    "storage.k8s.io": "CSIStorageCapacity",
    "autoscaling.karmada.io": "CronFederatedHPA FederatedHPA",
    "networking.karmada.io": "MultiClusterIngress MultiClusterService",
    "policy.karmada.io": "FederatedResourceQuota OverridePolicy PropagationPolicy",
    "work.karmada.io": "ResourceBinding Work",
    "multicluster.x-k8s.io": "ServiceExport ServiceImport",
}
_CLUSTER_SCOPED = {
    "": "ComponentStatus Namespace Node PersistentVolume",
    "admissionregistration.k8s.io": "MutatingAdmissionPolicy MutatingAdmissionPolicyBinding "
    "MutatingWebhookConfiguration ValidatingAdmissionPolicy ValidatingAdmissionPolicyBinding "
    "ValidatingWebhookConfiguration",
    "apiextensions.k8s.io": "CustomResourceDefinition",
    "apiregistration.k8s.io": "APIService",
    "authentication.k8s.io": "SelfSubjectReview TokenReview",
    "authorization.k8s.io": "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
    "certificates.k8s.io": "CertificateSigningRequest ClusterTrustBundle",
    "flowcontrol.apiserver.k8s.io": "FlowSchema PriorityLevelConfiguration",
    "internal.apiserver.k8s.io": "StorageVersion",
    "networking.k8s.io": "IPAddress IngressClass ServiceCIDR",
    "node.k8s.io": "RuntimeClass",
    "policy": "PodSecurityPolicy",
    "rbac.authorization.k8s.io": "ClusterRole ClusterRoleBinding",
    "resource.k8s.io": "DeviceClass DeviceTaintRule ResourceSlice",
    "scheduling.k8s.io": "PriorityClass",
    "storage.k8s.io": "CSIDriver CSINode StorageClass VolumeAttachment VolumeAttributesClass",
    "storagemigration.k8s.io": "StorageVersionMigration",
    "apps.karmada.io": "WorkloadRebalancer",
    "cluster.karmada.io": "Cluster",
    "config.karmada.io": "ResourceInterpreterCustomization ResourceInterpreterWebhookConfiguration",
    "policy.karmada.io": "ClusterOverridePolicy ClusterPropagationPolicy ClusterTaintPolicy",
    "remedy.karmada.io": "Remedy",
    "search.karmada.io": "ResourceRegistry",
    "work.karmada.io": "ClusterResourceBinding",
    ARGOSY_GROUP: "ClusterFacts Fleet PolicyTest",
}


def _group_kinds(kinds_by_group: Mapping[str, str]) -> Iterable[GroupKind]:
    return ((group, kind) for group, kinds in kinds_by_group.items() for kind in kinds.split())


BUILT_IN: Mapping[GroupKind, bool] = {
    **dict.fromkeys(_group_kinds(_NAMESPACED), True),
    **dict.fromkeys(_group_kinds(_CLUSTER_SCOPED), False),
}
"""The scopes of kinds of Kubernetes, Karmada and Argosy, in all versions they ever had; True is namespaced."""


def _no_scopes() -> Mapping[GroupKind, bool]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scopes:
    """The known scopes of kinds: ``defined`` in the source, ``observed`` in members, ``declared`` in argosy.yaml.

    Every version of a kind has the same scope, so versions do not matter here. ``observed`` is only called for a
    fact-scoped kind, because reading the facts takes time.
    """

    defined: Mapping[GroupKind, bool] = field(default_factory=dict)
    observed: Callable[[], Mapping[GroupKind, bool]] = _no_scopes
    declared: Mapping[GroupKind, bool] = field(default_factory=dict)

    @classmethod
    def of(cls, manifests: Iterable[Manifest], facts: Callable[[], Facts], fleet: Fleet) -> "Scopes":
        """Return the scopes that CustomResourceDefinitions among manifests, members' facts and argosy.yaml tell."""
        return cls(
            defined=dict(filter(None, map(_defined, manifests))),
            observed=cache(lambda: _observed_scopes(facts())),
            declared={(each.group, each.kind): each.is_namespaced for each in fleet.kinds},
        )

    def is_namespaced(self, group: str, kind: str) -> bool | None:
        """Say whether objects of a kind live in namespaces; None where nothing says."""
        key = group, kind
        for known in (BUILT_IN, self.defined):
            if key in known:
                return known[key]
        observed = self.observed().get(key)
        return self.declared.get(key) if observed is None else observed

    def is_fact_scoped(self, group: str, kind: str) -> bool:
        """Say whether neither Kubernetes nor the source tells the scope of a kind."""
        return (group, kind) not in BUILT_IN and (group, kind) not in self.defined


def _defined(manifest: Manifest) -> tuple[GroupKind, bool] | None:
    """Return the kind and scope that a CustomResourceDefinition defines; None for another object, or a broken one."""
    if manifest.get("kind") != "CustomResourceDefinition":
        return None
    spec = manifest.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    if not isinstance(spec, dict) or not isinstance(names, dict):
        return None
    group, kind, scope = spec.get("group"), names.get("kind"), spec.get("scope")
    if not isinstance(group, str) or not isinstance(kind, str) or scope not in {"Namespaced", "Cluster"}:
        return None
    return (group, kind), scope == "Namespaced"


def _observed_scopes(facts: Facts) -> dict[GroupKind, bool]:
    """Return the scopes of the APIs that members serve; where members disagree, a scope is not known."""
    observed: dict[GroupKind, set[bool]] = {}
    for each in facts.values():
        for enablement in each.status.get("apiEnablements") or ():
            group = enablement["groupVersion"].rpartition("/")[0]
            for resource in enablement.get("resources") or ():
                _add_scope(resource, group, observed)
    return {kind: scopes.pop() for kind, scopes in observed.items() if len(scopes) == 1}


def _add_scope(resource: Mapping[str, Any], group: str, observed: dict[GroupKind, set[bool]]) -> None:
    # ``namespaced`` is ours: Karmada's own status does not record it.
    if isinstance(resource.get("namespaced"), bool):
        observed.setdefault((group, resource["kind"]), set()).add(resource["namespaced"])
