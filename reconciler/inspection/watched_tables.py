"""The rows of a watch, printed as they come under one header: what was printed before decides how wide columns are."""

from collections.abc import Sequence

from msgspec import Struct, field

from .tables import Column, KindRows, Row, Shown, lines_of_kind, text_of_columns


class WatchedRow(Struct, frozen=True, kw_only=True):
    """A row of a cluster, and what happened to its object."""

    cluster: str
    event: str
    row: Row


class WatchedTable(Struct, kw_only=True):
    """A table that grows at its end; columns only become wider, as kubectl's do, and are named again when they change.

    ``has_events``: what happened to an object is told in a column. ``kind`` is how names are prefixed where kinds are
    shown.
    """

    shown: Shown
    has_events: bool = False
    kind: str = ""
    columns: tuple[Column, ...] | None = None
    widths: list[int] = field(default_factory=list)

    def text_of_rows(self, columns: tuple[Column, ...], rows: Sequence[WatchedRow]) -> str:
        """Return the lines that rows of the same columns are, with a header where it is a new one."""
        if not rows:
            return ""
        kind_rows = KindRows(kind=self.kind, columns=columns, rows=tuple((each.cluster, each.row) for each in rows))
        lines = lines_of_kind(kind_rows, self.shown, is_prefixed=self.shown.has_kinds)
        if self.has_events:
            events = [*(["EVENT"] if self.shown.has_header else []), *(each.event for each in rows)]
            lines = [(line[0], event, *line[1:]) for line, event in zip(lines, events, strict=True)]
        if self.shown.has_header and columns == self.columns:
            lines = lines[1:]
        self.columns = columns
        return text_of_columns(lines, remembered=self.widths)
