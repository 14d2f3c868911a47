"""The objects of a watch printed as they come, in a form for programs: one document an event, as from kubectl."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from reconciler.console.cleaning import json_safe_for_terminal
from reconciler.console.json_values import as_json
from render.documents import emit
from render.model import group_of

from .objects import ObjectOutput, shown_object
from .watched_tables import WatchedRow

WATCHED_FORMS = frozenset({"name", "json", "yaml"})


class WatchedDocuments(Struct, kw_only=True):
    """The documents of a watch; ``has_events``: each is an event with its object, or has a word for it before a name.

    ``is_begun``: one was printed, so that the next document of YAML needs a line before it.
    """

    output: ObjectOutput
    has_events: bool = False
    has_managers: bool = False
    is_begun: bool = False

    def text_of_rows(self, rows: Sequence[WatchedRow]) -> str:
        """Return the documents of whole objects, each by itself."""
        return "".join(map(self._text_of_row, rows))

    def _text_of_row(self, row: WatchedRow) -> str:
        if self.output.form == "name":
            event = f"{row.event} " if self.has_events else ""
            return f"{row.cluster} {event}{_prefix_of_kind(row.row.item)}/{row.row.name}\n"
        item = shown_object(row.cluster, row.row.item, has_managers=self.has_managers)
        if self.output.form == "json":
            return _event_on_one_line(row.event, item) if self.has_events else as_json(item)
        separator, self.is_begun = "---\n" if self.is_begun else "", True
        return separator + emit({"type": row.event, "object": item} if self.has_events else item).decode()


def _event_on_one_line(event: str, item: Mapping[str, Any]) -> str:
    text = json.dumps({"type": event, "object": item}, ensure_ascii=False, separators=(",", ":"))
    return json_safe_for_terminal(text) + "\n"


def _prefix_of_kind(item: Mapping[str, Any]) -> str:
    group = group_of(item["apiVersion"])
    return f"{item['kind']}.{group}".lower() if group else str(item["kind"]).lower()
