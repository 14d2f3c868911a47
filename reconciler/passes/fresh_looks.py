"""Looks at clusters before a pass decides, where a gate of a rollout asks how old what is known of them may be.

A pass decides by the health that the last one recorded, and looks at members when it applies to them afterwards. Where
passes are rare, a gate would open by a status of long ago. So where a rollout that is under way has such a gate, the
members that were given its change, and that nobody has looked at for so long, get the commit before once more: they are
looked at, drift is repaired, and what is seen is recorded, as in every pass. Then it renders by that.

What agents and other tools told is taken in the same way. Who cannot be reached is not looked at, and the gate counts
its status as too old.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reconciler.branches.looks import are_looks_known, id_of_recorded_health, known_looks
from reconciler.branches.reading import read_observed_inputs, read_source
from reconciler.console.log import Log
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.rollouts.state_files import RolloutStates, rollout_states_of_tree
from reconciler.record.recorded_status import read_recorded
from reconciler.source.desired import Desired
from render.errors import ConfigError, GitError, InputError
from render.rollouts.state import RolloutPhase, RolloutReason, RolloutState
from render.rollouts.status_ages import StatusLooks
from render.words import first_few

from .looks_of_apply import are_looks_asked_for, looks_of_others, remember_looks_of_apply

if TYPE_CHECKING:
    from .members import ReachedMembers
    from .observation import Observation

_GOING_ON = frozenset({RolloutPhase.PROGRESSING, RolloutPhase.WAITING, RolloutPhase.PAUSED})


def ages_asked_for(states: RolloutStates) -> Mapping[str, int]:
    """Return the clusters whose status gates of rollouts that go on are about, with the least age that one asks for."""
    found: dict[str, int] = {}
    for state in states.values():
        for name, seconds in _ages_in_rollout(state):
            found[name] = min(seconds, found.get(name, seconds))
    return found


def _ages_in_rollout(state: RolloutState) -> Iterator[tuple[str, int]]:
    is_going_back = state.reason is RolloutReason.ROLLING_BACK
    if not (is_going_back or state.phase in _GOING_ON):
        return
    ages = {each.name: each.gate.max_status_age for each in (*state.plan.waves, state.plan.implicit_wave)}
    for each in state.back if is_going_back else state.given:
        seconds = ages.get(state.seats.get(each.cluster, ""))
        if seconds is not None:
            yield each.cluster, seconds


def members_after_looks(
    members: "ReachedMembers", previous: Previous | None, desired: Desired, source: str, log: Log
) -> "ReachedMembers":
    """Return the members of a pass, after a look at those whose status is too old for gates that ask for its age.

    ``desired`` is that of the ``source`` commit which the pass renders.
    """
    if previous is None or members.delivery.is_stopping() or not _may_be_asked_for(members, desired):
        return members
    ages = ages_asked_for(rollout_states_of_tree(previous.tree))
    if not ages:
        return members
    looks = StatusLooks(times=members.observation.looks)
    old = {name for name, age in ages.items() if looks.age_of(name, age, members.now).answer.is_too_old}
    reached = tuple(each for each in members.delivery.members if each.name in old)
    if not reached and not any(name in old for name in _names_with_news(members.observation, members.now)):
        return members
    of_previous = _desired_of_commit_before(members, previous, desired, source, log)
    if of_previous is None:
        return members
    if reached:
        log.info(f"looking at {first_few([each.name for each in reached])} first: gates ask for a newer status")
    # What a person asks for once is for the commit that the pass makes, and is said of that.
    options = replace(members.delivery.options, orphans=False, yes=False, confirmed=(), confirm_all=False)
    narrowed = replace(members, delivery=replace(members.delivery, members=reached, options=options))
    reports = narrowed.apply_merged(of_previous, previous.commit, log)
    remember_looks_of_apply(members.observation, members.now, reports)
    return _members_by_new_record(members)


def _may_be_asked_for(members: "ReachedMembers", desired: Desired) -> bool:
    """Say whether a gate may ask for an age: one of a policy, or of a plan from before, which has left looks here."""
    return are_looks_asked_for(desired, {}) or are_looks_known(members.context.publication.repository)


def _desired_of_commit_before(
    members: "ReachedMembers", previous: Previous, desired: Desired, source: str, log: Log
) -> Desired | None:
    """Return the source of the commit before; None where it cannot be read any more."""
    if previous.source == source:
        return desired
    repository = members.context.publication.repository
    try:
        facts = read_observed_inputs(repository, previous.commit).facts
        found = read_source(repository, previous.source, facts=lambda _fleet: facts).desired
    except (ConfigError, GitError, InputError) as error:
        log.warning(f"no look at clusters before the pass decides, though gates ask for one: {error}")
        return None
    return replace(found, fleet=desired.fleet)


def _members_by_new_record(members: "ReachedMembers") -> "ReachedMembers":
    """Return members with what the status branch records of them now."""
    status, observation = members.context.status, members.observation
    tip = status.tip()
    recorded = read_recorded(status, tip).with_files(observation.agents.files)
    health_id = id_of_recorded_health(status.repository, tip)
    looks = known_looks(status.repository, health_id)
    return replace(members, observation=replace(observation, recorded=recorded, looks=looks, health_id=health_id))


def _names_with_news(observation: "Observation", now: datetime) -> Iterator[str]:
    """Yield the clusters at which agents, or tools, have looked since what is recorded of them."""
    known = observation.looks
    for name, at in looks_of_others(observation, now).items():
        if name not in known or at > known[name]:
            yield name
