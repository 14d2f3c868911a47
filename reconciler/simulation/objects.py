"""One object of a simulation: where it is, what is missing from when to when, and what is lost of it.

A replica in a cluster that is lost serves nobody, whatever the rendered tree says, and one that was just placed serves
a second later. An object that its policy divides is missing the replicas that it asks for and that serve nowhere. Of
any other object every copy is as good: it is missing once none is left.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field

from reconciler.pipeline.eviction_notes import BLOCKED, EVICTED
from render.binding import Binding
from render.interpretation.pod_templates import pod_specs_in
from render.model import Manifest, ObjectRef, TargetCluster
from render.scheduling.decisions import SCHEDULED, ScheduledReason
from render.timing import SECOND

Targets = tuple[TargetCluster, ...]
Course = Sequence[tuple[datetime, Binding | None]]
"""The bindings of an object as passes come, each with the time of its pass."""

_STATEFUL_SET, _CLAIM = "StatefulSet.apps", "PersistentVolumeClaim"


class Downtime(Struct, frozen=True, kw_only=True):
    """The time for which replicas of an object serve nowhere; ``until`` None: for longer than is looked ahead."""

    since: datetime
    until: datetime | None
    replicas: int


class LostCopies(Struct, frozen=True, kw_only=True):
    """The copies of an object in clusters that are lost, and the clusters in which it goes on.

    ``state`` says what it keeps there ("": nothing that is known), ``is_duplicated`` that each cluster had all of it.
    """

    clusters: Mapping[str, int]
    remaining: tuple[str, ...]
    state: str = ""
    is_duplicated: bool = False


class SimulatedObject(Struct, frozen=True, kw_only=True):
    """An object that is concerned: its replicas by cluster before, placed anew, and as the fleet is configured.

    Without replicas it has 0 in each cluster. ``asked`` are those that it asks for in the end. ``missing`` are those
    that find no place as configured, at the horizon, ``missing_ideally`` those that find none at all, and
    ``missing_before`` those that had none to begin with. ``is_unplaced``: more of it has no place than before, or no
    copy is left. ``reason`` says why, as the scheduler or failover do.
    """

    ref: ObjectRef
    asked: int
    before: Mapping[str, int]
    ideal: Mapping[str, int]
    after: Mapping[str, int]
    missing: int = 0
    missing_ideally: int = 0
    missing_before: int = 0
    is_unplaced: bool = False
    is_unplaced_ideally: bool = False
    reason: str = ""
    reason_ideally: str = ""
    down: tuple[Downtime, ...] = ()
    lost: LostCopies | None = None
    is_stopped_by_quota: bool = False

    @property
    def has_no_copy_left(self) -> bool:
        """Say whether nothing serves it at the horizon, though it has no replicas to miss and would find a place."""
        return self.is_unplaced and not self.is_unplaced_ideally and self.missing <= self.missing_before


class PlacedReplicas(Struct, kw_only=True):
    """The replicas of objects by their target clusters, 0 in each where an object has none, and those that serve.

    What is ``lost`` serves nobody. Many objects have equal targets, so that each list of these is read once.
    """

    lost: frozenset[str]
    _by_list: dict[int, tuple[Targets, Mapping[str, int]]] = field(default_factory=dict)
    _by_value: dict[Targets, Mapping[str, int]] = field(default_factory=dict)
    _serving: dict[int, tuple[Mapping[str, int], Mapping[str, int]]] = field(default_factory=dict)

    def of(self, binding: Binding | None) -> Mapping[str, int]:
        """Return the replicas of an object by its target clusters, in the order of their names."""
        if binding is None:
            return {}
        if binding.components:
            return dict(sorted(binding.target_replicas.items()))
        known = self._by_list.get(id(binding.targets))
        if known is None:
            if binding.targets not in self._by_value:
                self._by_value[binding.targets] = {each.name: each.replicas for each in sorted(binding.targets)}
            known = self._by_list[id(binding.targets)] = binding.targets, self._by_value[binding.targets]
        return known[1]

    def serving(self, binding: Binding | None) -> Mapping[str, int]:
        """Return those in clusters that are not lost."""
        placed = self.of(binding)
        known = self._serving.get(id(placed))
        if known is None:  # kept alive together with what names it
            left = {name: count for name, count in placed.items() if name not in self.lost}
            known = self._serving[id(placed)] = placed, left
        return known[1]


class ObjectCourse(Struct, frozen=True, kw_only=True):
    """The bindings of one object: before, placed anew, and at the end; ``placed`` knows where each of them is."""

    ref: ObjectRef
    base: Binding | None
    ideal: Binding | None
    last: Binding | None
    placed: PlacedReplicas

    def outcome(self, course: Course, manifest: Manifest, *, is_kept_by_quota: bool = False) -> SimulatedObject:
        """Return what becomes of the object, given its bindings as passes come, and its template."""
        missing = [
            _missing_among(self.base, self.placed.of(self.base)),
            *map(self._missing, (self.ideal, self.last)),
        ]
        before = self.placed.of(self.base)
        return SimulatedObject(
            ref=self.ref,
            asked=self.last.asked_replicas if self.last is not None else 0,
            before=before,
            ideal=self.placed.of(self.ideal),
            after=self.placed.of(self.last),
            missing_before=missing[0],
            missing_ideally=missing[1],
            missing=missing[2],
            is_unplaced_ideally=self._is_worse(missing[0], missing[1], self.ideal, had=bool(before)),
            is_unplaced=self._is_worse(missing[0], missing[2], self.last, had=bool(before)),
            reason=_reason_of_binding(self.last),
            reason_ideally=_reason_of_binding(self.ideal),
            down=tuple(self._downtimes(course, missing[0])),
            lost=self._lost_copies(manifest),
            is_stopped_by_quota=is_kept_by_quota or any(map(_is_stopped_by_quota, (self.ideal, self.last))),
        )

    def _is_worse(self, before: int, after: int, binding: Binding | None, *, had: bool) -> bool:
        """Say whether more of the object has no place than before, or nothing serves it any more."""
        is_kept = binding is not None or self.last is not None
        return is_kept and (after > before or (had and not self.placed.serving(binding)))

    def _missing(self, binding: Binding | None) -> int:
        return _missing_among(binding, self.placed.serving(binding))

    def _downtimes(self, course: Course, before: int) -> Iterator[Downtime]:
        """Yield the times for which more is missing than before, each with as many replicas."""
        since: datetime | None = None
        count = 0
        for at, binding in course:
            now = max(0, self._missing(binding) - before)
            if now == count:
                continue
            end = at + SECOND if now < count else at
            if since is not None and count:
                yield Downtime(since=since, until=end, replicas=count)
            since, count = (at if now > count else end), now
        if since is not None and count:
            yield Downtime(since=since, until=None, replicas=count)

    def _lost_copies(self, manifest: Manifest) -> LostCopies | None:
        """Return what is lost of an object that is duplicated, or keeps a state in its clusters."""
        there = {name: count for name, count in self.placed.of(self.base).items() if name in self.placed.lost}
        state = kept_state(self.ref, manifest)
        is_duplicated = self.base is not None and self.base.is_workload and not self.base.is_divided
        if not there or not (state or is_duplicated):
            return None
        remaining = tuple(sorted(self.placed.serving(self.last)))
        return LostCopies(clusters=there, remaining=remaining, state=state, is_duplicated=is_duplicated)


def _missing_among(binding: Binding | None, serving: Mapping[str, int]) -> int:
    return missing_replicas(binding, sum(serving.values()), is_anywhere=bool(serving))


def missing_replicas(binding: Binding | None, serving: int, *, is_anywhere: bool) -> int:
    """Return the replicas that an object asks for and that serve nowhere, given how many serve, and whether any does.

    Of an object that is not divided every copy is as good.
    """
    if binding is None or not binding.is_workload:
        return 0
    if binding.is_divided and not binding.components:
        return max(0, binding.asked_replicas - serving)
    return 0 if is_anywhere else binding.asked_replicas


def kept_state(ref: ObjectRef, manifest: Manifest) -> str:
    """Return what an object keeps in a cluster that is not in its manifest; "" where that is nothing.

    >>> kept_state(ObjectRef("apps", "StatefulSet", "shop", "db"), {"spec": {}})
    'its identity'
    """
    spec = manifest.get("spec")
    if ref.group_kind == _CLAIM:
        return "its volume"
    if ref.group_kind == _STATEFUL_SET:
        return (
            "the volumes of its claims"
            if isinstance(spec, dict) and spec.get("volumeClaimTemplates")
            else "its identity"
        )
    claims = sorted(set(_claims_of_pods(spec)))
    return f"the volume of {', '.join(claims)}" if claims else ""


def _claims_of_pods(spec: object) -> Iterator[str]:
    for pod in pod_specs_in(spec):
        volumes = pod.get("volumes")
        for volume in volumes if isinstance(volumes, list) else ():
            claim = volume.get("persistentVolumeClaim") if isinstance(volume, dict) else None
            if isinstance(claim, dict) and isinstance(claim.get("claimName"), str):
                yield f"claim {claim['claimName']}"


def _reason_of_binding(binding: Binding | None) -> str:
    """Return why an object has no place, or stays where it would leave; "" where nothing says so."""
    conditions = binding.conditions if binding is not None else ()
    found = [
        each.message
        for each in conditions
        if each.status == "False" and (each.type == SCHEDULED or (each.type, each.reason) == (EVICTED, BLOCKED))
    ]
    return "; ".join(found)


def _is_stopped_by_quota(binding: Binding | None) -> bool:
    conditions = binding.conditions if binding is not None else ()
    return any(each.type == SCHEDULED and each.reason == ScheduledReason.QUOTA_EXCEEDED for each in conditions)
