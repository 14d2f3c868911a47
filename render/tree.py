"""The per-cluster trees as Git objects, every equal part built, hashed and kept once.

A file is described for all clusters at once: a few *variants*, each a set of clusters (an integer mask) and the blob
they hold. The folders of all clusters are found from their files by refinement (``refinement``). Folders are then files
of the next level up, with tree ids as variants: kinds make a namespace, namespaces a cluster.

Existing folders can be the *base*: then the files are the changes to it, and its other entries are not looked at.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct, field

from .bits import Mask, indexes_of_mask
from .gitobjects import BLOB_MODE, TREE_MODE, TreeEntry, encode_tree, git_object_id
from .refinement import Child, Partition


class Variant(NamedTuple):
    """The clusters that hold an object, and its Git id."""

    clusters: Mask
    id: bytes


def clusters_of_variants(variants: Iterable[Variant]) -> Mask:
    """Return the clusters that hold any of some variants.

    >>> clusters_of_variants([Variant(0b001, b"x"), Variant(0b100, b"y")])
    5
    """
    found: Mask = 0
    for clusters, _ in variants:
        found |= clusters
    return found


class Base(NamedTuple):
    """Existing folders: their trees with the clusters that have each, and a function that reads a tree's entries."""

    variants: Sequence[Variant]
    read: Callable[[bytes], Mapping[str, TreeEntry]]

    def below(self, name: str) -> "Base":
        """Return the folders of this name inside these."""
        inside = ((clusters, self.read(tree_id).get(name)) for clusters, tree_id in self.variants)
        return Base(
            variants_with_equal_ids_joined(Variant(mask, entry.id) for mask, entry in inside if entry is not None),
            self.read,
        )


class PlacedFile(Struct, frozen=True, kw_only=True):
    """A file below clusters' folders: the folders on its path, its name, and its contents in sets of clusters."""

    folders: tuple[str, ...]
    name: str
    variants: tuple[Variant, ...]

    @property
    def clusters(self) -> Mask:
        """The clusters that have the file."""
        return clusters_of_variants(self.variants)


class TreeStore(Struct):
    """The tree objects built so far, by id."""

    trees: dict[bytes, bytes] = field(default_factory=dict)

    def add(self, content: bytes) -> bytes:
        """Keep a tree object and return its id."""
        tree_id = git_object_id("tree", content)
        self.trees[tree_id] = content
        return tree_id


def variants_with_equal_ids_joined(variants: Iterable[Variant]) -> tuple[Variant, ...]:
    """Return the variants with equal ids joined, empty ones dropped, in the order of their first cluster."""
    clusters_by_id: dict[bytes, Mask] = {}
    for clusters, blob_id in variants:
        if clusters:
            clusters_by_id[blob_id] = clusters_by_id.get(blob_id, 0) | clusters
    # The lowest bit that is set is the first cluster of a mask.
    pairs = sorted(clusters_by_id.items(), key=lambda item: item[1] & -item[1])
    return tuple(Variant(clusters, blob_id) for blob_id, clusters in pairs)


def trees_of_clusters(
    files: Iterable[PlacedFile], every: Mask, store: TreeStore, base: Base | None = None
) -> tuple[Variant, ...]:
    """Return the tree of every cluster's folder, as sets of clusters. A cluster without files has none.

    On a base, a file without variants is one that no cluster has any more.
    """
    below = [(file.folders, Child(file.name, BLOB_MODE, file.variants)) for file in files]
    return _folder_variants(below, every, store, base)


def _folder_variants(
    below: Sequence[tuple[tuple[str, ...], Child]], every: Mask, store: TreeStore, base: Base | None
) -> tuple[Variant, ...]:
    """Return the variants of the folder around ``below``: children with the folders still above them."""
    children: list[Child] = []
    deeper: dict[str, list[tuple[tuple[str, ...], Child]]] = {}
    for folders, child in below:
        if folders:
            deeper.setdefault(folders[0], []).append((folders[1:], child))
        else:
            children.append(child)
    for name, inside in deeper.items():
        variants = _folder_variants(inside, every, store, base and base.below(name))
        children.append(Child(name, TREE_MODE, variants))
    contents = folder_contents(children, every) if base is None else folder_contents_over_base(children, every, base)
    return variants_with_equal_ids_joined(Variant(clusters, store.add(content)) for clusters, content in contents)


def folder_contents(children: Iterable[Child], every: Mask) -> Iterator[tuple[Mask, bytes]]:
    """Yield disjoint sets of clusters with the encoded tree of each; clusters without entries are left out."""
    for clusters, lines in _refined_partition(children, every, [every]).classes():
        if lines:
            yield clusters, b"".join(lines)


def folder_contents_over_base(children: Sequence[Child], every: Mask, base: Base) -> Iterator[tuple[Mask, bytes]]:
    """Yield what ``folder_contents`` does, with the entries of the base that no child replaces."""
    names = {child.name for child in children}
    rest = every
    kept_by_index: dict[int, list[bytes]] = {}
    for clusters, tree_id in base.variants:
        kept = [_encoded_tree_entry(entry) for name, entry in base.read(tree_id).items() if name not in names]
        kept_by_index.update((index, kept) for index in indexes_of_mask(clusters))
        rest &= ~clusters
    for clusters, lines in _refined_partition(children, every, [*(mask for mask, _ in base.variants), rest]).classes():
        # No class reaches across two folders of the base, so that what one of its clusters keeps, all of them keep.
        both: list[bytes] = sorted(
            [*kept_by_index.get(clusters.bit_length() - 1, ()), *lines], key=_git_sort_key_of_entry
        )
        if both:
            yield clusters, b"".join(both)


def _refined_partition(children: Iterable[Child], every: Mask, classes: Iterable[Mask]) -> Partition:
    partition = Partition(every, classes)
    for child in sorted(children, key=lambda child: child.key):
        partition.refine(child)
    return partition


def _encoded_tree_entry(entry: TreeEntry) -> bytes:
    return b"%o %s\0%s" % (entry.mode, entry.name, entry.id)


def _git_sort_key_of_entry(line: bytes) -> bytes:
    """Return the bytes Git sorts an entry by: a folder as if its name ended in ``/``."""
    head, _, _ = line.partition(b"\0")
    mode, _, name = head.partition(b" ")
    return name + b"/" if mode == b"40000" else name


def build_nested_tree(
    ids: Mapping[tuple[str, ...], TreeEntry | bytes | None],
    store: TreeStore,
    base: Mapping[str, TreeEntry] | None = None,
    read: Callable[[bytes], Mapping[str, TreeEntry]] | None = None,
) -> bytes | None:
    """Build the tree that holds blob ids (or whole entries) at the given paths; None when there are none.

    On a base - the entries of an existing tree, and ``read`` for those of others - the paths are the changes to it, and
    None at a path removes its entry.
    """
    entries = dict(base or {})
    deeper: dict[str, dict[tuple[str, ...], TreeEntry | bytes | None]] = {}
    for path, value in ids.items():
        if len(path) > 1:
            deeper.setdefault(path[0], {})[path[1:]] = value
        elif value is None:
            entries.pop(path[0], None)
        else:
            entry = value if isinstance(value, TreeEntry) else TreeEntry(path[0].encode(), BLOB_MODE, value)
            entries[path[0]] = entry
    for name, inside in deeper.items():
        if ids.get((name,)) is not None:
            raise ValueError("a name occurs twice in one tree")
        there = entries.pop(name, None)
        below = build_nested_tree(inside, store, read(there.id) if there and read else None, read)
        if below is not None:
            entries[name] = TreeEntry(name.encode(), TREE_MODE, below)
    return store.add(encode_tree(entries.values())) if entries else None
