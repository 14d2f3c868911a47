"""The times since when workloads are as clusters report them, by the looks of passes.

Timers go by what a pass saw, and never by another machine's clock: what an agent tells is so since a pass first took it
in. Nor do they run while nobody sees a cluster: they start with the first look at it afterwards.
"""

from collections.abc import Collection

from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from render.failover.health import is_health_unknown
from render.failover.tasks import UNKNOWN_HEALTH


def health_with_times_of_passes(
    health: ObservedHealth, before: ObservedHealth, reported_by_agents: Collection[str], now: str
) -> ObservedHealth:
    """Return health with the times of the passes' own looks, given that of the last pass.

    ``reported_by_agents`` are the clusters whose agents tell of them, with times of their own clocks.
    """
    known = {ref: {each.cluster: each for each in found} for ref, found in before.workloads.items()}
    unseen = frozenset(name for name, found in health.conditions.items() if is_health_unknown(found))

    def with_time(each: ReportedHealth, last: ReportedHealth | None) -> ReportedHealth:
        if each.cluster in unseen:
            each = replace(each, health=UNKNOWN_HEALTH, since="")
        elif each.cluster in reported_by_agents:
            each = replace(each, since="")
        if last is None:
            return replace(each, since=each.since or now)
        return replace(each, since=max(each.since, last.since) if last.health == each.health else now)

    return replace(
        health,
        workloads={
            ref: tuple(with_time(each, known.get(ref, {}).get(each.cluster)) for each in found)
            for ref, found in health.workloads.items()
        },
    )
