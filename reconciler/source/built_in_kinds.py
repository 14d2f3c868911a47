"""The scopes of the kinds of Kubernetes, Karmada and Argosy."""

from collections.abc import Iterable, Mapping

from render.model import ARGOSY_GROUP

GroupKind = tuple[str, str]
"""A group and a kind; every version of a kind has the same scope."""

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
    "admissionregistration.k8s.io": "InitializerConfiguration MutatingAdmissionPolicy MutatingAdmissionPolicyBinding "
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
    ARGOSY_GROUP: "ClusterFacts Fleet HelmChart PolicyTest Source",
}


def _group_kinds(kinds_by_group: Mapping[str, str]) -> Iterable[GroupKind]:
    return ((group, kind) for group, kinds in kinds_by_group.items() for kind in kinds.split())


BUILT_IN: Mapping[GroupKind, bool] = {
    **dict.fromkeys(_group_kinds(_NAMESPACED), True),
    **dict.fromkeys(_group_kinds(_CLUSTER_SCOPED), False),
}
"""The scopes of kinds of Kubernetes, Karmada and Argosy, in all versions they ever had; True is namespaced."""
