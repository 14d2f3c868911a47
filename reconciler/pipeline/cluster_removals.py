"""The objects that a tree takes away from each cluster, and the limits of the removal guard that this breaks.

A cluster's removals are the paths of its previous folder that its new folder lacks. They are too much at once when they
are more than ``max(count, percent of the cluster's objects)``, a whole namespace or a whole kind of more than ``whole``
objects, or everything the cluster holds, unless that is next to nothing and stands elsewhere. The plan for a cluster
(``plans.prune``) applies the same limits to its live objects. A last copy whose policy no cluster meets is too much by
itself (``lost_places``), wherever it stands.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from render.gitobjects import TREE_MODE, TreeEntry
from render.settings.removal_guard import FEW, RemovalGuard
from render.words import counted_noun

ReadTree = Callable[[bytes], Iterable[TreeEntry]]
Paths = frozenset[tuple[str, ...]]

_CLUSTER_SCOPED = "_cluster"
_NAMESPACE_FOLDER = (_CLUSTER_SCOPED, "Namespace")


class Departures(Struct, frozen=True, kw_only=True):
    """Paths below the folders of clusters that count otherwise than the folders say.

    ``expected`` leave a cluster by a rule of failover, or at the end of a move: they do not count. ``begun`` are still
    there, and leave by a move that begins: they count now, as the whole of it is judged once.
    """

    expected: Mapping[str, Paths] = field(default_factory=dict)
    begun: Mapping[str, Paths] = field(default_factory=dict)


NO_DEPARTURES = Departures()


class Removal(Struct, frozen=True, kw_only=True):
    """The loss of one cluster: the removed paths, how many objects it held, and the broken limits (empty: none).

    ``loses_places``: last copies are among them whose policies no cluster meets.
    """

    cluster: str
    paths: tuple[str, ...]
    count_before: int
    reasons: tuple[str, ...]
    loses_places: bool = False

    def is_refused(self, allowed: int) -> bool:
        """Return whether it breaks a limit, where so many objects may leave the cluster in any case."""
        return bool(self.reasons) and len(self.paths) > allowed


def is_counted_by_guard(path: str) -> bool:
    """Return whether the guard counts the object at a path of a cluster's folder: it counts all but namespaces."""
    return tuple(path.split("/")[:-1]) != _NAMESPACE_FOLDER


def removals_by_cluster(
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    read_tree: ReadTree,
    limits: RemovalGuard,
    departures: Departures = NO_DEPARTURES,
    claimed: Collection[str] = (),
) -> tuple[Removal, ...]:
    """Return what every cluster loses, by cluster name; clusters that lose nothing are left out.

    ``before`` and ``after`` map a cluster to the tree id of its folder. Namespaces do not count: they are never pruned
    without confirmation.
    ``claimed`` are the files of Namespaces that are propagated by a policy, and not for what is in them.
    """
    compared: dict[tuple[bytes, bytes | None], Paths] = {}
    objects: dict[bytes, Paths] = {}
    found = []
    for cluster, old in sorted(before.items()):
        new = after.get(cluster)
        if (old, new) not in compared:
            compared[old, new] = frozenset(_removed_paths(old, new, read_tree))
        removed = compared[old, new] - departures.expected.get(cluster, frozenset())
        removed |= departures.begun.get(cluster, frozenset())
        if removed:
            if old not in objects:
                objects[old] = frozenset(_object_paths(old, read_tree))
            count_before = objects[old]
            spaces = _namespaces_lost(old, new, read_tree) & frozenset(claimed)
            reasons = limits.limits_broken_by(
                _namespaces_and_kinds(removed),
                _namespaces_and_kinds(count_before),
                leaves_last_copy=len(count_before) < FEW
                and (bool(spaces) or _is_any_nowhere(removed, after, read_tree)),
            )
            paths = tuple(sorted("/".join(path) for path in removed))
            found.append(Removal(cluster=cluster, paths=paths, count_before=len(count_before), reasons=reasons))
    return tuple(found)


def lost_files(
    old: bytes, new: bytes | None, read_tree: ReadTree, above: tuple[str, ...] = ()
) -> Iterable[tuple[tuple[str, ...], bytes]]:
    """Yield the path and the blob id of each object that one folder has and another lacks, Namespaces included."""
    if old == new:
        return
    kept = {entry.name: entry for entry in read_tree(new)} if new else {}
    for entry in read_tree(old):
        path, other = (*above, entry.text), kept.get(entry.name)
        if entry.mode == TREE_MODE:
            yield from lost_files(entry.id, other.id if other else None, read_tree, path)
        elif other is None:
            yield path, entry.id


def claimed_namespaces(root: bytes, read_tree: ReadTree) -> frozenset[str]:
    """Return the files of the Namespaces that have a binding in a rendered tree."""
    tree_id: bytes | None = root
    for name in ("bindings", *_NAMESPACE_FOLDER):
        tree_id = next((each.id for each in read_tree(tree_id) if each.text == name), None) if tree_id else None
    return frozenset(each.text for each in read_tree(tree_id)) if tree_id else frozenset()


def _namespaces_lost(old: bytes, new: bytes | None, read_tree: ReadTree) -> frozenset[str]:
    before, after = (_namespaces_of_folder(tree_id, read_tree) if tree_id else frozenset() for tree_id in (old, new))
    return before - after


def _namespaces_of_folder(tree_id: bytes, read_tree: ReadTree) -> frozenset[str]:
    return frozenset(
        each.text
        for above in read_tree(tree_id)
        if above.text == _CLUSTER_SCOPED
        for folder in read_tree(above.id)
        if folder.text == "Namespace"
        for each in read_tree(folder.id)
    )


def removals_with_lost_places(
    removals: Sequence[Removal], unmet: Paths, after: Mapping[str, bytes], read_tree: ReadTree
) -> tuple[Removal, ...]:
    """Return removals with a further reason where the last copy of an object of ``unmet`` is among them.

    ``unmet`` are the paths of objects whose policies no cluster meets.
    """
    removed = {tuple(path.split("/")) for each in removals for path in each.paths} if unmet else set()
    lost = frozenset(path for path in unmet & removed if _is_any_nowhere(frozenset([path]), after, read_tree))
    return tuple(_removal_with_lost_places(each, lost) for each in removals)


def _removal_with_lost_places(removal: Removal, lost: Paths) -> Removal:
    count = sum(tuple(path.split("/")) in lost for path in removal.paths) if lost else 0
    if not count:
        return removal
    copies = counted_noun(count, "last copy", "last copies")
    reason = f"{copies}, as no cluster meets {'its policy' if count == 1 else 'their policies'}"
    return replace(removal, reasons=(*removal.reasons, reason), loses_places=True)


def _is_any_nowhere(paths: Paths, after: Mapping[str, bytes], read_tree: ReadTree) -> bool:
    """Say whether no cluster holds one of some objects afterwards."""
    trees = frozenset(after.values())
    return not all(any(_is_file_held(tree_id, path, read_tree) for tree_id in trees) for path in paths)


def _is_file_held(tree_id: bytes, path: tuple[str, ...], read_tree: ReadTree) -> bool:
    for name in path[:-1]:
        below = next((each.id for each in read_tree(tree_id) if each.text == name and each.mode == TREE_MODE), None)
        if below is None:
            return False
        tree_id = below
    return any(each.text == path[-1] for each in read_tree(tree_id))


def _removed_paths(
    old: bytes, new: bytes | None, read_tree: ReadTree, above: tuple[str, ...] = ()
) -> Iterable[tuple[str, ...]]:
    """Yield the paths of objects that one folder has and another lacks; equal folders are not looked into."""
    if old == new or above == _NAMESPACE_FOLDER:
        return
    kept = {entry.name: entry for entry in read_tree(new)} if new else {}
    for entry in read_tree(old):
        path, other = (*above, entry.text), kept.get(entry.name)
        if entry.mode == TREE_MODE:
            yield from _removed_paths(entry.id, other.id if other else None, read_tree, path)
        elif other is None:
            yield path


def _object_paths(tree_id: bytes, read_tree: ReadTree, above: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    if above == _NAMESPACE_FOLDER:
        return
    for entry in read_tree(tree_id):
        path = (*above, entry.text)
        if entry.mode == TREE_MODE:
            yield from _object_paths(entry.id, read_tree, path)
        else:
            yield path


def _namespaces_and_kinds(paths: Paths) -> list[tuple[str, str]]:
    """Return the namespace and the kind of each object, as its path names them."""
    return [("" if namespace == _CLUSTER_SCOPED else namespace, kind) for namespace, kind, *_ in paths]
