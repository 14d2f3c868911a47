"""Records of clusters under former names, read by the names of now: whole values in, whole values out."""

from typing import NamedTuple

from reconciler.pipeline.previous import RenderedTree, StoredTrees
from reconciler.pipeline.renames import likely_renames, new_names_of_clusters, renamed_binding, tree_by_new_names
from render.binding import Binding, BindingSnapshot, Condition, GracefulEvictionTask
from render.cluster import Cluster
from render.gitobjects import BLOB_MODE, TREE_MODE, TreeEntry
from render.model import ObjectRef, TargetCluster
from render.placement import (
    ClusterAffinityTerm,
    ClusterPreferences,
    OverflowAffinity,
    Placement,
    ReplicaScheduling,
    StaticClusterWeight,
)
from render.policy import Suspension
from render.selectors import ClusterAffinity

from .tables import each_row


def a_binding(name: str) -> Binding:
    """A binding that names a cluster in every place there is for one, beside another cluster."""
    affinity = ClusterAffinity(cluster_names=("rome", name), exclude=(name,))
    weights = (StaticClusterWeight(target_cluster=affinity, weight=2),)
    placement = Placement(
        cluster_affinity=affinity,
        cluster_affinities=(
            ClusterAffinityTerm(
                name="paris", affinity=affinity, overflow=(OverflowAffinity(name="paris", affinity=affinity),)
            ),
        ),
        replica_scheduling=ReplicaScheduling(weight_preference=ClusterPreferences(static_weight_list=weights)),
    )
    targets = (TargetCluster(name, 2), TargetCluster("rome", 1))
    return Binding(
        ref=ObjectRef("apps", "Deployment", "paris", "paris"),
        api_version="apps/v1",
        placement=placement,
        applied_placement=placement,
        targets=targets,
        required_by=(BindingSnapshot(namespace="paris", name="paris", clusters=targets),),
        eviction_tasks=(GracefulEvictionTask(from_cluster=name, producer="paris"),),
        suspension=Suspension(dispatching_on_clusters=("rome", name)),
        observed_affinity="paris",
        conditions=(Condition(type="Rendered", status="False", reason="paris", clusters=(name,)),),
    )


def test_a_binding_names_clusters_anew_wherever_it_does_and_nothing_else() -> None:
    assert renamed_binding(a_binding("paris"), {"paris": "lyon"}) == a_binding("lyon")
    assert renamed_binding(a_binding("paris"), {"oslo": "lyon"}) == a_binding("paris")


class Known(NamedTuple):
    why: str
    former: tuple[str, ...]
    known: frozenset[str]
    want: dict[str, str]


KNOWN = [
    Known("the one former name", ("paris",), frozenset({"paris", "rome"}), {"paris": "lyon"}),
    Known("the last of those that are known", ("a", "b", "c"), frozenset({"a", "b"}), {"b": "lyon"}),
    Known("none is known: it may have held nothing", ("a", "b"), frozenset(), {"b": "lyon"}),
    Known("it is known by its own name", ("paris",), frozenset({"paris", "lyon"}), {}),
    Known("it had no other name", (), frozenset({"paris"}), {}),
]


@each_row("case", KNOWN, ids=lambda case: case.why)
def test_the_former_name_that_counts(case: Known) -> None:
    assert (
        new_names_of_clusters([Cluster(name="lyon", former_names=case.former), Cluster(name="rome")], case.known)
        == case.want
    )


class Likely(NamedTuple):
    why: str
    before: tuple[Cluster, ...]
    after: tuple[Cluster, ...]
    want: dict[str, str]


LIKELY = [
    Likely(
        "one left, and one like it came",
        (Cluster(name="a", region="eu"),),
        (Cluster(name="b", region="eu"),),
        {"a": "b"},
    ),
    Likely("one of another region came", (Cluster(name="a", region="eu"),), (Cluster(name="b", region="us"),), {}),
    Likely("two like it came", (Cluster(name="a"),), (Cluster(name="b"), Cluster(name="c")), {}),
    Likely("two like it left", (Cluster(name="a"), Cluster(name="b")), (Cluster(name="c"),), {}),
    Likely("none left", (Cluster(name="a"),), (Cluster(name="a"), Cluster(name="b")), {}),
]


@each_row("case", LIKELY, ids=lambda case: case.why)
def test_a_rename_by_hand_is_guessed_only_where_it_is_plain(case: Likely) -> None:
    assert likely_renames(case.before, case.after) == case.want


class Read(NamedTuple):
    """The folders of a rendered commit, the clusters that it has facts of, and the folders by the names of now."""

    why: str
    folders: dict[str, bytes]
    facts: tuple[str, ...]
    want: dict[str, bytes]


READ = [
    Read("the new name is not known yet", {"paris": b"1"}, ("paris",), {"lyon": b"1"}),
    Read("it has a folder: that of the former name is old", {"paris": b"1", "lyon": b"2"}, (), {"lyon": b"2"}),
    Read("it was emptied, and has facts", {"paris": b"1"}, ("lyon",), {}),
    Read("it was emptied, and nothing is left of the former name", {"rome": b"1"}, ("lyon",), {"rome": b"1"}),
]


@each_row("case", READ, ids=lambda case: case.why)
def test_a_folder_of_a_former_name_counts_until_the_new_name_has_anything(case: Read) -> None:
    files = tuple(TreeEntry(f"{name}.yaml".encode(), BLOB_MODE, b"f") for name in case.facts)
    trees = {b"root": (TreeEntry(b"facts", TREE_MODE, b"facts"),), b"facts": files}
    stored = StoredTrees(lambda ids: {each: trees[each] for each in ids})
    tree = RenderedTree(root=b"root", trees=stored, clusters=case.folders)
    lyon = Cluster(name="lyon", former_names=("paris",))
    assert tree_by_new_names(tree, [lyon, Cluster(name="rome")]).clusters == case.want
