"""Classes of clusters with the same folder, found by refinement.

1. start with one class holding every cluster and an empty folder;
2. for each file, in Git's order, split every class by the file's variants and append each part's entry;
3. a class left at the end is a set of clusters with the same folder.

Splitting by masks costs classes x variants; once that exceeds the number of clusters, a class is split by looking its
members up instead, so that a fleet of all-distinct manifests costs clusters x files and no more.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from .bits import Mask, indexes_of_mask
from .gitobjects import TREE_MODE


class Child(NamedTuple):
    """One name in a folder, for all clusters: ``variants`` are pairs of clusters and id, disjoint, ids distinct."""

    name: str
    mode: int
    variants: Sequence[tuple[Mask, bytes]]

    @property
    def key(self) -> bytes:
        """The bytes Git sorts it by: a folder as if its name ended in ``/``."""
        name = self.name.encode()
        return name + b"/" if self.mode == TREE_MODE else name


class Partition:
    """Classes of clusters under refinement, disjoint; ``single`` holds classes of one cluster by its index."""

    def __init__(self, every: Mask, classes: Iterable[Mask]) -> None:
        self.shared: list[tuple[Mask, list[bytes]]] = [(clusters, []) for clusters in classes if clusters]
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
            entry_by_index = {index: entry for clusters, entry in entries for index in indexes_of_mask(clusters)}
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
            for index in indexes_of_mask(clusters):
                if index in self.single:
                    self.single[index].append(entry)

    def _split_by_masks(self, clusters: Mask, before: list[bytes], entries: Sequence[tuple[Mask, bytes]]) -> None:
        rest = clusters
        for having, entry in entries:
            part = rest & having
            if part:
                rest ^= part
                self._keep_class(part, [*before, entry] if rest else _content_with_entry(before, entry))
                if not rest:
                    return
        self._keep_class(rest, before)

    def _split_by_members(self, clusters: Mask, before: list[bytes], entry_by_index: Mapping[int, bytes]) -> None:
        parts: dict[bytes | None, Mask] = {}
        for index in indexes_of_mask(clusters):
            entry = entry_by_index.get(index)
            parts[entry] = parts.get(entry, 0) | 1 << index
        for entry, part in parts.items():
            self._keep_class(part, list(before) if entry is None else [*before, entry])

    def _keep_class(self, clusters: Mask, content: list[bytes]) -> None:
        if clusters & (clusters - 1):
            self.shared.append((clusters, content))
        else:
            self.single[clusters.bit_length() - 1] = content

    def classes(self) -> Iterator[tuple[Mask, list[bytes]]]:
        """Yield each class with the entries of its folder."""
        yield from self.shared
        for index, content in self.single.items():
            yield 1 << index, content


def _content_with_entry(content: list[bytes], entry: bytes) -> list[bytes]:
    content.append(entry)
    return content
