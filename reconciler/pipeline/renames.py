"""Clusters under another name: what a previous pass recorded of them, told by the names that they have now.

A Cluster lists its former names in the annotation ``argosy.dev/renamed-from``, the last one last. The previous commit,
the facts and the reserves are read as if they had always named it as the source does now. So nothing moves, and the
next commit has the new name everywhere. From then on the annotation changes nothing: a commit that has a folder or
facts of the new name is never read by a former one, and what it has of that one beside is of no cluster any more.
Otherwise a cluster that is emptied would fall back to what it held under an earlier name.
"""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import TypeVar

from msgspec.structs import replace

from reconciler.ledger.facts import Facts
from render.binding import Binding, BindingSnapshot
from render.cluster import Cluster
from render.gitobjects import TREE_MODE
from render.model import ObjectRef, TargetCluster
from render.object_rollout import ObjectRollout
from render.placement import ClusterAffinityTerm, OverflowAffinity, Placement, ReplicaScheduling, StaticClusterWeight
from render.selectors import ClusterAffinity

from .previous import Previous, RenderedTree
from .reserves import Reserves, reserves_of_renamed

NewNames = Mapping[str, str]
"""The names that clusters have now, by those that they had."""

_Value = TypeVar("_Value")


def new_names_of_clusters(clusters: Iterable[Cluster], known: Container[str]) -> dict[str, str]:
    """Return the new names of the clusters that are not known by the names they have.

    Of several former names, the last one that is known counts.
    """
    named = {}
    for cluster in clusters:
        if cluster.former_names and cluster.name not in known:
            latest = [name for name in cluster.former_names if name in known] or cluster.former_names
            named[latest[-1]] = cluster.name
    return named


def previous_by_new_names(previous: Previous, clusters: Iterable[Cluster]) -> Previous:
    """Return a previous commit as if it had named every cluster as the source does now."""
    clusters = tuple(cluster for cluster in clusters if cluster.former_names)
    if not clusters:
        return previous
    return replace(
        previous_with_names(previous, names_to_read_tree_by(previous.tree, clusters)),
        tree=tree_by_new_names(previous.tree, clusters),
    )


def previous_without_clusters(previous: Previous, gone: Container[str]) -> Previous:
    """Return a previous commit as if it had no folders of some clusters."""
    kept = {name: folder for name, folder in previous.tree.clusters.items() if name not in gone}
    if len(kept) == len(previous.tree.clusters):
        return previous
    return replace(previous, tree=replace(previous.tree, clusters=kept))


def names_to_read_tree_by(tree: RenderedTree, clusters: Iterable[Cluster]) -> dict[str, str]:
    """Return the new names of the clusters of which a rendered tree has neither a folder nor facts by their names.

    A cluster that is drained has no folder, but its facts. Without former names nothing is read.
    """
    clusters = [cluster for cluster in clusters if cluster.former_names]
    if not clusters:
        return {}
    return new_names_of_clusters(clusters, {*tree.clusters, *_clusters_with_facts(tree)})


def tree_by_new_names(tree: RenderedTree, clusters: Iterable[Cluster]) -> RenderedTree:
    """Return a rendered tree with the folders of clusters by the names of now.

    The folder of a former name is left out where the tree knows the cluster by its own: it tells of the same cluster
    at an earlier time.
    """
    clusters = tuple(clusters)
    names = names_to_read_tree_by(tree, clusters)
    former = {name for cluster in clusters for name in cluster.former_names} - {cluster.name for cluster in clusters}
    gone = (former - names.keys()) & tree.clusters.keys()
    if not names and not gone:
        return tree
    kept = {name: folder for name, folder in tree.clusters.items() if name not in gone}
    return replace(tree, clusters=values_by_new_names(kept, names))


def _clusters_with_facts(tree: RenderedTree) -> Iterator[str]:
    if not tree.root:  # of a commit that a mirror never had, nothing is known
        return
    folder = tree.trees.entries(tree.root).get("facts")
    if folder is not None and folder.mode == TREE_MODE:
        for name in tree.trees.entries(folder.id):
            if name.endswith(".yaml"):
                yield name.removesuffix(".yaml")


def previous_with_names(previous: Previous, names: NewNames) -> Previous:
    """Return a previous commit with other names of clusters."""
    if not names:
        return previous
    tree = replace(previous.tree, clusters=values_by_new_names(previous.tree.clusters, names))
    return replace(previous, tree=tree, bindings=RenamedBindings(previous.bindings, names))


def facts_by_new_names(facts: Facts, clusters: Iterable[Cluster]) -> Facts:
    """Return facts by the names that the source gives the clusters now."""
    names = {old: new for old, new in new_names_of_clusters(clusters, facts).items() if old in facts}
    if not names:
        return facts
    return {name: replace(each, name=name) for name, each in sorted(values_by_new_names(facts, names).items())}


def reserves_by_new_names(reserves: Reserves, facts: Facts, clusters: Iterable[Cluster]) -> Reserves:
    """Return reserves by the names of now; ``facts`` are by these already."""
    return reserves_of_renamed(reserves, facts, new_names_of_clusters(clusters, reserves))


def likely_renames(before: Iterable[Cluster], after: Iterable[Cluster]) -> dict[str, str]:
    """Return the clusters that left while one cluster that is described alike came, with that one's name."""
    gone, come = ({each.name: each for each in clusters} for clusters in (before, after))
    twins = {
        old: [
            new
            for new in come
            if new not in gone and _description_of_cluster(come[new]) == _description_of_cluster(gone[old])
        ]
        for old in gone
        if old not in come
    }
    taken = [new for found in twins.values() for new in found]
    return {old: found[0] for old, found in twins.items() if len(found) == 1 and taken.count(found[0]) == 1}


def _description_of_cluster(cluster: Cluster) -> Cluster:
    return replace(cluster, name="", path="", document=0, former_names=())


def values_by_new_names(values: Mapping[str, _Value], names: NewNames) -> dict[str, _Value]:
    """Return values by cluster with the clusters' new names."""
    return {names.get(name, name): value for name, value in values.items()}


class RenamedBindings(Mapping[ObjectRef, Binding]):
    """Bindings that name clusters as they are called now."""

    __slots__ = ("_known", "bindings", "names")

    def __init__(self, bindings: Mapping[ObjectRef, Binding], names: NewNames) -> None:
        self.bindings, self.names = bindings, names
        self._known: dict[ObjectRef, Binding] = {}

    def __getitem__(self, ref: ObjectRef) -> Binding:
        if ref not in self._known:
            self._known[ref] = renamed_binding(self.bindings[ref], self.names)
        return self._known[ref]

    def __iter__(self) -> Iterator[ObjectRef]:
        return iter(self.bindings)

    def __len__(self) -> int:
        return len(self.bindings)


def renamed_binding(binding: Binding, names: NewNames) -> Binding:
    """Return a binding that names clusters as they are called now, in its outcome and in the rules it was made by."""
    if not names:
        return binding
    suspension = binding.suspension
    if suspension is not None:
        listed = _renamed_clusters(suspension.dispatching_on_clusters, names)
        suspension = replace(suspension, dispatching_on_clusters=listed)
    return replace(
        binding,
        targets=_renamed_targets(binding.targets, names),
        required_by=tuple(_renamed_snapshot(each, names) for each in binding.required_by),
        eviction_tasks=tuple(
            replace(each, from_cluster=names.get(each.from_cluster, each.from_cluster))
            for each in binding.eviction_tasks
        ),
        moved=None
        if (moved := binding.moved) is None
        else replace(moved, clusters=_renamed_clusters(moved.clusters, names)),
        suspension=suspension,
        placement=_renamed_placement(binding.placement, names),
        applied_placement=_renamed_placement(binding.applied_placement, names),
        conditions=tuple(
            replace(each, clusters=_renamed_clusters(each.clusters, names)) for each in binding.conditions
        ),
        kept=tuple(replace(each, clusters=_renamed_clusters(each.clusters, names)) for each in binding.kept),
        rollout=_renamed_rollout(binding.rollout, names),
        moving=None
        if (moving := binding.moving) is None
        else replace(moving, asked=_renamed_targets(moving.asked, names)),
    )


def _renamed_rollout(rollout: ObjectRollout | None, names: NewNames) -> ObjectRollout | None:
    if rollout is None:
        return None
    split = rollout.before_change
    clusters = (replace(each, names=tuple(sorted(_renamed_clusters(each.names, names)))) for each in rollout.clusters)
    splits = (replace(each, targets=_renamed_targets(each.targets, names)) for each in rollout.splits)
    return replace(
        rollout,
        clusters=tuple(clusters),
        splits=tuple(splits),
        before_change=None if split is None else replace(split, targets=_renamed_targets(split.targets, names)),
    )


def _renamed_clusters(listed: Iterable[str], names: NewNames) -> tuple[str, ...]:
    return tuple(names.get(name, name) for name in listed)


def _renamed_targets(targets: Iterable[TargetCluster], names: NewNames) -> tuple[TargetCluster, ...]:
    return tuple(TargetCluster(names.get(each.name, each.name), each.replicas) for each in targets)


def _renamed_snapshot(snapshot: BindingSnapshot, names: NewNames) -> BindingSnapshot:
    return replace(snapshot, clusters=_renamed_targets(snapshot.clusters, names))


def _renamed_placement(placement: Placement | None, names: NewNames) -> Placement | None:
    if placement is None:
        return None
    return replace(
        placement,
        cluster_affinity=placement.cluster_affinity and _renamed_cluster_affinity(placement.cluster_affinity, names),
        cluster_affinities=tuple(_renamed_affinity_term(each, names) for each in placement.cluster_affinities),
        replica_scheduling=_renamed_replica_scheduling(placement.replica_scheduling, names),
    )


def _renamed_cluster_affinity(affinity: ClusterAffinity, names: NewNames) -> ClusterAffinity:
    return replace(
        affinity,
        cluster_names=_renamed_clusters(affinity.cluster_names, names),
        exclude=_renamed_clusters(affinity.exclude, names),
    )


def _renamed_affinity_term(term: ClusterAffinityTerm, names: NewNames) -> ClusterAffinityTerm:
    overflow = term.overflow and tuple(
        OverflowAffinity(name=each.name, affinity=_renamed_cluster_affinity(each.affinity, names))
        for each in term.overflow
    )
    return replace(term, affinity=_renamed_cluster_affinity(term.affinity, names), overflow=overflow)


def _renamed_replica_scheduling(scheduling: ReplicaScheduling | None, names: NewNames) -> ReplicaScheduling | None:
    if scheduling is None or scheduling.weight_preference is None:
        return scheduling
    weights = tuple(
        StaticClusterWeight(target_cluster=_renamed_cluster_affinity(each.target_cluster, names), weight=each.weight)
        for each in scheduling.weight_preference.static_weight_list
    )
    return replace(scheduling, weight_preference=replace(scheduling.weight_preference, static_weight_list=weights))
