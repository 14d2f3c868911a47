"""The rules of failover over time: between two flips nothing changes, whatever the time between them."""

import sys
from datetime import UTC, datetime, timedelta
from types import FrameType

from hypothesis import given
from hypothesis import strategies as st

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.failover import FailedOver, FailoverInputs, bindings_after_failover
from reconciler.pipeline.taints import TaintedClusters
from render.binding import Binding, GracefulEvictionTask
from render.cluster import Cluster, Taint
from render.failover.taint_eviction import NO_EXECUTE
from render.model import ObjectRef, TargetCluster
from render.placement import Placement, Toleration
from render.settings.failover import EvictionGuard, FailoverSettings
from render.settings.feature_gates import FeatureGates
from render.settings.fleet import Fleet
from render.timing import instant_text

NINE = datetime(2026, 3, 1, 9, tzinfo=UTC)
NAMES = ("oslo", "paris", "rome")
SECONDS = st.integers(0, 2000)


def ago(seconds: int) -> str:
    return instant_text(NINE - timedelta(seconds=seconds))


@st.composite
def bindings(draw: st.DrawFn) -> tuple[Binding, ...]:
    made = []
    for number in range(draw(st.integers(1, 3))):
        leaving = draw(st.sampled_from(["", *NAMES]))
        task = GracefulEvictionTask(
            from_cluster=leaving, purge_mode="Gracefully", creation_timestamp=ago(draw(SECONDS))
        )
        seconds = draw(st.none() | SECONDS)
        toleration = Toleration(key="down", operator="Exists", effect=NO_EXECUTE, toleration_seconds=seconds)
        application = {"decisionConditions": {"tolerationSeconds": draw(SECONDS)}, "purgeMode": "Directly"}
        made.append(
            Binding(
                ref=ObjectRef("apps", "Deployment", "default", f"web-{number}"),
                api_version="apps/v1",
                replicas=2,
                targets=tuple(TargetCluster(name, 1) for name in NAMES if name != leaving),
                applied_placement=Placement(cluster_tolerations=(toleration,)),
                eviction_tasks=(task,) if leaving else (),
                propagate_deps=True,
                failover={"cluster": {}} | ({"application": application} if draw(st.booleans()) else {}),
            )
        )
    return tuple(made)


@st.composite
def healths(draw: st.DrawFn, placed: tuple[Binding, ...]) -> ObservedHealth:
    words = st.sampled_from(["Healthy", "Unhealthy", "Unknown"])
    reports = {
        binding.ref: tuple(ReportedHealth(cluster=name, health=draw(words), since=ago(draw(SECONDS))) for name in NAMES)
        for binding in placed
    }
    return ObservedHealth(workloads=reports)


@given(st.data(), SECONDS, st.floats(0, 1, exclude_max=True), st.none() | st.integers(1, 2), st.booleans())
def test_between_a_pass_and_its_next_flip_every_pass_decides_the_same(
    data: st.DataObject, seconds: int, share: float, limit: int | None, keeps: bool
) -> None:
    """A pass that leaves nothing and ends nothing is repeated at any time before its flip: nothing is committed."""
    placed = data.draw(bindings())
    taint = Taint(key="down", effect=NO_EXECUTE, time_added=ago(data.draw(SECONDS)))
    clusters = tuple(Cluster(name=name, taints=(taint,) if name == "paris" else ()) for name in NAMES)
    health = data.draw(healths(placed))
    guard = EvictionGuard(per_minute=limit, keeps_last_copy=keeps)
    fleet = Fleet(feature_gates=FeatureGates(failover=True), failover=FailoverSettings(guard=guard))

    def passed(now: datetime) -> FailedOver:
        return bindings_after_failover(
            placed, TaintedClusters(clusters=clusters), fleet, FailoverInputs(now=now, health=health)
        )

    now = NINE + timedelta(seconds=seconds)
    done = passed(now)
    if done.left or done.ended:
        return
    assert done.bindings == placed
    end = done.flip.at if done.flip else now + timedelta(days=30)
    assert end > now
    again = passed(now + timedelta(seconds=int(share * (end - now).total_seconds())))
    assert (again.bindings, again.flip) == (done.bindings, done.flip)


def test_a_cluster_that_recovers_is_left_all_the_same() -> None:
    task = GracefulEvictionTask(from_cluster="oslo", purge_mode="Gracefully", creation_timestamp=ago(60))
    binding = Binding(
        ref=ObjectRef("apps", "Deployment", "default", "web"),
        api_version="apps/v1",
        replicas=2,
        targets=(TargetCluster("paris", 2),),
        applied_placement=Placement(),
        eviction_tasks=(task,),
        failover={"cluster": {}},
    )
    well = TaintedClusters(clusters=tuple(Cluster(name=name) for name in NAMES))
    fleet = Fleet(feature_gates=FeatureGates(failover=True))

    def after(health: str, now: datetime) -> tuple[Binding, ...]:
        reports = (ReportedHealth(cluster="oslo", health="Healthy"), ReportedHealth(cluster="paris", health=health))
        inputs = FailoverInputs(now=now, health=ObservedHealth(workloads={binding.ref: reports}))
        return bindings_after_failover((binding,), well, fleet, inputs).bindings

    assert after("Unhealthy", NINE) == (binding,)
    assert [(each.targets, each.eviction_tasks) for each in after("Healthy", NINE)] == [(binding.targets, ())]


def calls_of_a_round(clusters: int) -> int:
    """Return the functions that a round calls for a workload in so many clusters, none of which is tainted."""
    names = [f"member{number:03}" for number in range(clusters)]
    placed = Binding(
        ref=ObjectRef("apps", "Deployment", "default", "web"),
        api_version="apps/v1",
        replicas=clusters,
        targets=tuple(TargetCluster(name, 1) for name in names),
    )
    fleet, inputs = Fleet(feature_gates=FeatureGates(failover=True)), FailoverInputs(now=NINE)
    seen: list[str] = []

    def count(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and frame.f_code.co_name.startswith("_"):
            seen.append(frame.f_code.co_name)

    members = TaintedClusters(clusters=tuple(Cluster(name=name) for name in names))
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        done = bindings_after_failover([placed] * 20, members, fleet, inputs)
    finally:
        sys.setprofile(before)
    assert done.bindings == (placed,) * 20
    return len(seen)


def test_where_no_cluster_is_tainted_a_round_costs_the_same_in_however_many_clusters_workloads_are() -> None:
    """A pass over a thousand templates in a thousand clusters would ask a million times for taints there are not."""
    each_cluster = (calls_of_a_round(200) - calls_of_a_round(100)) / 100
    assert each_cluster <= 2  # once each for all workloads, not once for each of the twenty
