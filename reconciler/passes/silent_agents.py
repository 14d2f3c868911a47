"""Agents that fell silent: those that promised to tell that they live, or were asked for something new, and do not.

An agent that has nothing to tell commits nothing, so that its silence alone says nothing. It counts as silent some time
after the last heartbeat that it promised; or after its mirror moved, while it has not said that it applied that commit
and its own branch has not moved since either.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from msgspec.structs import replace

from reconciler.branches.fleet_context import FleetContext
from reconciler.ledger.agents import AgentWord, AgentWords
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.observe.cluster_status import AGENT_GRACE, status_with_unknown_condition
from reconciler.record.recorded_status import RecordedStatus
from reconciler.repository.trailers import RENDERED
from render.cluster import Cluster, is_applied_by_own_agent
from render.failover.health import UNKNOWN


def states_of_silent(
    context: FleetContext,
    recorded: RecordedStatus,
    known: Mapping[str, ClusterState],
    words: AgentWords,
    now: str,
) -> dict[str, ClusterState]:
    """Return the states of pulling members whose agents are silent, given the states that the last pass recorded.

    Silence lasts since a pass last heard an agent, by its ``words``.
    """
    states = {}
    for cluster, record in _recorded_agents(context, recorded):
        heard = _seconds_since_heard(context, cluster, words.get(cluster.name), known.get(cluster.name), now)
        if _is_heartbeat_late(record, heard, now) or _is_agent_behind(context, cluster, record, heard, now):
            before = known[cluster.name].status if cluster.name in known else {}
            states[cluster.name] = replace(
                record.state, status=status_with_unknown_condition(record.state.status, before, now)
            )
    return states


def _recorded_agents(context: FleetContext, recorded: RecordedStatus) -> Iterator[tuple[Cluster, ClusterRecord]]:
    for cluster in filter(is_applied_by_own_agent, context.members):
        record = recorded.cluster(cluster.name)
        if record is not None:
            yield cluster, record


def _seconds_since_heard(
    context: FleetContext, cluster: Cluster, word: AgentWord | None, known: ClusterState | None, now: str
) -> float:
    """Return when an agent was last heard, in seconds; a later time of its own lets us wait longer, but not anew."""
    publication = context.publication
    tip = publication.repository.tip(publication.ref(context.fleet.agent_branch(cluster.name)))
    own = publication.repository.commit_info(tip).time if tip else 0
    if word is None or not word.heard:
        return own
    heard, is_given_up = _epoch_seconds_of_text(word.heard), known is not None and known.ready == UNKNOWN
    return heard if is_given_up or own > _epoch_seconds_of_text(now) else max(heard, own)


def _is_heartbeat_late(record: ClusterRecord, heard: float, now: str) -> bool:
    """Return whether an agent promised a heartbeat that did not come."""
    return bool(record.heartbeat) and _epoch_seconds_of_text(now) - heard > AGENT_GRACE


def _is_agent_behind(context: FleetContext, cluster: Cluster, record: ClusterRecord, heard: float, now: str) -> bool:
    """Return whether an agent has not said for a while that it applied what its mirror has."""
    publication = context.publication
    mirror = publication.repository.tip(publication.ref(context.fleet.mirror_branch(cluster.name)))
    if mirror is None:
        return False
    asked = publication.repository.commit_info(mirror)
    if asked.trailer(RENDERED) in {(), (record.applied,)}:
        return False
    return _epoch_seconds_of_text(now) - max(asked.time, heard) > AGENT_GRACE


def _epoch_seconds_of_text(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
