"""The commits of a branch that changed some of its files, found by comparing trees and never by reading files.

Trees are read a level at a time for many commits at once, and each pair of trees is compared once: clusters that hold
the same share their trees, so that the cost follows what differs and not how many clusters there are.
"""

from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from render.gitobjects import tree_lines

from .access import Repository

_FIRST, _GROWTH, _AT_ONCE = 8, 4, 2048
"""The numbers of commits compared together: few where the newest are enough, or each reads much; else many."""
_MOST_BYTES = 1 << 24
_TREE = b"40000"
_MODES = (_TREE, b"100644", b"100755", b"120000")
ANY, BELOW = "*", "**"

Pattern = tuple[str, ...]
"""The parts of a path; ``*`` is any name, and ``**`` at the end everything below."""
_Entry = tuple[bytes, bytes, bytes]
"""An entry of a tree: its mode, its name and its id."""
_Entries = dict[str, tuple[bool, bytes]]
"""Entries by name: whether each is a tree itself, and its id."""
_Pair = tuple[bytes | None, bytes | None, frozenset[Pattern]]
"""The ids of a tree before and after, and the patterns of the files below it that are looked for."""


class ChangedPath(NamedTuple):
    """A file that a commit changed: its path, and its blob before and after (None: it was, or is, not there)."""

    path: str
    before: bytes | None
    after: bytes | None


class ChangingCommit(NamedTuple):
    """A commit, the first of those before it ("": none, or the clone is cut off there), and the files it changed.

    Where these are more than were asked for, all are counted, and only those are listed that a search always lists.
    """

    id: str
    parent: str
    files: tuple[ChangedPath, ...]
    total: int


class ListingLimits(NamedTuple):
    """The limits of a search: whether the first commit counts, and how many files of one are listed (0: all).

    Files of the patterns ``always`` are listed however many there are. The newest ``commits`` are looked at (0: all).
    """

    with_first: bool = True
    files: int = 0
    always: tuple[str, ...] = ()
    commits: int = 0


_NONE = ListingLimits()


def commits_changing_files(
    repository: Repository, commit: str, patterns: Collection[str], limits: ListingLimits = _NONE
) -> Iterator[ChangingCommit]:
    """Yield the commits that changed files of some patterns, from a commit back, the newest first.

    Of a merge, what it merged counts as its own change. In a pattern such as ``clusters/*/shop/**`` a ``*`` stands for
    any name, and ``**`` at its end for everything below.
    """
    count = (f"--max-count={limits.commits + 1}",) if limits.commits else ()
    line = ("log", "--first-parent", "--no-show-signature", "--format=%H %T %P", *count, "--end-of-options", commit)
    listed = [(*words[:2], words[2] if len(words) > 2 else "") for words in map(str.split, _lines(repository, line))]
    trees = {id_: bytes.fromhex(tree) for id_, tree, _ in listed}
    pairs = [(id_, parent) for id_, _, parent in listed if limits.with_first or parent][: limits.commits or None]
    search = _ChangeSearch(repository, trees, _parsed_patterns(patterns), _parsed_patterns(limits.always), limits.files)
    start, size = 0, _FIRST
    while several := pairs[start : start + size]:
        read = yield from search.changing_commits(several)
        start, size = start + size, _next_size(size, read)


def _parsed_patterns(patterns: Iterable[str]) -> frozenset[Pattern]:
    return frozenset(tuple(pattern.split("/")) for pattern in patterns)


def _next_size(size: int, read: int) -> int:
    """Return how many commits are compared next, after so many of which so many bytes of trees were read."""
    if read > _MOST_BYTES:
        return max(size // _GROWTH, 1)
    return size * _GROWTH if read * _GROWTH <= _MOST_BYTES and size < _AT_ONCE else size


def _lines(repository: Repository, command: Sequence[str]) -> list[str]:
    return repository.git.text(*command).splitlines()


class _ChangeSearch(NamedTuple):
    """A search: the trees of commits, the patterns looked for, those always listed, and how many files are at most."""

    repository: Repository
    roots: Mapping[str, bytes]
    patterns: frozenset[Pattern]
    always: frozenset[Pattern]
    most: int

    def changing_commits(self, several: Sequence[tuple[str, str]]) -> Generator[ChangingCommit, None, int]:
        """Yield those of some commits that changed files, and return how many bytes of trees were read for it."""
        pairs: list[_Pair] = [(self.roots.get(parent), self.roots[id_], self.patterns) for id_, parent in several]
        comparison = _TreeComparison(read=self.repository.tree_contents, algorithm=self.repository.algorithm)
        comparison.compare(pairs)
        for (id_, parent), pair in zip(several, pairs, strict=True):
            if count := comparison.count(pair):
                yield ChangingCommit(id_, parent, self._listed_files(comparison, pair, count), count)
        return sum(map(len, comparison.contents.values()))

    def _listed_files(self, comparison: "_TreeComparison", pair: _Pair, count: int) -> tuple[ChangedPath, ...]:
        if count <= (self.most or count):
            return comparison.files(pair)
        before, after, _ = pair
        fewer: _Pair = (before, after, self.always)
        comparison.compare([fewer])
        return comparison.files(fewer)


_Difference = tuple[list[ChangedPath], list[tuple[list[str], _Pair]]]
"""The files in which two trees differ, and the pairs of trees below them, each with the names that it has there."""


class _TreeComparison(Struct):
    """Pairs of trees with what differs between them: files, and pairs of trees below with their names."""

    read: Callable[[Iterable[bytes]], Mapping[bytes, bytes]]
    algorithm: str
    contents: dict[bytes, bytes] = field(default_factory=dict)
    differences: dict[_Pair, _Difference] = field(default_factory=dict)
    found: dict[_Pair, tuple[ChangedPath, ...]] = field(default_factory=dict)
    counts: dict[_Pair, int] = field(default_factory=dict)
    entries: dict[bytes, frozenset[_Entry]] = field(default_factory=dict)

    def compare(self, pairs: Iterable[_Pair]) -> None:
        """Compare pairs of trees and all that differs below them, level by level."""
        waiting, levels = set(pairs), list[set[_Pair]]()
        while waiting:
            ids = {id_ for before, after, _ in waiting for id_ in (before, after) if id_ is not None}
            self.contents.update(self.read(ids - self.contents.keys()))
            for pair in waiting:
                self.differences[pair] = self._difference(pair)
            levels.append(waiting)
            below = {inner for pair in waiting for _, inner in self.differences[pair][1]}
            waiting = below - self.differences.keys()
        for level in reversed(levels):
            for pair in level:
                files, pairs_below = self.differences[pair]
                below_it = sum([len(names) * self.count(other) for names, other in pairs_below]) if pairs_below else 0
                self.counts[pair] = len(files) + below_it

    def count(self, pair: _Pair) -> int:
        """Return how many files differ below a pair of trees that was compared."""
        if pair not in self.counts:
            files, below = self.differences[pair]
            self.counts[pair] = len(files) + sum([len(names) * self.count(other) for names, other in below])
        return self.counts[pair]

    def files(self, pair: _Pair) -> tuple[ChangedPath, ...]:
        """Return the files that differ below a pair of trees that was compared, by their paths from there."""
        if pair not in self.found:
            files, below = self.differences[pair]
            for names, other in below:
                if inner := self.files(other):
                    files = [*files, *(each._replace(path=f"{name}/{each.path}") for name in names for each in inner)]
            self.found[pair] = tuple(files)
        return self.found[pair]

    def _difference(self, pair: _Pair) -> _Difference:
        before, after, patterns = pair
        name = _only_name(patterns)
        if name and before is not None and after is not None:
            return self._difference_of_name(pair, name)
        old, new = self._entries_that_differ(before, after, patterns)
        same: dict[tuple[frozenset[Pattern], tuple[bool, bytes] | None, tuple[bool, bytes] | None], list[str]] = {}
        for name in sorted(old.keys() | new.keys()):
            same.setdefault((_patterns_below(patterns, name), old.get(name), new.get(name)), []).append(name)
        files: list[ChangedPath] = []
        below: list[tuple[list[str], _Pair]] = []
        for (inner, *sides), names in same.items():
            trees = [side[1] if side and side[0] else None for side in sides]
            blobs = [side[1] if side and not side[0] else None for side in sides]
            if any(trees):
                below.append((names, (trees[0], trees[1], inner)))
            if any(blobs) and () in inner:
                files += [ChangedPath(name, blobs[0], blobs[1]) for name in names]
        return files, below

    def _difference_of_name(self, pair: _Pair, name: str) -> _Difference:
        """Return the difference between two trees in the one entry that all patterns take, as most folders have it."""
        before, after, patterns = pair
        old, new = (_entry_of_name(self.contents[id_], name, self.algorithm) for id_ in (before, after) if id_)
        if old == new:
            return [], []
        inner = _patterns_below(patterns, name)
        if old is not None and new is not None and old[0] and new[0]:
            return [], [([name], (old[1], new[1], inner))]
        trees = [side[1] if side and side[0] else None for side in (old, new)]
        blobs = [side[1] if side and not side[0] else None for side in (old, new)]
        files = [ChangedPath(name, blobs[0], blobs[1])] if any(blobs) and () in inner else []
        return files, [([name], (trees[0], trees[1], inner))] if any(trees) else []

    def _entries_that_differ(
        self, before: bytes | None, after: bytes | None, patterns: frozenset[Pattern]
    ) -> tuple[_Entries, _Entries]:
        """Return the entries of two trees that differ, of those that some patterns take."""
        names = frozenset(pattern[0] for pattern in patterns if pattern)
        if names & {ANY, BELOW}:
            old, new = (self._all_entries(id_) if id_ else frozenset[_Entry]() for id_ in (before, after))
            return _entries_by_name(old - new), _entries_by_name(new - old)
        sides = (self.contents[id_] if id_ else b"" for id_ in (before, after))
        one, other = ({name: _entry_of_name(side, name, self.algorithm) for name in names} for side in sides)
        changed = [name for name in names if one[name] != other[name]]
        return (
            {name: entry for name in changed if (entry := one[name]) is not None},
            {name: entry for name in changed if (entry := other[name]) is not None},
        )

    def _all_entries(self, id_: bytes) -> frozenset[_Entry]:
        """Return the entries of a tree as Git writes them: mode, name and id of each."""
        if id_ not in self.entries:
            self.entries[id_] = frozenset(tree_lines(self.contents[id_], self.algorithm))
        return self.entries[id_]


def _entries_by_name(entries: Iterable[_Entry]) -> _Entries:
    return {name.decode("utf-8", "surrogateescape"): (mode == _TREE, id_) for mode, name, id_ in entries}


def _entry_of_name(content: bytes, name: str, algorithm: str) -> tuple[bool, bytes] | None:
    """Return the entry of a name in a tree, if it has one: whether it is a tree itself, and its id.

    A place where an id reads like that name has no mode before it, but by a chance of one in many billions.
    """
    text, size = b" %s\0" % name.encode("utf-8", "surrogateescape"), 20 if algorithm == "sha1" else 32
    place = content.find(text)
    while place >= 0:
        if content.endswith(_MODES, 0, place):
            start = place + len(text)
            return content.endswith(_TREE, 0, place), content[start : start + size]
        place = content.find(text, place + 1)
    return None


@lru_cache(maxsize=4096)
def _only_name(patterns: frozenset[Pattern]) -> str:
    """Return the name with which all patterns begin; empty where they take several."""
    names = {pattern[0] for pattern in patterns if pattern}
    return names.pop() if len(names) == 1 and not names & {ANY, BELOW} else ""


@lru_cache(maxsize=4096)
def _patterns_below(patterns: frozenset[Pattern], name: str) -> frozenset[Pattern]:
    """Return the rests of the patterns that take a name; an empty one takes the file of that name itself."""
    found: set[Pattern] = set()
    for pattern in patterns:
        if pattern and pattern[0] == BELOW:
            found |= {(), pattern}
        elif pattern and pattern[0] in {ANY, name}:
            found.add(pattern[1:])
    return frozenset(found)
