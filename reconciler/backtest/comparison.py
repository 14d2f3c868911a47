"""A replay and what really happened side by side, by object, and by cluster and resource."""

from collections.abc import Iterator

from msgspec import Struct

from render.model import ObjectRef
from render.quantity import Amount

from .measures import ObjectCounts
from .replay import Replayed


class ComparedObject(Struct, frozen=True, kw_only=True):
    """An object that fares otherwise in a replay than it really did."""

    ref: ObjectRef
    really: ObjectCounts
    replayed: ObjectCounts

    @property
    def weight(self) -> float:
        """The size of the difference, by which objects are put in order."""
        one, other = self.really, self.replayed
        counts = abs(one.moved_replicas - other.moved_replicas) + abs(one.evictions - other.evictions)
        return counts + abs(one.flaps - other.flaps) + abs(one.unscheduled - other.unscheduled) / 60


class ComparedPeak(Struct, frozen=True, kw_only=True):
    """The most that was requested of a resource of a cluster at once, really and in a replay."""

    cluster: str
    resource: str
    really: Amount
    replayed: Amount


def compared_objects(replayed: Replayed) -> tuple[ComparedObject, ...]:
    """Return the objects that fare otherwise, those with the largest difference first."""
    truth, replay = replayed.truth.objects, replayed.replay.objects
    none = ObjectCounts()
    found = (
        ComparedObject(ref=ref, really=truth.get(ref, none), replayed=replay.get(ref, none))
        for ref in sorted(truth.keys() | replay.keys())
        if truth.get(ref, none) != replay.get(ref, none)
    )
    return tuple(sorted(found, key=lambda each: (-each.weight, each.ref)))


def compared_peaks(replayed: Replayed) -> tuple[ComparedPeak, ...]:
    """Return the peak use of all clusters, by cluster and resource."""
    return tuple(_peaks(replayed))


def _peaks(replayed: Replayed) -> Iterator[ComparedPeak]:
    truth, replay = replayed.truth.peaks, replayed.replay.peaks
    for cluster in sorted(truth.keys() | replay.keys()):
        one, other = truth.get(cluster, {}), replay.get(cluster, {})
        for resource in sorted(one.keys() | other.keys()):
            yield ComparedPeak(
                cluster=cluster,
                resource=resource,
                really=one.get(resource, 0),
                replayed=other.get(resource, 0),
            )
