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
    *plain_kinds("autoscaling.karmada.io", "CronFederatedHPA", is_namespaced=True, short_names=("cronfhpa",)),
    *plain_kinds("autoscaling.karmada.io", "FederatedHPA", is_namespaced=True, short_names=("fhpa",)),
    *plain_kinds("cluster.karmada.io", "Cluster", is_namespaced=False),
    *plain_kinds("config.karmada.io", "ResourceInterpreterCustomization", is_namespaced=False, short_names=("ric",)),
    *plain_kinds("config.karmada.io", "ResourceInterpreterWebhookConfiguration", is_namespaced=False),
    *plain_kinds("config.karmada.io", "KarmadaInitConfig", is_namespaced=False, not_written="it is no object"),
    *plain_kinds("networking.karmada.io", "MultiClusterIngress", is_namespaced=True, short_names=("mci",)),
    *plain_kinds("networking.karmada.io", "MultiClusterService", is_namespaced=True, short_names=("mcs",)),
    *plain_kinds("policy.karmada.io", "FederatedResourceQuota", is_namespaced=True),
    *plain_kinds("policy.karmada.io", "OverridePolicy", is_namespaced=True, short_names=("op",)),
    *plain_kinds("policy.karmada.io", "PropagationPolicy", is_namespaced=True, short_names=("pp",)),
    *plain_kinds("policy.karmada.io", "ClusterOverridePolicy", is_namespaced=False, short_names=("cop",)),
    *plain_kinds("policy.karmada.io", "ClusterPropagationPolicy", is_namespaced=False, short_names=("cpp",)),
    *plain_kinds("policy.karmada.io", "ClusterTaintPolicy", is_namespaced=False),
    *plain_kinds("remedy.karmada.io", "Remedy", is_namespaced=False),
    *plain_kinds("search.karmada.io", "ResourceRegistry", is_namespaced=False),
    *plain_kinds("work.karmada.io", "ResourceBinding", is_namespaced=True, short_names=("rb",)),
    *plain_kinds("work.karmada.io", "Work", is_namespaced=True, short_names=("wk",)),
    *plain_kinds("work.karmada.io", "ClusterResourceBinding", is_namespaced=False, short_names=("crb",)),
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
