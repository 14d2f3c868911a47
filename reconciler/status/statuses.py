"""The fleet as its rendered branch tells it, without asking a cluster or a remote."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reconciler.passes.frontpage import binding_state, replicas_by_cluster
from reconciler.passes.outcomes import RENDERED, failed_clusters
from reconciler.passes.previous import Previous
from reconciler.passes.publication import publication_of
from reconciler.passes.reading import Source, read_previous, read_source
from reconciler.report import Log
from reconciler.repository import Repository
from render.binding import Binding
from render.cluster import Cluster
from render.errors import ConfigError

from .binding_status import expected_clusters
from .source_lag import SourceLag, lag_of


@dataclass(frozen=True)
class FleetStatus:
    """The fleet as its rendered branch tells it, beside the source at HEAD; ``objects`` are counted by cluster."""

    branch: str
    source: Source
    lag: SourceLag
    previous: Previous
    objects: Mapping[str, int]

    @cached_property
    def members(self) -> Mapping[str, Cluster]:
        """The clusters of the source by name."""
        return {cluster.name: cluster for cluster in self.source.desired.clusters}

    @cached_property
    def clusters(self) -> tuple[str, ...]:
        """The members and the clusters that are disconnected, by name."""
        return tuple(sorted(self.previous.tree.clusters.keys() | self.members.keys()))

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        """Every binding, by object."""
        return tuple(sorted(self.previous.bindings.values(), key=lambda binding: binding.ref))

    @cached_property
    def replicas(self) -> Mapping[str, int]:
        """The replicas placed in every cluster; none in those that are disconnected, where nobody looks."""
        return {name: count for name, count in replicas_by_cluster(self.bindings).items() if name in self.members}

    @cached_property
    def unbuilt(self) -> Mapping[str, tuple[Binding, ...]]:
        """The bindings whose objects could not be built as asked for, by the clusters that keep something older."""
        found: dict[str, list[Binding]] = {}
        for binding in self.bindings:
            for name in unbuilt_in(binding):
                found.setdefault(name, []).append(binding)
        return {name: tuple(each) for name, each in found.items()}


def fleet_status(repository: Repository, log: Log) -> FleetStatus:
    """Read the rendered branch of the fleet that HEAD's source describes."""
    source = read_source(repository, repository.resolve("HEAD"))
    branch = source.desired.fleet.rendered_branch
    publication = publication_of(repository, source.desired.fleet)
    tip = publication.known_tip(branch)
    if tip is None:
        raise ConfigError(
            f"nothing is rendered yet: there is no branch {branch!r}", hint="argosy reconcile --bootstrap"
        )
    previous = read_previous(repository, tip)
    return FleetStatus(
        branch=branch,
        source=source,
        lag=lag_of(repository, previous, source, log),
        previous=previous,
        objects=_objects(previous),
    )


def _objects(previous: Previous) -> Mapping[str, int]:
    counts: dict[bytes, int] = {}
    objects: Counter[str] = Counter()
    for name, tree_id in previous.tree.clusters.items():
        if tree_id not in counts:
            counts[tree_id] = sum(1 for _ in previous.tree.files(tree_id))
        objects[name] = counts[tree_id]
    return objects


def unbuilt_in(binding: Binding) -> tuple[str, ...]:
    """Return the clusters in which a binding's object could not be built as asked for."""
    said = next((each for each in binding.conditions if each.type == RENDERED and each.status == "False"), None)
    return () if said is None else failed_clusters(said.message, expected_clusters(binding))


def troubles(binding: Binding) -> list[str]:
    """Return what is wrong with a binding: why it is not placed, not built, or held by nobody."""
    return [
        f"{condition.reason}: {condition.message}"
        for condition in binding.conditions
        if condition.status == "False" and condition.reason not in {"NotScheduled", "NoPolicy"}
    ]


def as_value(status: FleetStatus) -> dict[str, Any]:
    """Return the status as one value; the README documents its fields."""
    previous = status.previous
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "FleetStatus",
        "branch": status.branch,
        "rendered": previous.commit,
        "source": previous.source,
        "newest": status.lag.newest,
        "head": status.lag.head,
        "current": status.lag.is_current,
        "engine": previous.version,
        "clusters": {name: _cluster_value(name, status) for name in status.clusters},
        "bindings": [_binding_value(binding) for binding in status.bindings],
    }


def _cluster_value(name: str, status: FleetStatus) -> dict[str, Any]:
    return {
        "objects": status.objects.get(name, 0),
        "replicas": status.replicas.get(name, 0),
        "connected": name in status.members,
        "unbuilt": [str(binding.ref) for binding in status.unbuilt.get(name, ())],
    }


def _binding_value(binding: Binding) -> dict[str, Any]:
    required_by = [f"{each.namespace}/{each.name}" for each in binding.required_by]
    replicas = {target.name: target.replicas for target in binding.targets}
    return {
        "object": str(binding.ref),
        "policy": binding.policy or None,
        "reason": binding_state(binding),
        "clusters": {name: replicas.get(name, 0) for name in expected_clusters(binding)},
        **({"requiredBy": required_by} if required_by else {}),
        "problems": troubles(binding),
    }
