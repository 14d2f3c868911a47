"""The looks at clusters in an apply, remembered for gates of rollouts that ask how old the status of a cluster is."""

from collections.abc import Iterable
from datetime import datetime

from reconciler.branches.looks import Looks, id_of_recorded_health, remember_looks
from reconciler.deliver.results import ClusterReport
from reconciler.pipeline.rollouts.state_files import RolloutStates
from reconciler.source.desired import Desired
from render.rollouts.policy import RolloutPolicy
from render.timing import epoch_text, parse_instant

from .observation import Observation


def are_looks_asked_for(desired: Desired, states: RolloutStates) -> bool:
    """Say whether a gate of any policy, or of a rollout that is not over, asks how old a status is."""
    plans = (state.plan for state in states.values() if not state.is_completed)
    return any(map(_asks_for_age, (*desired.rollout_policies, *plans)))


def _asks_for_age(policy: RolloutPolicy) -> bool:
    return any(gate.max_status_age is not None for gate in (policy.gate, *(each.gate for each in policy.waves)))


def remember_looks_of_apply(observation: Observation, now: datetime, reports: Iterable[ClusterReport]) -> None:
    """Keep when the members of an apply were looked at, whose reports are recorded; ``now`` is the time of the pass."""
    status = observation.context.status
    looked = {each.cluster for each in reports if each.failure is None and each.applied is not None and not each.unseen}
    remember_looks(
        status.repository,
        status.branch,
        {**dict.fromkeys(looked, now), **looks_of_others(observation, now)},
        before=observation.health_id,
        after=id_of_recorded_health(status.repository, status.tip()),
    )


def looks_of_others(observation: Observation, now: datetime) -> Looks:
    """Return when agents looked at their clusters last, and that tools were asked about theirs now."""
    found = dict.fromkeys(observation.agents.reported_by_tools, now)
    for name, tip in observation.agents.tips.items():
        word = observation.words.get(name)
        heard = parse_instant(word.heard) if word is not None and word.commit == tip else None
        if word is None or heard is None:
            continue
        # Its commit is of its own clock, and may be older than the look at its branch that found it.
        committed = observation.context.publication.repository.commit_info(tip).time - word.ahead
        found[name] = min(heard, parse_instant(epoch_text(committed)) or heard)
    return found
