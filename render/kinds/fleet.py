"""The kinds of Karmada and Argosy themselves, and the API for services of several clusters that Karmada serves."""

from collections.abc import Sequence

from render.interpretation.fields import text_at
from render.interpretation.operations import Interpretation
from render.model import ARGOSY_GROUP, Manifest
from render.resources import DependentObject

from .kind import NO_DELIVERY_RULES, NO_PODS, NO_TEMPLATE_RULES, BuiltInKind, plain_kinds


def imported_dependencies(service_import: Manifest) -> Sequence[DependentObject]:
    """Return the service derived from the import, and its endpoint slices."""
    namespace, name = text_at(service_import, "metadata", "namespace"), text_at(service_import, "metadata", "name")
    derived = f"derived-{name}"
    selector = {"matchLabels": {"kubernetes.io/service-name": derived}}
    return (
        DependentObject(api_version="v1", kind="Service", namespace=namespace, name=derived),
        DependentObject(
            api_version="discovery.k8s.io/v1", kind="EndpointSlice", namespace=namespace, label_selector=selector
        ),
    )


KINDS = (
    *plain_kinds("apps.karmada.io", "WorkloadRebalancer", is_namespaced=False),
    *plain_kinds("autoscaling.karmada.io", "CronFederatedHPA FederatedHPA", is_namespaced=True),
    *plain_kinds("cluster.karmada.io", "Cluster", is_namespaced=False),
    *plain_kinds(
        "config.karmada.io",
        "ResourceInterpreterCustomization ResourceInterpreterWebhookConfiguration",
        is_namespaced=False,
    ),
    *plain_kinds("config.karmada.io", "KarmadaInitConfig", is_namespaced=False, not_written="it is no object"),
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
    BuiltInKind(
        group="multicluster.x-k8s.io",
        kind="ServiceImport",
        version="v1alpha1",
        is_namespaced=True,
        interpretation=Interpretation(dependencies=imported_dependencies),
        has_no=f"{NO_PODS} {NO_TEMPLATE_RULES} {NO_DELIVERY_RULES} retained progress",
    ),
    *plain_kinds("multicluster.x-k8s.io", "ServiceExport", is_namespaced=True),
)
"""The kinds that say where objects go, and those that Karmada keeps records in."""
