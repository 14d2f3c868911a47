"""The versions that objects of rollouts stand at in clusters, as far as an apply shows it."""

from collections.abc import Container, Mapping

from msgspec import Struct

from reconciler.deliver.results import ClusterReport
from reconciler.pipeline.rendered_condition import RENDERED
from render.binding import Binding
from render.model import ObjectRef


class VersionsOfCommit(Struct, frozen=True, kw_only=True):
    """The versions that a rendered commit gives to clusters: ``commit``, and its ``bindings``."""

    commit: str = ""
    bindings: Mapping[ObjectRef, Binding] = {}

    def version_after(self, report: ClusterReport, ref: ObjectRef) -> str:
        """Return the version that an object stands at in a cluster, if the report's apply of it went well.

        It is empty where no rollout asks for it, and where the cluster was given another commit or other bytes.
        """
        binding = self.bindings.get(ref)
        if binding is None or binding.rollout is None:
            return ""
        if (
            report.applied is None
            or report.applied.commit != self.commit
            or _keeps_older_bytes(binding, report.cluster)
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
