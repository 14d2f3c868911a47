"""Tables as kubectl prints them, and titled sections of sentences and tables, as plain text or Markdown."""

import os
import re
import sys
import textwrap
from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import zip_longest

from msgspec import Struct

from .cleaning import with_visible_control_characters

# Entities and no backslashes: a backslash stops neither a mention nor a bare link.
_ENTITIES = {ord(character): f"&#{ord(character)};" for character in "&<>`*_[]()|~@#\\!:\"'"}
_BREAKS = {ord(character): " " for character in "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"}
_INDENT = "  "
_GAP = "   "
_NARROWEST = 8
_BREAK = re.compile(r"([ \t]+|(?<=/)|(?<=\dT)(?=\d))")
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


def text_table(header: Sequence[str], rows: Iterable[Sequence[str]], *, width: int | None = None) -> str:
    """Return a table with its header; every line ends with a newline.

    Cells are wrapped where the table has more columns than ``width`` (None: than the terminal has; 0: than anything).

    >>> print(text_table(("NAME", "READY"), [("member1", "True")]), end="")
    NAME      READY
    member1   True
    >>> print(text_table(("NAME", "WHY"), [("member1", "it does not answer")], width=20), end="")
    NAME      WHY
    member1   it does
              not answer
    """
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    limit = screen_width() if width is None else width
    gap = _GAP
    if limit and _total_width_of_columns(widths) > limit:
        answers = _answers_among(header, widths, limit)
        narrow = [min(width, _NARROWEST) for width in widths]
        least = [sum(_with_answers(each, widths, answers)) for each in (_longest_words(lines), narrow)]
        gap = _gap_within_limit(least, len(widths) - 1, limit)
        limit -= (len(gap) - len(_GAP)) * (len(widths) - 1)
        widths = _column_widths_within_limit(lines, widths, limit, answers)
        lines = [part for line in lines for part in _lines_of_wrapped_row(line, widths)]
    return "".join(
        gap.join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n" for line in lines
    )


def screen_width() -> int:
    """Return the columns of the terminal that output goes to; 0 where it goes elsewhere, and nothing has to fit."""
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns if is_terminal() else 0
    except (OSError, ValueError):
        return 0


def is_terminal() -> bool:
    """Say whether output goes to a terminal, where a person reads it."""
    return sys.stdout.isatty()


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


class Section(Struct, frozen=True, kw_only=True):
    """A title with a table under it and sentences around that; every part but the title may be missing."""

    title: str
    before: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    after: tuple[str, ...] = ()


def section_with_table(
    title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, before: Iterable[str] = ()
) -> Section:
    """Return a section with a table, without the columns that say nothing in any row."""
    listed = [tuple(row) for row in rows]
    kept = [column for column in range(len(header)) if any(row[column].strip() for row in listed)]
    return Section(
        title=title,
        before=tuple(before),
        header=tuple(header[column] for column in kept),
        rows=tuple(tuple(row[column] for column in kept) for row in listed),
    )


def sections_as_terminal_text(sections: Iterable[Section]) -> str:
    """Return sections as a terminal shows them, an empty line between two."""
    return "\n".join("".join(f"{line}\n" for line in _terminal_lines_of_section(each)) for each in sections)


def _terminal_lines_of_section(each: Section) -> Iterator[str]:
    yield each.title
    for sentence in each.before:
        yield _INDENT + sentence
    if each.rows:
        rows = [[cell or "-" for cell in row] for row in each.rows]
        width = max(screen_width() - len(_INDENT), 0)
        for line in text_table(each.header, rows, width=width).splitlines():
            yield _INDENT + line
    for sentence in each.after:
        yield _INDENT + sentence


def sections_as_markdown(sections: Iterable[Section]) -> str:
    """Return sections as GitHub and GitLab show them, with nothing in a name or value taken for markup."""
    return "\n".join("".join(f"{line}\n" for line in _markdown_lines_of_section(each)) for each in sections)


def _markdown_lines_of_section(each: Section) -> Iterator[str]:
    yield f"### {escape_markdown(each.title)}"
    for sentence in each.before:
        yield ""
        yield escape_markdown(sentence)
    if each.rows:
        yield ""
        yield _markdown_row(each.header)
        yield "|" + "---|" * len(each.header)
        for row in each.rows:
            yield _markdown_row([cell or "-" for cell in row])
    for sentence in each.after:
        yield ""
        yield escape_markdown(sentence)


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(escape_markdown, cells)) + " |"


def on_one_line(text: str) -> str:
    """Return text with every kind of line break as a space."""
    return text.translate(_BREAKS)


def escape_markdown(text: str) -> str:
    """Return text that Markdown and HTML leave as it is, on one line; it mentions nobody and links to nothing.

    >>> escape_markdown("@all <b> *x*")
    '&#64;all &#60;b&#62; &#42;x&#42;'
    """
    return with_visible_control_characters(on_one_line(text)).translate(_ENTITIES)
