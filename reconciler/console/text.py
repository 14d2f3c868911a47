"""Titled sections of sentences and tables, as a terminal shows them or as Markdown."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from .cleaning import on_one_line, with_visible_control_characters
from .styled_text import StyledText
from .tables import text_table

# Entities and no backslashes: a backslash stops neither a mention nor a bare link.
_ENTITIES = {ord(character): f"&#{ord(character)};" for character in "&<>`*_[]()|~@#\\!:\"'"}
_INDENT = "  "


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


def sections_for_terminal(sections: Iterable[Section]) -> Iterator[str]:
    """Yield the parts of sections as a terminal shows them, an empty line between two."""
    for number, each in enumerate(sections):
        yield "\n" * bool(number)
        yield StyledText.of_title(f"{each.title}\n")
        yield from (f"{_INDENT}{sentence}\n" for sentence in each.before)
        if each.rows:
            rows = [[cell or "-" for cell in row] for row in each.rows]
            yield text_table(each.header, rows, indent=_INDENT)
        yield from (f"{_INDENT}{sentence}\n" for sentence in each.after)


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


def escape_markdown(text: str) -> str:
    """Return text that Markdown and HTML leave as it is, on one line; it mentions nobody and links to nothing.

    >>> escape_markdown("@all <b> *x*")
    '&#64;all &#60;b&#62; &#42;x&#42;'
    """
    return with_visible_control_characters(on_one_line(text)).translate(_ENTITIES)
