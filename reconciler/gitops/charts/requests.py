"""The distinct requests for charts of all classes of clusters, by what they ask."""

from typing import NamedTuple

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.building.requests import ChartRequest
from reconciler.source.built_files import BuiltVariant
from reconciler.source.manifests import LocatedManifest
from reconciler.source.reading import BuiltSource
from render.bits import Mask
from render.model import Manifest

from .classes import ChartMembers, record_of_deciding_rules


class ChartRequests(NamedTuple):
    """The requests of a source, and the folders of charts that are rendered.

    ``taken`` are the places by identity of all that asks: none is an object of its own. ``outcome`` is known before
    anything is rendered: what cannot be read, and what asks, as override policies select it.
    """

    requests: tuple[ChartRequest, ...]
    folders: frozenset[str]
    taken: frozenset[int]
    outcome: BuiltSource


class ChartClasses(Struct):
    """The distinct requests for one chart, in the order they were found: clusters, rules and request by what is asked.

    ``is_by_facts``: the chart asks what members are, and does not say it itself.
    """

    found: dict[tuple[object, ...], tuple[Mask, tuple[str, ...], ChartRequest]] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    is_by_facts: bool = False

    def add(self, clusters: Mask, rules: tuple[str, ...], request: ChartRequest) -> None:
        """Add a request for some clusters; equal ones are one, named by the fewest rules that lead to it."""
        known = self.found.get(request.deciding_values)
        if known is not None:
            clusters, rules, request = clusters | known[0], min(rules, known[1], key=len), known[2]
        self.found[request.deciding_values] = (clusters, rules, request)

    def requests(self, chart: Manifest, place: LocatedManifest, fleet: ChartMembers) -> list[ChartRequest]:
        """Return the requests: first that with the fewest rules, of several the one for most clusters."""
        ordered = sorted(self.found.values(), key=lambda each: (len(each[1]), -each[0].bit_count(), each[0] & -each[0]))
        if len(ordered) <= 1:
            return [request for _, _, request in ordered]
        variants = tuple(
            BuiltVariant(fleet.names_of_clusters(clusters), record_of_deciding_rules(chart, place, rules))
            for clusters, rules, _ in ordered
        )
        return [replace(request, variant=number, variants=variants) for number, (_, _, request) in enumerate(ordered)]
