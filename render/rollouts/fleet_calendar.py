"""The calendar of argosy.yaml: which clusters may get changes of an object now, and when that is another answer.

A freeze or a window covers some objects in some clusters. A cluster is closed to an object while a freeze covers both,
or while windows cover both and none of these is open. Whatever is covered keeps its versions by value, so that there is
something to keep once it is closed.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime

from msgspec import Struct

from render.bits import Mask
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.notations import WEEKDAYS, minutes_of_time
from render.settings.rollouts import CoveredObjects, FleetFreeze, FleetWindow, RolloutSettings
from render.timing import LAST, Flip, earliest_flip, parse_instant

from .calendar import is_frozen_by, is_window_open, next_change_of_freeze, next_change_of_window
from .policy import Freeze, Window

NEXT_WINDOW = "its next window"
"""The words for the end of a time in which no window lets a change out."""


class ClosedClusters(Struct, frozen=True, kw_only=True):
    """The clusters that are closed to an object, by what they wait for, and when the same calendar says otherwise.

    ``is_frozen``: a freeze is among the reasons.
    """

    by_reason: tuple[tuple[str, Mask], ...] = ()
    is_frozen: bool = False
    flip: Flip | None = None

    @property
    def mask(self) -> Mask:
        """All of them."""
        found: Mask = 0
        for _, mask in self.by_reason:
            found |= mask
        return found


class _CoveringFreeze(Struct, frozen=True):
    freeze: Freeze
    covered: CoveredObjects
    clusters: Mask


class _CoveringWindow(Struct, frozen=True):
    window: Window
    covered: CoveredObjects
    clusters: Mask


class FleetCalendar(Struct, frozen=True):
    """The freezes and windows of argosy.yaml, with the clusters that each is about."""

    freezes: tuple[_CoveringFreeze, ...] = ()
    windows: tuple[_CoveringWindow, ...] = ()

    @classmethod
    def of(cls, settings: RolloutSettings, fleet: ClusterIndex) -> "FleetCalendar":
        """Return the calendar of a fleet."""
        return cls(
            tuple(
                _CoveringFreeze(freeze_of_setting(each), each.covered, clusters_covered_by(each.covered, fleet))
                for each in settings.freezes
            ),
            tuple(
                _CoveringWindow(window_of_setting(each), each.covered, clusters_covered_by(each.covered, fleet))
                for each in settings.windows
            ),
        )

    def __bool__(self) -> bool:
        return bool(self.freezes or self.windows)

    def covers(self, ref: ObjectRef) -> bool:
        """Say whether a freeze or a window is about an object, at whatever time."""
        every = (*(each.covered for each in self.freezes), *(each.covered for each in self.windows))
        return any(is_object_covered(covered, ref) for covered in every)

    def closed_clusters(self, ref: ObjectRef, now: datetime | None) -> ClosedClusters:
        """Return the clusters that are closed to an object; while time rests, all that it covers are."""
        freezes = [each for each in self.freezes if is_object_covered(each.covered, ref)]
        windows = [each for each in self.windows if is_object_covered(each.covered, ref)]
        if now is None:
            every = (*(each.clusters for each in freezes), *(each.clusters for each in windows))
            return ClosedClusters(by_reason=tuple(("", clusters) for clusters in every))
        frozen = [each for each in freezes if is_frozen_by(each.freeze, now)]
        by_reason = [(f"the end of the freeze ({each.freeze.reason})", each.clusters) for each in frozen]
        if outside := _clusters_outside_windows(windows, now):
            by_reason.append((NEXT_WINDOW, outside))
        changes = (
            *(next_change_of_freeze(each.freeze, now) for each in freezes),
            *(next_change_of_window(each.window, now) for each in windows),
        )
        return ClosedClusters(
            by_reason=_reasons_with_clusters(by_reason),
            is_frozen=any(each.clusters for each in frozen),
            flip=earliest_flip(Flip(at, "the calendar lets changes out, or no longer") for at in changes if at),
        )


def _clusters_outside_windows(windows: Iterable[_CoveringWindow], now: datetime) -> Mask:
    """Return the clusters that windows are about none of which is open."""
    covered, opened = 0, 0
    for each in windows:
        covered |= each.clusters
        opened |= each.clusters if is_window_open(each.window, now) else 0
    return covered & ~opened


def _reasons_with_clusters(pairs: Iterable[tuple[str, Mask]]) -> tuple[tuple[str, Mask], ...]:
    """Return reasons with their clusters: each cluster has the first of its reasons, and equal reasons are one."""
    found: dict[str, Mask] = {}
    seen: Mask = 0
    for reason, clusters in pairs:
        if left := clusters & ~seen:
            found[reason] = found.get(reason, 0) | left
            seen |= left
    return tuple(found.items())


def is_object_covered(covered: CoveredObjects, ref: ObjectRef) -> bool:
    """Say whether a freeze or a window is about an object."""
    if covered.namespaces and ref.namespace not in covered.namespaces:
        return False
    return not covered.kinds or ref.group_kind in covered.kinds


def clusters_covered_by(covered: CoveredObjects, fleet: ClusterIndex) -> Mask:
    """Return the clusters that a freeze or a window is about, as their names, labels and regions are now."""
    return fleet.clusters_named(each.name for each in fleet.clusters if _is_cluster_covered(covered, each))


def _is_cluster_covered(covered: CoveredObjects, cluster: Cluster) -> bool:
    if covered.clusters and cluster.name not in covered.clusters:
        return False
    if covered.regions and cluster.region not in covered.regions:
        return False
    labels = (text.partition("=") for text in covered.cluster_labels)
    return all(cluster.labels.get(key) == value for key, _, value in labels)


def freeze_of_setting(setting: FleetFreeze) -> Freeze:
    """Return a freeze of argosy.yaml with its times as instants."""
    return Freeze(
        begins=parse_instant(setting.begins) if setting.begins else None,
        ends=parse_instant(setting.ends) or LAST,
        reason=setting.reason,
    )


def window_of_setting(setting: FleetWindow) -> Window:
    """Return a window of argosy.yaml with its times as minutes."""
    begins, ends = (minutes_of_time(text) or 0 for text in (setting.begins, setting.ends))
    return Window(
        days=tuple(number for number, day in enumerate(WEEKDAYS) if day in setting.days),
        begins=begins,
        ends=ends,
        time_zone=setting.time_zone,
    )


def ended_freezes_of_fleet(settings: RolloutSettings, now: datetime) -> Iterator[tuple[int, Freeze]]:
    """Yield the freezes of argosy.yaml that are over, with their numbers in the list."""
    for number, setting in enumerate(settings.freezes):
        freeze = freeze_of_setting(setting)
        if freeze.ends <= now:
            yield number, freeze
