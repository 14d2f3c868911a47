"""Weeks in the life of a fleet, minute by minute: clusters fail and flap, workloads sicken, and the clock is set.

``Weather`` is what really happens, made of a seed and nothing else. ``Observer`` writes to the status branch what a
pass would have seen of it, by the product's own thresholds. ``Simulation`` runs one real pass a minute on a real
repository, in this process, and ``tests.simulated_rules`` judges what the passes did.
"""

import io
import random
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from reconciler.branches.checkpoint import FILE_NAME
from reconciler.branches.publication import Publication
from reconciler.branches.reading import read_previous
from reconciler.branches.status_branch import StatusBranch
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import HealthFile, ObservedHealth, ReportedHealth
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Failure, FailureKind
from reconciler.observe.cluster_status import MemberObservation, cluster_state_after
from reconciler.observe.fact_changes import facts_in_state, facts_to_write
from reconciler.passes.options import ReconcileOptions
from reconciler.passes.reconcile_pass import reconcile_fleet
from reconciler.passes.repeated_report import read_repeated_report
from reconciler.passes.result import PassResult
from reconciler.pipeline.health import cluster_conditions
from reconciler.record.recorded_status import RecordedStatus, read_recorded
from reconciler.repository import Repository as OpenRepository
from reconciler.repository import open_repository
from render.binding import Binding
from render.cluster import Cluster
from render.model import ObjectRef
from render.timing import instant_text

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
TOLERATED = 300
GRACE = 600
MINUTE = timedelta(minutes=1)
DAY = 1440
GROUP = 5
BRANCHES = ("main", "argosy/rendered", "argosy/status")
DEAD = Failure(kind=FailureKind.UNREACHABLE, message="member is down")
SERVED = Discovery(
    resources={
        (f"{group}/v1" if group else "v1", kind): Resource(
            group=group, version="v1", kind=kind, plural=plural, is_namespaced=True
        )
        for group, kind, plural in (("apps", "Deployment", "deployments"), ("", "ConfigMap", "configmaps"))
    }
)
ROOMY = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "node"},
    "status": {"allocatable": {"cpu": "64", "pods": "500"}, "conditions": [{"type": "Ready", "status": "True"}]},
}
DOWN: dict[str, Any] = {
    "apiVersion": "policy.karmada.io/v1alpha1",
    "kind": "ClusterTaintPolicy",
    "metadata": {"name": "down"},
    "spec": {
        "addOnConditions": [{"conditionType": "Ready", "operator": "NotIn", "statusValues": ["True"]}],
        "removeOnConditions": [{"conditionType": "Ready", "operator": "In", "statusValues": ["True"]}],
        "taints": [{"key": "down", "effect": "NoExecute"}],
    },
}
FLEET = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "Fleet",
    "metadata": {"name": "default"},
    "spec": {"featureGates": {"Failover": True}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Spell:
    """Minutes from ``begin`` up to ``end`` in which something is wrong."""

    begin: int
    end: int

    def covers(self, minute: int) -> bool:
        return self.begin <= minute < self.end


@dataclass(frozen=True, kw_only=True)
class Weather:
    """All that happens: clusters that are down, copies of workloads that are ill, and steps of the clock in seconds."""

    clusters: tuple[str, ...]
    workloads: tuple[str, ...]
    outages: Mapping[str, tuple[Spell, ...]]
    illnesses: Mapping[tuple[str, str], tuple[Spell, ...]]
    steps: Mapping[int, int]

    @classmethod
    def of(cls, seed: int, *, days: float, clusters: int, workloads: int, roughness: float = 1) -> "Weather":
        """The weather of a seed: outages of minutes or hours, spells of flapping, a storm over half of the fleet."""
        rng, steps = random.Random(seed), {}
        names = tuple(f"c{number:03}" for number in range(clusters))
        apps = tuple(f"app{number:02}" for number in range(workloads))
        end = int(days * DAY)
        outages = {name: tuple(_outages(rng, end, roughness)) for name in names}
        storm = rng.randrange(end // 2, end)
        for name in rng.sample(names, clusters // 2):
            outages[name] = (*outages[name], Spell(begin=storm, end=storm + 45))
        illnesses = {(app, name): tuple(_illnesses(rng, end, roughness)) for app in apps for name in names}
        for _ in range(max(2, int(days))):
            steps[rng.randrange(end)] = rng.choice((-7200, -90, -5, 5, 90, 3600))
        return cls(clusters=names, workloads=apps, outages=outages, illnesses=illnesses, steps=steps)

    def is_down(self, name: str, minute: int) -> bool:
        return any(spell.covers(minute) for spell in self.outages[name])

    def is_ill(self, workload: str, name: str, minute: int) -> bool:
        return any(spell.covers(minute) for spell in self.illnesses[workload, name])

    def wall(self, minute: int) -> datetime:
        """Return what the clock on the wall shows at a minute: it was set before, forward or back."""
        off = sum(seconds for at, seconds in self.steps.items() if at <= minute)
        return BEGIN + minute * MINUTE + timedelta(seconds=off)

    @cached_property
    def turns(self) -> frozenset[int]:
        """The minutes at which a cluster goes down or comes back, or a copy does."""
        spells = (each for found in (*self.outages.values(), *self.illnesses.values()) for each in found)
        return frozenset(minute for spell in spells for minute in (spell.begin, spell.end))


def _outages(rng: random.Random, end: int, roughness: float) -> Iterator[Spell]:
    """Yield what is wrong with a cluster: on average one outage in ten days, and one spell of flapping in thirty."""
    for _ in range(_times(rng, roughness * end / (10 * DAY))):
        begin = rng.randrange(end)
        yield Spell(begin=begin, end=begin + rng.choice((1, 2, 4, 8, 15, 40, 240)))
    for _ in range(_times(rng, roughness * end / (30 * DAY))):
        begin = rng.randrange(end)
        for flap in range(begin, begin + 20, 2):
            yield Spell(begin=flap, end=flap + 1)


def _illnesses(rng: random.Random, end: int, roughness: float) -> Iterator[Spell]:
    for _ in range(_times(rng, roughness * end / (200 * DAY))):
        begin = rng.randrange(end)
        yield Spell(begin=begin, end=begin + rng.choice((1, 3, 10, 60)))


def _times(rng: random.Random, mean: float) -> int:
    return int(mean) + (rng.random() < mean - int(mean))


def files_of(weather: Weather) -> dict[str, Any]:
    """Return the source of a fleet in groups of five clusters; each workload may run in one group.

    Most are divided by weight, others are packed or run twice; every eighth also fails over when it is ill. Beside
    them are ConfigMaps, which no rule of time concerns.
    """
    files: dict[str, Any] = {"argosy.yaml": FLEET, "down.yaml": DOWN}
    for number, name in enumerate(weather.clusters):
        files[f"clusters/{name}.yaml"] = a_cluster(name, labels={"group": str(number // GROUP)})
    groups = len(weather.clusters) // GROUP
    for number, name in enumerate(weather.workloads):
        files[f"apps/{name}.yaml"] = [a_deployment(name, replicas=6), _policy(name, number, groups)]
    settings = [a_config_map(f"settings-{number}") for number in range(4 * len(weather.workloads))]
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    files["settings.yaml"] = [*settings, a_policy("settings", selectors=selectors, placement={"clusterAffinity": {}})]
    return files


def _policy(name: str, number: int, groups: int) -> dict[str, Any]:
    divided = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    if number % 3 == 1:
        divided["replicaDivisionPreference"] = "Aggregated"
    twice = {"spreadConstraints": [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]}
    placement = {
        "clusterAffinity": {"labelSelector": {"matchLabels": {"group": str(number % groups)}}},
        "clusterTolerations": [
            {"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": TOLERATED}
        ],
        **(twice if number % 6 == 5 else {"replicaScheduling": divided}),
    }
    application = {
        "decisionConditions": {"tolerationSeconds": TOLERATED},
        "purgeMode": "Gracefully",
        "gracePeriodSeconds": GRACE,
    }
    fails = number % 8 == 3
    failover = {"cluster": {}, **({"application": application} if fails else {})}
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}]
    return a_policy(name, selectors=selectors, placement=placement, propagateDeps=fails, failover=failover)


@dataclass(kw_only=True)
class Observer:
    """An observer of the weather, who records on the status branch as passes that reach members do.

    ``is_pending``: a cluster does not answer and is ready still, so that time alone changes what is recorded.
    """

    weather: Weather
    repository: OpenRepository
    is_pending: bool = False
    recorded: RecordedStatus | None = None

    def record(self, minute: int, bindings: Mapping[ObjectRef, Binding]) -> bool:
        """Write what is seen at a minute; say whether anything is new."""
        status = StatusBranch(publication=Publication(repository=self.repository), branch="argosy/status")
        now = self.weather.wall(minute)
        known = self.recorded or read_recorded(status, status.tip(), ("clusters", "facts"))
        files = self._files(known, minute, bindings)
        self.recorded = known.with_files(files)
        return status.commit(lambda _tip: files, f"See {instant_text(now)}", time=int(now.timestamp())) is not None

    def _files(
        self, recorded: RecordedStatus, minute: int, bindings: Mapping[ObjectRef, Binding]
    ) -> dict[str, bytes | None]:
        now = instant_text(self.weather.wall(minute))
        states = dict(self._states(recorded, minute, now))
        self.is_pending = any(state.failing_since and state.ready == "True" for state in states.values())
        files: dict[str, bytes | None] = {}
        before = recorded.facts()
        known_states = {name: record.state for name, record in recorded.clusters().items()}
        for name, state in states.items():
            if name in before and known_states.get(name) == state:
                continue
            files[ClusterRecord.at(name)] = ClusterRecord(state=state).content()
            files[ClusterFacts.at(name)] = facts_to_write(before.get(name), facts_in_state(state, now), 0).content()
        known = recorded.health()
        workloads = {ref: tuple(self._reports(known, binding, minute, now)) for ref, binding in bindings.items()}
        health = ObservedHealth(
            conditions={name: cluster_conditions(state.status) for name, state in states.items()},
            workloads={ref: found for ref, found in workloads.items() if found},
        )
        file = HealthFile.of_health(health)
        return {**files, HealthFile.PATH: file.content() if file else b""}

    def _states(self, recorded: RecordedStatus, minute: int, now: str) -> Iterator[tuple[str, ClusterState]]:
        known = {name: record.state for name, record in recorded.clusters().items()}
        for name in self.weather.clusters:
            seen = MemberObservation(cluster=name, discovery=SERVED, nodes=(ROOMY,), pods=())
            if self.weather.is_down(name, minute):
                seen = MemberObservation(cluster=name, failure=DEAD)
            yield name, cluster_state_after(Cluster(name=name), known.get(name), seen, now)

    def _reports(self, known: ObservedHealth, binding: Binding, minute: int, now: str) -> Iterator[ReportedHealth]:
        """Yield the health of a workload where it is: a new copy becomes healthy a minute after it was first seen."""
        before = {each.cluster: each for each in known.workloads.get(binding.ref, ())}
        tasks = (task.from_cluster for task in binding.eviction_tasks)
        for name in sorted({*(target.name for target in binding.targets), *tasks}):
            report = before.get(name)
            if self.weather.is_down(name, minute):
                if report:
                    yield report
                continue
            is_well = report is not None and not self.weather.is_ill(binding.ref.name, name, minute)
            health = "Healthy" if is_well else "Unhealthy"
            if report is not None and report.health == health:
                yield report
            else:
                yield ReportedHealth(cluster=name, health=health, since=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One minute: whether anything new was recorded, the commits before and after the pass, and its CPU seconds.

    ``next_flip`` is what the pass before said about the next one ("": never). ``is_repeated``: the pass answered from
    its checkpoint. ``bindings`` are those after it, ``said`` is what it warned of.
    """

    minute: int
    wall: datetime
    is_news: bool
    is_repeated: bool
    before: str
    after: str
    next_flip: str
    seconds: float
    bindings: Mapping[ObjectRef, Binding]
    said: str = ""

    @property
    def is_committed(self) -> bool:
        return self.before != self.after


@dataclass
class Simulation:
    """A fleet in its weather; ``minute`` is the next one to run.

    ``is_forgetful``: each pass starts without the checkpoint of the one before, so that it looks at everything.
    """

    repository: Repository
    weather: Weather
    minute: int = 0
    is_forgetful: bool = False
    next_flip: str = ""
    warnings: tuple[str, ...] = ()
    bindings: dict[ObjectRef, Binding] = field(default_factory=dict)

    @classmethod
    def create(cls, path: Path, weather: Weather) -> "Simulation":
        repository = Repository.create(path)
        repository.commit(files_of(weather))
        return cls(repository, weather)

    def forgetful_twin(self, path: Path) -> "Simulation":
        """The same fleet, of which each pass looks at everything."""
        shutil.copytree(self.repository.path, path)
        return Simulation(Repository(path), self.weather, self.minute, is_forgetful=True)

    @classmethod
    def resumed(cls, path: Path, origin: "Simulation", minute: int) -> "Simulation":
        """A run from the commits of another one as it stands, and nothing else of it."""
        repository = Repository.create(path)
        refspecs = [f"+refs/heads/{branch}:refs/heads/{branch}" for branch in BRANCHES]
        repository.git("fetch", "-q", "--update-head-ok", str(origin.repository.path), *refspecs)
        repository.git("reset", "-q", "--hard")
        simulation = cls(repository, origin.weather, minute)
        simulation.bindings = simulation.read_bindings()
        return simulation

    def run(self, minutes: int) -> Iterator[Tick]:
        """Run so many minutes, each with one observation and one pass."""
        with open_repository(str(self.repository.path)) as repository:
            observer, is_open = Observer(weather=self.weather, repository=repository), True
            for _ in range(minutes):
                # What is seen stays the same while nothing turns and nothing is under way.
                is_open = is_open or self.minute in self.weather.turns
                is_news = is_open and observer.record(self.minute, self.bindings)
                tick = self._tick(repository, is_news=is_news)
                is_open = is_news or tick.is_committed or observer.is_pending
                self.minute += 1
                yield tick

    def _tick(self, repository: OpenRepository, *, is_news: bool) -> Tick:
        wall, expected = self.weather.wall(self.minute), self.next_flip
        before = repository.tip("refs/heads/argosy/rendered") or ""
        if self.is_forgetful:
            (repository.cache_dir / FILE_NAME).unlink(missing_ok=True)
        log = Log(stream=io.StringIO(), level=ERRORS_ONLY)
        began = time.process_time()
        is_repeated = self._pass(repository, wall, log)
        seconds = time.process_time() - began
        after = repository.tip("refs/heads/argosy/rendered") or ""
        if after != before:
            self.bindings = self.read_bindings()
        return Tick(
            minute=self.minute,
            wall=wall,
            is_news=is_news,
            is_repeated=is_repeated,
            before=before,
            after=after,
            next_flip=expected,
            seconds=seconds,
            bindings=self.bindings,
            said="\n".join(self.warnings),
        )

    def _pass(self, repository: OpenRepository, wall: datetime, log: Log) -> bool:
        """Do what ``argosy reconcile`` does; say whether it answered from its checkpoint."""
        options = ReconcileOptions(now=wall, bootstrap=self.minute == 0)
        report = read_repeated_report(repository, options, log)
        if report is not None:
            return True
        result = reconcile_fleet(repository, options, log, lambda _result: None)
        assert isinstance(result, PassResult)
        self.next_flip = instant_text(result.outcome.flip.at) if result.outcome.flip else ""
        self.warnings = result.outcome.warnings
        return False

    def read_bindings(self) -> dict[ObjectRef, Binding]:
        """The bindings of workloads on the rendered branch now."""
        with open_repository(str(self.repository.path)) as repository:
            tip = repository.tip("refs/heads/argosy/rendered")
            known = read_previous(repository, tip).bindings if tip else {}
            return {ref: known[ref] for ref in known if ref.kind == "Deployment"}
