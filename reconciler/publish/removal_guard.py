"""The removal guard: what a commit would take away from each cluster, and whether that is too much at once.

A cluster's removals are the paths of its previous folder that its new folder lacks. They are refused, before anything
is written, when they are more than ``max(count, percent of the cluster's objects)``, a whole namespace or a whole kind
of more than ``whole`` objects, or everything the cluster holds - unless the source says that so many may go. The plan
for a cluster (``plans.prune``) applies the same limits to its live objects.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass

from render.errors import GuardRefused
from render.gitobjects import TREE_MODE, TreeEntry
from render.guards import RemovalGuard
from render.words import counted

from .allowances import EACH, RemovalAllowance

ReadTree = Callable[[bytes], Iterable[TreeEntry]]
Paths = frozenset[tuple[str, ...]]

_CLUSTER_SCOPED = "_cluster"
_NAMESPACE_FOLDER = (_CLUSTER_SCOPED, "Namespace")
_LISTED = 5
_FEW, _MOST = 3, 20
NOTHING_COMMITTED = "; nothing was committed"
"""The end of a refusal's first line, where there was something to commit."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """The loss of one cluster: the removed paths, how many objects it held, and the broken limits (empty: none)."""

    cluster: str
    paths: tuple[str, ...]
    held: int
    reasons: tuple[str, ...]


def removals(
    before: Mapping[str, bytes], after: Mapping[str, bytes], read_tree: ReadTree, limits: RemovalGuard
) -> tuple[Removal, ...]:
    """Return what every cluster loses, by cluster name; clusters that lose nothing are left out.

    ``before`` and ``after`` map a cluster to the tree id of its folder. Namespaces do not count: they are never pruned
    without confirmation.
    """
    compared: dict[tuple[bytes, bytes | None], tuple[Paths, Paths]] = {}
    found = []
    for cluster, old in sorted(before.items()):
        new = after.get(cluster)
        if (old, new) not in compared:
            removed = frozenset(_removed_paths(old, new, read_tree))
            compared[old, new] = frozenset(_object_paths(old, read_tree)) if removed else removed, removed
        held, removed = compared[old, new]
        if removed:
            reasons = limits.broken_by(_places(removed), _places(held))
            paths = tuple(sorted("/".join(path) for path in removed))
            found.append(Removal(cluster=cluster, paths=paths, held=len(held), reasons=reasons))
    return tuple(found)


def _removed_paths(
    old: bytes, new: bytes | None, read_tree: ReadTree, above: tuple[str, ...] = ()
) -> Iterable[tuple[str, ...]]:
    """Yield the paths of objects that one folder has and another lacks; equal folders are not looked into."""
    if old == new or above == _NAMESPACE_FOLDER:
        return
    kept = {entry.name: entry for entry in read_tree(new)} if new else {}
    for entry in read_tree(old):
        path, other = (*above, entry.name.decode("utf-8", "surrogateescape")), kept.get(entry.name)
        if entry.mode == TREE_MODE:
            yield from _removed_paths(entry.id, other.id if other else None, read_tree, path)
        elif other is None:
            yield path


def _object_paths(tree_id: bytes, read_tree: ReadTree, above: tuple[str, ...] = ()) -> Iterable[tuple[str, ...]]:
    if above == _NAMESPACE_FOLDER:
        return
    for entry in read_tree(tree_id):
        path = (*above, entry.name.decode("utf-8", "surrogateescape"))
        if entry.mode == TREE_MODE:
            yield from _object_paths(entry.id, read_tree, path)
        else:
            yield path


def _places(paths: Paths) -> list[tuple[str, str]]:
    """Return the namespace and the kind of each object, as its path names them."""
    return [("" if namespace == _CLUSTER_SCOPED else namespace, kind) for namespace, kind, *_ in paths]


def check_removals(found: Iterable[Removal], allowed: Mapping[str, int], consequence: str = NOTHING_COMMITTED) -> None:
    """Raise GuardRefused when a cluster loses too much and its count (``*``: each one's) allows less."""
    refused = [
        removal
        for removal in found
        if removal.reasons and len(removal.paths) > max(allowed.get(removal.cluster, 0), allowed.get(EACH, 0))
    ]
    if not refused:
        return
    lines = [f"this change removes too much at once{consequence}", *map(_described, refused[:_MOST])]
    if len(refused) > _MOST:
        lines.append(f"  and {len(refused) - _MOST} more clusters")
    trailers = ", ".join(f"'Argosy-Allow-Removal: {each.cluster} {each.count}'" for each in _wanted(refused))
    raise GuardRefused(
        "\n".join(lines),
        hint=f"if it is meant, say so in a source commit with the trailer {trailers}, or pass --allow-removal",
    )


def _wanted(refused: Collection[Removal]) -> Iterable[RemovalAllowance]:
    """Return what would let removals pass: an allowance for each of a few clusters, or one for all of many."""
    if len(refused) > _FEW:
        return (RemovalAllowance(cluster=EACH, count=max(len(item.paths) for item in refused)),)
    return (RemovalAllowance(cluster=item.cluster, count=len(item.paths)) for item in refused)


def _described(removal: Removal) -> str:
    names = ", ".join(removal.paths[:_LISTED])
    more = f" and {len(removal.paths) - _LISTED} more" if len(removal.paths) > _LISTED else ""
    return (
        f"  {removal.cluster}: {len(removal.paths)} of {counted(removal.held, 'object')}"
        f" ({'; '.join(removal.reasons)}): {names}{more}"
    )
