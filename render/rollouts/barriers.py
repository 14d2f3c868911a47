"""What keeps a rollout from going on, and what comes next: a phase, a reason, and a sentence for people.

Whatever holds a rollout up names who has to do what, or what it waits for. Sentences have no time in them that is left:
they change only when an answer does.
"""

from collections.abc import Iterator
from typing import NamedTuple

from render.words import first_few

from .controls import Requests
from .standing import Standing
from .state import RolloutPhase, RolloutReason, RolloutState


class Outcome(NamedTuple):
    """What comes of a step: the phase, its reason, and what comes next."""

    phase: RolloutPhase
    reason: RolloutReason
    next_step: str


def stop_of_rollout(state: RolloutState, standing: Standing, requests: Requests) -> Outcome | None:
    """Return what keeps every cluster from being given the change; None where nothing does."""
    if requests.aborted is not None:
        next_step = f"a newer change, or argosy rollout retry, as {requests.aborted.name} has aborted it"
        return Outcome(RolloutPhase.HELD, RolloutReason.ABORTED_BY_CONTROL, next_step)
    if state.phase is RolloutPhase.FAILED or _have_too_many_failed(state, standing):
        failed = f"{first_few(sorted(standing.failed))} failed" if standing.failed else "clusters had failed"
        next_step = f"argosy rollout retry, argosy rollout abort, or a newer change, as {failed}"
        return Outcome(RolloutPhase.FAILED, RolloutReason.TOO_MANY_FAILURES, next_step)
    if requests.paused is not None:
        next_step = f"argosy rollout resume, as {requests.paused.name} has paused it"
        return Outcome(RolloutPhase.PAUSED, RolloutReason.PAUSED_BY_CONTROL, next_step)
    limit = state.plan.max_unreachable
    if limit is not None and len(standing.unreachable) > limit.of_total(len(standing.clusters)):
        count = len(standing.unreachable)
        next_step = f"waits until clusters can be reached again: {count} cannot, and {limit} may be so"
        return Outcome(RolloutPhase.WAITING, RolloutReason.TOO_MANY_UNREACHABLE, next_step)
    return None


def barrier_before_wave(number: int, standing: Standing, requests: Requests) -> Outcome | None:
    """Return what keeps a wave from beginning whose earlier ones are over; None where nothing does."""
    each = standing.waves[number]
    name = each.wave.name
    if not each.clusters and not each.wave.is_empty_allowed:
        next_step = f"clusters in wave {name}, which has none; or allowEmpty in it"
        return Outcome(RolloutPhase.WAITING, RolloutReason.WAVE_EMPTY, next_step)
    if not each.wave.is_empty_allowed and not standing.asked.intersection(each.clusters):
        is_last = not standing.has_clusters_from(number + 1)
        if not (is_last and standing.suspended.issuperset(each.clusters)):
            next_step = f"a cluster of wave {name} that can be reached and is not suspended; or allowEmpty in it"
            return Outcome(RolloutPhase.WAITING, RolloutReason.NOBODY_REACHABLE, next_step)
    if each.wave.is_approval_required and name not in requests.approved:
        return Outcome(RolloutPhase.WAITING, RolloutReason.APPROVAL_MISSING, f"argosy rollout approve for wave {name}")
    return None


def outcome_under_way(number: int, standing: Standing, started: frozenset[str]) -> Outcome:
    """Return what a rollout waits for that nothing holds up."""
    under_way = started | standing.under_way
    if under_way:
        next_step = f"waits until {first_few(sorted(under_way))} come through the gate"
        return Outcome(RolloutPhase.PROGRESSING, RolloutReason.CLUSTERS_UNDER_WAY, next_step)
    if standing.failed:
        next_step = f"argosy rollout retry, or a newer change, as {first_few(sorted(standing.failed))} failed"
        return Outcome(RolloutPhase.WAITING, RolloutReason.CLUSTERS_FAILED, next_step)
    unproven = next(place for place in range(number + 1) if not standing.is_proven(place))
    name = standing.waves[unproven].wave.name
    next_step = f"a cluster of wave {name} that can be reached, is not suspended and comes through the gate"
    return Outcome(RolloutPhase.WAITING, RolloutReason.NOBODY_REACHABLE, next_step)


def notes_about_clusters(number: int, standing: Standing) -> Iterator[str]:
    """Yield a sentence about each cluster that is passed over, of the waves that have begun."""
    for name in sorted(standing.clusters):
        if standing.wave_numbers[name] > number or name in standing.asked:
            continue
        is_suspended = name in standing.suspended
        yield f"{name} is {'suspended' if is_suspended else 'not reachable'}, and passed over until it is no longer"


def _have_too_many_failed(state: RolloutState, standing: Standing) -> bool:
    """Say whether more clusters have failed than may, of all or of a wave."""
    if len(standing.failed) > state.plan.max_failures.of_total(len(standing.clusters)):
        return True
    for each in standing.waves:
        limit, failed = each.wave.max_failures, standing.failed.intersection(each.clusters)
        if limit is not None and len(failed) > limit.of_total(len(each.clusters)):
            return True
    return False
