"""Clusters that are held back: too much would leave them at once, so that they keep their folders as they are.

This is ``removalGuard.scope: Cluster``. It is a part of rendering, so that a replay makes the same tree.

1. the removals that break a limit and are not allowed hold back their clusters, whole folders at once;
2. an object that would be another one there has the condition ``Rendered=False`` in its binding;
3. an object that nothing asks for any more keeps its binding for these clusters, and with it what is to become of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.expressions import lazy_expression
from render.model import ObjectRef, TargetCluster
from render.settings.fleet import Fleet
from render.settings.removal_guard import GuardScope
from render.tree import Variant
from render.words import counted_noun

from .assembly import Assembly, TreeContext
from .cluster_removals import (
    Departures,
    Paths,
    Removal,
    claimed_namespaces,
    removals_by_cluster,
    removals_with_lost_places,
)
from .lost_places import paths_of_unmet_policies
from .readme import Tally
from .rendered_condition import with_held_condition

_HELD = lazy_expression(r"(?:^|; )(?P<cluster>[a-z0-9.-]+): (?P<leaving>[0-9]{1,9}) of [0-9]+ objects? would leave \(")


class HeldClusters(Struct, frozen=True, kw_only=True):
    """The removals that hold back a cluster each, and the fleet they are in."""

    removals: tuple[Removal, ...]
    fleet: TreeContext

    @property
    def mask(self) -> Mask:
        """The clusters as bits."""
        return self.fleet.index.clusters_named(each.cluster for each in self.removals)

    @property
    def folders(self) -> Mapping[str, bytes]:
        """The folders that they keep."""
        before = self.fleet.previous.clusters if self.fleet.previous else {}
        return {each.cluster: before[each.cluster] for each in self.removals}

    def tally(self, tally: Tally) -> Tally:
        """Return the counts of a tree with these folders, given those without."""
        previous = self.fleet.previous
        if previous is None or not self.removals:
            return tally
        kept = {name: sum(1 for _ in previous.files(tree_id)) for name, tree_id in self.folders.items()}
        return replace(tally, objects={**tally.objects, **kept})

    def reason(self, clusters: Iterable[str]) -> str:
        """Return why some of them are held back."""
        wanted = frozenset(clusters)
        return "; ".join(_removal_words(each) for each in self.removals if each.cluster in wanted)


class Hold(NamedTuple):
    """A cluster that is held back, as a condition says it: how many objects would leave, and in words why."""

    cluster: str
    leaving: int
    words: str


def holds_named_in_message(message: str) -> tuple[Hold, ...]:
    """Return the clusters that the message of a condition holds back; none where it tells of other faults alone.

    >>> holds_named_in_message("eu: 11 of 12 objects would leave (more than 10; all of shop)")
    (Hold(cluster='eu', leaving=11, words='11 of 12 objects would leave (more than 10; all of shop)'),)
    >>> holds_named_in_message("eu: OverridePolicy shop/web: spec.overrideRules[0]: '/a' does not exist")
    ()
    """
    found = list(_HELD.finditer(message))
    starts = [*(each.start() for each in found), len(message)]
    return tuple(
        Hold(each["cluster"], int(each["leaving"]), message[each.start("leaving") : end])
        for each, end in zip(found, starts[1:], strict=True)
    )


def _removal_words(removal: Removal) -> str:
    leaving = f"{len(removal.paths)} of {counted_noun(removal.count_before, 'object')} would leave"
    return f"{removal.cluster}: {leaving} ({'; '.join(removal.reasons)})"


def clusters_to_hold(
    assembly: Assembly,
    folders: Mapping[str, bytes],
    settings: Fleet,
    allowed: Mapping[str, int],
    expected: Mapping[str, Paths],
    bindings: Iterable[Binding],
) -> HeldClusters:
    """Return the clusters that would lose more than the guard lets go and than is allowed; none on a first run.

    ``expected`` are the paths that leave a cluster by a rule of failover, ``bindings`` all of the pass.
    """
    fleet, previous = assembly.fleet, assembly.fleet.previous
    if settings.removal_guard.scope is not GuardScope.CLUSTER or previous is None:
        return HeldClusters(removals=(), fleet=fleet)
    claimed = claimed_namespaces(previous.root, assembly.entries)
    limits, unmet = settings.removal_guard, paths_of_unmet_policies(bindings, fleet.index, settings)
    departures = Departures(expected=expected)
    found = removals_by_cluster(previous.clusters, folders, assembly.entries, limits, departures, claimed)
    found = removals_with_lost_places(found, unmet, folders, assembly.entries)
    refused = tuple(each for each in found if each.is_refused(allowed.get(each.cluster, 0)))
    return HeldClusters(removals=refused, fleet=fleet)


def bindings_with_held_clusters(
    placed: Iterable[tuple[Binding, tuple[Variant, ...]]],
    held: HeldClusters,
    before: Mapping[ObjectRef, Binding],
    gone: Iterable[ObjectRef],
    source: str,
) -> Iterator[Binding]:
    """Yield bindings with what held clusters keep; ``placed`` are those of a pass, ``gone`` what may have none now."""
    known = set()
    for binding, variants in placed:
        known.add(binding.ref)
        clusters = _held_clusters_with_other_content(variants, held.fleet.variants_of(binding.ref, held.mask), held)
        yield with_held_condition(binding, clusters, held.reason(clusters), before, source) if clusters else binding
    for ref in gone:
        clusters = (
            () if ref in known else _held_clusters_with_other_content((), held.fleet.variants_of(ref, held.mask), held)
        )
        if clusters and ref in before:
            kept = _binding_kept_in_clusters(before[ref], clusters)
            yield with_held_condition(kept, clusters, held.reason(clusters), before, source)


def _held_clusters_with_other_content(
    wanted: Iterable[Variant], there: Iterable[Variant], held: HeldClusters
) -> tuple[str, ...]:
    """Return the held clusters that have something else of an object than they should."""
    found: Mask = 0
    ids: dict[bytes, Mask] = {}
    for clusters, blob_id in there:
        ids[blob_id] = ids.get(blob_id, 0) | clusters
    for clusters, blob_id in wanted:
        same = ids.get(blob_id, 0) & clusters
        found |= clusters & held.mask & ~same
        ids[blob_id] = ids.get(blob_id, 0) & ~same
    for clusters in ids.values():
        found |= clusters
    return tuple(held.fleet.index.names[index] for index in indexes_of_mask(found & held.mask))


def _binding_kept_in_clusters(binding: Binding, clusters: tuple[str, ...]) -> Binding:
    """Return the binding of an object that is left in some clusters, and asked for by nothing any more."""
    replicas = {target.name: target.replicas for target in binding.targets}
    targets = tuple(TargetCluster(name, replicas.get(name, 0)) for name in clusters)
    return replace(binding, targets=targets, required_by=(), conditions=())
