"""Tables as kubectl prints them, and titled sections of sentences and tables, as plain text or Markdown."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from .cleaning import visible

# Entities and no backslashes: a backslash stops neither a mention nor a bare link.
_ENTITIES = {ord(character): f"&#{ord(character)};" for character in "&<>`*_[]()|~@#\\!:\"'"}
_BREAKS = {ord(character): " " for character in "\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"}
_INDENT = "  "
DITTO = " "
"""A cell with the same text as the one above it, which is not repeated."""


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table with its header; every line ends with a newline.

    >>> print(table(("NAME", "READY"), [("member1", "True")]), end="")
    NAME      READY
    member1   True
    """
    lines = [tuple(header), *(tuple(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "".join(
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() + "\n"
        for line in lines
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """A title with a table under it and sentences around that; every part but the title may be missing."""

    title: str
    before: tuple[str, ...] = ()
    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    after: tuple[str, ...] = ()


def section(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], *, before: Iterable[str] = ()) -> Section:
    """Return a section with a table, without the columns that say nothing in any row."""
    listed = [tuple(row) for row in rows]
    kept = [column for column in range(len(header)) if any(row[column].strip() for row in listed)]
    return Section(
        title=title,
        before=tuple(before),
        header=tuple(header[column] for column in kept),
        rows=tuple(tuple(row[column] for column in kept) for row in listed),
    )


def sections_text(sections: Iterable[Section]) -> str:
    """Return sections as a terminal shows them, an empty line between two."""
    return "\n".join("".join(f"{line}\n" for line in _text_lines(each)) for each in sections)


def _text_lines(each: Section) -> Iterator[str]:
    yield each.title
    for sentence in each.before:
        yield _INDENT + sentence
    if each.rows:
        rows = [[cell or "-" for cell in row] for row in each.rows]
        for line in table(each.header, rows).splitlines():
            yield _INDENT + line
    for sentence in each.after:
        yield _INDENT + sentence


def sections_markdown(sections: Iterable[Section]) -> str:
    """Return sections as GitHub and GitLab show them, with nothing in a name or value taken for markup."""
    return "\n".join("".join(f"{line}\n" for line in _markdown_lines(each)) for each in sections)


def _markdown_lines(each: Section) -> Iterator[str]:
    yield f"### {escaped(each.title)}"
    for sentence in each.before:
        yield ""
        yield escaped(sentence)
    if each.rows:
        yield ""
        yield _markdown_row(each.header)
        yield "|" + "---|" * len(each.header)
        for row in each.rows:
            yield _markdown_row([cell or "-" for cell in row])
    for sentence in each.after:
        yield ""
        yield escaped(sentence)


def _markdown_row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(map(escaped, cells)) + " |"


def one_line(text: str) -> str:
    """Return text with every kind of line break as a space."""
    return text.translate(_BREAKS)


def escaped(text: str) -> str:
    """Return text that Markdown and HTML leave as it is, on one line; it mentions nobody and links to nothing.

    >>> escaped("@all <b> *x*")
    '&#64;all &#60;b&#62; &#42;x&#42;'
    """
    return visible(one_line(text)).translate(_ENTITIES)
