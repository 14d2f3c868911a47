"""The observation of a fleet's members before a pass renders, and what the pass records of them in the end.

1. ``observe_members`` reads the status branch, takes in what agents wrote, and looks at every chosen member;
2. its ``facts`` are what to render by: the recorded ones for a member that has not answered when the others have;
3. a ``PassRecord`` (``record_of_pass``) of it gives what the status files are made from once the commit is known;
4. what came late is recorded with what was applied to its member, and is what the next pass renders by.
"""

import time
from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.agent_branches import AgentFiles, files_from_agents
from reconciler.branches.fleet_context import FleetContext
from reconciler.branches.looks import Looks, are_looks_known, id_of_recorded_health, known_looks
from reconciler.branches.schemas import recorded_schemas, schemas_by_new_names
from reconciler.console.log import Log
from reconciler.ledger.agents import AgentsFile, AgentWord, AgentWords
from reconciler.ledger.cluster import ClusterState
from reconciler.ledger.facts import Facts
from reconciler.ledger.health import HealthFile, ObservedHealth
from reconciler.ledger.webhook_answers import Answers
from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import UNREACHABLE, Failure
from reconciler.members.visits import MemberReach
from reconciler.observe.cluster_status import (
    MemberObservation,
    cluster_state_after,
    seconds_between,
    state_with_agent_condition,
)
from reconciler.observe.fact_changes import facts_in_state, facts_to_write
from reconciler.observe.members import MOST_SECONDS, LateObservation, ObserveOptions, clock_error, observe_fleet
from reconciler.observe.pending_pods import pending_with_times_of_our_clock
from reconciler.pipeline.health import PendingByCluster, cluster_conditions, health_with_pending
from reconciler.record.recorded_status import RecordedStatus, read_recorded
from reconciler.source.schemas.observed import ObservedSchemas
from render.cluster import Cluster, is_applied_by_own_agent
from render.parsing.clusters import recorded_scales
from render.settings.fleet import Fleet
from render.timing import epoch_text
from render.words import first_few

from .hearing import files_with_corrected_times, words_of_agents, words_of_reached, words_with_clock_differences
from .silent_agents import states_of_silent

_OF_CLUSTERS = ("clusters", "facts", "inventory", AgentsFile.PATH)
"""The entries of the status branch that concern no objects."""


class Observation(Struct, frozen=True, kw_only=True):
    """The members as a pass found them before it rendered.

    ``facts`` and the recorded ``answers`` of webhooks are what to render by, ``schemas`` what to check by. ``states``
    are those of the observed members, ``turned`` those of them whose readiness is not what was recorded. ``members``
    are the members' own answers, ``late`` those that have yet to come; ``agents`` are the files that the agents of
    pulling members gave. ``recorded`` is the status branch as it was; ``has_new_schemas``: it records other schemas.
    ``seconds`` are those that the members in time took to answer. ``behind`` are the seconds by which the clock here is
    behind those of the members, where it is wrong; ``now`` is the time without that error. ``words`` are those of
    agents. ``looks`` led to the recorded health, whose id is ``health_id``.
    """

    context: FleetContext
    now: str
    facts: Facts = field(default_factory=dict)
    answers: Answers = field(default_factory=dict)
    states: Mapping[str, ClusterState] = field(default_factory=dict)
    turned: Mapping[str, ClusterState] = field(default_factory=dict)
    members: tuple[MemberObservation, ...] = ()
    late: Mapping[str, LateObservation] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    agents: AgentFiles = field(default_factory=AgentFiles)
    recorded: RecordedStatus = field(default_factory=RecordedStatus)
    schemas: ObservedSchemas = field(default_factory=ObservedSchemas)
    has_new_schemas: bool = False
    behind: float = 0.0
    words: AgentWords = field(default_factory=dict)
    looks: Looks = field(default_factory=dict)
    health_id: str = ""

    @property
    def health(self) -> ObservedHealth:
        """The recorded health of workloads, and the conditions of clusters as they were found now."""
        recorded = self.recorded.health()
        known = {name: record.state for name, record in self.recorded.clusters().items()} | {**self.states}
        found = {name: cluster_conditions(state.status) for name, state in known.items()}
        return health_with_pending(replace(recorded, conditions={**recorded.conditions, **found}), self.pending)

    @property
    def pending(self) -> PendingByCluster:
        """The replicas that the observed members cannot start; one that does not tell is believed to start all."""
        pending_by_cluster = {
            each.cluster: each.pending for each in self.members if not isinstance(each.pending, Failure)
        }
        return {
            member.cluster: pending_with_times_of_our_clock(
                pending_by_cluster.get(member.cluster) or {}, self.words.get(member.cluster, AgentWord()).ahead
            )
            for member in self.members
        }

    @property
    def uids(self) -> dict[str, str]:
        """The UIDs of members that were not known before, as they gave them."""
        return {member.cluster: member.uid for member in self.members if member.uid}

    @property
    def failures(self) -> dict[str, str]:
        """The reasons why members could not be observed, of late ones as far as they have come by now."""
        return {name: f"{failure.kind}: {failure.message}" for name, failure in self._failures_by_member.items()}

    @property
    def reasons_for_unseen_members(self) -> dict[str, str]:
        """The reasons why we cannot see how members are, in a word: no sign that these are unwell."""
        return {
            name: str(failure.kind)
            for name, failure in self._failures_by_member.items()
            if failure.is_without_sight_of_member
        }

    @property
    def _failures_by_member(self) -> dict[str, Failure]:
        come = (late.wait_for_observation() for late in self.late.values() if late.is_over)
        failed = ((member.cluster, member.failure) for member in (*self.members, *come))
        return {name: failure for name, failure in failed if failure is not None}

    @property
    def seconds_by_member(self) -> dict[str, float]:
        """The time of its visit that each member has had by now, in seconds."""
        return {**self.seconds, **{name: late.seconds for name, late in self.late.items()}}

    def await_late(self, seconds: float) -> "Observation":
        """Wait for the members that answer late, for so long in all, and return the observation of those that have."""
        until = time.monotonic() + seconds
        for late in self.late.values():
            late.wait(max(0.0, until - time.monotonic()))
        return self.late_observation()

    def late_observation(self) -> "Observation":
        """Return the observation of the members that answered late and of no others, whether or not all have by now."""
        come = tuple(late.wait_for_observation() for late in self.late.values() if late.is_over)
        return _observation_with_answers(replace(self, late={}, agents=AgentFiles()), come, {})

    def combined_with_late(self, late: "Observation") -> "Observation":
        """Return the observation of all members, given that of the late ones."""
        return replace(
            self,
            facts={**self.facts, **{name: late.facts[name] for name in late.states if name in late.facts}},
            states={**self.states, **late.states},
            turned={**self.turned, **late.turned},
            members=(*self.members, *late.members),
            schemas=late.schemas,
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings that a person should see about this observation."""
        way = "behind those" if self.behind > 0 else "ahead of those"
        wrong = f"the clock here is {abs(self.behind):.0f} s {way} of most members: theirs counts"
        unread = [
            f"{member.cluster}: its capacity is not known: {failure.message}"
            for member in self.members
            for failure in member.unread
        ]
        unchecked = [
            f"{member.cluster}: the schemas of its custom kinds are not known: {member.schemas.failure.message}"
            for member in self.members
            if member.schemas and member.schemas.failure
        ]
        without_pending = [
            f"{member.cluster}: the replicas that it cannot start are not known: {member.pending.message}"
            for member in self.members
            if isinstance(member.pending, Failure)
        ]
        ignored = [f"ignored: {reason}" for reason in self.agents.ignored]
        unasked = [f"what was applied is not known: {reason}" for reason in self.agents.unreached_tools]
        return (*((wrong,) if self.behind else ()), *unread, *unchecked, *without_pending, *ignored, *unasked)


def observe_and_warn(context: FleetContext, members: Iterable[Cluster], reach: MemberReach, log: Log) -> Observation:
    """Observe the members a command is for, and say what a person should know of it."""
    observing = ObserveOptions(reach=reach.within(MOST_SECONDS))
    with log.timed("look at members"):
        observation = observe_members(context, members, observing)
    log_warnings_of_observation(observation, log)
    if observation.late:
        log.info(
            f"not waited for, and taken as last recorded, until they answer: {first_few(sorted(observation.late))}"
        )
    return observation


def log_warnings_of_observation(observation: Observation, log: Log) -> None:
    """Say what a person should know of the members that were observed."""
    log.warn_of(observation.warnings)
    for member in observation.members:
        if member.failure and member.failure.trace:
            log.detail(f"{member.cluster}: {member.failure.message}\n{member.failure.trace}")


def observe_members(
    context: FleetContext,
    members: Iterable[Cluster],
    observing: ObserveOptions,
    clock: Callable[[], float] = time.time,
) -> Observation:
    """Observe the members that a pass is for; of others their agents tell, or the tools that apply to them."""
    # What agents wrote is compared with all that is recorded of their clusters; nothing else concerns objects.
    is_reported_by_others = context.tools is not None or any(map(is_applied_by_own_agent, context.members))
    tip = context.status.tip()
    recorded = read_recorded(context.status, tip, () if is_reported_by_others else _OF_CLUSTERS)
    agents = files_from_agents(context.publication, context.fleet, context.members, recorded.files)
    known = {name: record.state for name, record in recorded.clusters().items()}
    schemas = schemas_by_new_names(recorded_schemas(context.publication.repository, tip), context.members)
    observing = _options_with_record(observing, recorded, frozenset(each.name for each in context.members))
    observing = replace(observing, kinds=context.kinds, schemas=schemas)
    has_descheduler = context.fleet.descheduler.is_enabled
    observing = replace(observing, has_descheduler=has_descheduler, scaled_kinds=context.scaled_kinds)
    observed = observe_fleet([cluster.name for cluster in members if not is_applied_by_own_agent(cluster)], observing)
    behind = clock_error(observed.in_time)
    now = epoch_text(clock() + behind)
    agents = _agent_files_with_tool_accounts(context, agents, recorded, now)
    words = words_of_agents(context, agents, recorded, now)
    words = words_with_clock_differences(words, observed.in_time, behind)
    agents = files_with_corrected_times(agents, words)
    begun = Observation(
        context=context,
        now=now,
        answers=recorded.answers(),
        late=observed.late,
        seconds=observed.seconds,
        agents=agents,
        recorded=recorded.with_files(agents.files),
        schemas=schemas,
        behind=behind,
        words=words,
    )
    return _observation_with_states(_observation_with_looks(begun, tip), known, observed.in_time)


def _observation_with_looks(begun: Observation, tip: str | None) -> Observation:
    """Return an observation with the last looks that led to the health which a commit of the status branch records."""
    repository = begun.context.publication.repository
    if HealthFile.PATH not in begun.recorded.files or not are_looks_known(repository):
        return begun
    health_id = id_of_recorded_health(repository, tip)
    return replace(begun, looks=known_looks(repository, health_id), health_id=health_id)


def _observation_with_states(
    begun: Observation, known: Mapping[str, ClusterState], answers: tuple[MemberObservation, ...]
) -> Observation:
    """Return an observation with the states of all members, given those that were recorded."""
    silent = states_of_silent(begun.context, begun.recorded, known, begun.words, begun.now)
    observation = _observation_with_answers(begun, answers, silent)
    was = {name: state.ready for name, state in known.items()}
    turned = {name: state for name, state in observation.states.items() if state.ready != was.get(name)}
    return replace(observation, turned=turned)


def _agent_files_with_tool_accounts(
    context: FleetContext, agents: AgentFiles, recorded: RecordedStatus, now: str
) -> AgentFiles:
    """Return the files of agents with those that other tools give, where these are asked."""
    if context.tools is None:
        return agents
    from .tool_reading import agent_files_with_those_of_tools

    return agent_files_with_those_of_tools(context, context.tools, agents, recorded, now)


def _options_with_record(
    observing: ObserveOptions, recorded: RecordedStatus, members: frozenset[str]
) -> ObserveOptions:
    """Return the options with what the status branch says of the last pass.

    It has who failed, the UIDs of members, and how custom kinds are scaled.
    """
    records = recorded.clusters().items()
    scales = {name: recorded_scales(record.state.status) for name, record in records}
    failed = frozenset(name for name, record in records if record.state.failing_since or record.outcome in UNREACHABLE)
    identified = frozenset(recorded.clusters_with_known_uid())
    uids = {name: uid for name, uid in recorded.uids().items() if name in members}
    return replace(observing, failed=failed, identified=identified, uids=uids, scales=scales)


def _observation_with_answers(
    observation: Observation, answers: tuple[MemberObservation, ...], agents: Mapping[str, ClusterState]
) -> Observation:
    """Return an observation with the states and facts that members' answers give, and what is known of agents."""
    recorded, members = observation.recorded, observation.context.members
    clusters = {cluster.name: cluster for cluster in members}
    before = {name: record.state for name, record in recorded.clusters().items()}
    states = {
        member.cluster: _state_of_observed_member(
            clusters[member.cluster], before.get(member.cluster), member, observation.now, observation.context.fleet
        )
        for member in answers
    }
    failing = [name for name, state in states.items() if state.failing_since]
    heartbeats = observation.context.heartbeats_of(failing)
    begun = [name for name in failing if name not in before or not before[name].failing_since]
    words = words_of_reached(observation.words, heartbeats, begun, observation.now, recorded.time)
    heard = {name: words[name].heard for name in heartbeats}
    states |= {name: state_with_agent_condition(states[name], heard.get(name, ""), observation.now) for name in failing}
    states |= agents
    facts = _facts_to_render_by(recorded, states, members, observation.now)
    ready = {name: state.ready for name, state in before.items()}
    schemas = _schemas_after_observation(observation.schemas, answers)
    return replace(
        observation,
        facts=facts,
        states={
            name: state.with_capacity_of(facts[name].status) if name in facts else state
            for name, state in states.items()
        },
        turned={name: state for name, state in states.items() if state.ready != ready.get(name)},
        members=answers,
        words=words,
        schemas=schemas,
        has_new_schemas=schemas.by_cluster != observation.schemas.by_cluster,
    )


def _schemas_after_observation(known: ObservedSchemas, answers: Iterable[MemberObservation]) -> ObservedSchemas:
    """Return the schemas of all members, given those that were observed now."""
    seen = {member.cluster: member.schemas for member in answers if member.schemas}
    new = {digest: content for each in seen.values() for digest, content in each.contents.items()}
    by_cluster = {**known.by_cluster, **{name: each.schemas for name, each in seen.items()}}
    named = {name: each for name, each in by_cluster.items() if each.versions}
    return replace(known, by_cluster=named, new={**known.new, **new})


def _state_of_observed_member(
    cluster: Cluster, before: ClusterState | None, member: MemberObservation, now: str, fleet: Fleet
) -> ClusterState:
    """Return a member's state after an observation; one whose answers cannot be counted is not seen."""
    is_counted = fleet.is_karmada_compatible
    state = result_or_failure(lambda: cluster_state_after(cluster, before, member, now, counts_blindness=is_counted))
    if isinstance(state, Failure):
        failed = MemberObservation(cluster=cluster.name, failure=state)
        return cluster_state_after(cluster, before, failed, now, counts_blindness=is_counted)
    return state


def _facts_to_render_by(
    recorded: RecordedStatus, states: Mapping[str, ClusterState], members: Iterable[Cluster], now: str
) -> Facts:
    """Return the facts to render by: the recorded ones, and those of observed members where they changed enough."""
    known, models = dict(recorded.facts()), {cluster.name: cluster.resource_models for cluster in members}
    for name, state in states.items():
        before = known.get(name)
        if before is None and not facts_in_state(state, now).status:
            continue  # nothing was ever seen of it
        age = seconds_between(before.observed_at, now) if before else 0.0
        known[name] = facts_to_write(before, facts_in_state(state, now), age, models.get(name, ()))
    return {name: known[name] for name in sorted(known)}
