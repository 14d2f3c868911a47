"""Git's objects as values: identities, trees, commits' raw form, and blobs that differ by a few integers.

Everything here is hashing and encoding of bytes; nothing reads or writes a repository. Identities of blobs and trees
are raw digests (``bytes``), which is how trees hold them and a fifth of the size of text. ``sha1`` is the algorithm
of nearly all repositories; every function takes another as an argument.
"""

import hashlib
import re
from collections.abc import Callable, Collection
from typing import Any, NamedTuple

from .expressions import lazy_expression

TREE_MODE = 0o40000
"""The mode of a folder in a tree."""

BLOB_MODE = 0o100644
"""The mode of an ordinary file in a tree."""


class TreeEntry(NamedTuple):
    """One line of a tree: a name without slash, a mode and the raw id of a blob or tree."""

    name: bytes
    mode: int
    id: bytes

    @property
    def text(self) -> str:
        """The name as text; bytes that are no UTF-8 become lone surrogates, as in ``os.fsdecode``."""
        return self.name.decode("utf-8", "surrogateescape")


class Spliced(NamedTuple):
    """A blob made of fixed segments with one integer between each two: ``len(segments) == len(values) + 1``.

    Blobs that are equal but for their integers share one ``segments`` tuple, so a million of them fit in memory and
    are stored as differences to the first.
    """

    segments: tuple[bytes, ...]
    values: tuple[int, ...]

    def data(self) -> bytes:
        r"""Return the whole content.

        >>> Spliced((b"replicas: ", b" of ", b"\n"), (2, 10)).data()
        b'replicas: 2 of 10\n'
        """
        parts = [self.segments[0]]
        for value, segment in zip(self.values, self.segments[1:], strict=True):
            parts += (b"%d" % value, segment)
        return b"".join(parts)


class Joined(NamedTuple):
    """A blob made of parts that others may have too: bindings share the lines of a thousand clusters with each other.

    Each such part is in memory once, however many blobs there are.
    """

    parts: tuple[bytes, ...]

    def data(self) -> bytes:
        r"""Return the whole content.

        >>> Joined((b"clusters:\n", b"- a\n- b\n")).data()
        b'clusters:\n- a\n- b\n'
        """
        return b"".join(self.parts)

    @property
    def size(self) -> int:
        """The bytes of the whole content."""
        return sum(map(len, self.parts))

    def id(self, algorithm: str = "sha1") -> bytes:
        """Return the raw id, as ``git_object_id`` does of the whole content."""
        state = hash_constructor(algorithm)(b"blob %d\0" % self.size)
        for part in self.parts:
            state.update(part)
        digest: bytes = state.digest()
        return digest


Blob = bytes | Spliced | Joined
"""The content of a file: plain bytes, segments with integers between them, or parts."""


def content_of_blob(blob: Blob) -> bytes:
    """Return the whole content of a blob."""
    return blob if isinstance(blob, bytes) else blob.data()


def hash_constructor(algorithm: str = "sha1") -> Callable[..., Any]:
    """Return the constructor of a Git hash: ``sha1`` or ``sha256``."""
    return {"sha1": hashlib.sha1, "sha256": hashlib.sha256}[algorithm]


def git_object_id(kind: str, data: bytes, algorithm: str = "sha1") -> bytes:
    """Return the raw id Git gives an object of ``kind`` (``blob``, ``tree``, ``commit``, ``tag``) with this content.

    >>> git_object_id("blob", b"").hex()
    'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
    """
    digest: bytes = hash_constructor(algorithm)(b"%s %d\0%s" % (kind.encode(), len(data), data)).digest()
    return digest


class SplicedIds:
    """The ids of all blobs with the same segments; the part before the first integer is hashed once per length."""

    __slots__ = ("_new", "_prefix", "_states", "_tail")

    def __init__(self, segments: tuple[bytes, ...], algorithm: str = "sha1") -> None:
        self._new = hash_constructor(algorithm)
        self._prefix = segments[0]
        self._tail = b"".join(b"%d" + segment.replace(b"%", b"%%") for segment in segments[1:])
        self._states: dict[int, Any] = {}

    def id_of(self, values: tuple[int, ...]) -> bytes:
        """Return the raw id of the blob with these integers between the segments."""
        tail = self._tail % values
        state = self._states.get(len(tail))
        if state is None:
            header = b"blob %d\0" % (len(self._prefix) + len(tail))
            state = self._states[len(tail)] = self._new(header + self._prefix)
        state = state.copy()
        state.update(tail)
        digest: bytes = state.digest()
        return digest


def encode_tree(entries: Collection[TreeEntry]) -> bytes:
    """Return the content of the tree object with these entries, in Git's order: a folder sorts as if it ended in ``/``.

    A name that Git could not check out again (empty, ``.``, ``..``, ``.git``, with a slash or NUL) or that occurs
    twice is a ``ValueError``: such a tree must never exist.
    """
    by_key = {
        name + b"/" if mode == TREE_MODE else name: b"%o %s\0%s" % (mode, name, id_) for name, mode, id_ in entries
    }
    names = {name for name, _, _ in entries}
    # One search over all names at once, because a large fleet has a million entries.
    joined = b"\0".join(names)
    misplaced = b"/" in joined or joined.count(b"\0") >= max(len(names), 1)
    if misplaced or not names.isdisjoint(_FORBIDDEN) or _DOT_GIT.search(joined):
        raise ValueError("a tree cannot hold an empty name, '.', '..', '.git' or a name with a slash or NUL")
    if not len(names) == len(by_key) == len(entries):
        raise ValueError("a name occurs twice in one tree")
    return b"".join([by_key[key] for key in sorted(by_key)])


_FORBIDDEN = frozenset({b"", b".", b".."})

_DOT_GIT = lazy_expression(rb"(?:^|\0)\.git(?:\0|$)", re.IGNORECASE)


def parse_tree(data: bytes, algorithm: str = "sha1") -> tuple[TreeEntry, ...]:
    """Return the entries of a tree object, in its order; a ``ValueError`` if it is damaged."""
    new, modes = tuple.__new__, _MODES
    # The named tuple's own constructor is left out, because a large fleet has a million entries.
    found = tree_lines(data, algorithm)
    return tuple([new(TreeEntry, (name, modes.get(mode) or int(mode, 8), id_)) for mode, name, id_ in found])


def tree_lines(data: bytes, algorithm: str = "sha1") -> list[tuple[bytes, bytes, bytes]]:
    """Return the mode, name and id of each entry of a tree object as it has them; a ``ValueError`` if it is damaged."""
    whole, entry = _TREES[algorithm]
    if not whole.fullmatch(data):
        raise ValueError("a tree object is damaged")
    return entry.findall(data)


_MODES = {b"100644": BLOB_MODE, b"40000": TREE_MODE}

_TREES = {
    algorithm: (
        lazy_expression(rb"(?:[0-7]+ [^\0]+\0.{%d})*" % size, re.DOTALL),
        lazy_expression(rb"([0-7]+) ([^\0]+)\0(.{%d})" % size, re.DOTALL),
    )
    for algorithm, size in (("sha1", 20), ("sha256", 32))
}
