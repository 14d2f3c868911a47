"""The calendar of argosy.yaml at the time of a pass: which clusters are closed to an object, or to a change."""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field

from render.bits import indexes_of_mask
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.rollouts.fleet_calendar import ClosedClusters, FleetCalendar
from render.timing import Timed, earliest_flip


class CalendarOfPass(Struct, frozen=True, kw_only=True):
    """The calendar and the time of a pass (None: it rests); objects of one namespace and kind are covered alike."""

    calendar: FleetCalendar = field(default_factory=FleetCalendar)
    now: datetime | None = None
    _answers: dict[tuple[str, str], ClosedClusters] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.calendar)

    def closed_clusters(self, ref: ObjectRef) -> ClosedClusters:
        """Return the clusters that are closed to an object."""
        key = ref.namespace, ref.group_kind
        if key not in self._answers:
            self._answers[key] = self.calendar.closed_clusters(ref, self.now)
        return self._answers[key]

    def closed_to_change(self, refs: Iterable[ObjectRef], index: ClusterIndex) -> Timed[Mapping[str, str]]:
        """Return the clusters that are closed to an object of a change with what it waits for, and when others are."""
        if not self.calendar:
            return Timed({})
        closed = [self.closed_clusters(ref) for ref in refs]
        found: dict[str, str] = {}
        for reason, mask in (pair for each in closed for pair in each.by_reason):
            found = {**{index.names[place]: reason for place in indexes_of_mask(mask)}, **found}
        return Timed(found, earliest_flip(each.flip for each in closed))
