"""The kinds of Karmada and Argosy themselves."""

from render.model import ARGOSY_GROUP

from .kind import plain_kinds

KINDS = (
    *plain_kinds("apps.karmada.io", "WorkloadRebalancer", is_namespaced=False),
    *plain_kinds("autoscaling.karmada.io", "CronFederatedHPA FederatedHPA", is_namespaced=True),
    *plain_kinds("cluster.karmada.io", "Cluster", is_namespaced=False),
    *plain_kinds(
        "config.karmada.io",
        "ResourceInterpreterCustomization ResourceInterpreterWebhookConfiguration",
        is_namespaced=False,
    ),
    *plain_kinds("networking.karmada.io", "MultiClusterIngress MultiClusterService", is_namespaced=True),
    *plain_kinds("policy.karmada.io", "FederatedResourceQuota OverridePolicy PropagationPolicy", is_namespaced=True),
    *plain_kinds(
        "policy.karmada.io", "ClusterOverridePolicy ClusterPropagationPolicy ClusterTaintPolicy", is_namespaced=False
    ),
    *plain_kinds("remedy.karmada.io", "Remedy", is_namespaced=False),
    *plain_kinds("search.karmada.io", "ResourceRegistry", is_namespaced=False),
    *plain_kinds("work.karmada.io", "ResourceBinding Work", is_namespaced=True),
    *plain_kinds("work.karmada.io", "ClusterResourceBinding", is_namespaced=False),
    *plain_kinds(ARGOSY_GROUP, "ClusterFacts Fleet HelmChart PolicyTest Source", is_namespaced=False),
)
"""The kinds that say where objects go, and those that Karmada keeps records in."""
