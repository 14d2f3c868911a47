"""The stage of moves: the targets of a binding between what clusters were given and what was decided."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.health import ObservedHealth, ReportedHealth
from reconciler.pipeline.moves import MoveStage
from render.binding import Binding, GracefulEvictionTask, Moving, OverriddenReplicas
from render.cluster import Cluster, ClusterCondition
from render.cluster_index import ClusterIndex
from render.limits import Limit
from render.model import ObjectRef, TargetCluster
from render.placement import Placement, ReplicaScheduling, ReplicaSchedulingType
from render.settings.moves import MoveSettings

from .tables import each_row

DIVIDED = Placement(replica_scheduling=ReplicaScheduling(type=ReplicaSchedulingType.DIVIDED))
WELL, DOWN = (ClusterCondition(type="Ready", status="True"),), (ClusterCondition(type="Ready", status="False"),)
STEPS = MoveSettings(is_make_before_break=True, surge=Limit(2))


def targets(**replicas: int) -> tuple[TargetCluster, ...]:
    return tuple(TargetCluster(name, count) for name, count in replicas.items())


def a_binding(kind: str = "Deployment", replicas: int = 6, **more: Any) -> Binding:
    ref = ObjectRef("apps", kind, "shop", "web")
    return Binding(**{"ref": ref, "api_version": "apps/v1", "replicas": replicas, "placement": DIVIDED, **more})


def leaving(cluster: str, mode: str = "Gracefully") -> tuple[GracefulEvictionTask, ...]:
    return (GracefulEvictionTask(from_cluster=cluster, purge_mode=mode),)


class Case(Struct, kw_only=True):
    """A binding before a pass and as it was decided, what is known of its health, and the targets of the step."""

    why: str
    before: Binding
    decided: Binding
    want: Mapping[str, int]
    ready: Mapping[str, int | None] = field(default_factory=dict)
    down: tuple[str, ...] = ()


SIX = a_binding(targets=targets(oslo=6))
DAEMONS = a_binding("DaemonSet", 0, targets=targets(oslo=0))
MOVED = a_binding(targets=targets(paris=6))
CASES = (
    Case(why="replicas", before=SIX, decided=MOVED, ready={"oslo": 6}, want={"paris": 2, "oslo": 6}),
    Case(
        why="a DaemonSet stays until its copy elsewhere is healthy",
        before=DAEMONS,
        decided=replace(DAEMONS, targets=targets(paris=0)),
        ready={"oslo": 1},
        want={"paris": 0, "oslo": 0},
    ),
    Case(
        why="and leaves then",
        before=replace(DAEMONS, targets=targets(paris=0, oslo=0), moving=Moving(asked=targets(paris=0))),
        decided=replace(DAEMONS, targets=targets(paris=0)),
        ready={"oslo": 1, "paris": 1},
        want={"paris": 0},
    ),
    Case(
        why="what leaves a cluster directly is not held there",
        before=SIX,
        decided=replace(MOVED, eviction_tasks=leaving("oslo", "Directly")),
        ready={"oslo": 6},
        want={"paris": 6},
    ),
    Case(
        why="what is evicted gracefully is held, whatever its grace period",
        before=replace(SIX, eviction_tasks=leaving("oslo")),
        decided=MOVED,
        ready={"oslo": 6},
        want={"paris": 2, "oslo": 6},
    ),
    Case(
        why="in a cluster that is down no longer than that",
        before=replace(SIX, eviction_tasks=leaving("oslo")),
        decided=MOVED,
        ready={"oslo": 6},
        down=("oslo",),
        want={"paris": 6},
    ),
    Case(
        why="replicas that an override sets are no matter of a move",
        before=replace(SIX, overridden=(OverriddenReplicas(clusters=("oslo",), replicas=1),)),
        decided=MOVED,
        want={"paris": 6},
    ),
    Case(
        why="a cluster that left the source has what it has, and is no target",
        before=replace(SIX, targets=targets(rome=6)),
        decided=MOVED,
        want={"paris": 6},
    ),
    Case(why="what goes nowhere goes at once", before=SIX, decided=a_binding(targets=()), want={}),
    Case(
        why="a StatefulSet of which nobody knows which replicas are ready keeps all that may be",
        before=replace(SIX, ref=ObjectRef("apps", "StatefulSet", "shop", "web")),
        decided=replace(MOVED, ref=ObjectRef("apps", "StatefulSet", "shop", "web")),
        ready={"oslo": 3},
        want={"paris": 2, "oslo": 6},
    ),
    Case(
        why="a Deployment loses at once what is not ready",
        before=SIX,
        decided=MOVED,
        ready={"oslo": 3},
        want={"paris": 5, "oslo": 3},
    ),
)


@each_row("case", CASES, ids=lambda case: case.why)
def test_the_targets_of_a_step(case: Case) -> None:
    names = ("oslo", "paris")
    reports = tuple(
        ReportedHealth(
            cluster=name,
            health="Healthy" if ready in {1, 6} else "Unhealthy",
            ready=ready if case.decided.replicas else None,
        )
        for name, ready in case.ready.items()
    )
    stage = MoveStage(
        before={case.before.ref: case.before},
        health=ObservedHealth(
            conditions={name: DOWN if name in case.down else WELL for name in names},
            workloads={case.decided.ref: reports},
        ),
        index=ClusterIndex(tuple(Cluster(name=name) for name in names)),
        settings_of=lambda _ref: STEPS,
        source="5" * 40,
    )
    (found,) = stage.moved([case.decided]).bindings
    assert {each.name: each.replicas for each in found.targets} == case.want
    assert found.final_targets == case.decided.targets
    assert (found.moving is None) == (found.targets == case.decided.targets)
