"""The objects of a watch printed as they come, in a form for programs: one document an event, as from kubectl."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from reconciler.console.cleaning import json_safe_for_terminal
from render.model import group_of

from .objects import ObjectOutput, cells_of_columns, header_of_columns, shown_object, text_of_document
from .tables import text_of_columns
from .watched_tables import WatchedRow


class WatchedDocuments(Struct, kw_only=True):
    """The documents of a watch; ``has_events``: each is an event with its object, or has a word for it before a name.

    ``is_begun``: one was printed, so that the next document of YAML needs a line before it, and no title of columns is
    needed again. ``widths`` are those of the columns so far.
    """

    output: ObjectOutput
    has_events: bool = False
    has_managers: bool = False
    is_begun: bool = False
    widths: list[int] = field(default_factory=list)

    def text_of_rows(self, rows: Sequence[WatchedRow]) -> str:
        """Return the documents of whole objects, each by itself."""
        if self.output.form == "custom-columns":
            return self._lines_of_columns(rows)
        return "".join(map(self._text_of_row, rows))

    def _lines_of_columns(self, rows: Sequence[WatchedRow]) -> str:
        if not rows:
            return ""
        lines = [(row.cluster, *cells_of_columns(self._document(row), self.output)) for row in rows]
        has_header, self.is_begun = self.output.has_header and not self.is_begun, True
        return text_of_columns(
            [header_of_columns(self.output), *lines] if has_header else lines, remembered=self.widths
        )

    def _document(self, row: WatchedRow) -> dict[str, Any]:
        """Return the object of a row as it is shown, or the event with it."""
        item = shown_object(row.cluster, row.row.item, has_managers=self.has_managers)
        return {"type": row.event, "object": item} if self.has_events else item

    def _text_of_row(self, row: WatchedRow) -> str:
        if self.output.form == "name":
            event = f"{row.event} " if self.has_events else ""
            return f"{row.cluster} {event}{_prefix_of_kind(row.row.item)}/{row.row.name}\n"
        document = self._document(row)
        if self.output.form == "json" and self.has_events:
            return _on_one_line(document)
        separator = "---\n" if self.is_begun and self.output.form == "yaml" else ""
        self.is_begun = True
        return separator + text_of_document(document, self.output)


def _on_one_line(event: Mapping[str, Any]) -> str:
    return json_safe_for_terminal(json.dumps(event, ensure_ascii=False, separators=(",", ":"))) + "\n"


def _prefix_of_kind(item: Mapping[str, Any]) -> str:
    group = group_of(item["apiVersion"])
    return f"{item['kind']}.{group}".lower() if group else str(item["kind"]).lower()
