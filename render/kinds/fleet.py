"""The kinds of Karmada and Argosy themselves, and the API for services of several clusters that Karmada serves."""

from collections.abc import Sequence

from render.interpretation.fields import text_at
from render.interpretation.operations import Interpretation
from render.model import ARGOSY_GROUP, Manifest
from render.resources import DependentObject

from .kind import NO_DELIVERY_RULES, NO_PODS, NO_TEMPLATE_RULES, BuiltInKind, built_in_kinds_without_rules


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
    *built_in_kinds_without_rules("apps.karmada.io", "WorkloadRebalancer", is_namespaced=False),
    *built_in_kinds_without_rules(
        "autoscaling.karmada.io", "CronFederatedHPA", is_namespaced=True, short_names=("cronfhpa",)
    ),
    *built_in_kinds_without_rules("autoscaling.karmada.io", "FederatedHPA", is_namespaced=True, short_names=("fhpa",)),
    *built_in_kinds_without_rules("cluster.karmada.io", "Cluster", is_namespaced=False),
    *built_in_kinds_without_rules(
        "config.karmada.io", "ResourceInterpreterCustomization", is_namespaced=False, short_names=("ric",)
    ),
    *built_in_kinds_without_rules("config.karmada.io", "ResourceInterpreterWebhookConfiguration", is_namespaced=False),
    *built_in_kinds_without_rules(
        "config.karmada.io", "KarmadaInitConfig", is_namespaced=False, not_written="it is no object"
    ),
    *built_in_kinds_without_rules(
        "networking.karmada.io", "MultiClusterIngress", is_namespaced=True, short_names=("mci",)
    ),
    *built_in_kinds_without_rules(
        "networking.karmada.io", "MultiClusterService", is_namespaced=True, short_names=("mcs",)
    ),
    *built_in_kinds_without_rules("policy.karmada.io", "FederatedResourceQuota", is_namespaced=True),
    *built_in_kinds_without_rules("policy.karmada.io", "OverridePolicy", is_namespaced=True, short_names=("op",)),
    *built_in_kinds_without_rules("policy.karmada.io", "PropagationPolicy", is_namespaced=True, short_names=("pp",)),
    *built_in_kinds_without_rules(
        "policy.karmada.io", "ClusterOverridePolicy", is_namespaced=False, short_names=("cop",)
    ),
    *built_in_kinds_without_rules(
        "policy.karmada.io", "ClusterPropagationPolicy", is_namespaced=False, short_names=("cpp",)
    ),
    *built_in_kinds_without_rules("policy.karmada.io", "ClusterTaintPolicy", is_namespaced=False),
    *built_in_kinds_without_rules("remedy.karmada.io", "Remedy", is_namespaced=False),
    *built_in_kinds_without_rules("search.karmada.io", "ResourceRegistry", is_namespaced=False),
    *built_in_kinds_without_rules("work.karmada.io", "ResourceBinding", is_namespaced=True, short_names=("rb",)),
    *built_in_kinds_without_rules("work.karmada.io", "Work", is_namespaced=True, short_names=("wk",)),
    *built_in_kinds_without_rules(
        "work.karmada.io", "ClusterResourceBinding", is_namespaced=False, short_names=("crb",)
    ),
    *built_in_kinds_without_rules(
        ARGOSY_GROUP,
        "ClusterFacts ClusterResiliencePolicy ClusterRolloutPolicy Fleet HelmChart PolicyTest PriceList RollbackRequest"
        " RolloutControl Source",
        is_namespaced=False,
    ),
    *built_in_kinds_without_rules(ARGOSY_GROUP, "ResiliencePolicy RolloutPolicy", is_namespaced=True),
    BuiltInKind(
        group="multicluster.x-k8s.io",
        kind="ServiceImport",
        version="v1alpha1",
        is_namespaced=True,
        interpretation=Interpretation(dependencies=imported_dependencies),
        has_no=f"{NO_PODS} {NO_TEMPLATE_RULES} {NO_DELIVERY_RULES} retained progress",
    ),
    *built_in_kinds_without_rules("multicluster.x-k8s.io", "ServiceExport", is_namespaced=True),
)
"""The kinds that say where objects go, and those that Karmada keeps records in."""
