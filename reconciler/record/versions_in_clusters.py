"""The versions that objects of rollouts stand at in clusters, as far as an apply shows it, or others tell.

A version is recorded with the health that a status tells of it. The answer to a write has the status of what was there
before: unless it says that the written generation was seen, only a later look tells of the version.

Agents, Argo CD and Flux know of no rollouts. They report the rendered commit that they applied, and that commit says
which version of each object it gave to their cluster.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.deliver.rendered_commits import RenderedCommits
from reconciler.deliver.results import FAILED_ACTIONS, UNDONE, WAITING, ClusterReport
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.health import ReportedHealth
from reconciler.pipeline.rendered_condition import RENDERED
from reconciler.plans.model import WRITES
from render.binding import Binding
from render.errors import GitError
from render.expressions import lazy_expression
from render.failover.tasks import UNHEALTHY
from render.layout import object_path
from render.model import Manifest, ObjectRef, mapping_or_empty

from .work_status import APPLIED, WorkInputs

_COMMIT = lazy_expression(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class VersionsOfCommit(Struct, frozen=True, kw_only=True):
    """The versions that a rendered commit gives to clusters: ``commit``, and its ``bindings``."""

    commit: str = ""
    bindings: Mapping[ObjectRef, Binding] = {}

    def version_given(self, ref: ObjectRef, cluster: str) -> str:
        """Return the version of an object that a cluster was given ("": no rollout asks, or it keeps other bytes)."""
        binding = self.bindings.get(ref)
        rollout = binding.rollout if binding is not None else None
        if binding is None or rollout is None or not rollout.has_gates or _keeps_older_bytes(binding, cluster):
            return ""
        return rollout.version_by_cluster.get(cluster, rollout.completed)

    def version_after(self, report: ClusterReport, work: WorkInputs) -> str:
        """Return the version that an object stands at in a cluster, if the report's apply of it went well.

        It is empty where no rollout asks for it, where the cluster was given another commit or other bytes, and where
        its status may tell of what was there before.
        """
        given = self.version_given(work.item.ref, report.cluster)
        if not given or report.applied is None or report.applied.commit != self.commit or may_be_earlier_status(work):
            return ""
        return given


class ReportedVersions(Struct, frozen=True, kw_only=True):
    """The versions in clusters that agents or other tools apply to, by the commits that these report.

    ``applied`` has the commit of each such cluster, ``newest`` is the one that is recorded now. ``commits`` reads the
    others (None: nobody can).
    """

    newest: VersionsOfCommit
    applied: Mapping[str, str]
    commits: RenderedCommits | None = None

    def with_version(self, reported: ReportedHealth, ref: ObjectRef, work: Manifest) -> ReportedHealth:
        """Return the health of an object with its version there; that of a cluster which passes apply to has it."""
        if reported.cluster not in self.applied:
            return reported
        is_applied = condition_of_type(work["status"].get("conditions"), APPLIED).get("status") == "True"
        is_known = is_applied and not work.get("mayBeEarlier")
        return replace(reported, version=self._version_in(ref, reported.cluster) if is_known else "")

    def _version_in(self, ref: ObjectRef, cluster: str) -> str:
        """Return the version of an object that a cluster has by its commit; what nobody can read is no version."""
        given, applied = self.newest.version_given(ref, cluster), self.applied[cluster]
        if not given or applied == self.newest.commit:
            return given
        if self.commits is None or not _COMMIT.fullmatch(applied):
            return ""
        try:
            if not self.commits.is_ancestor_of(applied, self.newest.commit):
                return ""
            if self._file_id(ref, cluster, applied) == self._file_id(ref, cluster, self.newest.commit):
                return given
            bindings = self.commits.commit_contents(applied).bindings
            return VersionsOfCommit(commit=applied, bindings=bindings).version_given(ref, cluster)
        except GitError:  # the rendered branch may have been squashed since
            return ""

    def _file_id(self, ref: ObjectRef, cluster: str, commit: str) -> bytes | None:
        """Return the blob of an object that a commit has for a cluster; None where it has none."""
        assert self.commits is not None
        tree = self.commits.commit_contents(commit).tree
        folder = tree.clusters.get(cluster)
        entry = tree.trees.entry(folder, object_path(ref)) if folder is not None else None
        return entry.id if entry is not None else None


def copies_that_have_not_gone(binding: Binding, records: Mapping[str, ClusterRecord]) -> Iterator[ReportedHealth]:
    """Yield a report of each copy of an object that was to leave a cluster, and is still there or may be.

    What stays by intent, such as one that an annotation of its own protects, is waited for by nobody.
    """
    for name in sorted(binding.clusters_before_delivery & records.keys()):
        for each in records[name].deviations:
            if each.ref == binding.ref and (each.action in FAILED_ACTIONS or each.reason in WAITING | UNDONE):
                yield ReportedHealth(cluster=name, health=UNHEALTHY, since="")
                break


def _keeps_older_bytes(binding: Binding, cluster: str) -> bool:
    """Say whether a cluster keeps what it had of an object, which could not be built for it or is not dispatched."""
    failed: list[Container[str]] = [
        each.clusters for each in binding.conditions if each.type == RENDERED and each.status == "False"
    ]
    kept: list[Container[str]] = [each.clusters for each in binding.kept]
    return any(cluster in clusters for clusters in (*failed, *kept))


def may_be_earlier_status(work: WorkInputs) -> bool:
    """Say whether the status of an object may tell of its older generation."""
    if work.live is None:
        return False
    status = mapping_or_empty(work.live.get("status"))
    generation = work.live["metadata"].get("generation")
    seen = list(_observed_generations(status))
    if isinstance(generation, int) and seen:
        # Some controllers set it anew only in the conditions that turn.
        return max(seen) < generation
    is_written = (work.result or work.item).action in WRITES
    return is_written and _has_content(status)


def _observed_generations(status: Manifest) -> Iterator[int]:
    """Yield the generations that a status says its controller has seen, of the whole object or in its conditions."""
    conditions = status.get("conditions")
    for each in (status, *(conditions if isinstance(conditions, list) else ())):
        seen = each.get("observedGeneration") if isinstance(each, Mapping) else None
        if isinstance(seen, int):
            yield seen


def _has_content(value: Any) -> bool:
    """Say whether there is anything in a value but empty containers, as in the status of a Service without balancer."""
    if isinstance(value, Mapping):
        return any(map(_has_content, value.values()))
    return any(map(_has_content, value)) if isinstance(value, list) else value is not None
