"""The look of a table on a terminal: a mark before each row, states in their colours, ages for times, and cut ends."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from render.expressions import lazy_expression

from .cleaning import on_one_line, safe_for_terminal
from .clock import age_in_words, given_or_current_time
from .marks import MARKS, HealthState, state_of_cell, state_of_row
from .styled_text import FAINT, TITLE, StyledText
from .table_layout import TableLayout, layout_of_table
from .terminal import Screen

_TIME = lazy_expression(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_AGE = "AGE"
"""The column of a table that tells ages by itself, so that its times stay as they are."""
_MOST_LINES = 12
"""So many lines a cell takes at most."""
_SECOND = "\0"
"""It stands behind each character that takes two columns, so that a text is as long as it is wide."""
Pieces = Iterator[tuple[str, str]]


class DressedRow(Struct, frozen=True):
    """The cells of a row as they are shown, with the styles of these and the state of what it is about."""

    cells: tuple[str, ...]
    styles: tuple[str, ...]
    state: HealthState | None = None


def dressed_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], screen: Screen, *, limit: int, indent: str
) -> StyledText:
    """Return a table as a terminal shows it; every line ends with a newline."""
    titles = DressedRow(tuple(header), (TITLE,) * len(header))
    listed = [titles, *_rows_with_states(header, rows)]
    has_marks = any(row.state for row in listed)
    room = max(limit - 2 * has_marks, 1) if limit else 0
    layout = layout_of_table([row.cells for row in listed], room)
    look = _TableLook(layout=layout, room=room, ellipsis="\u2026" if screen.has_unicode else ".")

    def pieces() -> Pieces:
        for row in listed:
            for number, line in enumerate(look.lines_of_row(row)):
                yield indent, ""
                yield from _mark_of_row(row, screen) if has_marks and not number else ((" " * 2 * has_marks, ""),)
                yield from line
                yield "\n", ""

    return StyledText.of_pieces(pieces())


def _rows_with_states(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[DressedRow]:
    now = given_or_current_time().timestamp()
    has_ages = _AGE in header
    for row in rows:
        cells = tuple(on_one_line(safe_for_terminal(cell)) for cell in row)
        states = (state_of_cell(title, cell) for title, cell in zip(header, cells, strict=True))
        styles = [MARKS[state].style if state else "" for state in states]
        shown = [cell if has_ages else _age_of_time(cell, now) for cell in cells]
        styles = [FAINT if new != old else style for new, old, style in zip(shown, cells, styles, strict=True)]
        yield DressedRow(tuple(map(_with_second_columns, shown)), tuple(styles), state_of_row(header, cells))


def _age_of_time(cell: str, now: float) -> str:
    """Return a time by its age, and any other cell as it is.

    >>> _age_of_time("2027-01-15T08:00:00Z", 1_800_000_000 + 250), _age_of_time("web", 0)
    ('4m ago', 'web')
    """
    if not _TIME.fullmatch(cell):
        return cell
    try:
        seconds = int(now - datetime.fromisoformat(cell).timestamp())
    except ValueError:
        return cell
    return f"{age_in_words(seconds)} ago" if seconds >= 0 else f"in {age_in_words(-seconds)}"


def _with_second_columns(text: str) -> str:
    """Return a text as long as it is wide: some characters of other scripts take two columns."""
    if text.isascii():
        return text
    from rich.cells import cell_len

    return "".join(each + _SECOND * (cell_len(each) - 1) for each in text)


def _mark_of_row(row: DressedRow, screen: Screen) -> Pieces:
    if row.state is None:
        yield "  ", ""
        return
    mark = MARKS[row.state]
    yield mark.shape if screen.has_unicode else mark.plain_shape, mark.style
    yield " ", ""


class _TableLook(Struct, frozen=True, kw_only=True):
    """The layout of a table in so many columns, and the sign of what is left out."""

    layout: TableLayout
    room: int
    ellipsis: str

    def lines_of_row(self, row: DressedRow) -> Iterator[Pieces]:
        """Yield the lines of a row, each as pieces with their styles."""
        lines = list(self.layout.parts_of_row(row.cells))
        for number, parts in enumerate(lines[:_MOST_LINES]):
            is_last = number == _MOST_LINES - 1
            left_out = [is_last and any(line[column] for line in lines[_MOST_LINES:]) for column in range(len(parts))]
            yield self._pieces_of_line(parts, row.styles, left_out)

    def _pieces_of_line(self, parts: Sequence[str], styles: Sequence[str], left_out: Sequence[bool]) -> Pieces:
        """Yield the cells of a line with the gaps between them, as far as there is room, without blanks at its end."""
        whole = [
            f"{part[: width - 1]}{self.ellipsis}" if is_cut else part
            for part, width, is_cut in zip(parts, self.layout.widths, left_out, strict=True)
        ]
        last = max((number for number, part in enumerate(whole) if part.strip()), default=-1)
        room = self.room or sum(map(len, whole)) + len(whole) * (max(self.layout.widths) + len(self.layout.gap))
        for number, part in enumerate(whole[: last + 1]):
            if len(part) > room:
                yield f"{part[: max(room - 1, 0)].replace(_SECOND, '')}{self.ellipsis}", styles[number]
                return
            yield part.replace(_SECOND, ""), styles[number]
            room -= len(part)
            if number < last:
                blanks = self.layout.widths[number] - len(part) + len(self.layout.gap)
                if blanks >= room:
                    yield f"{' ' * max(room - 1, 0)}{self.ellipsis}" if room else "", ""
                    return
                yield " " * blanks, ""
                room -= blanks
