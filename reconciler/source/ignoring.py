"""The lines of gitignore syntax that leave files out, matched in a time that does not grow with their number.

Most lines are names or paths without wildcards, or ``*`` and a suffix. They are looked up, not tried one after the
other: a path asks for its own name, its whole path and each of its suffixes. Only what is left is tried line by line,
a path that starts with a folder only below that folder.

A folder is judged before what is in it, so that a line has to match a path itself; the last line that does decides.

A wildcard is never tried again at another place: of the places where what follows it may stand, the first serves as
well as any, until the next wildcard takes up what is left. Only what follows the last one has to stand at the end. So
every expression made here matches in time proportional to the line times the path.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from msgspec import Struct, field

from render.expressions import lazy_expression

_WILD = lazy_expression(r"[*?\[\\]")
_CLASS = lazy_expression(r"\[(!|\^)?(\]?[^\]\\/]*(?:\\.[^\]\\/]*)*)\]")


MOST_TRIED = 1000
"""Lines that may be tried one by one; lines that are looked up may be of any number."""


class IgnoreLine(NamedTuple):
    """A line: its place among all, whether it takes back (``!``), and whether it means folders alone."""

    number: int
    takes_back: bool
    folders_only: bool


class _Lines(Struct):
    """Lines by how they are found: by whole path, by name, by the suffix of a name, else one by one."""

    by_path: dict[str, list[IgnoreLine]] = field(default_factory=dict)
    by_name: dict[str, list[IgnoreLine]] = field(default_factory=dict)
    by_suffix: dict[str, list[IgnoreLine]] = field(default_factory=dict)
    by_folder: dict[str, list[tuple[IgnoreLine, re.Pattern[str]]]] = field(default_factory=dict)
    others: list[tuple[IgnoreLine, re.Pattern[str]]] = field(default_factory=list)

    def add(self, line: IgnoreLine, pattern: str) -> None:
        """File a line under the cheapest way to find it."""
        is_anchored, inner = "/" in pattern, pattern.removeprefix("/")
        if not _WILD.search(inner):
            (self.by_path if is_anchored else self.by_name).setdefault(inner, []).append(line)
        elif not _has_to_be_tried(pattern):
            self.by_suffix.setdefault(inner[1:], []).append(line)
        else:
            compiled = re.compile(
                _regex_of_path(inner) if is_anchored else f"(?>(?:[^/]*/)*){_regex_of_part(inner)}", re.DOTALL
            )
            first, slash, _ = inner.partition("/")
            if is_anchored and slash and not _WILD.search(first):
                self.by_folder.setdefault(first, []).append((line, compiled))
            else:
                self.others.append((line, compiled))

    def matching(self, path: str) -> Iterator[IgnoreLine]:
        """Yield the lines that match a path."""
        name = path.rpartition("/")[2]
        yield from self.by_path.get(path, ())
        yield from self.by_name.get(name, ())
        for place, character in enumerate(name):
            if character == ".":
                yield from self.by_suffix.get(name[place:], ())
        for line, pattern in (*self.by_folder.get(path.partition("/")[0], ()), *self.others):
            if pattern.fullmatch(path):
                yield line


def _has_to_be_tried(pattern: str) -> bool:
    """Say whether a pattern has to be tried: it has a wildcard, and is more than one suffix of names."""
    is_suffix = pattern.startswith("*.") and "/" not in pattern and not _WILD.search(pattern[1:])
    return bool(_WILD.search(pattern)) and not is_suffix


def predicate_of_ignored_paths(lines: Sequence[str]) -> Callable[[str], bool]:
    r"""Return a test of paths against gitignore lines; a folder's path ends with a slash.

    The test is asked about a folder before it is asked about anything in it.

    >>> is_ignored = predicate_of_ignored_paths(["*.tmp.yaml", "/docs/", "!keep.tmp.yaml"])
    >>> [is_ignored(path) for path in ("a/x.tmp.yaml", "docs/", "a/docs/", "keep.tmp.yaml")]
    [True, True, False, False]
    """
    known = _Lines()
    for line, pattern in _parsed_lines(lines):
        known.add(line, pattern)

    def is_ignored(path: str) -> bool:
        is_folder = path.endswith("/")
        found = [line for line in known.matching(path.rstrip("/")) if is_folder or not line.folders_only]
        return bool(found) and not max(found).takes_back

    return is_ignored


def count_of_tried_lines(lines: Sequence[str]) -> int:
    """Return how many lines have to be tried one by one."""
    return sum(_has_to_be_tried(pattern) for _, pattern in _parsed_lines(lines))


def _parsed_lines(lines: Sequence[str]) -> Iterator[tuple[IgnoreLine, str]]:
    """Yield the lines that mean something, each with its pattern."""
    for number, text in enumerate(lines):
        pattern = _without_trailing_spaces(text.rstrip("\r\n"))
        if not pattern or pattern.startswith("#"):
            continue
        takes_back = pattern.startswith("!")
        pattern = pattern[1:] if takes_back else pattern
        folders_only = pattern.endswith("/")
        pattern = pattern[:-1] if folders_only else pattern
        if pattern.strip("/"):
            yield IgnoreLine(number, takes_back, folders_only), pattern


def _without_trailing_spaces(text: str) -> str:
    r"""Return a line without the spaces at its end, of which a backslash keeps one.

    >>> _without_trailing_spaces("a  "), _without_trailing_spaces("a\\  ")
    ('a', 'a\\ ')
    """
    short = text.rstrip(" ")
    is_kept = len(short) < len(text) and (len(short) - len(short.rstrip("\\"))) % 2
    return f"{short} " if is_kept else short


def _regex_of_path(pattern: str) -> str:
    """Return the regular expression of a pattern's whole path."""
    parts = [part for part, after in pairwise((*pattern.split("/"), "")) if not part == after == "**"]
    if parts[-1] == "**":
        return f"{_regex_of_parts(parts[:-1])}/.+" if len(parts) > 1 else ".+"
    return _regex_of_parts(parts)


def _regex_of_parts(parts: Sequence[str]) -> str:
    """Return the regular expression of parts of which none at the end stands for folders of any number."""
    runs: list[list[str]] = [[]]
    for part in parts:
        if part == "**":
            runs.append([])
        else:
            runs[-1].append(_regex_of_part(part))
    first, *inner, last = ["/".join(run) for run in runs] if len(runs) > 1 else ["/".join(runs[0]), ""]
    if len(runs) == 1:
        return first
    return "".join((first and f"{first}/", *(f"(?>(?:[^/]+/)*?{run}/)" for run in inner), f"(?:[^/]+/)*{last}"))


def _regex_of_part(part: str) -> str:
    """Return the regular expression of a part between slashes."""
    first, *inner = _regexes_between_wildcards(part)
    if not inner:
        return first
    *inner, last = inner
    return "".join((first, *(f"(?>[^/]*?{run})" for run in inner if run), f"[^/]*{last}"))


def _regexes_between_wildcards(part: str) -> list[str]:
    """Return the regular expressions of what stands between the wildcards of a part."""
    runs: list[list[str]] = [[]]
    place, has_classes = 0, True
    while place < len(part):
        character = part[place]
        matched = _CLASS.match(part, place) if character == "[" and has_classes else None
        # One bracket that nothing closes says the same of all those after it.
        has_classes = has_classes and (character != "[" or matched is not None)
        if matched:
            runs[-1].append(f"(?!/)[{'^' if matched[1] else ''}{_regex_of_bracket_content(matched[2])}]")
            place = matched.end()
            continue
        if character == "\\" and place + 1 < len(part):
            place += 1
            runs[-1].append(re.escape(part[place]))
        elif character == "*":
            runs.append([])
        else:
            runs[-1].append("[^/]" if character == "?" else re.escape(character))
        place += 1
    return ["".join(run) for run in runs]


def _regex_of_bracket_content(body: str) -> str:
    """Return what stands in brackets as a regular expression has it; its dashes stay ranges."""
    return re.sub(r"(?<!\\)([\[\]&~|^])", r"\\\1", body)
