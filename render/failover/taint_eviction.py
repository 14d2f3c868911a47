"""Eviction from clusters with NoExecute taints, at once or when tolerating them ends.

1. for each NoExecute taint, the first toleration that covers it is *used*; a taint that none covers evicts at once;
2. a used toleration with ``tolerationSeconds`` ends that long after the time of each NoExecute taint it covers, also
   of those that another toleration was used for;
3. the earliest end evicts, at that very instant; without one the taints are tolerated for ever.

The tolerations are those of the placement last applied, never of a newer policy.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec import Struct

from render.binding import AggregatedStatusItem, GracefulEvictionTask
from render.cluster import Taint, is_tolerated
from render.model import Manifest
from render.placement import Toleration
from render.timing import FIRST, instant_after, parse_instant

from .eviction import GRACEFULLY, Leaving, evict_cluster, labels_preserved_from_status

NO_EXECUTE = "NoExecute"
PRODUCER = "TaintManager"
REASON = "TaintUntolerated"


def no_execute_taints(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """Return the taints that evict."""
    return tuple(taint for taint in taints if taint.effect == NO_EXECUTE)


def tolerations_used_for_taints(
    taints: Iterable[Taint], tolerations: Sequence[Toleration]
) -> tuple[Toleration, ...] | None:
    """Return the toleration used for each taint; None where a taint is not tolerated."""
    used = [next((each for each in tolerations if is_tolerated(taint, (each,))), None) for taint in taints]
    found = tuple(each for each in used if each is not None)
    return found if len(found) == len(used) else None


def time_of_taint_eviction(taints: Sequence[Taint], tolerations: Sequence[Toleration]) -> datetime | None:
    """Return the instant from which NoExecute taints evict; the first there is means at once, None means never."""
    used = tolerations_used_for_taints(taints, tolerations)
    if used is None:
        return FIRST
    ends = (
        instant_after(added, toleration.toleration_seconds)
        for toleration in used
        if toleration.toleration_seconds is not None
        for taint in taints
        if is_tolerated(taint, (toleration,)) and (added := parse_instant(taint.time_added))
    )
    return min(ends, default=None)


class TaintedBinding(Struct, frozen=True, kw_only=True):
    """A binding that leaves tainted clusters: its targets and tasks, its policy's ``failover``, and what it reports.

    ``purge_mode`` is the fleet's, where the policy has none. ``is_state_preserved``: the gate of state preservation is
    on.
    """

    state: Leaving
    failover: Manifest | None = None
    reported: Sequence[AggregatedStatusItem] = ()
    purge_mode: str = GRACEFULLY
    is_state_preserved: bool = False


def state_after_taint_eviction(binding: TaintedBinding, cluster: str) -> Leaving:
    """Return targets and tasks after a tainted cluster is left; PreservationError where its state cannot be read."""
    own = (binding.failover or {}).get("cluster")
    mode = binding.purge_mode if own is None else own.get("purgeMode") or GRACEFULLY
    rules = ((own or {}).get("statePreservation") or {}).get("rules") or ()
    labels = (
        labels_preserved_from_status(rules, cluster, binding.reported) if rules and binding.is_state_preserved else {}
    )
    task = GracefulEvictionTask(
        from_cluster=cluster, purge_mode=mode, reason=REASON, producer=PRODUCER, preserved_label_state=labels
    )
    return evict_cluster(binding.state, task)
