"""A pass over an idle fleet: nothing moved in Git or in any member since a pass that wrote nothing.

1. ``remembering`` asks each member that a pass found idle for digests of its lists, and the checkpoint of the pass
   keeps them with what it reported;
2. while all branches stand where it left them, and all members are idle, the next pass asks for the same digests
   (``fleet_still_idle``);
3. where all are the same, and the members' health and capacity are as recorded, it would decide and write the same: so
   it repeats the report and ends. Otherwise it is done, and skips the members that are idle one by one.

A member that could not be observed, such as a dead one, is looked at for a short time, and has to fail the same way.

What depends on time is settled before: a status that is to be written when its record is stale sets an end to the rest.
"""

import json
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import takewhile
from typing import Any, TypeVar

from msgspec import to_builtins
from msgspec.structs import replace

from reconciler.branches.checkpoint import Checkpoint
from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.known_fleets import read_known_fleet
from reconciler.branches.looks import remember_repeated_looks
from reconciler.branches.publication import publication_of
from reconciler.console.log import Log
from reconciler.ledger.branch_file import is_same_but_for_version
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.facts import ClusterFacts
from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import Failure
from reconciler.members.options import DeliveryOptions
from reconciler.members.visits import MemberReach, Visit, Visits
from reconciler.members.ways import member_reach
from reconciler.observe.idle_members import IdleMember, is_still_idle
from reconciler.observe.members import GRACE, MOST_SECONDS, RETRY_SECONDS, ObserveOptions
from reconciler.repository import Repository
from render.cluster import Cluster
from render.timing import epoch_text

from .observation import Observation, observe_members
from .remembered_members import RememberedFleet

PATIENCE = 5.0
"""The seconds without any answer after which members are left to a whole pass, which waits for nobody."""
_Result = TypeVar("_Result")


def _clusters_of_remembered_fleet(fleet: RememberedFleet) -> tuple[Cluster, ...]:
    """Return the members of a fleet as far as observing them needs to know."""
    names = sorted({*fleet.by_name(), *fleet.failed})
    return tuple(Cluster(name=name, resource_models=fleet.models.get(name, ())) for name in names)


def plain_options(options: DeliveryOptions) -> dict[str, Any]:
    """Return the options of a delivery as they are read back from JSON."""
    plain: dict[str, Any] = json.loads(json.dumps(to_builtins(options)))
    return plain


def fleet_still_idle(
    repository: Repository,
    checkpoint: Checkpoint,
    options: DeliveryOptions,
    log: Log,
    at: datetime,
    *,
    clock: Callable[[], float] = time.time,
) -> RememberedFleet | None:
    """Return the fleet that the checkpoint's pass left idle if it still is so; None where a pass has to be done.

    All branches stand where that pass left them. ``at`` is the time of the pass, and of its look at the members.
    """
    remembered, now = RememberedFleet.parse(checkpoint.members), epoch_text(clock())
    if not remembered.is_idle or remembered.options != plain_options(options):
        return None
    if any(member.until and now >= member.until for member in remembered.answering):
        return None
    fleet = read_known_fleet(repository, checkpoint.tips.source, remembered.fleet_path)
    context = FleetContext(
        publication=publication_of(repository, fleet), fleet=fleet, members=_clusters_of_remembered_fleet(remembered)
    )
    reach = member_reach(fleet, options, repository.folder).within(MOST_SECONDS)
    with log.timed("look at members"):
        observation = None
        if _are_still_idle((member.answers for member in remembered.answering), reach):
            observation = _observation_if_failing_as_before(
                observe_members(context, context.members, ObserveOptions(reach=reach), clock), remembered
            )
    if observation is None or not (_is_as_recorded(observation) and _is_pending_as_recorded(observation, remembered)):
        return None
    names = [member.cluster for member in remembered.answering]
    remember_repeated_looks(repository, fleet.status_branch, checkpoint.tips.status, names, at)
    log.warn_of(observation.warnings)
    for line in remembered.lines if log.tells_each else ():
        log.info(line)
    return remembered


def _are_still_idle(members: Iterable[IdleMember], reach: MemberReach) -> bool:
    """Return whether all members are idle; one that is silent is left to a whole pass, which waits for nobody."""
    known = {member.cluster: member for member in members}

    def is_still(visit: Visit[bool | Failure]) -> bool:
        client = reach.open(visit.name)
        return not isinstance(client, Failure) and is_still_idle(visit.heard_through(client), known[visit.name])

    visits: Visits[bool | Failure] = reach.visits(lambda visit: result_or_failure(lambda: is_still(visit)), known)
    ended = list(takewhile(lambda visit: visit.result is True, ended_visits(visits, reach.clock)))
    return len(ended) == len(known)


def ended_visits(visits: Visits[_Result], clock: Callable[[], float]) -> Iterator[Visit[_Result]]:
    """Yield the visits as they end, and no more once nobody has been heard for as long as is worth waiting."""
    while not visits.are_over:
        heard = (visit.last_heard or visit.began for visit in visits.under_way.values())
        visit = visits.next_ended_visit(max(heard, default=clock()) + PATIENCE)
        if visit is not None:
            yield visit
        elif all(clock() >= (each.last_heard or each.began) + PATIENCE for each in visits.under_way.values()):
            return


def _observation_if_failing_as_before(observation: Observation, remembered: RememberedFleet) -> Observation | None:
    """Return an observation with what came late; None where a member that failed fails no more, or another way."""
    if not remembered.failed.keys() >= observation.late.keys():
        return None
    whole = observation.combined_with_late(observation.await_late(RETRY_SECONDS + GRACE))
    return whole if {name: whole.failures.get(name) for name in remembered.failed} == remembered.failed else None


def _is_as_recorded(observation: Observation) -> bool:
    """Return whether an observation would change nothing on the status branch, and so nothing that is rendered."""
    recorded = observation.recorded
    records = recorded.clusters()
    if observation.states.keys() != {member.name for member in observation.context.members}:
        return False
    if observation.has_new_schemas:
        return False
    for name, state in observation.states.items():
        known = records.get(name)
        if known is None:
            return False
        if not is_same_but_for_version(
            recorded.files.get(ClusterRecord.at(name)), replace(known, state=state).content()
        ):
            return False
        facts = observation.facts.get(name)
        if not is_same_but_for_version(recorded.files.get(ClusterFacts.at(name)), facts.content() if facts else None):
            return False
    return True


def _is_pending_as_recorded(observation: Observation, remembered: RememberedFleet) -> bool:
    """Return whether the workloads that are not well have as many replicas that cannot start as is recorded.

    Others have none, and what is not of this fleet is recorded nowhere.
    """
    recorded, found = observation.recorded.health().pending, observation.health.pending
    unwell = {ref for member in remembered.members for ref, _ in member.answers.unwell}
    return all(found.get(ref) == recorded.get(ref) for ref in unwell | recorded.keys())
