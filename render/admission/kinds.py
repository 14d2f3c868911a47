"""The kinds that ``render`` admits, each with its schema and rules; ``overrides`` adds its own."""

from functools import cache

from render.model import (
    ARGOSY_API_VERSION,
    BINDING_API_VERSION,
    CLUSTER_API_VERSION,
    CONFIG_API_VERSION,
    POLICY_API_VERSION,
)

from .bindings import BINDING_SPEC, BINDING_STATUS, warn_of_components_placed_together
from .charts import HELM_CHART_SPEC, check_helm_chart
from .clusters import CLUSTER_SPEC, CLUSTER_STATUS, check_cluster, cluster_name_fault, mutate_cluster
from .customizations import CUSTOMIZATION_SPEC, check_scripts, warn_of_ineffective_customization
from .fleets import FLEET_SPEC, check_fleet, fleet_name_fault, set_fleet_name
from .policies import PROPAGATION_SPEC, check_policy, mutate_policy
from .policy_tests import POLICY_TEST_SPEC, check_policy_test
from .policy_warnings import warn_of_policy
from .prices import price_list_kind
from .resilience import resilience_kinds
from .rollbacks import rollback_kind
from .rollouts import rollout_kinds
from .sources import SOURCE_SPEC, check_source
from .stages import AdmittedKind, Kinds
from .timed.kinds import timed_kinds
from .walking import Reading, walk_for_node

_TYPED = Reading()
_STORED = Reading(is_typed=False)
_DECODED = Reading(is_decoded=True)


@cache
def render_kinds() -> Kinds:
    """Return the kinds by name; closures are made when they are first asked for."""
    return {
        each.kind: each
        for each in (
            _admitted_propagation_policy_kind("PropagationPolicy", is_namespaced=True),
            _admitted_propagation_policy_kind("ClusterPropagationPolicy", is_namespaced=False),
            _admitted_binding_kind("ResourceBinding", is_namespaced=True),
            _admitted_binding_kind("ClusterResourceBinding", is_namespaced=False),
            AdmittedKind(
                api_version=CLUSTER_API_VERSION,
                kind="Cluster",
                is_namespaced=False,
                schema=CLUSTER_SPEC,
                spec=walk_for_node(CLUSTER_SPEC, _DECODED),
                status=walk_for_node(CLUSTER_STATUS, _DECODED),
                is_decoded=True,
                name_fault=cluster_name_fault,
                mutate=mutate_cluster,
                check=check_cluster,
            ),
            AdmittedKind(
                api_version=CONFIG_API_VERSION,
                kind="ResourceInterpreterCustomization",
                is_namespaced=False,
                schema=CUSTOMIZATION_SPEC,
                spec=walk_for_node(CUSTOMIZATION_SPEC, _STORED),
                check=check_scripts,
                warn=warn_of_ineffective_customization,
            ),
            *timed_kinds(),
            *rollout_kinds(),
            price_list_kind(),
            rollback_kind(),
            *resilience_kinds(),
            *_kinds_of_argosy(),
        )
    }


def _kinds_of_argosy() -> tuple[AdmittedKind, ...]:
    return (
        AdmittedKind(
            api_version=ARGOSY_API_VERSION,
            kind="Fleet",
            is_namespaced=False,
            schema=FLEET_SPEC,
            spec=walk_for_node(FLEET_SPEC, _STORED),
            is_spec_required=False,
            name_fault=fleet_name_fault,
            prepare=set_fleet_name,
            check=check_fleet,
        ),
        AdmittedKind(
            api_version=ARGOSY_API_VERSION,
            kind="PolicyTest",
            is_namespaced=False,
            schema=POLICY_TEST_SPEC,
            spec=walk_for_node(POLICY_TEST_SPEC, _STORED),
            check=check_policy_test,
        ),
        AdmittedKind(
            api_version=ARGOSY_API_VERSION,
            kind="Source",
            is_namespaced=False,
            schema=SOURCE_SPEC,
            spec=walk_for_node(SOURCE_SPEC, _STORED),
            check=check_source,
        ),
        AdmittedKind(
            api_version=ARGOSY_API_VERSION,
            kind="HelmChart",
            is_namespaced=True,
            schema=HELM_CHART_SPEC,
            spec=walk_for_node(HELM_CHART_SPEC, _STORED),
            check=check_helm_chart,
        ),
    )


def _admitted_propagation_policy_kind(kind: str, *, is_namespaced: bool) -> AdmittedKind:
    return AdmittedKind(
        api_version=POLICY_API_VERSION,
        kind=kind,
        is_namespaced=is_namespaced,
        schema=PROPAGATION_SPEC,
        spec=walk_for_node(PROPAGATION_SPEC, _TYPED),
        mutate=mutate_policy,
        check=check_policy,
        warn=warn_of_policy,
    )


def _admitted_binding_kind(kind: str, *, is_namespaced: bool) -> AdmittedKind:
    return AdmittedKind(
        api_version=BINDING_API_VERSION,
        kind=kind,
        is_namespaced=is_namespaced,
        schema=BINDING_SPEC,
        spec=walk_for_node(BINDING_SPEC, _TYPED),
        status=walk_for_node(BINDING_STATUS, _TYPED),
        warn=warn_of_components_placed_together,
    )
