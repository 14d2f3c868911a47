"""Predictions of simulations come true: random fleets, the same supposition, and whole passes over members.

The passes are real: they look at members in memory, commit, apply, and record what they see. They come at times of
their own, whatever the simulation says of them, and go on a second apart while they have anything to do. At each of
these times every object must be where the simulation has it.
"""

import io
import tempfile
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from reconciler.branches.reading import read_previous
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.guards.allowances import Allowed, MovementAllowance, RemovalAllowance
from reconciler.repository import open_repository
from reconciler.simulation.alterations import (
    Alteration,
    ChangedCapacity,
    CordonedClusters,
    LostClusters,
    ScaledObject,
    TaintedCluster,
)
from reconciler.simulation.passes import Simulation
from reconciler.simulation.supposed_fleet import SupposedSource, read_supposed_fleet
from render.binding import Binding
from render.cluster import CORDON, DRAIN, Taint
from render.documents import emit, parse_documents
from render.model import ObjectRef

from .build import a_deployment, a_policy
from .fakes import FakeCluster
from .memory_fleet import MemoryFleet, add_pod, settle
from .test_failover import DOWN, a_fleet

SOME = settings(max_examples=max(4, settings().max_examples // 20), phases=(Phase.reuse, Phase.generate))
"""Whole passes are slow: four fleets of each kind, and 50 where the properties are run alone. None is made smaller."""
NAMES = ("bergen", "lyon", "oslo", "paris", "rome", "turin")
SILENCE = 30
"""The seconds that a member must have been silent before it counts as not ready."""
TOLERATED = (0, 60, 300)
TIMES = (45, 60, 120, 180, 240, 300, 360, 420, 480, 540, 590)
"""The seconds after something happened at which passes come: when tolerations are over, and minutes of evictions."""
HORIZON = timedelta(seconds=600)

ANYTHING = Allowed(
    removals=(RemovalAllowance(cluster="*", count=1000),), movements=(MovementAllowance(subject="*", count=1000),)
)
"""The passes of these members are committed without asking the guards, which have tests of their own."""

State = Mapping[str, tuple[Mapping[str, int], tuple[str, ...]]]
"""The replicas of each object by cluster, and the clusters that it is leaving."""


class Supposed(NamedTuple):
    """A supposition, and the files that make it so; ``down`` are the members that do not answer any more."""

    alterations: tuple[Alteration, ...]
    files: Mapping[str, Any]
    down: frozenset[str] = frozenset()
    cpu: Mapping[str, str] = {}


def a_placement(chance: Random, names: list[str]) -> dict[str, Any]:
    """A random placement over some clusters: duplicated, or divided in one of three ways, with tolerations."""
    chosen = sorted(chance.sample(names, chance.randrange(2, len(names) + 1)))
    divided: dict[str, Any] = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted"}
    weights = [{"targetCluster": {"clusterNames": [name]}, "weight": chance.randrange(1, 4)} for name in chosen]
    scheduling: dict[str, Any] = chance.choice(
        (
            {"replicaSchedulingType": "Duplicated"},
            {**divided, "weightPreference": {"staticWeightList": weights}},
            {**divided, "weightPreference": {"dynamicWeight": "AvailableReplicas"}},
            {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"},
        )
    )
    placement: dict[str, Any] = {"clusterAffinity": {"clusterNames": chosen}, "replicaScheduling": scheduling}
    if chance.random() < 0.3:
        placement["spreadConstraints"] = [{"spreadByField": "cluster", "minGroups": 1, "maxGroups": 2}]
    seconds = chance.choice((*TOLERATED, None))
    if seconds is not None:
        toleration = {"key": "down", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
        placement["clusterTolerations"] = [toleration]
    return placement


def a_random_fleet(chance: Random) -> tuple[dict[str, Any], dict[str, Any]]:
    """Members with their nodes, and files: settings, and workloads of which each is placed by a policy of its own."""
    names = sorted(chance.sample(NAMES, chance.randrange(4, 7)))
    nodes = {name: (1, {"cpu": str(chance.randrange(6, 20)), "memory": "64Gi", "pods": "110"}) for name in names}
    failover = {"evictionsPerMinute": chance.choice((1, 2))} if chance.random() < 0.3 else {}
    gates = {"Failover": chance.random() < 0.9, "CustomizedClusterResourceModeling": False}
    files: dict[str, Any] = {
        "argosy.yaml": a_fleet(
            featureGates=gates, clusters=[{"name": "*"}], **({"failover": failover} if failover else {})
        ),
        "down.yaml": DOWN,
    }
    for number in range(chance.randrange(3, 6)):
        name = f"app-{number}"
        workload = a_deployment(name, replicas=chance.randrange(1, 9))
        if chance.random() < 0.7:
            request = {"requests": {"cpu": "1"}}
            workload["spec"]["template"]["spec"]["containers"][0]["resources"] = request
        purge = chance.choice(("Gracefully", "Directly"))
        failing: dict[str, Any] = {"failover": {"cluster": {"purgeMode": purge}}} if chance.random() < 0.8 else {}
        selector = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
        files[f"{name}.yaml"] = [
            workload,
            a_policy(name, selectors=[selector], placement=a_placement(chance, names), **failing),
        ]
    return nodes, files


def states_of_bindings(bindings: Iterable[Binding]) -> State:
    return {
        str(each.ref): (
            {target.name: target.replicas for target in sorted(each.targets)},
            tuple(sorted(task.from_cluster for task in each.eviction_tasks)),
        )
        for each in bindings
        if each.ref.kind == "Deployment"
    }


def start_pods(member: FakeCluster) -> None:
    """Give a member the pods of its Deployments, on the one node that it has."""
    for key in [key for key in member.objects if key[0] == "pods."]:
        del member.objects[key]
    for (plural, _, name), live in list(member.objects.items()):
        if plural == "deployments.apps":
            containers = live["spec"]["template"]["spec"]["containers"]
            requests = (containers[0].get("resources") or {}).get("requests") or {}
            for number in range(live["spec"].get("replicas", 1)):
                add_pod(member, f"{name}-{number}", node="node-0", **requests)


class LivingMembers:
    """A fleet with members in memory, whose workloads are ready a second after they were applied.

    ``has_pods``: their pods take room, which is seen with the next look.
    """

    def __init__(self, folder: Path, chance: Random, *, has_pods: bool = False) -> None:
        self.has_pods = has_pods
        nodes, files = a_random_fleet(chance)
        self.names = sorted(nodes)
        self.fleet = MemoryFleet.create(folder / "fleet", nodes, files)
        self.pass_after(0)
        self.pass_after(10)
        self.pass_after(10)

    @property
    def now(self) -> datetime:
        return datetime.fromtimestamp(self.fleet.now, UTC)

    def pass_after(self, seconds: float) -> None:
        self.fleet.run(seconds)
        for name, member in self.fleet.members.items():
            if name not in self.fleet.down:
                settle(member)
                if self.has_pods:
                    start_pods(member)

    def passes_at(self, at: datetime) -> None:
        """Run a pass at a time, and others a second apart while one of the last two has committed something."""
        quiet, tip = 0, ""
        if at > self.now:
            self.pass_after((at - self.now).total_seconds())
        while quiet < 2:
            before, tip = tip, self.fleet.repository.git("rev-parse", "argosy/rendered^{tree}")
            quiet = quiet + 1 if tip == before else 0
            if quiet < 2:
                self.pass_after(1)

    def state(self) -> State:
        with open_repository(str(self.fleet.repository.path)) as repository:
            tip = repository.tip("refs/heads/argosy/rendered")
            assert tip is not None
            return states_of_bindings(read_previous(repository, tip).bindings.values())

    def simulation(self, alterations: Iterable[Alteration], now: datetime) -> Simulation:
        log = Log(stream=io.StringIO(), level=ERRORS_ONLY)
        with open_repository(str(self.fleet.repository.path)) as repository:
            wanted = SupposedSource(commit=repository.resolve("HEAD"))
            fleet = read_supposed_fleet(repository, wanted, log, now=now, allowed=ANYTHING)
            return fleet.simulation(tuple(alterations), HORIZON)

    def make_so(self, supposed: Supposed) -> None:
        """Let what was supposed happen."""
        if supposed.files:
            self.fleet.repository.commit(dict(supposed.files))
        self.fleet.down |= supposed.down
        for name, cpu in supposed.cpu.items():
            for (plural, _, _), live in self.fleet.members[name].objects.items():
                if plural == "nodes.":
                    live["status"]["allocatable"]["cpu"] = cpu

    def file(self, path: str) -> Any:
        return [each.value for each in parse_documents((self.fleet.repository.show(path, "HEAD") + "\n").encode())]


def predicted_state(simulation: Simulation, at: datetime) -> State:
    """Return where the last simulated pass up to a time has every object."""
    last = [each for each in (simulation.base, *simulation.configured) if each.at <= at][-1]
    return states_of_bindings(last.bindings.values())


def check_that_it_happens(members: LivingMembers, supposed: Supposed, *, silence: int) -> None:
    """Let a supposition come true, and compare what passes do with what was said beforehand."""
    begin = members.now + timedelta(seconds=20 + silence)
    simulation = members.simulation(supposed.alterations, begin)
    assert simulation.is_whole
    members.make_so(supposed)
    members.pass_after(20)  # the first that finds it silent, if it is
    if silence:
        members.pass_after(silence)
    for at in (begin + timedelta(seconds=seconds) for seconds in (0, *TIMES)):
        if at < members.now:
            continue
        members.passes_at(at)
        assert members.state() == predicted_state(simulation, members.now), (members.now - begin).total_seconds()


SEEDS = st.integers(0, 2**32)


@pytest.mark.hypothesis
@SOME
@given(SEEDS)
def test_where_a_cluster_is_lost_every_object_goes_where_it_was_said_to(seed: int) -> None:
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        members = LivingMembers(Path(folder), chance)
        lost = frozenset(chance.sample(members.names, 1 if chance.random() < 0.85 else 2))
        supposed = Supposed((LostClusters(names=lost),), {}, down=lost)
        check_that_it_happens(members, supposed, silence=SILENCE)


@pytest.mark.hypothesis
@SOME
@given(SEEDS, st.sampled_from(("drain", "cordon", "taint")))
def test_where_a_cluster_is_drained_cordoned_or_tainted_it_is_as_it_was_said(seed: int, how: str) -> None:
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        members = LivingMembers(Path(folder), chance)
        name = chance.choice(members.names)
        effect = chance.choice(("NoExecute", "NoSchedule"))
        taints = {"drain": DRAIN, "cordon": (CORDON,), "taint": (Taint(key="old", value="yes", effect=effect),)}[how]
        path = f"clusters/{name}.yaml"
        (cluster,) = members.file(path)
        plain = [{"key": each.key, "value": each.value, "effect": each.effect} for each in taints]
        changed = {**cluster, "spec": {**cluster["spec"], "taints": plain}}
        alterations: tuple[Alteration, ...] = (
            (CordonedClusters(names=frozenset({name})),)
            if how == "cordon"
            else tuple(TaintedCluster(name=name, taint=each) for each in taints)
        )
        check_that_it_happens(members, Supposed(alterations, {path: emit(changed)}), silence=0)


@pytest.mark.hypothesis
@SOME
@given(SEEDS)
def test_where_capacity_changes_more_replicas_go_where_they_were_said_to(seed: int) -> None:
    """Of itself less room moves nothing, so that something grows at the same time."""
    chance = Random(seed)
    with tempfile.TemporaryDirectory() as folder:
        members = LivingMembers(Path(folder), chance, has_pods=True)
        name, cpu = chance.choice(members.names), str(chance.randrange(2, 40))
        path = "app-0.yaml"
        workload, policy = members.file(path)
        replicas = workload["spec"]["replicas"] + chance.randrange(1, 9)
        grown = {**workload, "spec": {**workload["spec"], "replicas": replicas}}
        ref = ObjectRef("apps", "Deployment", "default", "app-0")
        alterations = (ChangedCapacity(name=name, resources={"cpu": cpu}), ScaledObject(ref=ref, replicas=replicas))
        supposed = Supposed(alterations, {path: [grown, policy]}, cpu={name: cpu})
        check_that_it_happens(members, supposed, silence=0)
