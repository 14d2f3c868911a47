"""A fleet whose replicas move step by step, played pass by pass without Git.

What each pass takes away is compared with what is healthy: no commit lowers that below what is asked for, but for what
may be missing. Each pass is rendered twice more, as the fleets of rollouts are: replayed from what it recorded, and
with a scope.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.failover import FailoverInputs
from reconciler.pipeline.moves import MoveInputs
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.scope import Scope
from reconciler.pipeline.taints import TAINTS_FILE, parse_taints
from reconciler.source.desired import Desired, is_failing_over
from render.cluster import ClusterCondition
from render.moves.steps import limits_of_move
from render.rollouts.checks import Answers
from render.timing import instant_text

from .build import a_cluster, a_deployment, a_policy, on_clusters, weighted
from .rolling import BEGIN, WEB, WEB_REF, RollingFleet


def a_fleet_of_moves(**spec: Any) -> dict[str, Any]:
    """An argosy.yaml by which replicas move step by step, two more at once."""
    return {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "Fleet",
        "spec": {"moves": "MakeBeforeBreak", "surge": 2, **spec},
    }


def divided(**weights: int) -> dict[str, Any]:
    """A policy that divides web by static weights."""
    placement = on_clusters(*weights, replicaScheduling=weighted(**weights))
    return a_policy("web", selectors=[WEB], placement=placement)


def duplicated(*clusters: str) -> dict[str, Any]:
    """A policy that gives web to clusters, each with all replicas."""
    return a_policy("web", selectors=[WEB], placement=on_clusters(*clusters))


def web(replicas: int, version: int = 1) -> dict[str, Any]:
    """The Deployment that moves, in a version that its image shows."""
    return a_deployment("web", replicas=replicas, image=f"web:{version}")


@dataclass
class MovingFleet(RollingFleet):
    """Clusters by name, with the Deployment web; ``told`` has the replicas of each cluster for each rendered commit.

    ``most`` is how many pods get ready in a cluster (left out: all), ``live`` are the replicas and the ready ones of
    each cluster. ``sick`` clusters answer and are not ready, ``down`` ones do not answer.
    """

    most: dict[str, int] = field(default_factory=dict)
    live: dict[str, tuple[int, int]] = field(default_factory=dict)
    sick: set[str] = field(default_factory=set)
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def begun(cls, clusters: Iterable[str], **files: Any) -> "MovingFleet":
        """A fleet that has its first replicas everywhere."""
        members = {name: a_cluster(name) for name in clusters}
        fleet = cls({"argosy": a_fleet_of_moves(), **members, **files}, now=BEGIN)
        fleet.run()
        fleet.told.clear()
        return fleet

    def pass_once(self) -> bool:
        """Run one pass and apply its outcome, which takes no healthy replica away that is needed."""
        given = self.replicas() if self.previous is not None else {}
        # A cluster that was away when its copy was given up has it still, which is no matter of this commit.
        before = {name: (count, min(ready, given[name])) for name, (count, ready) in self.live.items() if name in given}
        is_changed = super().pass_once()
        if is_changed and self.last is not None and len(self.told) > 1:
            self._check_health(before, self.last)
        return is_changed

    def run_until_quiet(self, seconds: float = 0.0) -> None:
        """Let time go by, and passes run until one writes nothing; a move takes as many steps as it has replicas."""
        self.now += timedelta(seconds=seconds)
        for _ in range(60):
            if not self.pass_once():
                return
        raise AssertionError(f"passes go on and on: {self.told[-60:]}")

    def replicas(self) -> dict[str, int]:
        """The replicas of web that each cluster is given."""
        assert self.previous is not None
        counts = ((name, self.manifest(name)) for name in sorted(self.previous.tree.clusters))
        return {name: found["spec"]["replicas"] for name, found in counts if found is not None}

    def note(self) -> str:
        """The note in the binding of web about its move."""
        assert self.previous is not None
        conditions = self.previous.bindings[WEB_REF].conditions
        return next((each.message for each in conditions if each.type == "Moving"), "")

    def _line(self) -> str:
        images = self.images()
        later = {name: f" (v{images[name]})" if images[name] != "1" else "" for name in images}
        return ", ".join(f"{name} {count}{later[name]}" for name, count in self.replicas().items())

    def _check_health(self, before: Mapping[str, tuple[int, int]], rendered: Rendered) -> None:
        """Compare what was healthy before a commit with what is left of it right after, told by its manifests."""
        binding = next(each for each in rendered.built.bindings if each.ref == WEB_REF)
        given, lost = self.replicas(), self.down | self.sick
        # Scaling a copy of an object of which each cluster has all moves nothing.
        most = 1000 if binding.is_divided else binding.replicas
        healthy = sum(min(ready, most) for name, (_, ready) in before.items() if name not in lost)
        left = sum(min(ready, given.get(name, 0), most) for name, (_, ready) in before.items() if name not in lost)
        total = sum(each.replicas for each in binding.final_targets)
        _, unavailable = limits_of_move(total, self._desired().fleet.moves)
        assert left >= min(healthy, total - unavailable), f"{before} -> {given}: {left} of {total} are healthy"

    def _inputs(
        self, desired: Desired, health: ObservedHealth, scope: Scope | None = None, answers: Answers | None = None
    ) -> Inputs:
        tree = self.previous.tree if self.previous else None
        entry = tree.trees.entries(tree.root).get(TAINTS_FILE) if tree else None
        taints = parse_taints(self._blobs[entry.id]) if entry else {}
        failing = health if is_failing_over(desired) else replace(health, conditions={})
        return replace(
            super()._inputs(desired, health, scope, answers),
            failover=FailoverInputs(now=self.now, health=failing, taints=taints),
            moves=MoveInputs(health=health),
        )

    def _observed_health(self, desired: Desired) -> ObservedHealth:
        def conditions(name: str) -> tuple[ClusterCondition, ...]:
            status = "Unknown" if name in self.down else "False" if name in self.sick else "True"
            return (ClusterCondition(type="Ready", status=status, since=instant_text(BEGIN)),)

        known = {each.name for each in desired.clusters}
        reports = tuple(
            ReportedHealth(
                cluster=name,
                health="Unknown" if name in self.down else "Healthy" if ready == replicas else "Unhealthy",
                since=instant_text(BEGIN),
                ready=None if name in self.down else ready,
                version=self.versions.get(name, ""),
            )
            for name, (replicas, ready) in sorted(self.live.items())
            if name in known
        )
        return ObservedHealth(
            conditions={each.name: conditions(each.name) for each in desired.clusters}, workloads={WEB_REF: reports}
        )

    def _apply(self, rendered: Rendered) -> None:
        """Let every member that answers have what it is given, of which as many pods get ready as can."""
        self.now += timedelta(seconds=1)
        given = self.replicas()
        for name in (given.keys() | self.live.keys()) - self.down:
            if name in given:
                self.live[name] = given[name], min(given[name], self.most.get(name, given[name]))
            else:
                del self.live[name]
        rollout = next((each.rollout for each in rendered.built.bindings if each.ref == WEB_REF), None)
        if rollout is not None:
            for name in given.keys() - self.down:
                self.versions[name] = rollout.version_by_cluster.get(name, rollout.completed)
