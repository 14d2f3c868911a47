"""The record of an object, as ``argosy status`` tells it, and the clusters whose folders have the object."""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from reconciler.outputs.object_status import object_status_document
from reconciler.pages.look import Look
from reconciler.pages.shown_object import ShownObject
from reconciler.pipeline.pending import SUSPENDED, WAITS_FOR_WAVE
from reconciler.status.branches import NotSelected, binding_meant_by

if TYPE_CHECKING:
    from reconciler.outputs.document import OutputDocument
    from reconciler.pages.reader import FleetReading, PlainDocument

_NOT_GIVEN_YET = frozenset({WAITS_FOR_WAVE, SUSPENDED})


def document_of_object(look: Look, shown: ShownObject) -> "PlainDocument":
    """Return the document of ``argosy status`` about an object; NotSelected where it has no binding."""
    return look.document(("status", shown.key), partial(_status_of_object, shown=shown))


def _status_of_object(reading: "FleetReading", shown: ShownObject) -> "OutputDocument":
    branches = reading.recorded_fleet()
    return object_status_document(branches, binding_meant_by(branches, shown.kind, shown.name, shown.namespace))


def rows_of_object(look: Look, shown: ShownObject) -> list[Mapping[str, Any]]:
    """Return what is recorded of an object in the clusters that it is to be in; of others a page says little."""
    try:
        return list(document_of_object(look, shown)["clusters"])
    except NotSelected:
        return []


def is_in_a_cluster(rows: list[Mapping[str, Any]]) -> bool:
    """Say whether the folder of any cluster has an object: its fields come from somewhere then."""
    return any(each.get("reason") not in _NOT_GIVEN_YET for each in rows)
