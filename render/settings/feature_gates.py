"""``spec.featureGates``: all of Karmada's gates, those that are acted on and those that decide nothing here."""

from collections.abc import Mapping
from typing import Annotated, NamedTuple

from msgspec import Struct

from .setting import FleetSetting, reach_of_switch


class IdleGate(NamedTuple):
    """A gate that decides nothing here: what does instead, a hint, and the value that says what happens anyway.

    The value is None where neither says that. ``is_reserving``: it is that of ``reserveCapacity``.
    """

    instead: str
    hint: str = ""
    as_here: bool | None = None
    is_reserving: bool = False


_PROCESSES = IdleGate("it is about the processes of Karmada", "leave it out")
IDLE_GATES: Mapping[str, IdleGate] = {
    "PropagateDeps": IdleGate(
        "a policy says with `propagateDeps` whether objects go along that a workload depends on", as_here=True
    ),
    "PriorityBasedScheduling": IdleGate(
        "objects of a pass are always scheduled by their `schedulePriority`", as_here=True
    ),
    "SchedulingOvercommitProtection": IdleGate(
        "`reserveCapacity` says whether what was just placed lowers the capacity that is left",
        "write reserveCapacity",
        is_reserving=True,
    ),
    "ResourceQuotaEstimate": IdleGate(
        "ResourceQuotas of the members do not count where room does",
        "a FederatedResourceQuota limits what a namespace requests",
        as_here=False,
    ),
    "MultiClusterService": IdleGate(
        "it needs a network between clusters, which Argosy does not build", "leave it out", as_here=False
    ),
    "ControllerPriorityQueue": _PROCESSES,
    "ContextualLogging": _PROCESSES,
    "LoggingAlphaOptions": _PROCESSES,
    "LoggingBetaOptions": _PROCESSES,
}
"""The gates of Karmada that are known here and decide nothing, by their names."""


def _setting_of_idle_gate(name: str) -> FleetSetting:
    """Return the setting of a gate that decides nothing."""
    return FleetSetting(name, f"It decides nothing here: {IDLE_GATES[name].instead}.")


class FeatureGates(Struct, frozen=True, kw_only=True):
    """Karmada's feature gates.

    ``failover``: ClusterTaintPolicies taint clusters, and NoExecute taints evict over time. ``graceful_eviction``: a
    workload may fail over with purgeMode Gracefully. ``stateful_failover_injection``: state goes along.
    ``federated_quota_enforcement``: nothing is placed beyond a FederatedResourceQuota.
    ``multiple_pod_templates_scheduling``: a workload with several pod templates counts by its components.
    ``customized_cluster_resource_modeling``: resource models of clusters count. ``propagation_policy_preemption``: a
    policy with preemption Always takes over. ``workload_affinity``: workloads of a group go together, or apart.
    Each gate below these decides nothing here; None where it is not written.
    """

    failover: Annotated[
        bool,
        FleetSetting(
            "Failover",
            "Whether ClusterTaintPolicies taint clusters, and NoExecute taints evict when tolerating them ends. While"
            " it is false, such policies do nothing, and a NoExecute taint of the source moves replicas at once.",
        ),
    ] = False
    graceful_eviction: Annotated[
        bool, FleetSetting("GracefulEviction", "Whether a workload may fail over with `purgeMode: Gracefully`.")
    ] = True
    stateful_failover_injection: Annotated[
        bool, FleetSetting("StatefulFailoverInjection", "Whether `statePreservation` of policies takes labels along.")
    ] = False
    federated_quota_enforcement: Annotated[
        bool,
        FleetSetting(
            "FederatedQuotaEnforcement",
            "Whether nothing is placed beyond a FederatedResourceQuota. With `compatibility: Karmada`, it is false.",
            karmada=False,
            reach=reach_of_switch(weak=False),
        ),
    ] = True
    multiple_pod_templates_scheduling: Annotated[
        bool,
        FleetSetting(
            "MultiplePodTemplatesScheduling",
            "Whether workloads with several pod templates, such as a FlinkDeployment, are scheduled and count for"
            " quotas by their components, each with its own requests. They are not divided: every cluster that is"
            " chosen gets all of them, and a spread constraint of one cluster asks for room for them together.",
        ),
    ] = False
    customized_cluster_resource_modeling: Annotated[
        bool,
        FleetSetting(
            "CustomizedClusterResourceModeling", "Whether `resourceModels` of Clusters count where room does."
        ),
    ] = True
    propagation_policy_preemption: Annotated[
        bool,
        FleetSetting(
            "PropagationPolicyPreemption",
            "Whether a policy with `preemption: Always` takes over what another one claims. With"
            " `compatibility: Karmada`, it is false.",
            karmada=False,
        ),
    ] = True
    workload_affinity: Annotated[
        bool,
        FleetSetting(
            "WorkloadAffinity",
            "Whether `workloadAffinity` of placements keeps workloads together or apart. With `compatibility: Karmada`,"
            " it is false.",
            karmada=False,
        ),
    ] = True
    propagate_deps: Annotated[bool | None, _setting_of_idle_gate("PropagateDeps")] = None
    priority_based_scheduling: Annotated[bool | None, _setting_of_idle_gate("PriorityBasedScheduling")] = None
    scheduling_overcommit_protection: Annotated[
        bool | None, _setting_of_idle_gate("SchedulingOvercommitProtection")
    ] = None
    resource_quota_estimate: Annotated[bool | None, _setting_of_idle_gate("ResourceQuotaEstimate")] = None
    multi_cluster_service: Annotated[bool | None, _setting_of_idle_gate("MultiClusterService")] = None
    controller_priority_queue: Annotated[bool | None, _setting_of_idle_gate("ControllerPriorityQueue")] = None
    contextual_logging: Annotated[bool | None, _setting_of_idle_gate("ContextualLogging")] = None
    logging_alpha_options: Annotated[bool | None, _setting_of_idle_gate("LoggingAlphaOptions")] = None
    logging_beta_options: Annotated[bool | None, _setting_of_idle_gate("LoggingBetaOptions")] = None


FEATURE_GATES = FleetSetting(
    "featureGates", "Karmada's feature gates.", in_karmada="--feature-gates of Karmada's components", is_tried=True
)
