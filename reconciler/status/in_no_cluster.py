"""Objects that are in no cluster though a policy places them: each cluster that should have one was taken back.

A cluster that is held has what an earlier commit says. What came to it later is not there, and may be nowhere else.
"""

from collections.abc import Iterator

from reconciler.record.binding_status import expected_clusters
from reconciler.record.cluster_files import ObjectReason
from reconciler.record.recorded_status import path_in_cluster
from render.binding import Binding

from .branches import RecordedFleet
from .staleness import HELD

IN_NO_CLUSTER = "InNoCluster"


def objects_in_no_cluster(branches: RecordedFleet) -> Iterator[ObjectReason]:
    """Yield each object that no cluster has, once for each held cluster that should have it."""
    if not any(each.hold for each in branches.progress.values()):
        return
    there = _objects_somewhere(branches)
    for binding in branches.fleet.bindings:
        clusters = _clusters_if_all_are_held(binding, branches)
        if not clusters or str(binding.ref) in there or path_in_cluster(binding.ref) in there:
            continue
        for name in clusters:
            hold = branches.progress[name].hold
            yield ObjectReason(
                cluster=name,
                object=str(binding.ref),
                reason=IN_NO_CLUSTER,
                message="it is not in the commit that the cluster is held at, and no other cluster has it",
                since=hold.since if hold is not None else "",
                is_applied=False,
            )


def _clusters_if_all_are_held(binding: Binding, branches: RecordedFleet) -> tuple[str, ...]:
    """Return the clusters that should have an object, if all of them are held at commits that they have."""
    names = tuple(name for name in expected_clusters(binding) if name not in binding.undispatched_clusters)
    found = [branches.progress.get(name) for name in names]
    is_known = all(each is not None and each.reason == HELD for each in found)
    return names if is_known else ()


def _objects_somewhere(branches: RecordedFleet) -> frozenset[str]:
    """Return the paths of all objects that are recorded in some cluster, and those that clusters keep, by name."""
    applied = (path.split("/", 2)[2] for path in branches.recorded.paths_below("works"))
    kept = (str(each.ref) for record in branches.recorded.clusters().values() for each in record.deviations)
    return frozenset((*applied, *kept))
