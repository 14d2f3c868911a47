"""A refusal lasts as long as what it is for: undone, the object is Scheduled again and no replica has moved."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from render.documents import parse_documents

from .build import Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from .schedulable import AGGREGATED, DYNAMIC
from .test_failover import a_fleet

BINDING = "bindings/default/Deployment.apps/nginx.yaml"
DRAINED = [{"key": "argosy.dev/drain", "effect": effect} for effect in ("NoExecute", "NoSchedule")]
ON_TWO = [{"spreadByField": "cluster", "minGroups": 2, "maxGroups": 2}]


class Case(NamedTuple):
    """A way to divide replicas, files of a commit that cannot be met, and the reason it is refused for."""

    why: str
    scheduling: Mapping[str, Any]
    files: Mapping[str, Any]
    reason: str
    settings: Mapping[str, Any] = {}
    after: str = "Success"


def member(name: str, **spec: Any) -> dict[str, Any]:
    return {**a_cluster(name, **spec), "status": {"resourceSummary": {"allocatable": {"pods": "10"}}}}


def policy(scheduling: Mapping[str, Any], clusters: int = 2) -> dict[str, Any]:
    spread = [{**ON_TWO[0], "minGroups": clusters, "maxGroups": clusters}]
    placement = on_clusters("oslo", "paris", replicaScheduling=scheduling, spreadConstraints=spread)
    return a_policy(placement=placement)


DRAIN = {"paris.yaml": member("paris", taints=DRAINED)}
FAR_TOO_MANY = {"web.yaml": a_deployment(replicas=400)}
CASES = [
    Case("too many replicas", DYNAMIC, FAR_TOO_MANY, "SchedulerError"),
    Case("too many replicas in one", AGGREGATED, FAR_TOO_MANY, "SchedulerError"),
    Case("a drain, replicas by room", DYNAMIC, DRAIN, "SchedulerError"),
    Case("a policy that asks for more clusters", DYNAMIC, {"policy.yaml": policy(DYNAMIC, 3)}, "SchedulerError"),
    Case(
        "too many replicas, as in Karmada",
        DYNAMIC,
        FAR_TOO_MANY,
        "SchedulerError",
        {"compatibility": "Karmada", "requireRecordedAPIs": False},
        after="SchedulerError",
    ),
]


def reason(repository: Repository) -> str:
    (scheduled,) = (
        each
        for each in parse_documents(repository.show(BINDING).encode())[0].value["status"]["conditions"]
        if each["type"] == "Scheduled"
    )
    return str(scheduled["reason"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.why)
def test_a_refusal_ends_with_what_it_was_for(tmp_path: Path, capsys: pytest.CaptureFixture[str], case: Case) -> None:
    """Before, it stayed for ever, in `status` and its exit code, too."""
    repository = Repository.create(tmp_path / "fleet")
    files = {
        "argosy.yaml": a_fleet(removalGuard={"whole": 100}, **case.settings),
        "oslo.yaml": member("oslo"),
        "paris.yaml": member("paris"),
        "web.yaml": a_deployment(replicas=4),
        "policy.yaml": policy(case.scheduling),
    }
    repository.commit(files)
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 0
    placed = repository.contents(under="clusters")
    repository.commit(case.files)
    argosy(repository, capsys, "reconcile")
    assert reason(repository) == case.reason
    repository.commit(files)
    ended = argosy(repository, capsys, "reconcile")
    assert reason(repository) == case.after
    assert repository.contents(under="clusters") == placed
    assert ended.code == (0 if case.after == "Success" else 1)
    assert argosy(repository, capsys, "reconcile").out.startswith("unchanged: ")
    assert argosy(repository, capsys, "verify", "-n", "3").out.count("equal") == 3
