"""Replicas that move step by step, in memory: each row is what happens to a fleet, and the commits of its passes.

A commit is told by the replicas that each cluster is given. That none of them takes healthy replicas away which are
needed is looked at in each of them (``tests.moving``).
"""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from reconciler.pipeline.moves import moves_in_steps
from render.binding import Binding
from render.model import ObjectRef, TargetCluster, group_of
from render.placement import Placement

from .build import a_cluster, a_config_map, a_policy, on_clusters, weighted
from .moving import MovingFleet, a_fleet_of_moves, divided, duplicated, web
from .rolling import WEB, a_rollout_policy, a_wave
from .tables import each_row

CLUSTERS = ("oslo", "paris", "rome")
DRAINED = a_cluster("oslo", taints=[{"key": "drained", "effect": "NoExecute"}])
LABELS = {"runs": "web"}
A_REBALANCER = {
    "apiVersion": "apps.karmada.io/v1alpha1",
    "kind": "WorkloadRebalancer",
    "metadata": {"name": "again"},
    "spec": {"workloads": [{**WEB, "namespace": "default"}]},
}
FAILOVER = {"featureGates": {"Failover": True}}


def by_label() -> dict[str, Any]:
    """A policy that divides web evenly over all clusters that have a label."""
    affinity = {"labelSelector": {"matchLabels": LABELS}}
    target = {"targetCluster": affinity, "weight": 1}
    scheduling = {
        "replicaSchedulingType": "Divided",
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"staticWeightList": [target]},
    }
    placement = {"clusterAffinity": affinity, "replicaScheduling": scheduling}
    return a_policy("web", selectors=[WEB], placement=placement)


class Step(Struct, kw_only=True):
    """Something that happens, and the commits of it. ``most`` are the pods that get ready in clusters."""

    commits: Sequence[str]
    files: Mapping[str, Any] = field(default_factory=dict)
    most: Mapping[str, int] = field(default_factory=dict)
    sick: Sequence[str] = ()
    down: Sequence[str] = ()
    seconds: int = 0
    note: str | None = None


class Situation(Struct, kw_only=True):
    """A fleet with a policy, and what happens to it; ``settings`` are more of its argosy.yaml."""

    why: str
    steps: Sequence[Step]
    policy: Mapping[str, Any] = field(default_factory=lambda: divided(oslo=1))
    replicas: int = 6
    settings: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, Any] = field(default_factory=dict)


def placed(*commits: str, policy: Mapping[str, Any], more: Mapping[str, Any] | None = None, **step: Any) -> Step:
    """The policy becomes another one, with ``more`` files."""
    return Step(commits=commits, files={"policy": policy, **(more or {})}, **step)


SITUATIONS = (
    Situation(
        why="replicas leave as fast as their successors get ready",
        steps=[
            placed("oslo 6, paris 2", "oslo 4, paris 4", "oslo 2, paris 6", "paris 6", policy=divided(paris=1), note="")
        ],
    ),
    Situation(
        why="weights that change move no more than they have to",
        policy=divided(oslo=2, paris=1),
        steps=[placed("oslo 4, paris 4", "oslo 2, paris 4", policy=divided(oslo=1, paris=2))],
    ),
    Situation(
        why="without a surge, some may be missing meanwhile",
        settings={"surge": 0, "maxUnavailable": 3},
        steps=[placed("oslo 3, paris 3", "paris 6", policy=divided(paris=1))],
    ),
    Situation(
        why="a fleet that says nothing moves at once",
        settings={"moves": "AtOnce", "surge": None},
        steps=[placed("paris 6", policy=divided(paris=1))],
    ),
    Situation(
        why="successors that do not get ready hold what they would replace",
        steps=[
            placed(
                "oslo 6, paris 2",
                "oslo 5, paris 3",
                policy=divided(paris=1),
                most={"paris": 1},
                note="moves step by step: oslo has 5 and ends with 0, paris has 3 and ends with 6; the next step"
                " comes when enough of them are ready",
            ),
            Step(commits=[], seconds=3600, most={"paris": 1}),
            Step(commits=["oslo 3, paris 5", "oslo 1, paris 6", "paris 6"], note=""),
        ],
    ),
    Situation(
        why="a dead successor holds up no other one",
        steps=[
            placed(
                "oslo 6, rome 2",
                "oslo 4, rome 3",
                "oslo 3, rome 3",
                policy=divided(paris=1, rome=1),
                down=["paris"],
            ),
            Step(commits=["oslo 3, paris 2, rome 3", "oslo 1, paris 3, rome 3", "paris 3, rome 3"]),
        ],
    ),
    Situation(
        why="a cluster that is down is replaced at once, and its share goes last",
        policy=divided(oslo=1, rome=1),
        steps=[
            placed("oslo 3, paris 3, rome 3", "paris 3, rome 3", policy=divided(paris=1, rome=1), down=["oslo"]),
        ],
    ),
    Situation(
        why="a decision that is taken back in mid-move goes back step by step",
        steps=[
            placed("oslo 6, paris 2", "oslo 5, paris 3", policy=divided(paris=1), most={"paris": 1}),
            placed("oslo 6, paris 1", "oslo 6", policy=divided(oslo=1), most={"paris": 1}),
        ],
    ),
    Situation(
        why="another decision goes on from where replicas are",
        steps=[
            placed("oslo 6, paris 2", "oslo 5, paris 3", policy=divided(paris=1), most={"paris": 1}),
            placed(
                "oslo 5, paris 1, rome 2",
                "oslo 3, paris 1, rome 4",
                "oslo 1, paris 1, rome 6",
                "rome 6",
                policy=divided(rome=1),
                most={"paris": 1},
            ),
        ],
    ),
    Situation(
        why="scaling is not held up",
        policy=divided(oslo=1, paris=1),
        steps=[
            Step(commits=["oslo 6, paris 6"], files={"web": web(12)}),
            Step(commits=["oslo 1, paris 1"], files={"web": web(2)}),
        ],
    ),
    Situation(
        why="scaling in mid-move counts at once",
        steps=[
            placed("oslo 6, paris 2", policy=divided(paris=1), most={"paris": 0}),
            Step(commits=["oslo 6, paris 4"], files={"web": web(8)}, most={"paris": 0}),
            Step(commits=["paris 4"], files={"web": web(4)}),
        ],
    ),
    Situation(
        why="whole copies come at once, and go when all others are healthy",
        policy=duplicated("oslo", "paris"),
        steps=[
            placed(
                "oslo 6, paris 6, rome 6",
                policy=duplicated("paris", "rome"),
                most={"rome": 5},
                note="stays in oslo until its copies in other clusters are healthy",
            ),
            Step(commits=["paris 6, rome 6"], note=""),
        ],
    ),
    Situation(
        why="a rollout policy says it for what it selects",
        settings={"moves": "AtOnce", "surge": None},
        files={"rollout": a_rollout_policy(moves="MakeBeforeBreak", surge=3)},
        steps=[placed("oslo 6, paris 3", "oslo 3, paris 6", "paris 6", policy=divided(paris=1))],
    ),
    Situation(
        why="and may say that it moves at once",
        files={"rollout": a_rollout_policy(moves="AtOnce")},
        steps=[placed("paris 6", policy=divided(paris=1))],
    ),
    Situation(
        why="a rollout goes on while replicas move, each cluster with the bytes of its version",
        files={"rollout": a_rollout_policy(waves=[a_wave("canary", "paris"), a_wave("rest")])},
        steps=[
            placed(
                "oslo 6, paris 2 (v2)",
                "oslo 4 (v2), paris 4 (v2)",
                "oslo 2 (v2), paris 6 (v2)",
                "paris 6 (v2)",
                policy=divided(paris=1),
                more={"web": web(6, 2)},
            ),
        ],
    ),
    Situation(
        why="a template that is deleted leaves at once",
        steps=[Step(commits=[""], files={"web": None})],
    ),
    Situation(
        why="a cluster that is drained is left step by step",
        policy=divided(oslo=1, paris=1),
        settings=FAILOVER,
        steps=[
            Step(
                commits=["oslo 3, paris 5", "oslo 1, paris 6", "paris 6"],
                files={"oslo": DRAINED},
            ),
        ],
    ),
    Situation(
        why="also where nothing fails over, and the source alone takes it away",
        policy=divided(oslo=1, paris=1),
        steps=[
            Step(commits=["oslo 3, paris 5", "oslo 1, paris 6", "paris 6"], files={"oslo": DRAINED}),
        ],
    ),
    Situation(
        why="a label that a cluster loses moves what it had step by step",
        policy=by_label(),
        files={"oslo": a_cluster("oslo", labels=LABELS), "rome": a_cluster("rome", labels=LABELS)},
        steps=[
            Step(commits=["oslo 3, rome 5", "oslo 1, rome 6", "rome 6"], files={"oslo": a_cluster("oslo")}),
        ],
    ),
    Situation(
        why="a rebalance that is asked for moves step by step",
        policy=divided(oslo=1, paris=1),
        steps=[
            Step(commits=["oslo 3, paris 5", "oslo 1, paris 6", "paris 6"], files={"oslo": DRAINED}),
            Step(commits=[], files={"oslo": a_cluster("oslo")}),
            Step(
                commits=["oslo 2, paris 6", "oslo 3, paris 4", "oslo 3, paris 3"],
                files={"rebalancer": A_REBALANCER},
            ),
        ],
    ),
    Situation(
        why="a cluster that leaves the source keeps what it has",
        policy=divided(oslo=1, paris=1),
        steps=[Step(commits=["oslo 3, paris 6"], files={"oslo": None})],
    ),
)


@each_row("case", SITUATIONS, ids=lambda case: case.why)
def test_a_situation(case: Situation) -> None:
    settings = {
        name: each for name, each in {**a_fleet_of_moves()["spec"], **case.settings}.items() if each is not None
    }
    argosy = {**a_fleet_of_moves(), "spec": settings}
    fleet = MovingFleet.begun(
        CLUSTERS, **{"argosy": argosy, "policy": case.policy, "web": web(case.replicas), **case.files}
    )
    for step in case.steps:
        fleet.most, fleet.sick, fleet.down = dict(step.most), set(step.sick), set(step.down)
        assert fleet.commit(**step.files).run(step.seconds) == list(step.commits)
        if step.note is not None:
            assert fleet.note() == step.note


SERVICE = ObjectRef("", "Service", "default", "web")
CONFIG = ObjectRef("", "ConfigMap", "default", "web")


def test_what_a_copy_needs_and_what_serves_it_stays_as_long_as_the_copy() -> None:
    """All of it is placed by one policy, so that its edit takes all of it out of a cluster."""
    deployment = web(6)
    deployment["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": "web"}}]
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80}]},
    }
    selectors = [WEB, {"apiVersion": "v1", "kind": "Service"}, {"apiVersion": "v1", "kind": "ConfigMap"}]

    def policy(cluster: str) -> dict[str, Any]:
        scheduling = weighted(**{cluster: 1})
        return a_policy("web", selectors=selectors, placement=on_clusters(cluster, replicaScheduling=scheduling))

    files = {"web": deployment, "service": service, "config": a_config_map("web", answer="42")}
    fleet = MovingFleet.begun(CLUSTERS, policy=policy("oslo"), **files)
    fleet.commit(policy=policy("paris"))
    for replicas in ({"oslo": 6, "paris": 2}, {"oslo": 4, "paris": 4}, {"oslo": 2, "paris": 6}, {"paris": 6}):
        assert fleet.pass_once()
        assert fleet.replicas() == replicas
        for name in replicas:
            assert fleet.manifest(name, SERVICE), f"{name} lost its Service at {replicas}"
            assert fleet.manifest(name, CONFIG), f"{name} lost its ConfigMap at {replicas}"
    assert fleet.previous is not None
    assert "oslo" not in fleet.previous.tree.clusters


KINDS = (
    ("a Deployment", "apps/v1", "Deployment", 2, True),
    ("a StatefulSet", "apps/v1", "StatefulSet", 2, True),
    ("a DaemonSet, which has no number", "apps/v1", "DaemonSet", 0, True),
    ("a custom kind with replicas", "example.com/v1", "Shop", 2, True),
    ("a Job, which runs to completion", "batch/v1", "Job", 2, False),
    ("a ConfigMap", "v1", "ConfigMap", 0, False),
)


@each_row("why, api_version, kind, replicas, is_gradual", KINDS)
def test_kinds_with_pods_that_go_on_move_step_by_step(
    why: str, api_version: str, kind: str, replicas: int, *, is_gradual: bool
) -> None:
    ref = ObjectRef(group_of(api_version), kind, "default", "web")
    binding = Binding(
        ref=ref,
        api_version=api_version,
        replicas=replicas,
        placement=Placement(),
        targets=(TargetCluster("oslo", replicas),),
    )
    assert (why, moves_in_steps(binding)) == (why, is_gradual)
