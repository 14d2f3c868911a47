"""The files of clusters that Argo CD or Flux apply, made from what these tell: as an agent's own files would be.

1. A cluster's record has the rendered commit that the tool compared it with, and how that ended; what is under way
   changes nothing. A commit that asks the same of the cluster as the recorded one is no news.
2. Its Works say which objects are applied and healthy, as far as the tool tells.
3. A cluster is unknown when the tool has said nothing for a while of a commit that asks something new of it.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.status_branch import Files
from reconciler.console.cleaning import on_one_line
from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.emission.tool_reports import CONVERGED, INCOMPLETE, PartReport, ReportedObject, ToolReport
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.ledger.conditions import new_condition
from reconciler.ledger.work import WorkFile
from reconciler.members.masking import message_without_secrets
from reconciler.observe.cluster_status import status_with_unknown_condition
from reconciler.pipeline.previous import RenderedTree
from reconciler.repository.trailers import RENDERED
from render.documents import emit
from render.errors import GitError
from render.layout import object_path, ref_of_object_path
from render.model import Manifest, ObjectRef
from render.settings.emission import Deployer

from .recorded_status import RecordedStatus
from .work_changes import lasting_message_part, work_to_record
from .work_status import APPLIED, HEALTHY, Health, WorkStatus, work_manifest

_MOST_TEXT = 500
_MOST_COMMITS = 500
_TOOLS = {Deployer.ARGO_CD: ("Argo CD", "Application", "argocd"), Deployer.FLUX: ("Flux", "Kustomization", "flux")}
_HEALTH = {"Healthy": ("True", Health.HEALTHY), "": ("Unknown", Health.UNKNOWN), "Unknown": ("Unknown", Health.UNKNOWN)}
_FINISHED = {CONVERGED, INCOMPLETE}
_NO_HEALTH = "its tool tells no health of it while not all of its folder is healthy"


class ToolFiles(Struct, frozen=True, kw_only=True):
    """Makes the files of clusters from what tools told at a time; ``tip`` is the newest rendered commit.

    ``grace`` are the seconds for which a tool may be silent once it was asked for something new.
    """

    commits: RenderedCommits
    tip: str
    recorded: RecordedStatus
    now: str
    grace: float
    _asked: dict[str, tuple[tuple[int, Mapping[str, bytes]], ...]] = field(default_factory=dict)
    _works: dict[Any, tuple[Manifest, bytes]] = field(default_factory=dict)
    _paths: dict[str, list[str]] = field(default_factory=dict)

    def files(self, reports: Iterable[ToolReport]) -> Files:
        """Return the files of every cluster that a tool reports."""
        files: dict[str, bytes | None] = {}
        for report in reports:
            before = self._record_before(report.cluster)
            if not report.parts and before.outcome and not before.deployer:
                # Somebody else applies to it, by whom it is told.
                continue
            after, commit = self._record_after(_record_for_tool_alone(before, report), report)
            files[ClusterRecord.at(report.cluster)] = self._record_considering_silence(after, before, report).content()
            files |= self._work_files(report, commit) if commit else {}
        return files

    def files_of_unheard_cluster(self, cluster: str, deployer: Deployer) -> Files:
        """Return the file of a cluster that nobody could be asked about: it is as it was, if not for too long."""
        before = self._record_before(cluster)
        if not before.deployer:
            return {}
        silent = ToolReport(cluster=cluster, deployer=deployer)
        return {ClusterRecord.at(cluster): self._record_considering_silence(before, before, silent).content()}

    def _record_before(self, cluster: str) -> ClusterRecord:
        return self.recorded.cluster(cluster) or ClusterRecord(state=ClusterState(name=cluster))

    def _record_after(self, known: ClusterRecord, report: ToolReport) -> tuple[ClusterRecord, str]:
        """Return the record of a cluster, and the rendered commit whose objects are told of ("": of none)."""
        name, kind, command = _TOOLS[report.deployer]
        worst = report.worst_part
        if worst is None:
            message, hint = f"{name} has no {kind} that applies its folder", f"argosy emit {command} prints it"
            return self._record_with_outcome(known, "NotDelivered", message, hint), ""
        commit = self._rendered_commit_of(worst.commit)
        if report.is_over and worst.commit and not commit:
            message = f"{name} has {worst.commit[:12]}, which is no commit of the rendered branch"
            return self._record_with_outcome(known, "UnknownCommit", message, f"see what the {kind} reads"), ""
        reason, fault = report.source_fault
        is_to_be_recorded = report.is_over and (
            worst.outcome != CONVERGED or self._do_parts_ask_the_same(report, commit)
        )
        after = self._record_after_run(known, report, worst, commit) if is_to_be_recorded else known
        if reason and not self._asks_the_same(report.cluster, after.applied, self.tip):
            return self._record_with_outcome(
                known, reason, self._message_without_secrets(report.cluster, self.tip, fault)
            ), ""
        return after, commit if is_to_be_recorded and worst.outcome in _FINISHED else ""

    def _record_after_run(
        self, known: ClusterRecord, report: ToolReport, worst: PartReport, commit: str
    ) -> ClusterRecord:
        """Return the record of a cluster with how the tool ended; a commit that asks the same is no other one."""
        after = self._record_with_outcome(
            known, worst.outcome, self._message_without_secrets(report.cluster, commit, worst.message)
        )
        if worst.outcome not in _FINISHED or self._asks_the_same(report.cluster, known.applied, commit):
            return after
        return replace(after, applied=commit)

    def _record_with_outcome(self, before: ClusterRecord, outcome: str, message: str, hint: str = "") -> ClusterRecord:
        """Return a record with an outcome, and since when it is so; a message that differs in numbers alone stays."""
        outcome, message = (
            on_one_line(outcome)[:_MOST_TEXT],
            on_one_line(message)[:_MOST_TEXT],
        )
        if outcome == before.outcome and lasting_message_part(message) == lasting_message_part(before.message):
            return replace(before, hint=hint)
        since = before.since if outcome == before.outcome else self.now
        return replace(before, outcome=outcome, message=message, hint=hint, since=since)

    def _do_parts_ask_the_same(self, report: ToolReport, commit: str) -> bool:
        """Return whether all parts were compared with commits that ask the same; else some are yet to be."""
        others = {self._rendered_commit_of(part.commit) for part in report.parts}
        return all(self._asks_the_same(report.cluster, each, commit) for each in others)

    def _asks_the_same(self, cluster: str, one: str, other: str) -> bool:
        return bool(one and other) and self.commits.ask_the_same(cluster, one, other)

    def _rendered_commit_of(self, commit: str) -> str:
        """Return the rendered commit that a tool names, or that the mirror it reads was taken from; else nothing."""
        if not commit:
            return ""
        try:
            named = self.commits.repository.commit_info(commit).trailer(RENDERED)
            rendered = named[0] if named else commit
            is_ours = rendered == self.tip or self.commits.is_ancestor_of(rendered, self.tip)
        except GitError:
            return ""
        return rendered if is_ours else ""

    def _message_without_secrets(self, cluster: str, commit: str, message: str) -> str:
        """Return a tool's message without what objects of the cluster keep secret."""
        if not message:
            return ""
        objects = self.commits.desired(cluster, commit or self.tip).objects
        if any(each.encrypted for each in objects):
            return "its message is not repeated here, for some objects are encrypted"
        return message_without_secrets(message, {"items": [each.manifest for each in objects]})

    def _record_considering_silence(
        self, after: ClusterRecord, before: ClusterRecord, report: ToolReport
    ) -> ClusterRecord:
        """Return a record that is unknown where its tool has said nothing for too long of something new."""
        reported = {after.applied, *(self._rendered_commit_of(part.commit) for part in report.parts if part.outcome)}
        if any(self._asks_the_same(report.cluster, each, self.tip) for each in reported):
            return after
        now, heard = _seconds_of_time(self.now), _seconds_of_time(report.newest_report_time)
        asked = self._time_of_first_new_commit(report.cluster, after.applied)
        if now - max(asked, heard if heard <= now else 0.0) <= self.grace:
            return after
        status = status_with_unknown_condition(after.state.status, before.state.status, self.now)
        return replace(after, state=replace(after.state, status=status))

    def _time_of_first_new_commit(self, cluster: str, applied: str) -> float:
        """Return the time of the first commit after the applied one that asks something new of a cluster."""
        if applied not in self._asked:
            self._asked[applied] = tuple(self._commits_since(applied))
        known = self._folder_id_at(applied, cluster) if applied else None
        asked = (time for time, clusters in self._asked[applied] if clusters.get(cluster) != known)
        return next(asked, self.commits.repository.commit_info(self.tip).time)

    def _folder_id_at(self, commit: str, cluster: str) -> bytes | None:
        return self.commits.commit_contents(commit).tree.clusters.get(cluster)

    def _commits_since(self, applied: str) -> Iterator[tuple[int, Mapping[str, bytes]]]:
        """Yield the rendered commits after one, the oldest first, each with the folders of its clusters."""
        repository = self.commits.repository
        found = repository.commits_between(applied, self.tip, _MOST_COMMITS) if applied else ()
        for info in reversed(found):
            yield info.time, RenderedTree.of(info.tree, repository.read_trees).clusters

    def _work_files(self, report: ToolReport, commit: str) -> Files:
        """Return the Works of everything that a cluster must hold; those of what it need not hold any more go."""
        tree = self.commits.commit_contents(commit).tree
        folder, reported = tree.clusters.get(report.cluster), report.objects
        by_path = {"/".join(object_path(ref)): each for ref, each in reported.items()}
        paths = ["/".join(path) for path, _ in tree.trees.files(folder)] if folder else []
        earlier = {"/".join(object_path(ref)) for ref in self._refs_in_earlier_parts(report, commit)}
        files: dict[str, bytes | None] = dict.fromkeys(self._recorded_works().get(report.cluster, ()))
        for below in paths:
            path = f"works/{report.cluster}/{below}"
            each = by_path.get(below) or _unreported_object(below)
            files[path] = self._work_content(path, each, may_be_earlier=below in earlier)
        return files

    def _refs_in_earlier_parts(self, report: ToolReport, commit: str) -> Iterator[ObjectRef]:
        """Yield the objects of parts that report other commits, in which these objects are not the same."""
        for part in report.parts:
            other = self._rendered_commit_of(part.commit)
            if other == commit:
                continue
            changed = self.commits.changed_objects(report.cluster, (other,), commit) if other else None
            yield from (each.ref for each in part.objects if changed is None or each.ref in changed)

    def _recorded_works(self) -> Mapping[str, list[str]]:
        """Return the paths of recorded Works by cluster, gone through once for all clusters."""
        if not self._paths:
            for path in self.recorded.paths_below("works"):
                self._paths.setdefault(path.split("/", 2)[1], []).append(path)
        return self._paths

    def _work_content(self, path: str, reported: ReportedObject, *, may_be_earlier: bool) -> bytes:
        before = self.recorded.files.get(path)
        key = reported, before, may_be_earlier
        if key not in self._works:
            recorded = self.recorded.manifest(path)
            status = replace(_work_status(reported), may_be_earlier=may_be_earlier)
            after = work_to_record(recorded, work_manifest(status), self.now)
            self._works[key] = (
                after,
                before if after is recorded and before is not None else emit(WorkFile.with_version(after)),
            )
        manifest, content = self._works[key]
        self.recorded.remember_parsed_object(path, content, manifest)
        return content


def _record_for_tool_alone(before: ClusterRecord, report: ToolReport) -> ClusterRecord:
    """Return what is kept of a record: what passes or an agent recorded of the cluster ends where a tool delivers."""
    known = ClusterRecord(state=ClusterState(name=report.cluster), deployer=report.deployer.value)
    if not before.deployer:
        return known
    words = {name: getattr(before, name) for name in ("applied", "outcome", "since", "message", "hint")}
    return replace(known, **words)


def _unreported_object(path: str) -> ReportedObject:
    """Return an object of the folder that no part lists."""
    message = "the tool that applies the folder does not list it"
    return ReportedObject(ref=ref_of_object_path(path), is_applied=False, message=message)


def _work_status(reported: ReportedObject) -> WorkStatus:
    """Return the status of an object, whose messages are an API server's as the tool repeats them."""
    message = message_without_secrets(reported.message, {"kind": reported.ref.kind})
    if not reported.is_applied:
        applied = new_condition(APPLIED, "False", "AppliedFailed", message)
        healthy, health = (
            new_condition(HEALTHY, "Unknown", "NotApplied", "it is not in the cluster as it should be"),
            None,
        )
    else:
        applied = new_condition(APPLIED, "True", "AppliedSuccessful", "Manifest has been successfully applied")
        status, health = _HEALTH.get(reported.health, ("False", Health.UNHEALTHY))
        reason, why = (reported.health, message) if reported.health else ("NotTold", _NO_HEALTH)
        healthy = new_condition(HEALTHY, status, on_one_line(reason), why)
    return WorkStatus(
        ref=reported.ref, version=reported.version, conditions=(applied, healthy), health=health or Health.UNKNOWN
    )


def _seconds_of_time(time: str) -> float:
    try:
        return datetime.fromisoformat(time).timestamp()
    except ValueError:
        return 0.0
