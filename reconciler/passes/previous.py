"""The previous rendered commit as a value: its bindings, and its trees read when they are asked for."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from render.binding import Binding
from render.bits import Mask
from render.gitobjects import TREE_MODE, TreeEntry
from render.model import ObjectRef
from render.tree import Variant

ReadTrees = Callable[[Iterable[bytes]], Mapping[bytes, tuple[TreeEntry, ...]]]
"""Read the entries of tree objects by raw id."""


@dataclass(slots=True)
class StoredTrees:
    """Trees of the repository by id, each read once."""

    read: ReadTrees
    known: dict[bytes, Mapping[str, TreeEntry]] = field(default_factory=dict)

    def load(self, tree_ids: Iterable[bytes]) -> None:
        """Read many trees in one go."""
        missing = {tree_id for tree_id in tree_ids if tree_id not in self.known}
        if missing:
            for tree_id, entries in self.read(missing).items():
                self.known[tree_id] = {entry.name.decode(): entry for entry in entries}

    def entries(self, tree_id: bytes) -> Mapping[str, TreeEntry]:
        """Return a tree's entries by name."""
        self.load((tree_id,))
        return self.known[tree_id]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderedTree:
    """A rendered commit's tree. ``clusters`` maps a cluster to the id of its folder."""

    root: bytes
    trees: StoredTrees
    clusters: Mapping[str, bytes]

    @classmethod
    def of(cls, root: bytes, read: ReadTrees) -> "RenderedTree":
        """Open the tree with this root id; only its top is read."""
        trees = StoredTrees(read)
        folder = trees.entries(root).get("clusters")
        clusters = {name: entry.id for name, entry in trees.entries(folder.id).items()} if folder else {}
        return cls(root=root, trees=trees, clusters=clusters)

    def variants(self, path: tuple[str, ...], index_by_cluster: Mapping[str, int], among: Mask) -> tuple[Variant, ...]:
        """Return who among the given clusters holds which blob at a path below the clusters' folders."""
        masks: dict[bytes, Mask] = {}
        for name, tree_id in self.clusters.items():
            index = index_by_cluster.get(name)
            if index is not None and among >> index & 1:
                masks[tree_id] = masks.get(tree_id, 0) | 1 << index
        for folder in path[:-1]:
            masks = self._below(masks, folder)
        return tuple(Variant(clusters, blob_id) for blob_id, clusters in self._below(masks, path[-1]).items())

    def files(self, tree_id: bytes, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], bytes]]:
        """Yield every file below a tree: its path and blob id."""
        for name, entry in self.trees.entries(tree_id).items():
            if entry.mode == TREE_MODE:
                yield from self.files(entry.id, (*above, name))
            else:
                yield (*above, name), entry.id

    def _below(self, masks: Mapping[bytes, Mask], name: str) -> dict[bytes, Mask]:
        self.trees.load(masks)
        found: dict[bytes, Mask] = {}
        for tree_id, clusters in masks.items():
            entry = self.trees.entries(tree_id).get(name)
            if entry is not None:
                found[entry.id] = found.get(entry.id, 0) | clusters
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Previous:
    """What the last rendered commit decided: the state the next decision starts from."""

    commit: str
    source: str
    version: str
    bindings: Mapping[ObjectRef, Binding]
    tree: RenderedTree
