"""``argosy cluster unjoin``: a member leaves once it holds nothing of ours, is emptied first, or is let go as it is.

1. ``--drain`` taints the member, so that every placement leaves it; the commit allows what that takes away, no more.
2. A pass renders and applies that. What no other member takes stays, unless ``--allow-unplaced`` lets it go, too.
3. Then the Cluster's file goes. Before, that is refused: objects would stay in the cluster with nobody to prune them.

``--disconnect`` skips all that: the file goes, and what the cluster holds stays there, untouched.
"""

from collections.abc import Collection

from msgspec import Struct

from reconciler.branches.publication import publication_of
from reconciler.branches.status_branch import StatusBranch, read_inventories
from reconciler.pipeline.cluster_removals import is_counted_by_guard
from reconciler.pipeline.previous import RenderedTree
from reconciler.pipeline.renames import tree_by_new_names
from render.cluster import DRAIN, drain_taints, is_applied_by_own_agent
from render.errors import ConfigError
from render.words import counted_noun

from .cluster_files import Contents, MemberSource, SourceChange
from .joining import fleet_file_without_members
from .labels import TaintChange, taint_edits
from .member_selection import change_of_members, names_in_subject

_LISTED = 5


class Drain(Struct, frozen=True, kw_only=True):
    """Members that are to be emptied: the files that this changes, and those that a commit of their files would change.

    The latter are none where the drain is committed already. ``new`` are the members that were not being drained this
    way, ``paths`` the files of all of them.
    """

    names: tuple[str, ...]
    new: frozenset[str]
    paths: tuple[str, ...]
    contents: Contents
    uncommitted: Contents

    @property
    def subject(self) -> str:
        """The subject of its commit."""
        return f"Drain {names_in_subject(self.names)}"

    def source_change(self, trailers: tuple[str, ...]) -> SourceChange:
        """Return the change of the source, with the trailers of its commit."""
        return SourceChange(contents=self.contents, subject=self.subject, trailers=trailers)


def departure_of_members(source: MemberSource, names: tuple[str, ...], *, disconnect: bool) -> SourceChange:
    """Return the change that takes members out of the source; any that holds something of ours is refused.

    ``disconnect``: the clusters keep what they hold, and are not asked for it.
    """
    if not disconnect:
        for name in names:
            _refuse_member_with_objects(source, name)
    contents = fleet_file_without_members(source, names, source.contents_without_clusters(map(source.place_of, names)))
    listed = names_in_subject(names)
    subject = f"Disconnect {listed}" if disconnect else f"Let {listed} leave"
    return SourceChange(contents=contents, subject=subject)


def pulling_members(source: MemberSource) -> frozenset[str]:
    """Return the members of a source to which an agent applies."""
    return frozenset(cluster.name for cluster in source.loaded.desired.clusters if is_applied_by_own_agent(cluster))


def drain_of_members(source: MemberSource, names: tuple[str, ...], *, is_unplaced_allowed: bool) -> Drain:
    """Return the taints of members by which every placement leaves them.

    ``is_unplaced_allowed``: also what no other member takes.
    """
    taints = TaintChange(drain_taints(is_unplaced_allowed=is_unplaced_allowed), ())
    change, new = change_of_members(source, names, lambda each: taint_edits(each, taints, overwrite=True), "")
    contents = change.contents if change is not None else {}
    paths = tuple(sorted({source.place_of(name).file.path for name in names}))
    dirty = set(paths) & set(source.repository.dirty_paths())
    return Drain(
        names=names,
        new=new,
        paths=paths,
        contents=contents,
        uncommitted={**{path: source.content(path) for path in sorted(dirty)}, **contents},
    )


def _refuse_member_with_objects(source: MemberSource, name: str) -> None:
    """Refuse to forget a member that holds something of ours, as far as the branches know."""
    source.place_of(name)
    if paths := _rendered_paths(source, name):
        said = tuple(filter(is_counted_by_guard, paths)) or paths
        listed = ", ".join(said[:_LISTED]) + (f" and {len(said) - _LISTED} more" if len(said) > _LISTED else "")
        raise ConfigError(
            f"{object_count_in_words(paths)} still rendered for {name!r}: {listed}",
            hint=_hint_for_emptying_member(source, name),
        )
    if commits := _unpruned_commits(source, name):
        raise ConfigError(
            f"{name!r} may still hold what rendered commit {commits[0][:12]} asked of it",
            hint=f"argosy apply --cluster {name} removes that; --disconnect leaves it there for good",
        )


def _hint_for_emptying_member(source: MemberSource, name: str) -> str:
    """Return what empties a member that holds something, or what is left to do where it is drained already."""
    taints = (source.place_of(name).manifest.get("spec") or {}).get("taints") or ()
    if not {each.key for each in DRAIN} & {taint.get("key") for taint in taints}:
        return f"argosy cluster unjoin {name} --drain makes them leave, --disconnect leaves them there for good"
    return (
        "it is drained, and argosy reconcile makes everything leave that another cluster takes; let the policies of the"
        " rest name another one, or delete their templates; --drain --allow-unplaced makes the rest leave as well,"
        " --disconnect leaves it there for good"
    )


def object_count_in_words(paths: Collection[str]) -> str:
    """Return how many objects are at paths, counted as the removal guard counts: namespaces only among themselves."""
    count = sum(map(is_counted_by_guard, paths))
    if paths and not count:
        return counted_noun(len(paths), "namespace is", "namespaces are")
    return counted_noun(count, "object is", "objects are")


def rendered_clusters(source: MemberSource) -> frozenset[str]:
    """Return the clusters that have a folder in the newest rendered commit."""
    fleet = source.published_fleet
    tip = publication_of(source.repository, fleet).current_tip(fleet.rendered_branch)
    return frozenset(_rendered_tree_at(source, tip).clusters) if tip else frozenset()


def folders_in_rendered_tree(source: MemberSource) -> frozenset[str]:
    """Return the names of the folders in the newest rendered commit, those of clusters' former names included."""
    fleet, repository = source.published_fleet, source.repository
    tip = publication_of(repository, fleet).current_tip(fleet.rendered_branch)
    if not tip:
        return frozenset()
    return frozenset(RenderedTree.of(repository.commit_info(tip).tree, repository.read_trees).clusters)


def _rendered_paths(source: MemberSource, name: str) -> tuple[str, ...]:
    """Return what the newest rendered commit holds for a member."""
    fleet = source.published_fleet
    tip = publication_of(source.repository, fleet).current_tip(fleet.rendered_branch)
    return _paths_of_member_at(source, name, tip) if tip else ()


def _rendered_tree_at(source: MemberSource, commit: str) -> RenderedTree:
    repository = source.repository
    tree = RenderedTree.of(repository.commit_info(commit).tree, repository.read_trees)
    return tree_by_new_names(tree, source.loaded.desired.clusters)


def _paths_of_member_at(source: MemberSource, name: str, commit: str) -> tuple[str, ...]:
    tree = _rendered_tree_at(source, commit)
    folder = tree.clusters.get(name)
    return tuple(sorted("/".join(path) for path, _ in tree.files(folder))) if folder else ()


def _unpruned_commits(source: MemberSource, name: str) -> tuple[str, ...]:
    """Return the commits whose objects the member may hold, as its inventory says."""
    fleet, clusters = source.published_fleet, source.loaded.desired.clusters
    publication = publication_of(source.repository, fleet)
    status = StatusBranch(publication=publication, branch=fleet.status_branch, clusters=clusters)
    inventory = read_inventories(status, status.tip()).get(name)
    commits = inventory.commits if inventory else ()
    return tuple(commit for commit in commits if _paths_of_member_at(source, name, commit))
