"""The lines of gitignore syntax that leave files out, matched in a time that does not grow with their number.

Most lines are names or paths without wildcards, or ``*`` and a suffix. They are looked up, not tried one after the
other: a path asks for its own name, its whole path and each of its suffixes. Only what is left is tried line by line,
a path that starts with a folder only below that folder.

A folder is judged before what is in it, so that a line has to match a path itself; the last line that does decides.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

_WILD = re.compile(r"[*?\[\\]")
_CLASS = re.compile(r"\[(!|\^)?(\]?[^\]\\/]*(?:\\.[^\]\\/]*)*)\]")


class IgnoreLine(NamedTuple):
    """A line: its place among all, whether it takes back (``!``), and whether it means folders alone."""

    number: int
    takes_back: bool
    folders_only: bool


@dataclass(slots=True)
class _Lines:
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
        elif not is_anchored and inner.startswith("*.") and not _WILD.search(inner[1:]):
            self.by_suffix.setdefault(inner[1:], []).append(line)
        else:
            compiled = re.compile(_translated(inner) if is_anchored else f"(?:.*/)?{_translated(inner)}", re.DOTALL)
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


def ignore_test(lines: Sequence[str]) -> Callable[[str], bool]:
    r"""Return a test of paths against gitignore lines; a folder's path ends with a slash.

    The test is asked about a folder before it is asked about anything in it.

    >>> is_ignored = ignore_test(["*.tmp.yaml", "/docs/", "!keep.tmp.yaml"])
    >>> [is_ignored(path) for path in ("a/x.tmp.yaml", "docs/", "a/docs/", "keep.tmp.yaml")]
    [True, True, False, False]
    """
    known = _Lines()
    for number, text in enumerate(lines):
        pattern = _without_trailing_spaces(text.rstrip("\r\n"))
        if not pattern or pattern.startswith("#"):
            continue
        takes_back = pattern.startswith("!")
        pattern = pattern[1:] if takes_back else pattern
        folders_only = pattern.endswith("/")
        pattern = pattern[:-1] if folders_only else pattern
        if pattern.strip("/"):
            known.add(IgnoreLine(number, takes_back, folders_only), pattern)

    def is_ignored(path: str) -> bool:
        is_folder = path.endswith("/")
        found = [line for line in known.matching(path.rstrip("/")) if is_folder or not line.folders_only]
        return bool(found) and not max(found).takes_back

    return is_ignored


def _without_trailing_spaces(text: str) -> str:
    r"""Return a line without the spaces at its end, of which a backslash keeps one.

    >>> _without_trailing_spaces("a  "), _without_trailing_spaces("a\\  ")
    ('a', 'a\\ ')
    """
    short = text.rstrip(" ")
    is_kept = len(short) < len(text) and (len(short) - len(short.rstrip("\\"))) % 2
    return f"{short} " if is_kept else short


def _translated(pattern: str) -> str:
    """Return the regular expression of a pattern's whole path."""
    parts = pattern.split("/")
    out = []
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "**":
            out.append(".+" if is_last else "(?:[^/]+/)*")
        else:
            out.append(_segment(part) + ("" if is_last else "/"))
    return "".join(out)


def _segment(part: str) -> str:
    """Return the regular expression of a part between slashes."""
    out, place = [], 0
    while place < len(part):
        character = part[place]
        matched = _CLASS.match(part, place) if character == "[" else None
        if matched:
            out.append(f"(?!/)[{'^' if matched[1] else ''}{_class_body(matched[2])}]")
            place = matched.end()
            continue
        if character == "\\" and place + 1 < len(part):
            place += 1
            out.append(re.escape(part[place]))
        elif character == "*":
            while part[place + 1 : place + 2] == "*":
                place += 1
            out.append("[^/]*")
        else:
            out.append("[^/]" if character == "?" else re.escape(character))
        place += 1
    return "".join(out)


def _class_body(body: str) -> str:
    """Return what stands in brackets as a regular expression has it; its dashes stay ranges."""
    return re.sub(r"(?<!\\)([\[\]&~|^])", r"\\\1", body)
