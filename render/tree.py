"""The per-cluster trees as Git objects, every equal part built, hashed and kept once.

A file is described for all clusters at once: a few *variants*, each a set of clusters (an integer mask) and the blob
they hold. One folder of all clusters is found from its files by refinement:

1. start with one class holding every cluster and an empty folder;
2. for each file, in Git's order, split every class by the file's variants and append each part's entry;
3. a class left at the end is a set of clusters with the same folder: one tree object.

Folders are then files of the next level up, with tree ids as variants: kinds make a namespace, namespaces a cluster.
Splitting by masks costs classes x variants; once that exceeds the number of clusters, a class is split by looking its
members up instead, so that a fleet of all-distinct manifests costs clusters x files and no more.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from .bits import Mask, members
from .gitobjects import BLOB_MODE, TREE_MODE, TreeEntry, encode_tree, object_id


class Variant(NamedTuple):
    """The clusters that hold an object, and its Git id."""

    clusters: Mask
    id: bytes


class Child(NamedTuple):
    """One name in a folder, for all clusters; ``variants`` are disjoint, their ids distinct."""

    name: str
    mode: int
    variants: Sequence[Variant]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedFile:
    """A file below clusters' folders: the folders on its path, its name, and who holds which bytes."""

    folders: tuple[str, ...]
    name: str
    variants: tuple[Variant, ...]

    @property
    def holders(self) -> Mask:
        """The clusters that hold the file."""
        holders = 0
        for variant in self.variants:
            holders |= variant.clusters
        return holders


@dataclass(slots=True)
class TreeStore:
    """The tree objects built so far, by id."""

    trees: dict[bytes, bytes] = field(default_factory=dict)

    def add(self, content: bytes) -> bytes:
        """Keep a tree object and return its id."""
        tree_id = object_id("tree", content)
        self.trees[tree_id] = content
        return tree_id


def merged(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Return the variants with equal ids joined, empty ones dropped, in the order of their first cluster."""
    clusters_by_id: dict[bytes, Mask] = {}
    for clusters, blob_id in variants:
        if clusters:
            clusters_by_id[blob_id] = clusters_by_id.get(blob_id, 0) | clusters
    pairs = sorted(clusters_by_id.items(), key=lambda item: item[1] & -item[1])
    return tuple(Variant(clusters, blob_id) for blob_id, clusters in pairs)


def cluster_trees(files: Iterable[PlacedFile], every: Mask, store: TreeStore) -> tuple[Variant, ...]:
    """Return the folder of every cluster: who holds which tree. A cluster without files holds none."""
    return _folder_variants([(file.folders, _blob(file)) for file in files], every, store)


def _blob(file: PlacedFile) -> Child:
    return Child(file.name, BLOB_MODE, file.variants)


def _folder_variants(
    below: Sequence[tuple[tuple[str, ...], Child]], every: Mask, store: TreeStore
) -> tuple[Variant, ...]:
    """Return the variants of the folder that holds ``below``: children with the folders still above them."""
    children: list[Child] = []
    deeper: dict[str, list[tuple[tuple[str, ...], Child]]] = {}
    for folders, child in below:
        if folders:
            deeper.setdefault(folders[0], []).append((folders[1:], child))
        else:
            children.append(child)
    for name, inside in deeper.items():
        children.append(Child(name, TREE_MODE, _folder_variants(inside, every, store)))
    return merged(Variant(clusters, store.add(content)) for clusters, content in folder_contents(children, every))


def folder_contents(children: Sequence[Child], every: Mask) -> list[tuple[Mask, bytes]]:
    """Return disjoint sets of clusters with the encoded tree each holds; those holding nothing are left out."""
    partition = _Partition(every)
    for child in sorted(children, key=_git_order):
        partition.refine(child)
    return partition.contents()


def _git_order(child: Child) -> bytes:
    name = child.name.encode()
    return name + b"/" if child.mode == TREE_MODE else name


class _Partition:
    """Classes of clusters under refinement; ``single`` holds classes of one cluster by its index."""

    def __init__(self, every: Mask) -> None:
        self.shared: list[tuple[Mask, list[bytes]]] = [(every, [])]
        self.single: dict[int, list[bytes]] = {}
        self.every = every

    def refine(self, child: Child) -> None:
        """Split every class by the child's variants and append its entry."""
        prefix = b"%o %s\0" % (child.mode, child.name.encode())
        entries = [(clusters, prefix + entry_id) for clusters, entry_id in child.variants]
        if self.single:
            self._extend_single(entries)
        shared = self.shared
        self.shared = []
        if len(shared) * len(entries) > self.every.bit_length():
            entry_by_index = {index: entry for clusters, entry in entries for index in members(clusters)}
            for clusters, before in shared:
                self._split_by_members(clusters, before, entry_by_index)
        else:
            for clusters, before in shared:
                self._split_by_masks(clusters, before, entries)

    def _extend_single(self, entries: Sequence[tuple[Mask, bytes]]) -> None:
        if len(entries) == 1 and entries[0][0] == self.every:
            for content in self.single.values():
                content.append(entries[0][1])
            return
        for clusters, entry in entries:
            for index in members(clusters):
                if index in self.single:
                    self.single[index].append(entry)

    def _split_by_masks(self, clusters: Mask, before: list[bytes], entries: Sequence[tuple[Mask, bytes]]) -> None:
        rest = clusters
        for holders, entry in entries:
            part = rest & holders
            if part:
                rest ^= part
                self._keep(part, [*before, entry] if rest else _extended(before, entry))
                if not rest:
                    return
        self._keep(rest, before)

    def _split_by_members(self, clusters: Mask, before: list[bytes], entry_by_index: Mapping[int, bytes]) -> None:
        parts: dict[bytes | None, Mask] = {}
        for index in members(clusters):
            entry = entry_by_index.get(index)
            parts[entry] = parts.get(entry, 0) | 1 << index
        for entry, part in parts.items():
            self._keep(part, list(before) if entry is None else [*before, entry])

    def _keep(self, clusters: Mask, content: list[bytes]) -> None:
        if clusters & (clusters - 1):
            self.shared.append((clusters, content))
        else:
            self.single[clusters.bit_length() - 1] = content

    def contents(self) -> list[tuple[Mask, bytes]]:
        """Return each class with its encoded tree, without the empty ones."""
        shared = [(clusters, b"".join(content)) for clusters, content in self.shared if content]
        return shared + [(1 << index, b"".join(content)) for index, content in self.single.items() if content]


def _extended(content: list[bytes], entry: bytes) -> list[bytes]:
    content.append(entry)
    return content


def nested_tree(ids: Mapping[tuple[str, ...], TreeEntry | bytes], store: TreeStore) -> bytes | None:
    """Build the tree that holds blob ids (or whole entries) at the given paths; None when there are none."""
    entries: list[TreeEntry] = []
    deeper: dict[str, dict[tuple[str, ...], TreeEntry | bytes]] = {}
    for path, value in ids.items():
        if len(path) > 1:
            deeper.setdefault(path[0], {})[path[1:]] = value
        elif isinstance(value, TreeEntry):
            entries.append(value)
        else:
            entries.append(TreeEntry(path[0].encode(), BLOB_MODE, value))
    for name, inside in deeper.items():
        below = nested_tree(inside, store)
        if below is not None:
            entries.append(TreeEntry(name.encode(), TREE_MODE, below))
    return store.add(encode_tree(entries)) if entries else None
