"""Pending objects: decided and not carried out, because somebody suspended that or because a lazy policy waits.

That is asked for, and so no problem. But none of it stays unsaid: a binding has a condition for it, with the reason,
and ``kept`` says what suspended clusters have instead. Everything that tells of bindings tells it from there.

1. dispatching is suspended (``SuspendDispatching``): clusters keep the bytes they have, or have none; what leaves a
   cluster stays there as well, until its new places get it;
2. a lazy policy (``LazyActivation``) waits for its template to change; the binding is as an earlier policy made it;
3. the wave of a cluster is still to come in which it is given the object for the first time (no condition says so: the
   rollout does);
4. scheduling is suspended (``SuspendScheduling``) or another scheduler's (``OtherScheduler``): clusters and replicas
   stay.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding, Condition, KeptTargets
from render.bits import Mask, indexes_of_mask
from render.model import ObjectRef
from render.scheduling.scheduler import DEFAULT_SCHEDULER, is_schedulable
from render.words import first_few
from render.works import Works

from .assembly import (
    TreeContext,
    clusters_an_object_goes_to,
    clusters_left_without_dispatch,
    clusters_with_suspended_dispatch,
)
from .eviction_notes import with_undispatched_note
from .rendered_condition import with_condition

DISPATCHING = "Dispatching"
SCHEDULING = "Scheduling"
ACTIVATED = "Activated"
SUSPENDED = "SuspendDispatching"
SCHEDULING_SUSPENDED = "SuspendScheduling"
OTHER_SCHEDULER = "OtherScheduler"
LAZY = "LazyActivation"
WAITS_FOR_WAVE = "WaitsForWave"

PENDING_REASONS = frozenset({SUSPENDED, SCHEDULING_SUSPENDED, OTHER_SCHEDULER, LAZY})
"""The reasons of conditions that are no problem, for somebody asked for them."""
_TYPES = frozenset({DISPATCHING, SCHEDULING, ACTIVATED})
_ABSENT, _OUTDATED, _CURRENT = "absent", "outdated", "current"
_VERBS = {
    _ABSENT: ("does not have it", "do not have it"),
    _OUTDATED: ("keeps an older version", "keep an older version"),
    _CURRENT: ("has what it would get", "have what they would get"),
}
_LISTED = 6
_MOST = 10


class Pending(Struct, frozen=True, kw_only=True, order=True):
    """An object of which something is decided and not carried out, in some clusters (none: all of its own)."""

    ref: ObjectRef
    reason: str
    message: str
    clusters: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.ref} is {self.message}"


def is_pending(binding: Binding) -> bool:
    """Return whether anything of a binding is suspended or waits, even if nothing is missing for it yet."""
    return any(condition.reason in PENDING_REASONS for condition in binding.conditions)


def pending_of(bindings: Iterable[Binding]) -> Iterator[Pending]:
    """Yield what is pending of bindings; suspended clusters that have all they would get miss nothing."""
    for binding in bindings:
        for condition in binding.conditions:
            if condition.reason == SUSPENDED:
                clusters = tuple(sorted(name for each in binding.kept if each.is_pending for name in each.clusters))
            else:
                clusters = ()
            if condition.reason in PENDING_REASONS and (clusters or condition.reason != SUSPENDED):
                yield Pending(ref=binding.ref, reason=condition.reason, message=condition.message, clusters=clusters)


def pending_lines(pending: Iterable[Pending]) -> tuple[str, ...]:
    """Return a line for each object; of many, the first few."""
    lines = tuple(map(str, pending))
    more = len(lines) - _MOST
    return (*lines[:_MOST], f"and {more} more pending") if more > 0 else lines


def words_of_waiting_policy(policy: str, fields: Sequence[str]) -> str:
    """Return what a lazy policy waits with, in words.

    >>> words_of_waiting_policy("PropagationPolicy shop/web", ["placement"])
    'waiting: PropagationPolicy shop/web is lazy, so its placement takes effect when the template changes'
    """
    if "policy" in fields:
        return f"waiting: {policy} is lazy, so it claims this when the template changes"
    verb = "takes" if len(fields) == 1 else "take"
    return f"waiting: {policy} is lazy, so its {first_few(list(fields))} {verb} effect when the template changes"


class PastOutcome(Struct, frozen=True, kw_only=True):
    """The clusters with the tree they hold, the bindings of the previous commit, and the source of this pass."""

    fleet: TreeContext
    before: Mapping[ObjectRef, Binding]
    source: str


def with_pending_conditions(binding: Binding, works: Works | None, waiting: str, past: PastOutcome) -> Binding:
    """Return the binding with a condition for all that is pending of it, and with what suspended clusters keep.

    ``waiting`` says what a lazy policy waits with. A binding for which nothing was built stays as it is.
    """
    if works is None:
        return binding
    mask = clusters_with_suspended_dispatch(binding, past.fleet)
    others = tuple(each for each in binding.conditions if each.type not in _TYPES)
    kept = tuple(_kept_targets(binding, works, mask, past)) if mask else ()
    if waiting_for_wave := binding.clusters_before_delivery.difference(*(each.clusters for each in kept)):
        kept = (*kept, KeptTargets(clusters=tuple(sorted(waiting_for_wave))))
    if kept != binding.kept or len(others) != len(binding.conditions):
        binding = replace(binding, conditions=others, kept=kept)
    for condition in _conditions_of_binding(binding, waiting, past.fleet):
        binding = with_condition(binding, condition, past.before, past.source)
    return _with_copies_that_wait_to_leave(binding, past)


def _with_copies_that_wait_to_leave(binding: Binding, past: PastOutcome) -> Binding:
    """Return the binding with what stays in clusters that it leaves, for its new places do not get it yet."""
    names = past.fleet.index.names
    left = [names[index] for index in indexes_of_mask(clusters_left_without_dispatch(binding, past.fleet))]
    if not left:
        return binding
    replicas = _replicas_there(binding, past.before.get(binding.ref))
    groups: dict[int, list[str]] = {}
    for name in sorted(left):
        groups.setdefault(replicas.get(name, 0), []).append(name)
    staying = [KeptTargets(clusters=tuple(found), replicas=count) for count, found in sorted(groups.items())]
    return with_undispatched_note(replace(binding, kept=(*binding.kept, *staying)), sorted(left))


def _conditions_of_binding(binding: Binding, waiting: str, fleet: TreeContext) -> Iterator[Condition]:
    if mask := clusters_with_suspended_dispatch(binding, fleet):
        suspended = tuple(sorted(fleet.index.names[index] for index in indexes_of_mask(mask)))
        clusters = () if mask == clusters_an_object_goes_to(binding, fleet) else suspended
        message = _suspension_words(_kept_targets_among(binding.kept, frozenset(suspended)), suspended)
        yield Condition(type=DISPATCHING, status="False", reason=SUSPENDED, message=message, clusters=clusters)
    if binding.placement is not None and not is_schedulable(binding):
        stay = "its clusters and replicas stay as they are"
        name = binding.scheduler_name or DEFAULT_SCHEDULER
        is_ours = name == DEFAULT_SCHEDULER
        why = "scheduling is suspended" if is_ours else f"scheduler {name!r} is to place it"
        reason = SCHEDULING_SUSPENDED if is_ours else OTHER_SCHEDULER
        yield Condition(type=SCHEDULING, status="False", reason=reason, message=f"not scheduled: {why}; {stay}")
    if waiting:
        yield Condition(type=ACTIVATED, status="False", reason=LAZY, message=waiting)


def _kept_targets_among(kept: Iterable[KeptTargets], names: frozenset[str]) -> Iterator[KeptTargets]:
    for each in kept:
        if found := tuple(name for name in each.clusters if name in names):
            yield replace(each, clusters=found)


def _suspension_words(kept: Iterable[KeptTargets], suspended: Sequence[str]) -> str:
    """Return where dispatching is suspended, and what the clusters have instead."""
    names: dict[str, list[str]] = {}
    for each in kept:
        state = _ABSENT if each.replicas is None else _OUTDATED if each.is_outdated else _CURRENT
        names.setdefault(state, []).extend(each.clusters)
    states = ", ".join(
        f"{first_few(sorted(names[state]), _LISTED)} {_VERBS[state][len(names[state]) > 1]}"
        for state in _VERBS
        if state in names
    )
    return f"not dispatched to {first_few(suspended, _LISTED)}: dispatching is suspended; {states}"


def _kept_targets(binding: Binding, works: Works, mask: Mask, past: PastOutcome) -> Iterator[KeptTargets]:
    """Yield suspended clusters, grouped by what they keep: none, or so many replicas, outdated or not."""
    found = past.fleet.variants_of(binding.ref, mask)
    unbuilt = sum(failure.clusters for failure in works.failures)
    present = current = 0
    for clusters, blob_id in found:
        present |= clusters
        for wanted, wanted_id in works.variants:
            current |= clusters & wanted if blob_id == wanted_id else 0
    names = past.fleet.index.names
    if absent := mask & ~present:
        yield KeptTargets(clusters=tuple(names[index] for index in indexes_of_mask(absent)))
    replicas = _replicas_there(binding, past.before.get(binding.ref))
    groups: dict[tuple[int, bool], list[str]] = {}
    for index in indexes_of_mask(present):
        is_outdated = not (current | unbuilt) >> index & 1
        groups.setdefault((replicas.get(names[index], 0), is_outdated), []).append(names[index])
    for (count, is_outdated), clusters_there in sorted(groups.items()):
        yield KeptTargets(clusters=tuple(clusters_there), replicas=count, is_outdated=is_outdated)


def _replicas_there(binding: Binding, before: Binding | None) -> Mapping[str, int]:
    """Return the replicas that clusters have of an object: those of the binding before, for they keep their bytes."""
    return (before or binding).placed_replicas
