"""The counts of a backtest: what moves, is evicted, flaps, has no place and is down, and what is used at most."""

from datetime import UTC, datetime, timedelta
from fractions import Fraction

from reconciler.backtest.measures import FleetCounts, ObjectCounts
from render.binding import Binding, Condition, GracefulEvictionTask
from render.model import ObjectRef, TargetCluster
from render.resources import ReplicaRequirements

WEB = ObjectRef("apps", "Deployment", "default", "web")
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
MEMBERS = frozenset({"oslo", "paris", "rome"})


def web(evicted: str = "", is_scheduled: bool = True, **replicas: int) -> Binding:
    """The binding of a workload whose replicas request half a CPU each."""
    task = GracefulEvictionTask(from_cluster=evicted, creation_timestamp="2026-03-01T00:10:00Z")
    return Binding(
        ref=WEB,
        api_version="apps/v1",
        replicas=4,
        requirements=ReplicaRequirements(resource_request={"cpu": "500m"}),
        targets=tuple(TargetCluster(name, count) for name, count in replicas.items()),
        eviction_tasks=(task,) if evicted else (),
        conditions=(Condition(type="Scheduled", status="True" if is_scheduled else "False"),),
    )


COURSE = [
    (10, web(evicted="paris", oslo=2, rome=2)),
    (20, web(evicted="paris", oslo=2, rome=2)),
    (30, web(oslo=2, paris=2)),
    (40, web(oslo=2, paris=2, is_scheduled=False)),
    (55, web(oslo=4)),
    (125, web(oslo=2, paris=2)),
]
"""The binding after so many minutes: it leaves paris, is back after 20, has no place for 15, and is back after 70."""


def test_what_happens_is_counted_from_one_outcome_to_the_next() -> None:
    counts, before = FleetCounts(within=3600), web(oslo=2, paris=2)
    counts.begin(BEGIN, {WEB: before})
    for minutes, after in COURSE:
        at = BEGIN + timedelta(minutes=minutes)
        counts.pass_time(at, frozenset({"paris"} if minutes == 10 else set()))
        counts.count(at, {WEB: (before, after)}, MEMBERS)
        before = after
    counts.end(BEGIN + timedelta(minutes=130))

    assert counts.objects == {WEB: ObjectCounts(moved_replicas=8, evictions=1, flaps=1, unscheduled=900.0)}
    assert counts.peaks == {
        "oslo": {"pods": 4, "cpu": 2},
        "paris": {"pods": 2, "cpu": 1},
        "rome": {"pods": 2, "cpu": 1},
    }
    assert counts.down == 0.0


def test_replicas_are_down_while_their_cluster_is_not_ready() -> None:
    counts = FleetCounts(within=3600)
    counts.begin(BEGIN, {WEB: web(oslo=1, paris=3)})
    counts.pass_time(BEGIN + timedelta(minutes=5), frozenset({"paris"}))
    counts.pass_time(BEGIN + timedelta(minutes=9), frozenset())
    counts.end(BEGIN + timedelta(minutes=60))

    assert counts.down == 3 * 4 * 60


def test_an_object_without_a_place_at_the_end_is_counted_up_to_it() -> None:
    counts = FleetCounts(within=60)
    counts.begin(BEGIN, {WEB: web(is_scheduled=False)})
    counts.end(BEGIN + timedelta(minutes=2))

    assert counts.total == ObjectCounts(unscheduled=120.0)


def test_a_renamed_cluster_is_no_move() -> None:
    counts = FleetCounts(within=3600)
    counts.begin(BEGIN, {WEB: web(oslo=1, paris=3)})
    counts.rename_clusters({"paris": "lyon"})
    counts.count(BEGIN, {WEB: (web(oslo=1, lyon=3), web(oslo=1, lyon=3))}, frozenset({"oslo", "lyon"}))
    counts.end(BEGIN)

    assert counts.objects == {}
    assert counts.peaks["lyon"] == {"pods": 3, "cpu": Fraction(3, 2)}
