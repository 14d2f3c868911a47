"""Agents that fell silent: those that promised to tell that they live, or were asked for something new, and do not.

An agent that has nothing to tell commits nothing, so that its silence alone says nothing. It counts as silent some time
after the last heartbeat that it promised; or after its mirror moved, while it has not said that it applied that commit
and its own branch has not moved since either.
"""

from collections.abc import Iterator, Mapping
from datetime import datetime

from msgspec.structs import replace

from reconciler.observe.cluster_status import AGENT_GRACE, ClusterState, condition_unknown, seconds_between
from reconciler.record.cluster_files import ClusterRecord, parse_cluster_record
from reconciler.record.recorded_status import RecordedStatus, cluster_path
from reconciler.repository.trailers import RENDERED
from render.cluster import Cluster, is_pulling

from .fleet_context import FleetContext


def states_of_silent(
    context: FleetContext, recorded: RecordedStatus, known: Mapping[str, ClusterState], now: str
) -> dict[str, ClusterState]:
    """Return the states of pulling members whose agents are silent, given the states that the last pass recorded."""
    states = {}
    for cluster, record in _told(context, recorded):
        if _is_late(record, now) or _is_behind(context, cluster, record, now):
            before = known[cluster.name].status if cluster.name in known else {}
            states[cluster.name] = replace(record.state, status=condition_unknown(record.state.status, before, now))
    return states


def _told(context: FleetContext, recorded: RecordedStatus) -> Iterator[tuple[Cluster, ClusterRecord]]:
    for cluster in filter(is_pulling, context.members):
        manifest = recorded.manifest(cluster_path(cluster.name))
        if manifest:
            yield cluster, parse_cluster_record(manifest)


def _is_late(record: ClusterRecord, now: str) -> bool:
    """Return whether an agent promised a heartbeat that did not come."""
    return bool(record.heartbeat) and seconds_between(record.heartbeat, now) > AGENT_GRACE


def _is_behind(context: FleetContext, cluster: Cluster, record: ClusterRecord, now: str) -> bool:
    """Return whether an agent has not said for a while that it applied what its mirror has."""
    publication, fleet = context.publication, context.fleet
    mirror, own = (
        publication.repository.tip(publication.ref(branch))
        for branch in (fleet.mirror_branch(cluster.name), fleet.agent_branch(cluster.name))
    )
    if mirror is None:
        return False
    asked = publication.repository.commit_info(mirror)
    if asked.trailer(RENDERED) in {(), (record.applied,)}:
        return False
    heard = publication.repository.commit_info(own).time if own else 0
    return datetime.fromisoformat(now).timestamp() - max(asked.time, heard) > AGENT_GRACE
