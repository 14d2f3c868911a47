"""State that a workload takes along: labels whose values are read from the status where it ran before."""

from collections.abc import Iterable, Sequence

from render.binding import AggregatedStatusItem
from render.jsonpath import JsonPathError, jsonpath_text
from render.model import Manifest


class PreservationError(Exception):
    """A task that cannot be made; the workload stays where it is until it can."""


def preserved_labels(
    rules: Iterable[Manifest], cluster: str, reported: Sequence[AggregatedStatusItem]
) -> dict[str, str]:
    """Return the labels that state preservation rules read from a cluster's status; the last rule of a label wins."""
    item = next((each for each in reported if each.cluster == cluster), None)
    if item is None or item.status is None:
        raise PreservationError(f"the application status has not yet been collected from Cluster({cluster})")
    try:
        return {rule["aliasLabelName"]: jsonpath_text(rule["jsonPath"], item.status) for rule in rules}
    except JsonPathError as error:
        raise PreservationError(str(error)) from error
