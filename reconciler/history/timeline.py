"""The timeline of a fleet, or of something in it: its rendered commits that changed anything, and what each moved.

A history tells of every object. Of a commit that moved a thousand of them a timeline tells the number, and the first.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

from msgspec import Struct

from reconciler.repository import Repository

from .events import ObjectEvent
from .reasons import ChangeCause
from .steps import RenderedStep
from .subjects import Subject, steps_of_subject


class TimelineEntry(Struct, frozen=True, kw_only=True):
    """A rendered commit, and what it changed of objects; in ``cluster`` alone, if one is named."""

    step: RenderedStep
    events: tuple[ObjectEvent, ...]
    cluster: str = ""

    @property
    def clusters(self) -> tuple[str, ...]:
        """The clusters in which something is otherwise."""
        return self._meant(sorted(frozenset().union(*(each.clusters for each in self.events))))

    def _meant(self, clusters: Iterable[str]) -> tuple[str, ...]:
        """Return those of some clusters that it tells of."""
        return tuple(each for each in clusters if self.cluster in {"", each})

    @property
    def arrivals(self) -> int:
        """The number of times that an object came to a cluster."""
        return sum(len(self._meant(each.gained)) for each in self.events)

    @property
    def departures(self) -> int:
        """The number of times that an object left a cluster."""
        return sum(len(self._meant(each.lost)) for each in self.events)

    @property
    def replicas_before_and_after(self) -> tuple[int, int]:
        """The replicas of what changed in numbers, before and after, where these changed."""
        changed = [each for event in self.events for each in event.replicas if self.cluster in {"", each.cluster}]
        return sum(each.before for each in changed), sum(each.after for each in changed)

    @property
    def moved_replicas(self) -> int:
        """The replicas that are in other clusters than before: some lost what others got of the same object."""
        return sum(self._moved_replicas_of_event(each) for each in self.events)

    def _moved_replicas_of_event(self, event: ObjectEvent) -> int:
        """Return the replicas that moved; of a cluster that is named, those that it lost or got."""
        lost = sum(max(each.before - each.after, 0) for each in event.replicas)
        gained = sum(max(each.after - each.before, 0) for each in event.replicas)
        own = (abs(each.after - each.before) for each in event.replicas if each.cluster == self.cluster)
        return min(lost, gained, sum(own)) if self.cluster else min(lost, gained)

    @property
    def other_bytes(self) -> int:
        """The number of objects with other fields in clusters that they stay in, or that are overridden otherwise."""
        return sum(
            any(self._meant(change.clusters) for change in each.changes) or bool(each.overrides and not each.is_new)
            for each in self.events
        )

    @property
    def causes(self) -> Mapping[ChangeCause, int]:
        """For how many objects each cause is given, the most frequent first."""
        counts = Counter(cause for event in self.events for cause in {each.cause for each in event.reasons})
        return dict(sorted(counts.items(), key=lambda each: (-each[1], each[0])))


class Timeline(Struct, frozen=True, kw_only=True):
    """The newest entries up to a rendered commit; ``following`` is the commit to go on from ("": there is no more)."""

    commit: str
    entries: tuple[TimelineEntry, ...]
    following: str = ""

    @property
    def is_cut_off(self) -> bool:
        """Say whether earlier commits are not in this clone."""
        return any(each.step.is_cut_off for each in self.entries)


def timeline_of_subject(repository: Repository, tip: str, subject: Subject, limit: int) -> Timeline:
    """Return the newest entries of a subject; ``limit`` 0 is no limit."""
    steps = steps_of_subject(repository, tip, subject)
    entries = (TimelineEntry(step=each.step, events=each.events, cluster=subject.cluster) for each in steps)
    found = tuple(islice(entries, limit + 1) if limit else entries)
    has_more = bool(limit) and len(found) > limit
    following = found[-1].step.id if has_more else ""
    return Timeline(commit=tip, entries=found[:limit] if has_more else found, following=following)
