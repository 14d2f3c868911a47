"""What a pass sees of its members before it renders, and what it records of them in the end.

1. ``watch`` reads the status branch, takes in what agents wrote, and looks at every member this pass is for;
2. its ``facts`` are what to render by;
3. its ``recording`` is called with the reports when all is applied, and returns the files of the outcome commit - for
   whatever the status branch holds by then, because somebody else may have been faster.
"""

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from reconciler.console.log import Log
from reconciler.deliver.delivery import Delivery, FleetContext, Record, chosen_members
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.deliver.results import ClusterReport
from reconciler.members.exchange import FailureKind, OpenClient
from reconciler.observe.cluster_status import (
    ClusterState,
    MemberObservation,
    condition_unknown,
    seconds_between,
    state_after,
)
from reconciler.observe.fact_changes import facts_of, facts_to_write
from reconciler.observe.members import LookOptions, observe_fleet
from reconciler.pipeline.webhook_answers import Answers
from reconciler.publish.status_branch import Files, StatusBranch
from reconciler.source.desired import Desired, interpreter_of
from reconciler.source.facts import Facts
from render.cluster import Cluster
from render.model import ObjectRef, Template

from .agent_branches import FromAgents, files_from_agents, is_pulling
from .cluster_files import parse_cluster_record
from .recorded import FOLDERS, Recorded
from .writing import StatusPass, ask_ahead, status_files, status_message

LOOK_SECONDS = 60.0
"""How long the look at one member may take at most."""
AGENT_GRACE = 600.0
"""For how many seconds an agent that sends heartbeats may be silent before its cluster's readiness is unknown."""


def utc(seconds: float) -> str:
    """Return a moment as RFC 3339, to the second.

    >>> utc(1_800_000_000)
    '2027-01-15T08:00:00Z'
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """What was seen of the members at the beginning of a pass.

    ``facts`` are what to render by, with the ``answers`` recorded of webhooks; ``states`` those of the members this
    pass looked at, ``turned`` those of them whose readiness is not what is recorded; ``from_agents`` what pulling
    members told themselves.
    """

    fleetwide: FleetContext
    now: str
    facts: Facts = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    states: Mapping[str, ClusterState] = field(default_factory=dict)
    turned: Mapping[str, ClusterState] = field(default_factory=dict)
    seen: tuple[MemberObservation, ...] = ()
    from_agents: FromAgents = field(default_factory=FromAgents)

    def recording(self, desired: Desired, commit: str, answers: Answers | None = None) -> Record:
        """Return what records this pass, given the source, the rendered commit it applies and what it rendered by."""
        commits = RenderedCommits(self.fleetwide.publication.repository)
        bindings = commits.commit(commit).bindings
        templates: Mapping[ObjectRef, Template] = {template.ref: template for template in desired.templates}
        interpreter = self.fleetwide.interpreter or interpreter_of(desired)
        pass_ = StatusPass(
            now=self.now,
            members=frozenset(cluster.name for cluster in desired.clusters),
            commit=commit,
            bindings=bindings,
            templates=templates,
            interpreter=interpreter,
            states=self.states,
            facts={name: facts for name, facts in self.facts.items() if name in self.states},
            answers=answers,
            agents=self.from_agents.files,
        )

        def files(reports: Sequence[ClusterReport], tip: str | None) -> Files:
            ask_ahead(reports, interpreter)
            return status_files(read_recorded(self.fleetwide.status, tip), pass_, reports)

        def message(commit: str, reports: Sequence[ClusterReport], files: Files) -> str:
            return status_message(commit, files, reports, self.turned)

        return Record(files=files, message=message, commits=commits)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of this look."""
        unread = [
            f"{seen.cluster}: its capacity is not known: {each.message}" for seen in self.seen for each in seen.unread
        ]
        return (*unread, *(f"ignored: {what}" for what in self.from_agents.ignored))


def observe_members(fleetwide: FleetContext, delivery: Delivery, open_client: OpenClient, log: Log) -> Observation:
    """Look at the members a delivery is for, and say what a person should know of it."""
    chosen = chosen_members(fleetwide.members, delivery)
    looking = LookOptions(
        open_client=open_client, max_parallel=delivery.max_parallel, timeout=min(delivery.timeout, LOOK_SECONDS)
    )
    with log.timed("look at members"):
        found = observation_of(fleetwide, chosen, looking)
    for warning in found.warnings:
        log.warning(warning)
    return found


def observation_of(
    fleetwide: FleetContext, members: Iterable[Cluster], looking: LookOptions, clock: Callable[[], float] = time.time
) -> Observation:
    """Look at the members a pass is for; those that pull are told of by their agents."""
    status = fleetwide.status
    recorded = read_recorded(status, status.tip())
    from_agents = files_from_agents(fleetwide, recorded.files)
    ready = {name: record.state.ready for name, record in recorded.clusters().items()}
    recorded = recorded.with_files(from_agents.files)
    chosen = {cluster.name: cluster for cluster in members if not is_pulling(cluster)}
    seen = observe_fleet(chosen, looking)
    now = utc(clock())
    before = {name: record.state for name, record in recorded.clusters().items()}
    states = {
        each.cluster: state_after(chosen[each.cluster], before.get(each.cluster), each, now)
        for each in seen
        if not _is_our_fault(each)
    }
    states |= _silent_agents(fleetwide, recorded, now)
    facts = _facts(recorded, states, fleetwide.members, now)
    return Observation(
        fleetwide=fleetwide,
        now=now,
        facts=facts,
        answers=recorded.answers(),
        states={name: state.with_capacity_of(facts[name].status) for name, state in states.items()},
        turned={name: state for name, state in states.items() if state.ready != ready.get(name)},
        seen=seen,
        from_agents=from_agents,
    )


def _is_our_fault(seen: MemberObservation) -> bool:
    """Whether a member was not even asked: without credentials here, nothing is known of the member there."""
    return seen.failure is not None and seen.failure.kind is FailureKind.CREDENTIALS


def read_recorded(status: StatusBranch, commit: str | None) -> Recorded:
    """Read all that a commit of the status branch holds."""
    if commit is None:
        return Recorded()
    files = [
        file
        for file in status.repository.snapshot(commit).files
        if file.path == "README.md" or file.path.partition("/")[0] in FOLDERS
    ]
    contents = status.repository.read_blobs({file.id for file in files})
    return Recorded(files={file.path: contents[file.id] for file in files})


def _facts(recorded: Recorded, states: Mapping[str, ClusterState], members: Iterable[Cluster], now: str) -> Facts:
    known, models = dict(recorded.facts()), {cluster.name: cluster.resource_models for cluster in members}
    for name, state in states.items():
        before = known.get(name)
        age = seconds_between(before.observed_at, now) if before else 0.0
        known[name] = facts_to_write(before, facts_of(state, now), age, models.get(name, ()))
    return {name: known[name] for name in sorted(known)}


def _silent_agents(fleetwide: FleetContext, recorded: Recorded, now: str) -> dict[str, ClusterState]:
    """Return the states of pulling members whose agents promised to tell that they live, and no longer do."""
    found = {}
    for cluster in filter(is_pulling, fleetwide.members):
        manifest = recorded.manifest(f"clusters/{cluster.name}.yaml")
        record = parse_cluster_record(manifest) if manifest else None
        if record and record.heartbeat and seconds_between(record.heartbeat, now) > AGENT_GRACE:
            found[cluster.name] = replace(record.state, status=condition_unknown(record.state.status, now))
    return found
