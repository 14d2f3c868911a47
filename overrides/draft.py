"""A manifest while it is edited: a part that is written to is copied once, all other parts stay shared.

An edit of one image copies the six mappings and lists above it and nothing else; the manifest it started from, and the
values policies bring, are never modified.
"""

from collections.abc import Iterable
from typing import Any

Key = str | int
"""A step into plain data: the key of a mapping, the index of a list."""


class Draft:
    """Owns the copied parts of one plain-data document."""

    __slots__ = ("_owned", "root")

    def __init__(self, document: Any) -> None:
        self.root = document
        self._owned: dict[int, Any] = {}

    def writable_container(self, keys: Iterable[Key] = ()) -> Any:
        """Return the mapping or list at an existing path for writing; parts on the way are copied unless they were."""
        node = self.root
        if id(node) not in self._owned:
            node = self.root = self._copy_once(node)
        for key in keys:
            child = node[key]
            if id(child) not in self._owned:
                child = node[key] = self._copy_once(child)
            node = child
        return node

    def _copy_once(self, container: Any) -> Any:
        copied = container.copy()
        # Holding the copy keeps its id from being given to another container.
        self._owned[id(copied)] = copied
        return copied
