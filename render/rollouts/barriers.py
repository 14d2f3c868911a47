"""Reasons why a rollout does not go on, and what comes next: a phase, a reason, and a sentence for people.

Whatever holds a rollout up names who has to do what, or what it waits for. Sentences have no time in them that is left:
they change only when an answer does.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from render.words import first_few

from .calendar import is_frozen_by
from .checks import ChecksLook
from .controls import Requests
from .fleet_calendar import NEXT_WINDOW
from .policy import FailureAction
from .positions import Positions
from .state import RolloutPhase, RolloutReason, RolloutState


class StepOutcome(NamedTuple):
    """The outcome of a step: the phase, its reason, and what comes next."""

    phase: RolloutPhase
    reason: RolloutReason
    next_step: str


def stop_of_rollout(state: RolloutState, positions: Positions, requests: Requests) -> StepOutcome | None:
    """Return what keeps every cluster from being given the change; None where nothing does."""
    if requests.aborted is not None:
        next_step = f"a newer change, or {state.command('retry')}, as {requests.aborted.name} has aborted it"
        return StepOutcome(RolloutPhase.HELD, RolloutReason.ABORTED_BY_CONTROL, next_step)
    failed = _stop_after_failures(state, positions)
    if failed is None and requests.paused is not None:
        next_step = f"{state.command('resume')}, as {requests.paused.name} has paused it"
        return StepOutcome(RolloutPhase.PAUSED, RolloutReason.PAUSED_BY_CONTROL, next_step)
    closed = _stop_by_calendar(state, positions) if requests.expedited is None else None
    return failed or closed or _stop_by_silence(state, positions)


def _stop_after_failures(state: RolloutState, positions: Positions) -> StepOutcome | None:
    """Return the end of a rollout in which too many clusters failed, now or before."""
    if state.phase is RolloutPhase.HELD and state.reason is RolloutReason.ROLLED_BACK:
        return StepOutcome(state.phase, state.reason, state.next_step)
    if state.phase is RolloutPhase.HELD and state.reason is RolloutReason.ROLLING_BACK:
        next_step = f"a newer change, or {state.command('retry')}, as clusters had failed and all went back"
        return StepOutcome(state.phase, RolloutReason.ROLLED_BACK, next_step)
    if state.phase is not RolloutPhase.FAILED and not _have_too_many_failed(state, positions):
        return None
    failed = _sentence_about_failed(positions) if positions.failed else "clusters had failed"
    if state.plan.on_failure is FailureAction.ROLLBACK:
        next_step = f"a newer change, or {state.command('retry')}, as {failed} and all went back"
        return StepOutcome(RolloutPhase.HELD, RolloutReason.ROLLED_BACK, next_step)
    next_step = f"{state.command('retry')}, {state.command('abort')}, or a newer change, as {failed}"
    return StepOutcome(RolloutPhase.FAILED, RolloutReason.TOO_MANY_FAILURES, next_step)


def _stop_by_calendar(state: RolloutState, positions: Positions) -> StepOutcome | None:
    """Return what a rollout waits for that may give nothing at this time."""
    if not positions.closed:
        return None
    is_frozen = any(is_frozen_by(each, positions.now) for each in state.plan.freezes)
    reason = RolloutReason.FROZEN if is_frozen else RolloutReason.OUTSIDE_WINDOW
    return StepOutcome(RolloutPhase.WAITING, reason, f"waits for {positions.closed}")


def _stop_by_silence(state: RolloutState, positions: Positions) -> StepOutcome | None:
    """Return what a rollout waits for of whose clusters too many are out of reach."""
    limit, count = state.plan.max_unreachable, len(positions.unreachable)
    if limit is None or count <= limit.of_total(len(positions.clusters)):
        return None
    next_step = f"waits until clusters can be reached again: {count} cannot, and {limit} may be so"
    return StepOutcome(RolloutPhase.WAITING, RolloutReason.TOO_MANY_UNREACHABLE, next_step)


def barrier_before_wave(number: int, positions: Positions, requests: Requests) -> StepOutcome | None:
    """Return what keeps a wave from beginning whose earlier ones are over; None where nothing does."""
    each = positions.waves[number]
    name = each.wave.name
    if name in positions.unaffected:
        return None
    if not each.clusters and not each.wave.is_empty_allowed:
        next_step = f"waits for clusters in wave {name}, which has none, or for allowEmpty in it"
        return StepOutcome(RolloutPhase.WAITING, RolloutReason.WAVE_EMPTY, next_step)
    is_shown_to_others = not each.wave.is_empty_allowed and not positions.is_last_without_need_of_proof(number)
    if is_shown_to_others and not positions.asked.intersection(each.clusters):
        next_step = (
            f"waits for a cluster of wave {name} that can be reached and is not suspended, or for allowEmpty in it"
        )
        return StepOutcome(RolloutPhase.WAITING, RolloutReason.NOBODY_REACHABLE, next_step)
    closed = _barrier_before_closed_wave(number, positions)
    if closed is not None:
        return closed
    if name in requests.unapproved:
        return StepOutcome(RolloutPhase.WAITING, RolloutReason.APPROVAL_MISSING, requests.unapproved[name])
    return _barrier_before_checks(number, positions)


def _barrier_before_checks(number: int, positions: Positions) -> StepOutcome | None:
    """Return what a wave waits for of the checks that it has to pass before it begins."""
    checks = positions.checks_before_wave(number)
    return None if checks.are_passed(positions.now) else _wait_for_checks(checks)


def _wait_for_checks(look: ChecksLook) -> StepOutcome:
    """Return what a rollout waits for of the checks of a wave: an answer, or that it has been met for long enough."""
    if look.unmet:
        next_step = f"waits for {first_few(look.unmet)}"
    else:
        long_ones = [str(each) for each in look.questions if each.check.met_for]
        next_step = f"waits until {first_few(long_ones)} is met for long enough"
    return StepOutcome(RolloutPhase.WAITING, RolloutReason.CHECK_NOT_MET, next_step)


def outcome_under_way(number: int, positions: Positions, started: frozenset[str], retry: str) -> StepOutcome:
    """Return what a rollout waits for that nothing holds up; ``retry`` lets clusters that failed try again."""
    under_way = started | positions.under_way
    old = under_way & positions.having_old_status
    if old and old == under_way:
        next_step = f"waits for a look at {first_few(sorted(old))}: the last one is too old for the gate"
        return StepOutcome(RolloutPhase.WAITING, RolloutReason.STATUS_TOO_OLD, next_step)
    if under_way:
        next_step = f"waits for {first_few(sorted(under_way))} to come through the gate"
        if old:
            next_step += f", and for a look at {first_few(sorted(old))}, as the last one is too old for it"
        if positions.unmet_checks:
            next_step += f", and for {first_few(positions.unmet_checks)}"
        return StepOutcome(RolloutPhase.PROGRESSING, RolloutReason.CLUSTERS_UNDER_WAY, next_step)
    closed = _outcome_of_closed_clusters(number, positions)
    if closed is not None:
        return closed
    unchecked = next((place for place in range(number + 1) if not positions.has_passed_checks(place)), None)
    if unchecked is not None:
        return _wait_for_checks(positions.wave_checks[unchecked].checks)
    if positions.failed:
        next_step = f"{retry}, or a newer change, as {_sentence_about_failed(positions)}"
        return StepOutcome(RolloutPhase.WAITING, RolloutReason.CLUSTERS_FAILED, next_step)
    unproven = next(place for place in range(number + 1) if not positions.is_proven(place))
    name = positions.waves[unproven].wave.name
    next_step = f"waits for a cluster of wave {name} that can be reached, is not suspended and comes through the gate"
    return StepOutcome(RolloutPhase.WAITING, RolloutReason.NOBODY_REACHABLE, next_step)


def _sentence_about_failed(positions: Positions) -> str:
    """Return which clusters failed, and by which checks of their waves."""
    failed = f"{first_few(sorted(positions.failed))} failed"
    if positions.unmet_of_late_waves:
        failed += f" by {first_few(positions.unmet_of_late_waves)}"
    return failed


def notes_about_clusters(number: int, positions: Positions) -> Iterator[str]:
    """Yield a sentence about each cluster that is passed over, of the waves that have begun."""
    for name in sorted(positions.clusters):
        if positions.wave_numbers[name] > number or name in positions.asked:
            continue
        is_suspended = name in positions.suspended
        yield f"{name} is {'suspended' if is_suspended else 'not reachable'}, and passed over until it is no longer"


def _have_too_many_failed(state: RolloutState, positions: Positions) -> bool:
    """Say whether more clusters have failed than may, of all or of a wave."""
    if len(positions.failed) > state.plan.max_failures.of_total(len(positions.clusters)):
        return True
    for each in positions.waves:
        limit, failed = each.wave.max_failures, positions.failed.intersection(each.clusters)
        if limit is not None and len(failed) > limit.of_total(len(each.clusters)):
            return True
    return False


def _barrier_before_closed_wave(number: int, positions: Positions) -> StepOutcome | None:
    """Return what keeps a wave from beginning of which all clusters that are asked about are closed."""
    asked = positions.asked.intersection(positions.waves[number].clusters)
    closed = positions.closed_clusters.keys() & asked
    return _outcome_about_closed_clusters(closed, positions) if closed and closed == asked else None


def _outcome_of_closed_clusters(number: int, positions: Positions) -> StepOutcome | None:
    """Return what a rollout waits for that may not give the change to clusters of waves that have begun."""
    begun = {name for name in positions.asked if positions.wave_numbers[name] <= number}
    closed = (positions.closed_clusters.keys() & begun) - positions.given.keys()
    return _outcome_about_closed_clusters(closed, positions) if closed else None


def _outcome_about_closed_clusters(closed: Iterable[str], positions: Positions) -> StepOutcome:
    by_reason: dict[str, list[str]] = {}
    for name in sorted(closed):
        by_reason.setdefault(positions.closed_clusters[name], []).append(name)
    next_step = "; ".join(f"waits for {reason} in {first_few(names)}" for reason, names in sorted(by_reason.items()))
    is_frozen = any(reason != NEXT_WINDOW for reason in by_reason)
    reason = RolloutReason.FROZEN if is_frozen else RolloutReason.OUTSIDE_WINDOW
    return StepOutcome(RolloutPhase.WAITING, reason, next_step)
