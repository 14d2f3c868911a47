"""Many rollouts under way at once: the CPU of a step of all of them, and of a pass in which no answer flips.

Each of a hundred Deployments goes to all of a hundred clusters and has a RolloutPolicy of its own. Passes are real ones
over a real repository, to whose status branch the health of all copies is written as passes over members do. Beside
them runs the same fleet without any RolloutPolicy, turn by turn, so that the machine is as busy for one as for the
other. A pass ``with nothing new`` answers from its checkpoint, one ``with news`` sees another health of one workload
that no rollout is about, and one ``of everything`` has no checkpoint. Each is a process of its own; CPU is that of the
whole command with its children.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from reconciler.branches.checkpoint import FILE_NAME
from reconciler.branches.publication import Publication
from reconciler.branches.reading import read_previous
from reconciler.branches.status_branch import StatusBranch
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import HealthFile, ObservedHealth, ReportedHealth
from reconciler.observe.cluster_status import MemberObservation, cluster_state_after
from reconciler.observe.fact_changes import facts_in_state, facts_to_write
from reconciler.pipeline.health import cluster_conditions
from reconciler.repository import Repository as OpenRepository
from reconciler.repository import open_repository
from render.binding import Binding
from render.cluster import Cluster
from render.model import ObjectRef
from render.timing import instant_text
from tests.build import Repository, a_cluster, a_deployment, a_policy
from tests.rolling import a_rollout_policy, a_wave
from tests.simulation import BEGIN, FLEET, MINUTE, ROOMY, SERVED

from .bench_apply import compile_modules, cost_of
from .figures import CPU, Figure, figure

DEPLOYMENT = {"apiVersion": "apps/v1", "kind": "Deployment"}
WAVES = [a_wave("canary", size="5%", gate={"healthyFor": "1h"}), a_wave("rest", maxConcurrent="20%")]


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield the figures of steps and of idle passes."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench rollouts")
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--rollouts", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args(arguments)
    compile_modules()
    with tempfile.TemporaryDirectory() as folder:
        fleets = {
            name: BenchFleet.create(Path(folder) / name, given.clusters, given.rollouts, is_rolled=name == "rolled")
            for name in ("plain", "rolled")
        }
        scenario = f"rollouts, {given.rollouts} under way over {given.clusters} clusters"
        yield from _measured(scenario, fleets["plain"], fleets["rolled"], given.rounds)


@dataclass(kw_only=True)
class BenchFleet:
    """A fleet with its clusters and Deployments, each with a RolloutPolicy where it is ``is_rolled``."""

    repository: Repository
    clusters: tuple[str, ...]
    apps: tuple[str, ...]
    minute: int = 0
    health: dict[tuple[ObjectRef, str], ReportedHealth] = field(default_factory=dict)

    @classmethod
    def create(cls, path: Path, clusters: int, rollouts: int, *, is_rolled: bool) -> "BenchFleet":
        names = tuple(f"c{number:03}" for number in range(clusters))
        fleet = cls(
            repository=Repository.create(path),
            clusters=names,
            apps=tuple(f"app{number:03}" for number in range(rollouts)),
        )
        files: dict[str, Any] = {"argosy.yaml": FLEET}
        files |= {
            f"clusters/{name}.yaml": a_cluster(name, region=f"r{number % 5}") for number, name in enumerate(names)
        }
        files["policy.yaml"] = a_policy("all", selectors=[DEPLOYMENT], placement={})
        if is_rolled:
            files["rollouts.yaml"] = [
                a_rollout_policy(name, selectors=[{**DEPLOYMENT, "name": name}], waves=WAVES) for name in fleet.apps
            ]
        # Of this one alone another health is news, and no rollout is about it.
        files["beside.yaml"] = a_deployment("beside")
        fleet.repository.commit({**files, **fleet.templates(1)})
        return fleet

    def templates(self, version: int) -> dict[str, Any]:
        return {f"apps/{name}.yaml": a_deployment(name, image=f"web:{version}", replicas=3) for name in self.apps}

    def change(self, version: int) -> None:
        self.repository.commit(self.templates(version))

    def settle(self) -> None:
        """Let every copy be well with what it was given, a minute from now, and record that."""
        self._record(lambda _ref: "Healthy")

    def flap(self, *, is_well: bool) -> None:
        """Record another health of the one workload that no rollout is about."""
        self._record(lambda ref: "Healthy" if is_well or ref.name != "beside" else "Unhealthy")

    def pass_seconds(self, *, minutes: int = 0, from_checkpoint: bool = True) -> float:
        """Run one pass so many minutes later, and return the CPU that it took."""
        self.minute += minutes
        if not from_checkpoint:
            with open_repository(str(self.repository.path)) as repository:
                (repository.cache_dir / FILE_NAME).unlink(missing_ok=True)
        now = instant_text(BEGIN + self.minute * MINUTE)
        command = [sys.executable, "-m", "reconciler", "-q", "-C", str(self.repository.path), "reconcile"]
        return cost_of([*command, "--bootstrap", "--now", now]).cpu

    def tip(self) -> str:
        return self.repository.git("rev-parse", "argosy/rendered")

    def _record(self, health: Callable[[ObjectRef], str]) -> None:
        self.minute += 1
        now = instant_text(BEGIN + self.minute * MINUTE)
        with open_repository(str(self.repository.path)) as repository:
            files = {**self._cluster_files(now), HealthFile.PATH: self._health_file(repository, now, health)}
            status = StatusBranch(publication=Publication(repository=repository), branch="argosy/status")
            status.commit(lambda _tip: files, f"See {now}", time=int((BEGIN + self.minute * MINUTE).timestamp()))

    def _cluster_files(self, now: str) -> Mapping[str, bytes | None]:
        files: dict[str, bytes | None] = {}
        for name, state in self._states():
            files[ClusterRecord.at(name)] = ClusterRecord(state=state).content()
            files[ClusterFacts.at(name)] = facts_to_write(None, facts_in_state(state, now), 0).content()
        return files

    def _states(self) -> Iterator[tuple[str, Any]]:
        for name in self.clusters:
            seen = MemberObservation(cluster=name, discovery=SERVED, nodes=(ROOMY,), pods=())
            yield name, cluster_state_after(Cluster(name=name), None, seen, instant_text(BEGIN))

    def _health_file(self, repository: OpenRepository, now: str, health: Callable[[ObjectRef], str]) -> bytes:
        tip = repository.tip("refs/heads/argosy/rendered")
        bindings = read_previous(repository, tip).bindings if tip else {}
        workloads = {}
        for ref in (each for each in bindings if each.kind == "Deployment"):
            reports = [self._report(bindings[ref], name, now, health(ref)) for name in self.clusters]
            workloads[ref] = tuple(reports)
        conditions = {name: cluster_conditions(state.status) for name, state in self._states()}
        file = HealthFile.of_health(ObservedHealth(conditions=conditions, workloads=workloads))
        assert file is not None
        return file.content()

    def _report(self, binding: Binding, cluster: str, now: str, health: str) -> ReportedHealth:
        """Return what is reported of a copy: since when it is so, with the version that it has."""
        rollout = binding.rollout
        version = rollout.version_by_cluster.get(cluster, rollout.completed) if rollout else ""
        known = self.health.get((binding.ref, cluster))
        if known is None or (known.version, known.health) != (version, health):
            known = ReportedHealth(cluster=cluster, health=health, since=now, version=version)
            self.health[binding.ref, cluster] = known
        return known


def _measured(scenario: str, plain: BenchFleet, rolled: BenchFleet, rounds: int) -> Iterator[Figure]:
    for fleet in (plain, rolled):
        fleet.pass_seconds()
        fleet.settle()
        fleet.pass_seconds()
        fleet.pass_seconds()
    calm = _turns("an idle pass, no rollout under way", (plain, rolled), rounds, _idle_turn)
    _turns("the same, of everything", (plain, rolled), rounds, _whole_turn)
    steps = [_step(plain, rolled, "a change of everything", lambda fleet: fleet.change(2))]
    steps.append(_step(plain, rolled, "the canaries are well", lambda fleet: fleet.settle()))
    quiet = _turns("an idle pass, all rollouts under way", (plain, rolled), rounds, _idle_turn)
    _turns("the same, with news", (plain, rolled), rounds, _news_turn)
    _turns("the same, of everything", (plain, rolled), rounds, _whole_turn)
    rolled.minute += int(timedelta(minutes=61) / MINUTE)
    steps.append(_step(plain, rolled, "the gate opens for the rest", lambda _fleet: None))
    yield figure(scenario, "the dearest step of all", max(steps), CPU)
    yield figure(scenario, "an idle pass, times one without rollouts", max(calm, quiet), "times")


def _step(plain: BenchFleet, rolled: BenchFleet, what: str, happens: Callable[[BenchFleet], None]) -> float:
    """Let something happen to both, and return the CPU of the pass that takes the step of all rollouts."""
    seconds = []
    for fleet in (plain, rolled):
        happens(fleet)
        before = fleet.tip()
        seconds.append(fleet.pass_seconds())
        moved = "commits" if fleet.tip() != before else "commits nothing"
        print(f"{what}: {'rolled' if fleet is rolled else 'plain'} {seconds[-1]:.2f} s CPU, {moved}", flush=True)
    return seconds[-1]


def _turns(what: str, fleets: Sequence[BenchFleet], rounds: int, turn: Callable[[BenchFleet, int], float]) -> float:
    """Run passes of both fleets turn by turn; return how many times as long the quickest of the second takes."""
    tips = [fleet.tip() for fleet in fleets]
    for fleet in fleets:
        turn(fleet, 0)
    seconds = [[turn(fleet, number) for fleet in fleets] for number in range(1, rounds + 1)]
    assert [fleet.tip() for fleet in fleets] == tips, "it was not idle"
    plain, rolled = (min(each) for each in zip(*seconds, strict=True))
    print(f"{what}: {1000 * rolled:.0f} ms CPU, without rollouts {1000 * plain:.0f} ms, {rolled / plain:.2f} times")
    return float(rolled / plain)


def _idle_turn(fleet: BenchFleet, _number: int) -> float:
    return fleet.pass_seconds()


def _news_turn(fleet: BenchFleet, number: int) -> float:
    fleet.flap(is_well=bool(number % 2))
    return fleet.pass_seconds()


def _whole_turn(fleet: BenchFleet, _number: int) -> float:
    return fleet.pass_seconds(from_checkpoint=False)
