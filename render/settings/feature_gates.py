"""``spec.featureGates``: the gates of Karmada that rules of time and of quotas ask."""

from typing import Annotated

from msgspec import Struct

from .setting import FleetSetting, turned_to


class FeatureGates(Struct, frozen=True, kw_only=True):
    """Karmada's feature gates that rules of time and of quotas ask.

    ``failover``: ClusterTaintPolicies taint clusters, and NoExecute taints evict over time. ``graceful_eviction``: a
    workload may fail over with purgeMode Gracefully. ``stateful_failover_injection``: state goes along.
    ``federated_quota_enforcement``: nothing is placed beyond a FederatedResourceQuota.
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
            reach=turned_to(weak=False),
        ),
    ] = True


FEATURE_GATES = FleetSetting(
    "featureGates", "Karmada's feature gates.", in_karmada="--feature-gates of Karmada's components", is_tried=True
)
