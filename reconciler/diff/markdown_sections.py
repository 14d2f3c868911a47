"""Sections of a difference in Markdown: as many lines as there is room for, with one line for many objects alike."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

from msgspec import Struct

from reconciler.console.groups import group_items

_FEW_LINES = 12
Item = TypeVar("Item")


class MarkdownSection(Struct, frozen=True, kw_only=True):
    """A titled part of the text: its lines, and the text before and after them; an open one is not folded.

    ``counts`` are how many objects each line is about (empty: one).
    """

    title: str
    lines: Sequence[str]
    before: str = ""
    after: str = ""
    is_open: bool = False
    counts: Sequence[int] = ()

    @property
    def joins_objects(self) -> bool:
        """True where a line is about several objects."""
        return any(count > 1 for count in self.counts)

    def count_after(self, shown: int) -> int:
        """Return how many objects the lines are about that follow so many."""
        return sum(self.counts[shown:]) if self.counts else len(self.lines) - shown


class LineGroups(Struct, frozen=True, kw_only=True):
    """The lines for groups of objects of which the same is said; ``is_full``: a line for each object."""

    is_full: bool

    def section(
        self,
        title: str,
        items: Iterable[Item],
        said: Callable[[Item], Hashable],
        line: Callable[[Sequence[Item]], str],
    ) -> MarkdownSection:
        """Return a section with a line for each group of items."""
        groups = list(group_items(items, said, is_full=self.is_full))
        return MarkdownSection(title=title, lines=list(map(line, groups)), counts=list(map(len, groups)))


def section_that_fits(section: MarkdownSection, room: int) -> str:
    """Return a section with as many lines as there is room for; nothing when there is room for none."""
    is_open = section.is_open and len(section.lines) <= _FEW_LINES
    title = f"{section.title} ({section.count_after(0)})"
    top = f"**{title}**\n\n" if is_open else f"<details><summary>{title}</summary>\n\n"
    end = "" if is_open else "\n</details>\n"
    room -= len(f"{top}{section.before}{section.after}{end}".encode()) + 40
    fitting = 0
    for line in section.lines:
        room -= len(line.encode())
        if room < 0:
            break
        fitting += 1
    if not fitting:
        return ""
    missing = section.count_after(fitting)
    more = f"\nand {missing} more\n" if missing else ""
    return f"{top}{section.before}{''.join(section.lines[:fitting])}{section.after}{more}{end}"
