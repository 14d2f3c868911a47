"""The assumptions of an answer: all that it takes for granted, because no pass and nobody else can know it."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from reconciler.console.cluster_lists import shortened_cluster_list
from reconciler.ledger.facts import Facts
from reconciler.pipeline.previous import Previous
from render.binding import Binding
from render.cluster import CORDON, Cluster
from render.failover.health import NOT_READY_KEY, UNREACHABLE_KEY

from .losses import Losses
from .outcome import FactAge

_SHORT = 12
_FEW_NAMES = 5
_SILENT = {NOT_READY_KEY, UNREACHABLE_KEY}


def assumptions_of_losses(losses: Losses, facts: Sequence[FactAge], observed: Collection[str]) -> tuple[str, ...]:
    """Return what the answer to every loss takes for granted; ``observed`` are the clusters that somebody looked at."""
    blind = [each.cluster for each in facts if not each.has_capacity]
    return (
        *words_of_silent_refuges(losses),
        *words_of_cordoned_clusters(losses.clusters, losses.placed.values()),
        *words_of_unseen_clusters(facts, observed, ()),
        *([f"what may go to {_names(blind)} has room there, for no capacity is known"] if blind else ()),
        "what a loss takes is placed anew at once; --without-cluster NAME says when that happens by itself, if ever",
    )


def words_of_silent_refuges(losses: Losses) -> Iterator[str]:
    """Yield that clusters of which it is not known that they are ready count as a refuge of every loss."""
    yield from words_of_silent_clusters(losses.clusters, losses.placed.values(), losses.inputs.facts)


def words_of_silent_clusters(clusters: Iterable[Cluster], placed: Iterable[Binding], facts: Facts) -> Iterator[str]:
    """Yield that clusters of which it is not known that they are ready are counted on, as they hold something.

    What is there stays, and may get more; nothing that is not there comes to them.
    """
    occupied = _occupied_clusters(placed)
    for cluster in clusters:
        if cluster.name in occupied and _is_silent(cluster):
            yield f"{_recorded_as_silent(cluster, facts)}, is counted on: what it holds is taken to run"


def words_of_cordoned_clusters(clusters: Iterable[Cluster], placed: Iterable[Binding]) -> Iterator[str]:
    """Yield that clusters which are cordoned may get more of what they hold."""
    occupied = _occupied_clusters(placed)
    for cluster in clusters:
        if cluster.name in occupied and _is_cordoned(cluster):
            yield f"{cluster.name} is cordoned: nothing new comes to it, but what it holds may get more replicas there"


def words_of_clusters_supposed_as_they_are(
    clusters: Iterable[Cluster], lost: Collection[str], cordoned: Collection[str], facts: Facts
) -> Iterator[str]:
    """Yield of which clusters it is supposed what they are already."""
    for cluster in clusters:
        if cluster.name in lost and _is_silent(cluster):
            yield (
                f"{_recorded_as_silent(cluster, facts)}, is so already:"
                " what is missing there is counted from the time of this answer on, not from that of its silence"
            )
        if cluster.name in cordoned and _is_cordoned(cluster):
            yield f"{cluster.name} is cordoned already: to suppose it makes no pass decide otherwise"


def _recorded_as_silent(cluster: Cluster, facts: Facts) -> str:
    known = facts.get(cluster.name)
    at = f" at {known.observed_at}" if known and known.observed_at else ""
    return f"{cluster.name}, recorded as silent or not ready{at}"


def _occupied_clusters(placed: Iterable[Binding]) -> frozenset[str]:
    return frozenset(target.name for each in placed for target in each.targets)


def _is_silent(cluster: Cluster) -> bool:
    return any(taint.key in _SILENT for taint in cluster.taints)


def _is_cordoned(cluster: Cluster) -> bool:
    return any((taint.key, taint.effect) == (CORDON.key, CORDON.effect) for taint in cluster.taints)


def assumptions_of_headroom(
    facts: Sequence[FactAge], observed: Collection[str], lost: Collection[str]
) -> tuple[str, ...]:
    """Return what a headroom takes for granted."""
    return (*words_of_unseen_clusters(facts, observed, lost), "each further replica requests what one requests now")


def words_of_pass_before(previous: Previous | None, source: str, added: Collection[str] = ()) -> Iterator[str]:
    """Yield that a pass over what is not rendered yet comes before all that is asked about.

    ``source`` is a commit ("": the work tree), ``added`` are the files that are supposed to be in it.
    """
    if not added and previous is not None and source and previous.source == source:
        return
    what = f"source {source[:_SHORT]}, which is not rendered yet," if source else "the work tree"
    if added:
        what = f"the source with the added {'file' if len(added) == 1 else 'files'}"
    yield f"the {'' if previous else 'first '}pass over {what} comes before all of it"


def words_of_unseen_clusters(
    facts: Sequence[FactAge], observed: Collection[str], lost: Collection[str]
) -> Iterator[str]:
    """Yield that clusters which nobody has looked at count as ready."""
    unseen = [each.cluster for each in facts if each.cluster not in observed and each.cluster not in lost]
    if unseen:
        is_one = len(unseen) == 1
        yield f"nobody has looked at {_names(unseen)}, and {'it is' if is_one else 'they are'} taken to be ready"


def _names(clusters: Sequence[str]) -> str:
    return shortened_cluster_list(clusters, ", ", _FEW_NAMES)
