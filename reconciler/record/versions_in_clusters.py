"""The versions that objects of rollouts stand at in clusters, as far as an apply shows it.

A version is recorded with the health that a status tells of it. The answer to a write has the status of what was there
before: unless it says that the written generation was seen, only a later look tells of the version.
"""

from collections.abc import Container, Iterator, Mapping
from typing import Any

from msgspec import Struct

from reconciler.deliver.results import ClusterReport
from reconciler.pipeline.rendered_condition import RENDERED
from reconciler.plans.model import WRITES
from render.binding import Binding
from render.model import Manifest, ObjectRef, mapping_or_empty

from .work_status import WorkInputs


class VersionsOfCommit(Struct, frozen=True, kw_only=True):
    """The versions that a rendered commit gives to clusters: ``commit``, and its ``bindings``."""

    commit: str = ""
    bindings: Mapping[ObjectRef, Binding] = {}

    def version_after(self, report: ClusterReport, work: WorkInputs) -> str:
        """Return the version that an object stands at in a cluster, if the report's apply of it went well.

        It is empty where no rollout asks for it, where the cluster was given another commit or other bytes, and where
        its status may tell of what was there before.
        """
        binding = self.bindings.get(work.item.ref)
        if binding is None or binding.rollout is None:
            return ""
        if (
            report.applied is None
            or report.applied.commit != self.commit
            or _keeps_older_bytes(binding, report.cluster)
            or _has_status_from_before(work)
        ):
            return ""
        return binding.rollout.version_by_cluster.get(report.cluster, binding.rollout.completed)


def _keeps_older_bytes(binding: Binding, cluster: str) -> bool:
    """Say whether a cluster keeps what it had of an object, which could not be built for it or is not dispatched."""
    failed: list[Container[str]] = [
        each.clusters for each in binding.conditions if each.type == RENDERED and each.status == "False"
    ]
    kept: list[Container[str]] = [each.clusters for each in binding.kept]
    return any(cluster in clusters for clusters in (*failed, *kept))


def _has_status_from_before(work: WorkInputs) -> bool:
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
