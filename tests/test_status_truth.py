"""``argosy status`` and ``argosy wait`` where nothing was ever rendered or applied: the truth, and at once."""

import json
from pathlib import Path
from typing import Any

import pytest

from .build import Ended, Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters

MEMBERS = ("eu", "us")
NEVER_RENDERED = (
    "argosy: nothing is rendered yet: there is no branch 'argosy/rendered'\n  hint: argosy reconcile --bootstrap\n"
)
NO_RUN = "nothing is recorded of it yet: no run has reached it"


def a_fleet(*reached: str) -> dict[str, Any]:
    spec = {"clusters": [{"name": name} for name in reached]} if reached else {}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}, "spec": spec}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """Two members and a Deployment in both; no kubeconfig on this machine."""
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "no-kubeconfig"))
    made = Repository.create(tmp_path / "fleet")
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in MEMBERS}
    made.commit({**clusters, "web.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters(*MEMBERS))})
    return made


def only_rendered(repository: Repository, capsys: pytest.CaptureFixture[str], *reached: str) -> None:
    repository.commit({"argosy.yaml": a_fleet(*reached)})
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0


@pytest.mark.parametrize("words", [("wait",), ("wait", "cluster/eu"), ("wait", "deploy/nginx", "-o", "json")])
def test_a_fleet_that_was_never_rendered_is_not_waited_for(
    words: tuple[str, ...], repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time limit is the default of five minutes: the refusal comes at once."""
    assert argosy(repository, capsys, *words) == Ended(3, "", NEVER_RENDERED)


def test_members_that_no_run_reached_are_not_well(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    only_rendered(repository, capsys, *MEMBERS)
    ended = argosy(repository, capsys, "status")
    assert (ended.code, ended.out.splitlines()[1:]) == (
        1,
        [
            "",
            "CLUSTER   OBJECTS   REPLICAS   NOTE",
            "eu        1         2          NotRecorded",
            "us        1         2          NotRecorded",
            "",
            f"eu: not applied: {NO_RUN}",
            f"us: not applied: {NO_RUN}",
            "",
            "bindings: 1 Success",
        ],
    )
    cluster, workload = (
        argosy(repository, capsys, "status", "cluster/eu"),
        argosy(repository, capsys, "status", "deploy/nginx"),
    )
    assert (cluster.code, cluster.out.splitlines()[3]) == (
        1,
        "nothing is recorded of it yet: run argosy apply, or let a pass reach it",
    )
    assert (workload.code, workload.out.splitlines()[3:]) == (
        1,
        [
            "CLUSTER   REPLICAS   STATE",
            "eu        2          NotRecorded",
            "us        2          NotRecorded",
        ],
    )
    told = json.loads(argosy(repository, capsys, "status", "-o", "json").out)["clusters"]["eu"]
    assert (told["applied"], told["known"], told["reason"], told["message"]) == (False, False, "NotRecorded", NO_RUN)


def test_of_the_members_that_no_run_reached_those_count_that_passes_apply_to(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    only_rendered(repository, capsys, "us")
    ended = argosy(repository, capsys, "status")
    assert (ended.code, ended.out.splitlines()[3:7]) == (
        1,
        [
            "eu        1         2          NotReached",
            "us        1         2          NotRecorded",
            "",
            f"us: not applied: {NO_RUN}",
        ],
    )
    assert argosy(repository, capsys, "status", "cluster/eu").code == 0
    assert argosy(repository, capsys, "status", "cluster/us").code == 1


def test_a_fleet_that_others_apply_is_well_once_it_is_rendered(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    only_rendered(repository, capsys)
    assert [
        argosy(repository, capsys, "status", *words).code for words in ((), ("cluster/eu",), ("deploy/nginx",))
    ] == [0, 0, 0]


def test_members_without_credentials_are_not_well(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    repository.commit({"argosy.yaml": a_fleet(*MEMBERS)})
    assert argosy(repository, capsys, "reconcile", "--bootstrap").code == 5
    ended = argosy(repository, capsys, "status")
    missing = repository.path.parent / "no-kubeconfig"
    assert (ended.code, ended.out.count(f"NoCredentials: there is no kubeconfig at {missing}\n")) == (1, 2)
    assert argosy(repository, capsys, "status", "cluster/eu").code == 1
    assert argosy(repository, capsys, "status", "deploy/nginx").code == 1
