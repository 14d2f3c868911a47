"""The clusters that a pass knows to be well, and those of which nobody knows how they are.

That we cannot see a cluster is no sign that it is down: nothing leaves it for that. Nor is a cluster good because
nothing bad is known of it: what is moved away goes where somebody has seen that it can run. As in Karmada, a fleet that
is compatible with it takes the one for ill health and the other for good.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth
from render.cluster import Cluster, ClusterCondition
from render.failover.health import OBSERVED, READY, TRUE, is_health_unknown, is_known_to_be_ready
from render.failover.tasks import HEALTHY, UNKNOWN_HEALTH
from render.failover.workload import WorkloadHealth
from render.settings.fleet import Fleet


class Sight(Struct, frozen=True, kw_only=True):
    """The knowledge that a pass has of its clusters.

    ``unseen`` has for each cluster of which nobody knows how it is the words that say why. ``unproven`` are those that
    nobody knows to be well; none where nobody observes any cluster of the fleet. ``unwell`` are those whose last known
    readiness is another one.
    """

    unseen: Mapping[str, str] = field(default_factory=dict)
    unproven: frozenset[str] = frozenset()
    unwell: frozenset[str] = frozenset()
    is_any_observed: bool = False

    def of(self, health: WorkloadHealth) -> WorkloadHealth:
        """Return the health of a workload as far as it is still known: what was last seen of a cluster may be over."""
        if not any(item.cluster in self.unwell for item in health.reported):
            return health
        return replace(
            health,
            reported=tuple(
                replace(item, health=UNKNOWN_HEALTH) if self._is_over(item.cluster, item.health) else item
                for item in health.reported
            ),
            unhealthy_since={name: at for name, at in health.unhealthy_since.items() if name not in self.unseen},
        )

    def _is_over(self, cluster: str, health: str) -> bool:
        return cluster in self.unseen or (cluster in self.unwell and health == HEALTHY)


def sight_of(clusters: Iterable[Cluster], fleet: Fleet, health: ObservedHealth) -> Sight:
    """Return what is known of the clusters of a fleet."""
    found = {cluster.name: health.conditions.get(cluster.name, ()) for cluster in clusters}
    if fleet.is_karmada_compatible:
        return Sight()
    well = {name for name, conditions in found.items() if is_known_to_be_ready(conditions)}
    unseen = {
        name: _words_of_unseen_cluster(name, conditions)
        for name, conditions in found.items()
        if is_health_unknown(conditions)
    }
    is_any_observed = any(found.values())
    return Sight(
        unseen=unseen,
        unproven=frozenset(found.keys() - well) if is_any_observed else frozenset(),
        unwell=frozenset(name for name, conditions in found.items() if conditions and name not in well),
        is_any_observed=is_any_observed,
    )


def _words_of_unseen_cluster(name: str, conditions: Iterable[ClusterCondition]) -> str:
    """Return the name of a cluster and why nobody knows how it is."""
    by_type = {each.type: each for each in conditions}
    observed = by_type.get(OBSERVED)
    if observed is not None and observed.status != TRUE:
        return f"{name}, which we have not been able to see since {observed.since} ({observed.reason})"
    return f"{name}, whose agent has been silent since {by_type[READY].since}"
