"""Nothing moves by accident: what a pass refuses to do to placed workloads, whole messages, and what allows it."""

from pathlib import Path
from typing import Any

import pytest

from .build import a_cluster, a_deployment, a_policy, on_clusters, weighted
from .stories import Run, Story, a_fleet, movement_hint, play, settings

HEADER = "this change moves too much at once; nothing was committed\n"
NGINX = "default/Deployment.apps/nginx"
COMMITTED = "committed <rendered> to argosy/rendered: source <main> for {}\n"


def holds(*replicas: int) -> tuple[str, ...]:
    """Return the lines of nginx; a cluster without replicas has none."""
    return tuple(f"member{n} {NGINX} {count} nginx:1.29" for n, count in enumerate(replicas, 1) if count)


def placed(**weights: int) -> dict[str, Any]:
    """A policy that divides by weights among the clusters named."""
    return {"policy.yaml": a_policy(placement=on_clusters(*weights, replicaScheduling=weighted(**weights)))}


def story(
    why: str, guard: dict[str, Any], then: dict[str, Any], *runs: Run, left: tuple[str, ...], **more: Any
) -> Story:
    """A change of six replicas that are divided 4:2 at first."""
    first = {
        "argosy.yaml": settings(movementGuard=guard, removalGuard={"count": 9}),
        "nginx.yaml": a_deployment(replicas=6),
        **placed(member1=2, member2=1),
        **more.pop("files", {}),
    }
    return Story(why, first, then, runs, left, **more)


TURNED = placed(member1=1, member2=2)
REGIONS = {f"clusters/member{n}.yaml": a_cluster(f"member{n}", region=region) for n, region in ((1, "eu"), (2, "us"))}
FLEET = f"{HEADER}  the fleet: 2 of 6 replicas move (more than 1)\n{movement_hint('* 2')}"
WORKLOAD = (
    f"{HEADER}  Deployment.apps default/nginx: 2 of 6 replicas move (more than 20 %): member1 4 -> 2, member2 2 -> 4\n"
    f"{movement_hint('Deployment.apps default/nginx 2')}"
)
STAT = """\
CLUSTER   ADDED   CHANGED   REMOVED   REPLICAS
member1   +0      ~1        -0        4 -> 2
member2   +0      ~1        -0        2 -> 4
risk: touches 2 of 3 clusters, moves 2 of 6 replicas
2 clusters change, 1 object changed, 2 of 6 replicas move
"""
EMPTIED = (
    "this change removes too much at once; nothing was committed\n"
    "  member2: 1 of 1 object (everything it holds): default/Deployment.apps/nginx.yaml\n"
)

STORIES = [
    story(
        "without limits everything may move",
        {},
        TURNED,
        Run("reconcile", 0, COMMITTED.format("2 clusters")),
        left=holds(2, 4),
    ),
    story(
        "the fleet has a number of replicas that may move",
        {"fleet": {"replicas": 1}},
        TURNED,
        Run("render --commit", 6, "", FLEET),
        Run("diff --stat --check main~1 main", 6, STAT, FLEET.replace("; nothing was committed", "")),
        Run("reconcile", 6, "", FLEET),
        Run("reconcile --allow-movement *=1", 6, "", FLEET),
        Run("reconcile --allow-movement *=2", 0, COMMITTED.format("2 clusters")),
        left=holds(2, 4),
    ),
    story(
        "as many as the limit says may move",
        {"fleet": {"replicas": 2, "percent": 50}, "workload": {"replicas": 2}},
        TURNED,
        Run("reconcile", 0, COMMITTED.format("2 clusters")),
        left=holds(2, 4),
    ),
    story(
        "a workload has a share of its replicas that may move",
        {"workload": {"percent": 20}},
        TURNED,
        Run("reconcile", 6, "", WORKLOAD),
        left=holds(4, 2),
    ),
    story(
        "a source commit lets a workload move by its name",
        {"workload": {"percent": 20}},
        TURNED,
        Run("reconcile", 0, COMMITTED.format("2 clusters")),
        left=holds(2, 4),
        trailers="Argosy-Allow-Movement: Deployment.apps default/nginx 2",
    ),
    story(
        "a source commit lets every workload move",
        {"workload": {"percent": 20}, "fleet": {"percent": 1}},
        TURNED,
        Run("reconcile", 0, COMMITTED.format("2 clusters")),
        left=holds(2, 4),
        trailers="Argosy-Allow-Movement: * 2",
    ),
    story(
        "what is scaled does not move",
        {"fleet": {"replicas": 0}, "workload": {"replicas": 0}},
        {"nginx.yaml": a_deployment(replicas=12)},
        Run("reconcile", 0, COMMITTED.format("2 clusters")),
        left=holds(8, 4),
    ),
    story(
        "a workload keeps its least number of clusters",
        {"minimumClusters": 2},
        placed(member1=1),
        Run(
            "reconcile --allow-removal member2=1",
            6,
            "",
            f"{HEADER}  Deployment.apps default/nginx: in 1 cluster, at least 2 are asked for\n"
            f"{movement_hint('Deployment.apps default/nginx 1')}",
        ),
        left=holds(4, 2),
    ),
    story(
        "a workload keeps its least number of regions",
        {"minimumRegions": 2},
        placed(member1=1),
        Run(
            "reconcile --allow-removal member2=1",
            6,
            "",
            f"{HEADER}  Deployment.apps default/nginx: in 1 region, at least 2 are asked for\n"
            f"{movement_hint('Deployment.apps default/nginx 1')}",
        ),
        left=holds(4, 2),
        files=REGIONS,
    ),
    story(
        "what is pinned stays, unless it is allowed by name, and both guards speak at once",
        {"pinned": [{"kind": "Deployment", "namespace": "default", "clusters": ["member2"]}]},
        placed(member1=1),
        Run(
            "reconcile --allow-movement *=9",
            6,
            "",
            f"{HEADER}  Deployment.apps default/nginx: leaves member2, where it is pinned\n"
            f"{movement_hint('Deployment.apps default/nginx 1')}",
        ),
        left=holds(4, 2),
    ),
    story(
        "a pin is lifted by name",
        {"pinned": [{"kind": "Deployment"}]},
        placed(member1=1),
        Run("reconcile --allow-removal member2=1", 0, COMMITTED.format("1 cluster")),
        left=holds(6),
        trailers="Argosy-Allow-Movement: Deployment.apps default/nginx 1",
    ),
]


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story.why)
def test_what_moves_at_once(story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    play(story, a_fleet(tmp_path / "fleet"), capsys)
