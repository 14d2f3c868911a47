"""A cluster is well by a change once each of its objects is known to be there at the version given, and healthy."""

from datetime import UTC, datetime
from typing import NamedTuple

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.rollouts.observations import observations_of_clusters
from render.cluster import ClusterCondition
from render.failover.health import NOT_HEALTHY, NOT_REACHABLE
from render.model import ObjectRef
from render.rollouts.state import ClusterObservation

from .tables import each_row

WEB, CONFIG = ObjectRef("apps", "Deployment", "shop", "web"), ObjectRef("", "ConfigMap", "shop", "web")
READY = (ClusterCondition(type="Ready", status="True"),)
SILENT = (ClusterCondition(type="Ready", status="Unknown"),)


class Case(NamedTuple):
    why: str
    web: tuple[ReportedHealth, ...]
    config: tuple[ReportedHealth, ...]
    want: ClusterObservation
    conditions: tuple[ClusterCondition, ...] | None = READY
    suspended: frozenset[str] = frozenset()


def a_report(health: str = "Healthy", version: str = "v2", minute: int = 0) -> ReportedHealth:
    return ReportedHealth(cluster="oslo", health=health, version=version, since=f"2026-11-27T10:{minute:02}:00Z")


def well(minute: int) -> ClusterObservation:
    return ClusterObservation(well_since=datetime(2026, 11, 27, 10, minute, tzinfo=UTC))


NOT_WELL = ClusterObservation()
CASES = [
    Case("all of it is there and healthy, since the last of it is", (a_report(),), (a_report(minute=3),), well(3)),
    Case("one is at an older version", (a_report(),), (a_report(version="v1"),), NOT_WELL),
    Case("one is at no version that is known", (a_report(),), (a_report(version=""),), NOT_WELL),
    Case("one is not healthy", (a_report("Unhealthy"),), (a_report(),), NOT_WELL),
    Case("of one nobody knows how it is", (a_report("Unknown"),), (a_report(),), NOT_WELL),
    Case("one was never reported", (a_report(),), (), NOT_WELL),
    Case(
        "of one nobody knows since when",
        (a_report(),),
        (ReportedHealth(cluster="oslo", health="Healthy", version="v2"),),
        NOT_WELL,
    ),
    Case(
        "a cluster that is silent",
        (a_report(),),
        (a_report(),),
        ClusterObservation(is_reachable=False, well_since=well(0).well_since),
        SILENT,
    ),
    Case(
        "a cluster that does not answer",
        (a_report(),),
        (a_report(),),
        ClusterObservation(is_reachable=False, well_since=well(0).well_since),
        (NOT_REACHABLE,),
    ),
    Case("a cluster that says that it is not ready", (a_report(),), (a_report(),), well(0), (NOT_HEALTHY,)),
    Case("a cluster of which nothing is recorded", (), (), ClusterObservation(is_reachable=False), None),
    Case("dispatching is suspended", (), (), ClusterObservation(is_suspended=True), READY, frozenset({"oslo"})),
]


@each_row("case", CASES)
def test_a_cluster_is_well_by_what_is_known_of_each_object(case: Case) -> None:
    health = ObservedHealth(
        conditions={} if case.conditions is None else {"oslo": case.conditions},
        workloads={WEB: case.web, CONFIG: case.config},
    )
    assert observations_of_clusters({"oslo": {WEB: "v2", CONFIG: "v2"}}, health, case.suspended) == {"oslo": case.want}


def test_clusters_are_told_apart_and_a_change_of_nothing_is_never_well() -> None:
    reports = (a_report(), ReportedHealth(cluster="rome", health="Healthy", version="v1", since="2026-11-27T09:00:00Z"))
    health = ObservedHealth(conditions={"oslo": READY, "rome": READY, "lyon": READY}, workloads={WEB: reports})
    versions = {"oslo": {WEB: "v2"}, "rome": {WEB: "v2"}, "lyon": {}}
    assert observations_of_clusters(versions, health, ()) == {"oslo": well(0), "rome": NOT_WELL, "lyon": NOT_WELL}
