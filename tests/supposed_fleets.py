"""Fleets in memory about which something is supposed: the inputs of their next pass, and what a simulation says."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from msgspec.structs import replace

from reconciler.ledger.facts import ClusterFacts
from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.failover import FailoverInputs
from reconciler.pipeline.following_passes import PassMemory, inputs_of_next_pass
from reconciler.pipeline.moves import MoveInputs
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.rollouts.stage_values import RolloutInputs
from reconciler.pipeline.stages import render_pass
from reconciler.simulation.alterations import Alteration
from reconciler.simulation.passes import Simulation, simulation_of
from reconciler.simulation.simulated_pass import IdealPlacement, SimulatedPass
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from render.cluster import ClusterCondition
from render.documents import emit
from render.model import ObjectRef

from .build import a_cluster, a_deployment, a_policy
from .sources import source_of
from .test_failover import DOWN, TOLERATED, WEB, a_fleet

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
WEB_REF = ObjectRef("apps", "Deployment", "default", "web")
NAMES = ("oslo", "paris", "rome")
DIVIDED = {
    "replicaSchedulingType": "Divided",
    "replicaDivisionPreference": "Weighted",
    "weightPreference": {"dynamicWeight": "AvailableReplicas"},
}


def a_failing_fleet(
    *, names: Iterable[str] = NAMES, replicas: int = 6, settings: Mapping[str, Any] | None = None, **files: Any
) -> dict[str, Any]:
    """Clusters of which each may fail, a Deployment divided equally over them, and five minutes of toleration."""
    weights = [{"targetCluster": {"clusterNames": [name]}, "weight": 1} for name in names]
    scheduling = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": weights},
    }
    placement = {"clusterTolerations": TOLERATED, "replicaScheduling": scheduling}
    return {
        "argosy": a_fleet(**{"featureGates": {"Failover": True}, **(settings or {})}),
        **{name: a_cluster(name) for name in names},
        "down": DOWN,
        "web": a_deployment("web", replicas=replicas),
        "policy": a_policy("web", selectors=[WEB], placement=placement, failover={"cluster": {}}),
        **files,
    }


def facts_of(name: str, *, allocated: Mapping[str, str] | None = None, **allocatable: str) -> ClusterFacts:
    """The facts of a cluster that is ready, with what its nodes have."""
    status: dict[str, Any] = {"conditions": [{"type": "Ready", "status": "True"}]}
    if allocatable:
        status["resourceSummary"] = {"allocatable": allocatable, "allocated": dict(allocated or {})}
    return ClusterFacts(name=name, status=status, observed_at="2026-03-01T08:59:00Z")


def inputs_of_files(
    files: Mapping[str, Any], *, facts: Mapping[str, ClusterFacts] | None = None, now: datetime = NINE
) -> Inputs:
    """Return the inputs of the first pass over some files, while all clusters are ready."""
    source = source_of({f"{name}.yaml": emit(content).decode() for name, content in files.items() if content})
    loaded = load_source(source.files, SourceReading(source.read))
    assert not loaded.problems, loaded.problems[0]
    names = [cluster.name for cluster in loaded.desired.clusters]
    health = ObservedHealth(
        conditions={
            name: (ClusterCondition(type="Ready", status="True", since="2026-03-01T00:00:00Z"),) for name in names
        }
    )
    return Inputs(
        desired=loaded.desired,
        facts={name: facts_of(name) for name in names} if facts is None else facts,
        previous=None,
        source="5" * 40,
        failover=FailoverInputs(now=now, health=health),
        rollouts=RolloutInputs(health=health),
        moves=MoveInputs(health=health),
    )


def inputs_after_first_pass(inputs: Inputs) -> tuple[Inputs, PassMemory]:
    """Return the inputs of the second pass, in which every workload is healthy where the first one placed it."""
    memory = PassMemory()
    first = render_pass(inputs)
    following = inputs_of_next_pass(inputs, first, memory, inputs.failover.now or NINE)
    return with_workload_health(following, first), memory


def with_workload_health(inputs: Inputs, rendered: Rendered, unhealthy: Iterable[str] = ()) -> Inputs:
    """Return inputs with a report about each workload from each cluster that a pass placed it in."""
    ailing = frozenset(unhealthy)
    workloads = {
        binding.ref: tuple(
            ReportedHealth(
                cluster=target.name,
                health="Unhealthy" if target.name in ailing else "Healthy",
                since="2026-03-01T00:00:00Z",
                ready=target.replicas,
            )
            for target in binding.targets
        )
        for binding in rendered.built.bindings
        if binding.is_workload
    }
    health = replace(inputs.failover.health, workloads=workloads)
    return replace(
        inputs,
        failover=replace(inputs.failover, health=health),
        rollouts=replace(inputs.rollouts, health=health),
        moves=replace(inputs.moves, health=health),
    )


def supposed(
    files: Mapping[str, Any], *alterations: Alteration, horizon: timedelta = timedelta(hours=1), **inputs: Any
) -> Simulation:
    """Return what a simulation says of a fleet that has come to rest."""
    following, _ = inputs_after_first_pass(inputs_of_files(files, **inputs))
    return simulation_of(following, alterations, NINE, horizon=horizon)


def split(simulated: SimulatedPass | IdealPlacement, ref: ObjectRef = WEB_REF) -> dict[str, int]:
    """The replicas of an object by cluster after a pass."""
    return {target.name: target.replicas for target in simulated.bindings[ref].targets}


def timeline(simulation: Simulation, ref: ObjectRef = WEB_REF) -> list[tuple[int, dict[str, int], list[str]]]:
    """The seconds, replicas and clusters that are still being left, of each configured pass in which they changed."""
    found: list[tuple[int, dict[str, int], list[str]]] = []
    for each in simulation.configured:
        leaving = [task.from_cluster for task in each.bindings[ref].eviction_tasks]
        if not found or found[-1][1:] != (split(each, ref), leaving):
            found.append((int((each.at - NINE).total_seconds()), split(each, ref), leaving))
    return found
