"""The layout of tables: how wide each column is, and how cells are wrapped where there is no room for all of them.

The widest columns give way first, those that answer last. Words stay whole as long as that is possible.
"""

import textwrap
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

from render.expressions import lazy_expression

_GAP = "   "
_NARROWEST = 8
_BREAK = lazy_expression(r"([ \t]+|(?<=/)|(?<=\dT)(?=\d))")
ANSWERS = frozenset(
    {
        *("ACTION", "APPLIED", "CLUSTER", "CLUSTERS", "GRADE", "HEALTH", "LIVE", "READY", "REASON"),
        *("REPLICAS", "RESULT", "STATE", "VERDICT"),
    }
)
"""The titles of columns that people ask a table for: names and policies beside them give way first."""
_NARROW_NAME = 16
DITTO = " "
"""A cell with the same text as the one above it, which is not repeated."""


class TableLayout(Struct, frozen=True):
    """The widths of the columns of a table, and what stands between two."""

    widths: Sequence[int]
    gap: str

    def parts_of_row(self, line: Sequence[str]) -> Iterable[tuple[str, ...]]:
        """Return the lines that a row takes, each with a part of every cell."""
        if all(len(cell) <= width for cell, width in zip(line, self.widths, strict=True)):
            return (tuple(line),)
        return _lines_of_wrapped_row(line, self.widths)

    def line(self, parts: Sequence[str]) -> str:
        """Return a line of the parts of cells."""
        return self.gap.join(cell.ljust(width) for cell, width in zip(parts, self.widths, strict=True)).rstrip()


def layout_of_table(lines: Sequence[Sequence[str]], limit: int) -> TableLayout:
    """Return the layout of a table, whose first line is its header, in so many columns (0: any number)."""
    header = lines[0]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    if not limit or _total_width_of_columns(widths) <= limit:
        return TableLayout(widths, _GAP)
    answers = _answers_among(header, widths, limit)
    narrow = [min(width, _NARROWEST) for width in widths]
    least = [sum(_with_answers(each, widths, answers)) for each in (_longest_words(lines), narrow)]
    gap = _gap_within_limit(least, len(widths) - 1, limit)
    room = limit - (len(gap) - len(_GAP)) * (len(widths) - 1)
    return TableLayout(_column_widths_within_limit(lines, widths, room, answers), gap)


def _total_width_of_columns(widths: Sequence[int]) -> int:
    return sum(widths) + len(_GAP) * (len(widths) - 1)


def unwrapped_table_width(header: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """Return the columns that a table takes if nothing is wrapped."""
    lines = [header, *rows]
    return _total_width_of_columns([max(len(line[column]) for line in lines) for column in range(len(header))])


def narrowed_table_width(header: Sequence[str], rows: Iterable[Sequence[str]]) -> int:
    """Return the columns that a table needs at least: of a long name that is not what people ask for, a part does."""
    lines = [header, *rows]
    whole = (max(len(line[column]) for line in lines) for column in range(len(header)))
    longest = zip(header, whole, _longest_words(lines), strict=True)
    return _total_width_of_columns(
        [width if title in ANSWERS else min(word, max(len(title), _NARROW_NAME)) for title, width, word in longest]
    )


def _longest_words(lines: Sequence[Sequence[str]]) -> list[int]:
    """Return the length of the longest word of each column."""
    columns = range(len(lines[0]))
    return [max(len(word) for line in lines for word in _BREAK.split(line[column])) for column in columns]


def _gap_within_limit(least: Iterable[int], gaps: int, limit: int) -> str:
    """Return what stands between columns: less than usual where that keeps words whole, or else the table in its limit.

    ``least`` are the columns that cells take in each of these cases.
    """
    fitting = (size for taken in least for size in range(len(_GAP), 0, -1) if taken + size * gaps <= limit)
    return " " * next(fitting, 1)


def _answers_among(header: Sequence[str], widths: Sequence[int], limit: int) -> frozenset[int]:
    """Return the columns that answer and can stay whole; a list of clusters that needs most of the width cannot."""
    return frozenset(
        number
        for number, (title, width) in enumerate(zip(header, widths, strict=True))
        if title in ANSWERS and width <= limit // 2
    )


def _with_answers(least: Sequence[int], widths: Sequence[int], answers: Container[int]) -> list[int]:
    """Return the least widths, with those of columns that answer as they are."""
    return [
        whole if number in answers else small for number, (small, whole) in enumerate(zip(least, widths, strict=True))
    ]


def _column_widths_within_limit(
    lines: Sequence[Sequence[str]], widths: Sequence[int], limit: int, answers: Container[int]
) -> list[int]:
    """Return widths that fit side by side: the widest column gives way first, but none of the ``answers``.

    Words stay whole where that is enough, and no column gets narrower than a few characters. Where all other columns
    are that narrow, answers give way as well.
    """
    words, fitted = _longest_words(lines), list(widths)
    narrow = [_NARROWEST] * len(widths)
    for least in (*(_with_answers(each, widths, answers) for each in (words, narrow)), words, narrow):
        while _total_width_of_columns(fitted) > limit:
            wide = [column for column, width in enumerate(fitted) if width > least[column]]
            if not wide:
                break
            fitted[max(wide, key=fitted.__getitem__)] -= 1
    return fitted


def _lines_of_wrapped_row(line: Sequence[str], widths: Sequence[int]) -> Iterator[tuple[str, ...]]:
    """Yield the lines that a row takes when its cells are wrapped."""
    cells = [
        [cell] if len(cell) <= width else _lines_of_wrapped_cell(cell, width)
        for cell, width in zip(line, widths, strict=True)
    ]
    return zip_longest(*cells, fillvalue="")


def _lines_of_wrapped_cell(cell: str, width: int) -> list[str]:
    wrapper = textwrap.TextWrapper(width=width, break_on_hyphens=False)
    wrapper.wordsep_simple_re = _BREAK
    return wrapper.wrap(cell)
