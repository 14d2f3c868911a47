"""Tables as API servers make them of their objects, printed as kubectl prints them, with the cluster of each row first.

The columns and cells are the server's own. Of a server that makes none, objects are told by name and age, which is
what kubectl does as well.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, structs

from render.timing import parse_instant
from render.values import DiscreetStruct

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
NONE = "<none>"
_LEAST_WIDTH = 6
_GAP = 3
_BREAKS = ("\f", "\n", "\r")
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "y": 365 * 86_400}
_AGES = (
    (120, "s", ""),
    (600, "m", "s"),
    (3 * 3600, "m", ""),
    (8 * 3600, "h", "m"),
    (48 * 3600, "h", ""),
    (8 * 86_400, "d", "h"),
    (2 * 365 * 86_400, "d", ""),
    (8 * 365 * 86_400, "y", "d"),
)
"""The ages below some seconds and the units that tell of them, the smaller one where it is not nothing."""


class Column(Struct, frozen=True, kw_only=True):
    """A column of a server's table; those of a priority above 0 are for wide tables."""

    name: str
    priority: int = 0


class Row(DiscreetStruct, frozen=True, kw_only=True):
    """A row of a server's table, and of its object the name, the namespace, the labels and the version it has.

    ``item`` is the whole object where that was asked for.
    """

    UNSHOWN = ("cells", "item")

    cells: tuple[Any, ...]
    name: str = ""
    namespace: str = ""
    labels: Mapping[str, str] = {}
    version: str = ""
    item: Mapping[str, Any] = {}


class Table(Struct, frozen=True, kw_only=True):
    """The objects of one kind in one cluster, as its server tells of them."""

    columns: tuple[Column, ...] = ()
    rows: tuple[Row, ...] = ()

    def with_rows_of(self, other: "Table") -> "Table":
        """Return one table of both; later pages of a list may leave the columns out."""
        return Table(columns=self.columns or other.columns, rows=self.rows + other.rows)


class Shown(Struct, frozen=True, kw_only=True):
    """The columns to print beside the server's own.

    The kind is written before names where several kinds are printed, or with ``has_kinds``; ``labels`` are the keys of
    label columns.
    """

    is_wide: bool = False
    has_kinds: bool = False
    has_namespaces: bool = False
    has_header: bool = True
    has_labels: bool = False
    labels: tuple[str, ...] = ()


def table_of_answer(body: Mapping[str, Any], now: datetime) -> Table:
    """Return what an answer tells: a Table, a list of objects, or one object."""
    if body.get("kind") == "Table":
        return Table(
            columns=tuple(
                Column(name=each["name"], priority=each.get("priority") or 0)
                for each in body.get("columnDefinitions") or ()
            ),
            rows=tuple(_row_of_table(each) for each in body.get("rows") or ()),
        )
    items = body.get("items") if "items" in body else [body]
    columns = (Column(name="Name"), Column(name="Age"))
    return Table(columns=columns, rows=tuple(_row_of_object(each, now) for each in items or ()))


def table_of_whole_objects(items: Iterable[Mapping[str, Any]]) -> Table:
    """Return objects as rows without cells, for output that needs the whole of them."""
    rows = (structs.replace(_row_with_cells((), each.get("metadata") or {}), item=each) for each in items)
    return Table(rows=tuple(rows))


def _row_of_table(row: Mapping[str, Any]) -> Row:
    item = row.get("object") or {}
    found = _row_with_cells(tuple(row.get("cells") or ()), item.get("metadata") or {})
    return found if item.get("kind") in {None, "PartialObjectMetadata"} else structs.replace(found, item=item)


def _row_of_object(item: Mapping[str, Any], now: datetime) -> Row:
    metadata = item.get("metadata") or {}
    created = parse_instant(metadata.get("creationTimestamp") or "")
    age = age_text((now - created).total_seconds()) if created else "<unknown>"
    return structs.replace(_row_with_cells((metadata.get("name") or "", age), metadata), item=item)


def _row_with_cells(cells: tuple[Any, ...], metadata: Mapping[str, Any]) -> Row:
    return Row(
        cells=cells,
        name=metadata.get("name") or "",
        namespace=metadata.get("namespace") or "",
        labels=metadata.get("labels") or {},
        version=metadata.get("resourceVersion") or "",
    )


def age_text(seconds: float) -> str:
    """Return a duration as kubectl prints ages: two units while the larger one is small.

    >>> [age_text(each) for each in (5, 119, 150, 3600 * 5, 3600 * 30, 86400 * 9, 86400 * 800)]
    ['5s', '119s', '2m30s', '5h', '30h', '9d', '2y70d']
    """
    whole = int(seconds)
    if whole < 0:
        return "0s" if whole >= -1 else "<invalid>"
    for limit, unit, smaller in _AGES:
        if whole < limit:
            return _words_of_age(whole, unit, smaller)
    return _words_of_age(whole, "y", "")


def _words_of_age(seconds: int, unit: str, smaller: str) -> str:
    many, rest = divmod(seconds, _SECONDS[unit])
    part = rest // _SECONDS[smaller] if smaller else 0
    return f"{many}{unit}{part}{smaller}" if part else f"{many}{unit}"


class KindRows(Struct, frozen=True, kw_only=True):
    """The rows of one kind in all clusters that make the same columns of it; ``kind`` as names are prefixed with it."""

    kind: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, Row], ...]


def kind_rows_of_tables(tables: Iterable[tuple[str, str, Table]]) -> tuple[KindRows, ...]:
    """Join tables of (kind, cluster) where their columns are the same; kinds keep their order, and so do clusters."""
    found: dict[tuple[str, tuple[Column, ...]], list[tuple[str, Row]]] = {}
    for kind, cluster, table in tables:
        if table.rows:
            found.setdefault((kind, table.columns), []).extend((cluster, row) for row in table.rows)
    order = {kind: number for number, kind in reversed(list(enumerate(kind for kind, _ in found)))}
    return tuple(
        KindRows(kind=kind, columns=columns, rows=tuple(rows))
        for (kind, columns), rows in sorted(found.items(), key=lambda each: order[each[0][0]])
    )


def text_of_kind_rows(several: Sequence[KindRows], shown: Shown) -> str:
    """Return tables as kubectl prints them, an empty line between those of two kinds."""
    is_prefixed = shown.has_kinds or len({each.kind for each in several}) > 1
    return "\n".join(text_of_columns(lines_of_kind(each, shown, is_prefixed=is_prefixed)) for each in several)


def lines_of_kind(rows: KindRows, shown: Shown, *, is_prefixed: bool) -> list[tuple[str, ...]]:
    """Return the cells of the lines of a table, with its header where that is wanted."""
    numbers = [number for number, each in enumerate(rows.columns) if shown.is_wide or each.priority == 0]
    before = ("CLUSTER", *(["NAMESPACE"] if shown.has_namespaces else []))
    after = (*(key.rpartition("/")[2].upper() for key in shown.labels), *(["LABELS"] if shown.has_labels else []))
    header = (*before, *(rows.columns[number].name.upper() for number in numbers), *after)
    prefix = f"{rows.kind}/" if is_prefixed else ""
    lines = [header] if shown.has_header else []
    for cluster, row in rows.rows:
        first = (cluster, *([row.namespace] if shown.has_namespaces else []))
        last = [row.labels.get(key, NONE) for key in shown.labels]
        if shown.has_labels:
            last.append(",".join(f"{key}={value}" for key, value in sorted(row.labels.items())) or NONE)
        cells = (_cell_text(row.cells[number]) if number < len(row.cells) else "" for number in numbers)
        lines.append((*first, *_with_prefix(cells, prefix), *last))
    return lines


def _with_prefix(cells: Iterable[str], prefix: str) -> tuple[str, ...]:
    first, *others = cells
    return (prefix + first, *others)


def _cell_text(cell: Any) -> str:
    """Return a cell on one line, what follows a break cut off as kubectl does."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if not isinstance(cell, str):
        return str(cell)
    at = min((position for position in map(cell.find, _BREAKS) if position >= 0), default=-1)
    return cell if at < 0 else f"{cell[:at]}..."


def text_of_columns(lines: Sequence[Sequence[str]], *, remembered: list[int] | None = None) -> str:
    """Return lines in columns, three blanks between them and each six wide at least, but for the last one.

    ``remembered`` are the widths of columns that were printed before, which these are at least, and become.
    """
    widths = [max(_LEAST_WIDTH, _GAP + max(map(len, column))) for column in zip(*lines, strict=True)]
    if remembered is not None:
        before = [*remembered, *[0] * len(widths)]
        widths = [max(width, before[number]) for number, width in enumerate(widths)]
        remembered[: len(widths) - 1] = widths[:-1]
    widths[-1] = 0
    return "".join(
        "".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + "\n" for line in lines
    )
