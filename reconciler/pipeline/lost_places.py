"""Objects that have no cluster any more because no cluster is what their policies ask for: a typo does that.

Such an object is not evicted: its template is there, and a policy claims it. Where clusters hold the last copies of it,
the removal guard asks whether these are meant to go. With ``failover.lastCopy: Evict``, as in Karmada, it does not.
"""

from collections.abc import Iterable, Iterator

from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.layout import object_path
from render.placement import Placement
from render.scheduling.unmet_placements import is_met_by_no_cluster
from render.settings.fleet import Fleet

from .cluster_removals import Paths


def paths_of_unmet_policies(bindings: Iterable[Binding], index: ClusterIndex, fleet: Fleet) -> Paths:
    """Return the paths below a cluster's folder of the objects that no cluster takes, as none meets their policies."""
    if not fleet.failover.guard.keeps_last_copy:
        return frozenset()
    return frozenset(_paths_of_unmet_policies(bindings, index))


def _paths_of_unmet_policies(bindings: Iterable[Binding], index: ClusterIndex) -> Iterator[tuple[str, ...]]:
    known: dict[tuple[Placement, str], bool] = {}
    for binding in bindings:
        if binding.targets or binding.required_by or not binding.policy or binding.placement is None:
            continue
        if binding.preserve_resources_on_deletion:  # it stays where it is, and only Argosy lets go of it
            continue
        asked = binding.placement, binding.observed_affinity
        if asked not in known:
            known[asked] = is_met_by_no_cluster(binding.placement, index, binding.observed_affinity)
        if known[asked]:
            yield tuple(object_path(binding.ref))
