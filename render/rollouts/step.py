"""One step of a rollout: which clusters get the change now, what it waits for, and when that can change by itself.

1. A change that is not that of the state begins anew, with nobody given it. The plan is the policy; what has begun goes
   by the plan that it began with.
2. Where clusters stand is derived from what is known now (``positions``): nobody is trusted to be well still.
3. The next wave begins when every cluster before it that is asked about is through. A wave in which nobody can be asked
   proves nothing, and waits; so does one that needs an approval.
4. Clusters of waves that have begun are given the change in their order, as long as the limits allow: not more under
   way than may be, nobody while those of an earlier wave are not through (or a share of them, where its gate asks for
   one), and nobody at all after too many failures.
   One that an approver expedites goes to all waves at once; only the limits hold.
5. What is held after failures, or aborted, goes back where its policy says so (``going_back``).
6. Whatever comes of it has a phase, a reason, and a sentence that says what comes next (``barriers``).
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from msgspec.structs import replace

from render.admission.rollouts import IMPLICIT_WAVE
from render.timing import Flip, earliest_flip

from .barriers import StepOutcome, barrier_before_wave, notes_about_clusters, outcome_under_way, stop_of_rollout
from .checks import ChecksLook
from .controls import Requests, controls_made_void, requests_about_rollout
from .going_back import way_back
from .policy import FailureAction, RolloutPolicy
from .positions import Positions, deadline_of_cluster, positions_of_clusters
from .room import clusters_with_room
from .state import Change, Given, RolloutFacts, RolloutPhase, RolloutReason, RolloutState, RolloutStep, times_of_phase
from .status_ages import answers_in_order

NOTHING_LEFT = "nothing: every cluster that can be reached and is not suspended is through its gate"
"""The next step of a rollout that is completed."""

_ENDED = frozenset({RolloutPhase.COMPLETED, RolloutPhase.FAILED, RolloutPhase.HELD})
"""Phases that only a retry or a newer change ends."""
_GOING_ON = frozenset({RolloutPhase.PROGRESSING, RolloutPhase.WAITING})


def next_step(
    policy: RolloutPolicy | None, state: RolloutState | None, change: Change | None, facts: RolloutFacts
) -> RolloutStep:
    """Return the step of a pass: the next state, and the clusters that get the change.

    Without a policy the plan of a rollout under way counts, to its end. Nothing is held back where there is neither, or
    no change.
    """
    is_over = state is None or state.is_completed
    if policy is None and is_over:
        return RolloutStep(state=None, due=facts.clusters)
    if change is None or (state is not None and state.is_completed and state.change == change.digest):
        return RolloutStep(state=state and _completed_state(state, facts.now), due=facts.clusters)
    if state is None or state.change != change.digest:
        void = controls_made_void(state, facts.controls) if state is not None else ()
        state = replace(_state_of_beginning(_plan_of_new_rollout(policy, state), change, facts), void_controls=void)
    elif policy is not None:
        state = replace(state, plan=plan_of_begun_rollout(policy, state))
    requests = requests_about_rollout(state, facts.controls)
    if requests.is_emergency:
        facts = replace(facts, is_calendar_lifted=True, closed={}, calendar_flip=None)
    if requests.retries:
        state = _state_after_retries(state, positions_of_clusters(state, facts), requests, facts.now)
    return _step_of_rollout(state, positions_of_clusters(state, facts), requests, facts)


def plan_of_begun_rollout(policy: RolloutPolicy, state: RolloutState) -> RolloutPolicy:
    """Return the plan of a rollout that is under way: waves that have begun as they were, all others as edited."""
    recorded, policy = state.plan, replace(policy, path="", document=0)
    if state.wave == IMPLICIT_WAVE:
        return replace(
            policy,
            waves=recorded.waves,
            gate=recorded.gate,
            max_concurrent=recorded.max_concurrent,
            max_concurrent_by_field=recorded.max_concurrent_by_field,
        )
    names = [wave.name for wave in recorded.waves]
    begun = recorded.waves[: names.index(state.wave) + 1] if state.wave else ()
    known = {wave.name for wave in begun}
    return replace(policy, waves=(*begun, *(wave for wave in policy.waves if wave.name not in known)))


def state_with_renamed_clusters(state: RolloutState, new_names: Mapping[str, str]) -> RolloutState:
    """Return a state in which clusters that have got another name keep what they were given, and their seats."""
    return replace(
        state,
        given=tuple(replace(each, cluster=new_names.get(each.cluster, each.cluster)) for each in state.given),
        back=tuple(replace(each, cluster=new_names.get(each.cluster, each.cluster)) for each in state.back),
        seats={new_names.get(name, name): wave for name, wave in state.seats.items()},
    )


def _completed_state(state: RolloutState, now: datetime) -> RolloutState:
    """Return a state as one that has nothing left to give."""
    if state.is_completed:
        return state
    return replace(
        state,
        phase=RolloutPhase.COMPLETED,
        phase_since=now,
        reason=RolloutReason.EVERY_CLUSTER_THROUGH,
        next_step=NOTHING_LEFT,
    )


def _plan_of_new_rollout(policy: RolloutPolicy | None, state: RolloutState | None) -> RolloutPolicy:
    """Return the policy, or where it was deleted under way, the plan that the rollout before went by."""
    if policy is not None:
        return policy
    assert state is not None
    return state.plan


def _state_of_beginning(plan: RolloutPolicy, change: Change, facts: RolloutFacts) -> RolloutState:
    """Return the state of a rollout that begins; who has the change already is under way from now on."""
    now = facts.now
    return RolloutState(
        plan=replace(plan, path="", document=0),
        change=change.digest,
        commits=change.commits,
        since=now,
        given=tuple(Given(cluster=name, at=now) for name in sorted(facts.given_before)),
        wave_since=now,
        phase_since=now,
        group=change.group,
    )


def _state_after_retries(state: RolloutState, positions: Positions, requests: Requests, now: datetime) -> RolloutState:
    """Return the state after what people ask for once: clusters get their time again, or all of it begins again."""
    is_ended = state.phase in _ENDED
    again = positions.failed | positions.clusters_of_unchecked_waves
    return replace(
        state,
        given=tuple(Given(cluster=each.cluster, at=now) if each.cluster in again else each for each in state.given),
        heard=(*state.heard, *(each.name for each in requests.retries)),
        back=(),
        phase=RolloutPhase.PROGRESSING if is_ended else state.phase,
        reason=RolloutReason.CLUSTERS_UNDER_WAY if is_ended else state.reason,
    )


def _step_of_rollout(state: RolloutState, positions: Positions, requests: Requests, facts: RolloutFacts) -> RolloutStep:
    """Return the step of a rollout, from where its clusters stand and what people ask for."""
    begun, stop = _number_of_begun_wave(state, positions), stop_of_rollout(state, positions, requests)
    number, barrier, started = begun, stop, dict[str, Given]()
    if stop is None:
        number, barrier = _begin_waves(number, positions, requests)
        started = {name: Given(cluster=name, at=facts.now) for name in _clusters_to_start(number, positions, requests)}
    before = () if requests.expedited is not None else _looks_before_waves(begun, number, positions, barrier)
    outcome = _outcome_of_step(number, positions, frozenset(started), barrier, state.command("retry"))
    if requests.expedited is not None and stop is None and not started and positions.are_all_asked_through:
        outcome = StepOutcome(RolloutPhase.COMPLETED, RolloutReason.EVERY_CLUSTER_THROUGH, NOTHING_LEFT)
    if outcome.phase is RolloutPhase.HELD and state.plan.on_failure is FailureAction.ROLLBACK:
        return _step_back(state, positions, facts, outcome)
    given, is_completed = {**positions.given, **started}, outcome.phase is RolloutPhase.COMPLETED
    wave = positions.waves[number].wave.name if number >= 0 else ""
    flips = [*positions.flips, *(look.flip(facts.now) for look in before), *_deadlines_of_clusters(started, positions)]
    if outcome.phase in _GOING_ON:  # what waits for a person asks for no look meanwhile
        flips += positions.age_flips
    return RolloutStep(
        state=replace(
            _state_after_step(state, positions, outcome, facts.now),
            wave=wave,
            wave_since=state.wave_since if wave == state.wave else facts.now,
            given=tuple(given[name] for name in sorted(given)),
        ),
        due=positions.clusters if is_completed else frozenset(given),
        flip=None if is_completed else earliest_flip(flips),
        notes=tuple(notes_about_clusters(number, positions)),
        questions=(*positions.questions, *(question for look in before for question in look.questions)),
        status_ages=positions.status_ages,
    )


def _step_back(state: RolloutState, positions: Positions, facts: RolloutFacts, stop: StepOutcome) -> RolloutStep:
    """Return the step of a rollout whose clusters go back to the version that was completed last."""
    way = way_back(state, positions, facts, stop)
    given = {name: each for name, each in positions.given.items() if name in way.remaining}
    return RolloutStep(
        state=replace(
            _state_after_step(state, positions, way.outcome, facts.now),
            wave=way.wave,
            wave_since=state.wave_since if way.wave == state.wave else facts.now,
            given=tuple(given[name] for name in sorted(given)),
            back=way.back,
        ),
        due=frozenset(given),
        withdrawn=positions.clusters - way.remaining,
        flip=earliest_flip([*positions.flips, *way.flips]),
        questions=positions.questions,
        status_ages=answers_in_order((*positions.status_ages, *way.status_ages)),
    )


def _state_after_step(state: RolloutState, positions: Positions, outcome: StepOutcome, now: datetime) -> RolloutState:
    """Return a state with what came of a step, and the wave of each cluster."""
    phase_since, reason_since = times_of_phase(state, outcome.phase, outcome.reason, now)
    return replace(
        state,
        seats={name: each.wave.name for each in positions.waves for name in each.clusters},
        phase=outcome.phase,
        phase_since=phase_since,
        reason=outcome.reason,
        reason_since=reason_since,
        next_step=outcome.next_step,
    )


def _number_of_begun_wave(state: RolloutState, positions: Positions) -> int:
    """Return the number of the last wave that has begun; -1 before the first."""
    if not state.wave:
        return -1
    names = [each.wave.name for each in positions.waves]
    # The implicit wave is not there while it has no clusters: then all others have begun.
    return names.index(state.wave) if state.wave in names else len(names) - 1


def _begin_waves(number: int, positions: Positions, requests: Requests) -> tuple[int, StepOutcome | None]:
    """Return the number of the last wave that may begin now, and what keeps the next one from it."""
    if requests.expedited is not None:
        return len(positions.waves) - 1, None
    while number + 1 < len(positions.waves) and positions.has_clusters_from(number + 1):
        if not positions.are_over_before(number + 1):
            break
        barrier = barrier_before_wave(number + 1, positions, requests)
        if barrier is not None:
            return number, barrier
        number += 1
    return number, None


def _looks_before_waves(
    begun: int, number: int, positions: Positions, barrier: StepOutcome | None
) -> tuple[ChecksLook, ...]:
    """Return the looks at checks by which waves begin now after those that had ``begun``, or the next one does not."""
    is_kept_by_check = barrier is not None and barrier.reason is RolloutReason.CHECK_NOT_MET
    return tuple(positions.checks_before_wave(each) for each in range(begun + 1, number + 1 + is_kept_by_check))


def _clusters_to_start(number: int, positions: Positions, requests: Requests) -> Iterator[str]:
    """Yield the clusters of waves that have begun that are given the change now, in their order."""
    busy, is_expedited = set(positions.under_way), requests.expedited is not None
    closed = () if is_expedited else positions.closed_clusters
    for place, each in enumerate(positions.waves[: number + 1]):
        waiting = [
            name
            for name in each.clusters
            if name in positions.asked and name not in positions.given and name not in closed
        ]
        if waiting and not is_expedited and not positions.are_over_before(place):
            return
        started = list(clusters_with_room(each, waiting, busy, positions.fleet))
        busy.update(started)
        yield from started


def _outcome_of_step(
    number: int, positions: Positions, started: frozenset[str], barrier: StepOutcome | None, retry: str
) -> StepOutcome:
    """Return what comes of a step: it is over, held up by something, or somebody is under way.

    ``retry`` is the command that gives clusters which failed their time again.
    """
    is_held = barrier is not None and barrier.phase is RolloutPhase.HELD
    if not is_held and not started and _is_completed(number, positions):
        return StepOutcome(RolloutPhase.COMPLETED, RolloutReason.EVERY_CLUSTER_THROUGH, NOTHING_LEFT)
    return barrier or outcome_under_way(number, positions, started, retry)


def _is_completed(number: int, positions: Positions) -> bool:
    """Say whether every cluster that is asked about is through, in waves that have begun and are proven."""
    if positions.has_clusters_from(number + 1) or not positions.asked <= positions.through or positions.late_waves:
        return False
    return all(
        positions.has_passed_checks(place)
        and (
            positions.is_proven(place)
            or positions.suspended.issuperset(each.clusters)
            or positions.is_last_without_need_of_proof(place)
        )
        for place, each in enumerate(positions.waves[: number + 1])
    )


def _deadlines_of_clusters(started: Mapping[str, Given], positions: Positions) -> Iterator[Flip]:
    """Yield when the time of clusters is over that are given the change now."""
    for name, given in started.items():
        wave = positions.waves[positions.wave_numbers[name]].wave
        ends = deadline_of_cluster(given, wave.gate)
        if ends is not None:
            yield Flip(ends, f"the deadline of {name} in wave {wave.name} has passed")
