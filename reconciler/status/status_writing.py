"""What a pass writes to the status branch: everything it saw and did, but only what is worth a commit.

1. what agents wrote of their own clusters comes first;
2. clusters: what was seen of them before, and how applying to them ended;
3. facts, as far as they differ enough from those recorded;
4. works of every cluster that was applied to, then the bindings all works make together;
5. the front page, from all of that.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from reconciler.delivery.cluster_report import ClusterReport
from reconciler.passes.facts import Facts
from reconciler.passes.interpretations import Answers, answers_file
from reconciler.plans.inventory import Outcome
from render.binding import Binding
from render.documents import emit
from render.interpreter import Interpreter
from render.model import ObjectRef, Template

from .binding_status import BindingParts, binding_after
from .cluster_files import ClusterRecord, cluster_file, status_page
from .collecting import ClusterState
from .judgements import Judgements
from .recorded import (
    ANSWERS_PATH,
    Recorded,
    ailing_objects,
    binding_path,
    cluster_lines,
    cluster_path,
    facts_path,
    path_in_cluster,
)
from .work_status import subjects

Files = Mapping[str, bytes | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusPass:
    """All that a pass knows beside its reports.

    ``commit`` is the rendered commit it applies, with its ``bindings``; ``states`` and ``facts`` are those of the
    clusters it looked at; ``answers`` those of webhooks it rendered by (None: it did not render); ``agents`` are the
    files taken from agents' branches. Clusters that are no ``members`` are disconnected: what was last seen of them
    stays, and counts for nothing.
    """

    now: str
    members: frozenset[str] = frozenset()
    commit: str = ""
    bindings: Mapping[ObjectRef, Binding] = field(default_factory=dict, repr=False)
    templates: Mapping[ObjectRef, Template] = field(default_factory=dict, repr=False)
    interpreter: Interpreter = field(default_factory=Interpreter, repr=False)
    states: Mapping[str, ClusterState] = field(default_factory=dict, repr=False)
    facts: Facts = field(default_factory=dict, repr=False)
    answers: Answers | None = field(default=None, repr=False)
    agents: Files = field(default_factory=dict, repr=False)


def status_files(recorded: Recorded, pass_: StatusPass, reports: Sequence[ClusterReport]) -> dict[str, bytes | None]:
    """Return the files that differ from those recorded, by path; None removes one."""
    steps = recorded.with_files(pass_.agents)
    for made in (_cluster_files, _fact_files, _work_files, _binding_files):
        steps = steps.with_files(made(steps, pass_, reports))
    converged = {report.cluster: pass_.commit for report in reports if _is_converged(report)}
    lines = cluster_lines(steps, pass_.members, converged)
    page = status_page(lines, ailing_objects(steps, pass_.members)) if steps.files else None
    steps = steps.with_files({"README.md": page})
    changed = {path: content for path, content in steps.files.items() if recorded.files.get(path) != content}
    return {**changed, **dict.fromkeys(path for path in recorded.files if path not in steps.files)}


def _is_converged(report: ClusterReport) -> bool:
    return report.applied is not None and report.applied.outcome is Outcome.CONVERGED


def _cluster_files(recorded: Recorded, pass_: StatusPass, reports: Iterable[ClusterReport]) -> Files:
    records = recorded.clusters()
    for name, state in pass_.states.items():
        records[name] = replace(records.get(name, ClusterRecord(state=state)), state=state)
    for report in reports:
        before = records.get(report.cluster, ClusterRecord(state=ClusterState(name=report.cluster)))
        records[report.cluster] = _after(before, report, pass_)
    return {cluster_path(name): cluster_file(record) for name, record in records.items()}


def _after(before: ClusterRecord, report: ClusterReport, pass_: StatusPass) -> ClusterRecord:
    outcome = str(report.failure.kind) if report.failure is not None else ""
    outcome = outcome or (str(report.applied.outcome) if report.applied is not None else before.outcome)
    since = before.since if outcome == before.outcome else pass_.now
    applied = pass_.commit if report.applied is not None and report.failure is None else before.applied
    return replace(before, outcome=outcome, since=since, applied=applied)


def _fact_files(_recorded: Recorded, pass_: StatusPass, _reports: Sequence[ClusterReport]) -> Files:
    files: dict[str, bytes | None] = {
        facts_path(name): facts.file() for name, facts in pass_.facts.items() if name in pass_.states
    }
    if pass_.answers is not None:
        files[ANSWERS_PATH] = answers_file(pass_.answers) if pass_.answers else None
    return files


def _work_files(recorded: Recorded, pass_: StatusPass, reports: Iterable[ClusterReport]) -> Files:
    files: dict[str, bytes | None] = {}
    judgements, below = Judgements(pass_.interpreter, pass_.now), cache(path_in_cluster)
    told: dict[str, set[str]] = {}
    for path in recorded.below("works"):
        told.setdefault(path.split("/", 2)[1], set()).add(path)
    for report in reports:
        if report.applied is None or report.plan is None or report.plan.refusal:
            continue
        gone = told.get(report.cluster, set())
        for subject in subjects(report):
            path = f"works/{report.cluster}/{below(subject.item.ref)}"
            gone.discard(path)
            content = judgements.file(subject, recorded.manifest(path))
            if content is not None:
                files[path] = content
        files |= dict.fromkeys(gone)
    return files


def _binding_files(recorded: Recorded, pass_: StatusPass, _reports: Sequence[ClusterReport]) -> Files:
    if not pass_.commit:
        return {}
    works = recorded.works()
    files: dict[str, bytes | None] = dict.fromkeys(recorded.below("bindings"))
    for ref, binding in pass_.bindings.items():
        path, before = binding_path(ref), recorded.binding(ref)
        parts = BindingParts(
            binding=binding,
            template=pass_.templates.get(ref),
            works=works.get(path_in_cluster(ref), {}),
            members=pass_.members,
        )
        after = binding_after(parts, before, pass_.interpreter, pass_.now)
        files[path] = recorded.files[path] if after == before else emit(after)
    return files
