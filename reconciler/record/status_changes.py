"""The files of a status commit: everything that a pass observed and did that is worth a commit."""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from msgspec import field
from msgspec.structs import replace

from reconciler.branches.schemas import FOLDER as SCHEMAS
from reconciler.branches.schemas import schema_path
from reconciler.branches.status_branch import Files
from reconciler.console.cleaning import on_one_line
from reconciler.deliver.deviations import recorded_deviations
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.deliver.results import ClusterReport
from reconciler.ledger.agents import AgentsFile, AgentWords
from reconciler.ledger.binding import BindingFile
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.ledger.facts import ClusterFacts, Facts
from reconciler.ledger.health import HealthFile, ObservedHealth, ReportedHealth
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.ledger.member_schemas import MemberSchemas
from reconciler.ledger.quota import QuotaFile
from reconciler.ledger.refusal import SourceRefusal
from reconciler.ledger.table import changed_files
from reconciler.ledger.webhook_answers import Answers, AnswersFile
from reconciler.members.parallel import results_in_parallel
from reconciler.pipeline.health import (
    PendingByCluster,
    are_ready_replicas_asked_for,
    cluster_conditions,
    health_with_pending,
    health_with_times_of_passes,
    is_health_asked_for,
)
from reconciler.source.desired import Desired, is_failing_over
from reconciler.source.schemas.observed import ObservedSchemas
from render.binding import Binding
from render.cluster import Cluster, is_applied_by_own_agent
from render.documents import SimilarDocuments
from render.interpreter import Interpreter, Layer, Operation
from render.model import ObjectRef, Template
from render.rescheduling.descheduling import is_deschedulable
from render.timing import parse_instant
from render.values import DiscreetStruct

from .binding_status import BINDING_NAMES, BindingInputs, binding_status_after, reported_health
from .changed_works import work_files_to_write
from .cluster_files import status_page, with_remedy_actions
from .owners import ReasonOwner, owner_of, without_former_owners
from .quota_usage import quota_file, usage_of_each_quota
from .rebalancer_status import path_of_rebalancer_status, rebalancer_status_file, rebalancers_with_passes
from .recorded_status import (
    RecordedStatus,
    binding_status_path,
    line_by_cluster,
    path_in_cluster,
    unhealthy_objects,
)
from .runs import runs_of_completing_objects, work_path_by_cluster
from .versions_in_clusters import ReportedVersions, VersionsOfCommit, copies_that_have_not_gone
from .work_changes import MOST_CASES, WorkStatuses, lasting_message_part
from .work_status import WorkInputs, have_equal_work_status, work_inputs_of_report, work_status_of

AT_ONCE = 16
_ASKED = (Operation.INTERPRET_HEALTH, Operation.INTERPRET_STATUS)
_MOST_TEXT = 500


def ask_webhooks_ahead(reports: Iterable[ClusterReport], interpreter: Interpreter) -> None:
    """Ask webhooks about every object they interpret, many at once; the interpreter remembers their answers."""
    if interpreter.webhooks:
        results_in_parallel(
            lambda inputs: work_status_of(inputs, interpreter),
            _inputs_for_webhooks(reports, interpreter),
            limit=AT_ONCE,
        )


def _inputs_for_webhooks(reports: Iterable[ClusterReport], interpreter: Interpreter) -> Iterator[WorkInputs]:
    """Yield the objects that webhooks interpret, those of equal status in several clusters once."""
    known: dict[ObjectRef, list[WorkInputs]] = {}
    for report in reports:
        for inputs in work_inputs_of_report(report):
            cases = known.setdefault(inputs.item.ref, [])
            recent = cases[-MOST_CASES:]
            if _is_asked_of_webhook(inputs, interpreter) and not any(
                have_equal_work_status(case, inputs) for case in recent
            ):
                cases.append(inputs)
                yield inputs


def _is_asked_of_webhook(inputs: WorkInputs, interpreter: Interpreter) -> bool:
    live = inputs.live
    return live is not None and Layer.WEBHOOK in (interpreter.answering_layer(each, live) for each in _ASKED)


class StatusInputs(DiscreetStruct, frozen=True, kw_only=True):
    """All that the status files are made from beside the reports of a pass.

    ``commit`` is the rendered commit it applies, with its ``bindings``; ``states`` and ``facts`` are those of the
    clusters it observed, ``turned`` those of them whose readiness is not what it was; ``pending`` are the replicas
    that it found they cannot start; ``answers`` those of webhooks it
    rendered by (None: it did not render); ``schemas`` are those of members' custom kinds; ``desired`` is the source;
    ``agents`` are the files taken from agents' branches; ``refusal`` is that of the source it should have rendered.
    Clusters that are no ``members`` are disconnected: what was last seen of them stays, and counts for nothing.
    ``words`` are those of agents. ``reporting`` are the members that pull whose agents have ever reported; None in such
    an agent's own pass.
    ``has_recorded_bindings``: bindings are recorded as the last pass left them, of the same commit and source.
    ``commits`` reads rendered commits that others report as applied (None: it is not known).
    """

    UNSHOWN = (
        "bindings",
        "templates",
        "interpreter",
        "states",
        "turned",
        "facts",
        "pending",
        "answers",
        "desired",
        "agents",
        "commits",
    )

    now: str
    members: frozenset[str] = frozenset()
    commit: str = ""
    bindings: Mapping[ObjectRef, Binding] = field(default_factory=dict)
    templates: Mapping[ObjectRef, Template] = field(default_factory=dict)
    interpreter: Interpreter = field(default_factory=Interpreter)
    states: Mapping[str, ClusterState] = field(default_factory=dict)
    turned: Mapping[str, ClusterState] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)
    pending: PendingByCluster = field(default_factory=dict)
    answers: Answers | None = None
    schemas: ObservedSchemas = field(default_factory=ObservedSchemas)
    desired: Desired = field(default_factory=Desired)
    agents: Files = field(default_factory=dict)
    refusal: SourceRefusal | None = None
    reporting: frozenset[str] | None = frozenset()
    words: AgentWords = field(default_factory=dict)
    has_recorded_bindings: bool = False
    commits: RenderedCommits | None = None


def status_files(recorded: RecordedStatus, inputs: StatusInputs, reports: Sequence[ClusterReport]) -> Files:
    """Return the files that differ from those recorded."""
    steps = recorded.with_files_of_agents(inputs.agents).without_clusters(inputs.desired.forgotten_clusters)
    steps_of = (
        _cluster_files,
        _fact_files,
        _schema_files,
        _work_files,
        _health_files,
        _binding_files,
        _quota_files,
        _rebalancer_files,
        _refusal_files,
        _agent_word_files,
    )
    for files_of in steps_of:
        steps = steps.with_files(files_of(steps, inputs, reports))
    converged = {
        report.cluster: report.applied.commit
        for report in reports
        if report.applied is not None and report.applied.recorded_outcome is ApplyOutcome.CONVERGED
    }
    lines = line_by_cluster(steps, inputs.members, converged)
    page = status_page(lines, unhealthy_objects(steps, inputs.members), steps.refusal()) if steps.files else None
    steps = steps.with_files({"README.md": page})
    return changed_files(recorded.files, steps.files)


def _cluster_files(recorded: RecordedStatus, inputs: StatusInputs, reports: Iterable[ClusterReport]) -> Files:
    known = recorded.clusters()
    records = dict(known)
    for name, state in inputs.states.items():
        records[name] = replace(records.get(name, ClusterRecord(state=state)), state=state)
    for report in reports:
        before = records.get(report.cluster, ClusterRecord(state=ClusterState(name=report.cluster)))
        records[report.cluster] = _record_after_report(before, report, inputs)
    records |= {
        name: _record_of_present_owner(records[name], cluster, inputs)
        for name, cluster in _recorded_members(records, inputs)
    }
    remedies = inputs.desired.remedies
    acted = {ClusterRecord.at(name): with_remedy_actions(record, remedies) for name, record in records.items()}
    # Most clusters are as they were, and their files need not be made; those of agents are not as passes write them.
    as_before = {ClusterRecord.at(name): record for name, record in known.items()}
    return {
        path: record.content()
        for path, record in acted.items()
        if path in inputs.agents or record != as_before.get(path)
    }


def _recorded_members(records: Container[str], inputs: StatusInputs) -> Iterator[tuple[str, Cluster]]:
    return ((cluster.name, cluster) for cluster in inputs.desired.clusters if cluster.name in records)


def _record_of_present_owner(record: ClusterRecord, cluster: Cluster, inputs: StatusInputs) -> ClusterRecord:
    """Return a record without what somebody said of the member who says nothing of it any more."""
    if inputs.reporting is None:  # an agent says how its own cluster is
        return record
    owner = owner_of(cluster, inputs.desired.fleet, record)
    return without_former_owners(record, owner, has_reported=cluster.name in inputs.reporting)


def _record_after_report(before: ClusterRecord, report: ClusterReport, inputs: StatusInputs) -> ClusterRecord:
    after = _record_with_ending_of_run(before, report)
    since = before.since if after.outcome == before.outcome else inputs.now
    # One that is held was given the commit that it is held at.
    applied = report.applied.commit if report.applied is not None and report.failure is None else before.applied
    deviating = recorded_deviations(report) if report.applied is not None else before.deviations
    return replace(after, since=since, applied=applied, deployer="", deviations=deviating)


def _record_with_ending_of_run(before: ClusterRecord, report: ClusterReport) -> ClusterRecord:
    """Return a record with how a run ended, and why; a message that differs in its numbers alone stays as it was."""
    outcome, message, hint = before.outcome, before.message, before.hint
    if report.failure is not None:
        outcome, message, hint = str(report.failure.kind), report.failure.message, report.failure.hint
    elif report.applied is not None:
        outcome, message, hint = str(report.applied.outcome), report.applied.reason_for_no_convergence, ""
    message, hint = on_one_line(message)[:_MOST_TEXT], on_one_line(hint)[:_MOST_TEXT]
    if outcome == before.outcome and lasting_message_part(message) == lasting_message_part(before.message):
        message, hint = before.message, before.hint
    return replace(before, outcome=outcome, message=message, hint=hint)


def _fact_files(recorded: RecordedStatus, inputs: StatusInputs, _reports: Sequence[ClusterReport]) -> Files:
    observed = {ClusterFacts.at(name): facts for name, facts in inputs.facts.items() if name in inputs.states}
    # As of records, most are as they were.
    files: dict[str, bytes | None] = {
        path: facts.content()
        for path, facts in observed.items()
        if path in inputs.agents or facts != recorded.file(ClusterFacts, path)
    }
    if inputs.answers is not None:
        files[AnswersFile.PATH] = AnswersFile.of_answers(inputs.answers).content() if inputs.answers else None
    return files


def _schema_files(recorded: RecordedStatus, inputs: StatusInputs, _reports: Sequence[ClusterReport]) -> Files:
    """Return the index of each observed member, and the schemas that are new; those that no index names go."""
    seen = inputs.schemas.by_cluster
    files: dict[str, bytes | None] = {
        MemberSchemas.at(name): seen[name].content() if name in seen else None for name in inputs.states
    }
    named = {digest for each in recorded.with_files(files).schemas().values() for digest in each.digests}
    known = {path for path in recorded.paths_below(SCHEMAS) if path.endswith(".json")}
    files |= dict.fromkeys(known - set(map(schema_path, named)))
    new = (digest for digest in named if schema_path(digest) not in known)
    return files | {schema_path(digest): inputs.schemas.content(digest) for digest in new}


def _work_files(recorded: RecordedStatus, inputs: StatusInputs, reports: Iterable[ClusterReport]) -> Files:
    # An agent does not know the bindings, nor whose health a rule asks for that reads its branch.
    asked = None if inputs.reporting is None else frozenset(each.ref for each in _bindings_with_asked_health(inputs))
    moving = frozenset(each.ref for each in inputs.bindings.values() if each.moving is not None)
    statuses = WorkStatuses(inputs.interpreter, inputs.now, asked, moving)
    versions = VersionsOfCommit(commit=inputs.commit, bindings=inputs.bindings)
    return work_files_to_write(recorded, statuses, versions, reports)


def _bindings_with_asked_health(inputs: StatusInputs) -> list[Binding]:
    """Return the bindings whose health rules of failover, or rollouts, ask for."""
    return [binding for binding in inputs.bindings.values() if is_health_asked_for(inputs.desired, binding)]


def _health_files(recorded: RecordedStatus, inputs: StatusInputs, _reports: Sequence[ClusterReport]) -> Files:
    """Return the health that rules of failover, rollouts and moves ask for, of clusters and of workloads in them."""
    runs = recorded.health().runs  # without a rendered commit nobody knows where objects should be
    if inputs.commit:
        runs = runs_of_completing_objects(recorded, inputs.bindings, inputs.templates, inputs.interpreter)
    is_rolled_out = any(each.rollout is not None and each.rollout.has_gates for each in inputs.bindings.values())
    is_moved = any(are_ready_replicas_asked_for(inputs.desired, each) for each in inputs.bindings.values())
    if not (is_failing_over(inputs.desired) or is_rolled_out or is_moved):
        file = HealthFile.of_health(ObservedHealth(runs=runs))
        return {HealthFile.PATH: file.content() if file else None}
    fleet, members = inputs.desired.fleet, inputs.desired.clusters
    asked = _bindings_with_asked_health(inputs)
    versions = _versions_that_others_report(recorded, inputs) if is_rolled_out else None
    workloads = {
        binding.ref: reports
        for binding in asked
        if (reports := _reported_health(binding, inputs.desired, recorded, versions))
    }
    is_leaving = any(each.is_leaving for each in asked)
    known = health_with_pending(recorded.health(), inputs.pending).pending if fleet.descheduler.is_enabled else {}
    pending = {ref: found for ref, found in known.items() if _is_descheduled_binding(inputs.bindings.get(ref), inputs)}
    are_clusters_asked_for = fleet.feature_gates.failover or workloads or pending or is_leaving
    records = recorded.clusters() if are_clusters_asked_for else {}
    conditions = {
        name: cluster_conditions(each.state.status) for name, each in records.items() if name in inputs.members
    }
    health = ObservedHealth(conditions=conditions, workloads=workloads, pending=pending, runs=runs)
    if not fleet.is_karmada_compatible or is_rolled_out:
        clusters_with_agents = frozenset(each.name for each in filter(is_applied_by_own_agent, members))
        health = health_with_times_of_passes(health, recorded.health(), clusters_with_agents, inputs.now)
    file = HealthFile.of_health(health)
    return {HealthFile.PATH: file.content() if file else None}


def _is_descheduled_binding(binding: Binding | None, inputs: StatusInputs) -> bool:
    """Say whether the descheduler looks at a binding; without a rendered commit nobody knows, and all stay recorded."""
    return is_deschedulable(binding) if binding is not None else not inputs.commit


def _versions_that_others_report(recorded: RecordedStatus, inputs: StatusInputs) -> ReportedVersions:
    """Return the versions in the clusters that agents and other tools apply to."""
    fleet, records = inputs.desired.fleet, recorded.clusters()
    return ReportedVersions(
        newest=VersionsOfCommit(commit=inputs.commit, bindings=inputs.bindings),
        applied={
            each.name: records[each.name].applied
            for each in inputs.desired.clusters
            if each.name in records and owner_of(each, fleet, records[each.name]) is not ReasonOwner.PASSES
        },
        commits=inputs.commits,
    )


def _reported_health(
    binding: Binding, desired: Desired, recorded: RecordedStatus, versions: ReportedVersions | None
) -> tuple[ReportedHealth, ...]:
    """Return the health of a binding's object in each of its clusters."""
    works = [(name, recorded.manifest(path)) for name, path in work_path_by_cluster(binding)]
    counts_ready = are_ready_replicas_asked_for(desired, binding)
    found = [
        (reported_health(name, work, binding, counts_ready=counts_ready), work)
        for name, work in works
        if work is not None
    ]
    if versions is None or binding.rollout is None:
        return tuple(each for each, _ in found)
    known = (versions.with_version(each, binding.ref, work) for each, work in found)
    return (*known, *copies_that_have_not_gone(binding, recorded.clusters() if binding.is_leaving else {}))


def _binding_files(recorded: RecordedStatus, inputs: StatusInputs, reports: Sequence[ClusterReport]) -> Files:
    is_as_recorded = (
        inputs.has_recorded_bindings
        and not inputs.agents
        and all(report.is_repeated or report.applied is None for report in reports)
    )
    if is_as_recorded or not inputs.commit:
        return {}
    works, similar = recorded.works(), SimilarDocuments()
    files: dict[str, bytes | None] = dict.fromkeys(recorded.paths_below("bindings"))
    for ref, binding in inputs.bindings.items():
        path, before = binding_status_path(ref), recorded.binding(ref)
        binding_inputs = BindingInputs(
            binding=binding,
            template=inputs.templates.get(ref),
            works=works.get(path_in_cluster(ref), {}),
            members=inputs.members,
        )
        after = binding_status_after(binding_inputs, before, inputs.interpreter, inputs.now)
        files[path] = (
            recorded.files[path] if after == before else similar.emit(BindingFile.with_version(after), BINDING_NAMES)
        )
    return files


def _quota_files(recorded: RecordedStatus, inputs: StatusInputs, _reports: Sequence[ClusterReport]) -> Files:
    """Return the usage of the quotas of the source."""
    files: dict[str, bytes | None] = dict.fromkeys(recorded.paths_below("quotas"))
    for usage in usage_of_each_quota(inputs.desired, inputs.bindings.values(), recorded) if inputs.commit else ():
        files[QuotaFile.at(usage.quota.namespace, usage.quota.name)] = quota_file(usage).content()
    return files


def _rebalancer_files(recorded: RecordedStatus, inputs: StatusInputs, _reports: Sequence[ClusterReport]) -> Files:
    """Return what became of the WorkloadRebalancers of the source."""
    files: dict[str, bytes | None] = dict.fromkeys(recorded.paths_below("rebalancers"))
    now = parse_instant(inputs.now)
    if now is None or not inputs.commit:
        return files
    for request, done in rebalancers_with_passes(inputs.desired, inputs.bindings.values(), recorded, now):
        files[path_of_rebalancer_status(request)] = rebalancer_status_file(request, done).content()
    return files


def _refusal_files(recorded: RecordedStatus, inputs: StatusInputs, _reports: Sequence[ClusterReport]) -> Files:
    """Return the refusal of a newer source; a pass that renders takes back what was refused before."""
    if inputs.refusal is not None:
        return {SourceRefusal.PATH: inputs.refusal.recorded_at(inputs.now, recorded.refusal()).content()}
    return {} if inputs.answers is None else {SourceRefusal.PATH: None}


def _agent_word_files(_recorded: RecordedStatus, inputs: StatusInputs, _reports: Sequence[ClusterReport]) -> Files:
    """Return what was heard of agents, and of the clocks of members."""
    file = AgentsFile.of_words({name: each for name, each in inputs.words.items() if name in inputs.members})
    return {AgentsFile.PATH: file.content() if file else None}
