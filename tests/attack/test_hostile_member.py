"""A hostile member beside two honest ones: it fails, and the honest ones get what they would get without it."""

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.visits import MemberReach
from reconciler.observe.members import ObserveOptions, observe_fleet
from render.errors import GitError
from tests.build import Ended, Repository, a_cluster, a_deployment, a_policy, argosy, on_clusters
from tests.fakes import FakeCluster
from tests.served import serving_members
from tests.waiting import SECONDS

DEEP: dict[str, Any] = {}
for _ in range(300):
    DEEP = {"a": DEEP}

Change = Callable[[str, str, int, Any], tuple[int, Any]]
"""From a request's method and path and the honest answer's status and body to what is answered."""


def instead(part: str, body: Any, *, method: str = "GET", status: int = 200) -> Change:
    """Answer requests whose path ends like this with something else."""

    def change(asked: str, path: str, honest: int, answer: Any) -> tuple[int, Any]:
        return (status, body) if asked == method and path.endswith(part) else (honest, answer)

    return change


def in_every_object(**fields: Any) -> Change:
    """Put fields into the metadata of every object that is answered."""

    def change(_asked: str, _path: str, honest: int, answer: Any) -> tuple[int, Any]:
        items = answer.get("items") or [answer] if isinstance(answer, dict) else []
        for item in items:
            if isinstance(item, dict) and isinstance(item.get("metadata"), dict):
                item["metadata"].update(fields)
        return honest, answer

    return change


def with_status(status: Any) -> Change:
    """Put a status into every Deployment that is answered."""

    def change(_asked: str, path: str, honest: int, answer: Any) -> tuple[int, Any]:
        if "/deployments" in path and isinstance(answer, dict):
            for item in answer.get("items") or [answer]:
                item["status"] = status
        return honest, answer

    return change


A_NODE = {"metadata": {"name": "n"}, "status": {"allocatable": {"cpu": "x" * 10, "pods": []}}}
ATTACKS: dict[str, Change] = {
    "a list that is null": instead("/deployments", None),
    "a list of null": instead("/deployments", {"items": [None]}),
    "discovery that is null": instead("/apis", None),
    "discovery of wrong types": instead("/apis", {"kind": "APIGroupList", "groups": [{"versions": "v1"}]}),
    "a version that is a list": instead("/version", []),
    "kube-system without metadata": instead("/namespaces/kube-system", {"kind": "Namespace"}),
    "kube-system nested deep": instead("/namespaces/kube-system", {"metadata": {"name": "x"}, "spec": DEEP}),
    "nodes of wrong types": instead("/nodes", {"items": [A_NODE]}),
    "pods without a spec": instead("/pods", {"items": [{"metadata": {"name": "p", "namespace": "x"}}]}),
    "a patch answered with null": instead("/deployments/nginx", None, method="PATCH"),
    "a patch answered with a list": instead("/deployments/nginx", [], method="PATCH"),
    "a refusal with odd details": instead(
        "/deployments/nginx", {"details": {"causes": [None, {"message": {}}]}}, method="PATCH", status=422
    ),
    "a conflict with odd causes": instead(
        "/deployments/nginx",
        {"details": {"causes": [{"reason": "FieldManagerConflict", "field": [], "message": 1}]}},
        method="PATCH",
        status=409,
    ),
    "managed fields of null": in_every_object(managedFields=[None]),
    "managed fields that lead nowhere": in_every_object(
        managedFields=[{"manager": "argosy", "operation": "Apply", "fieldsV1": {"k:{": {}, "f:spec": None, "v:": 1}}]
    ),
    "labels that are a list": in_every_object(labels=[]),
    "a status of wrong types": with_status({"replicas": {}, "conditions": [None, 1, {"type": []}]}),
    "a status that is a text": with_status("fine"),
    "a status nested deep": with_status({"a": DEEP}),
    "an uid that is a number": in_every_object(uid=1),
}


class Hostile(FakeCluster):
    """A member that changes its answers."""

    change: Change = staticmethod(instead("", {}, method="NEVER"))

    def request(self, method: str, path: str, body: Any = None, **options: Any) -> tuple[int, Any]:
        status, answer = super().request(method, path, body, **options)
        return self.change(method, path.partition("?")[0], status, answer)


NAMES = ("alpha", "hostile", "omega")


def a_fleet(repository: Repository) -> None:
    repository.commit(
        {
            **{f"clusters/{name}.yaml": a_cluster(name) for name in NAMES},
            "nginx.yaml": a_deployment(),
            "policy.yaml": a_policy(placement=on_clusters(*NAMES)),
        }
    )


def reconciled(
    repository: Repository, capsys: pytest.CaptureFixture[str], folder: Path, members: list[FakeCluster]
) -> Ended:
    with serving_members(members, folder) as served:
        return argosy(
            repository,
            capsys,
            *("-v", "reconcile", "--bootstrap", "--kubeconfigs", str(served.kubeconfigs), "--timeout", "10"),
        )


@pytest.mark.parametrize("why", ATTACKS)
def test_a_hostile_member_fails_alone(
    why: str, repository: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a_fleet(repository)
    hostile = Hostile(name="hostile")
    hostile.change = ATTACKS[why]
    members = [FakeCluster(name="alpha"), hostile, FakeCluster(name="omega")]
    begun = time.monotonic()
    for attempt in range(2):
        ended = reconciled(repository, capsys, tmp_path / f"kubeconfigs-{attempt}", members)
        assert ended.code in {0, 1, 7}, ended.err
        assert "argosy: a bug" not in ended.err
    assert time.monotonic() - begun < 60
    for honest in (members[0], members[2]):
        assert honest.objects["deployments.apps", "default", "nginx"]["spec"]["replicas"] == 2
    assert argosy(repository, capsys, "status").code in {0, 1}


def test_an_unexpected_error_is_a_failure_that_names_code_and_no_value() -> None:
    secret = "hunter2"
    values: dict[str, str] = {}
    failure = result_or_failure(lambda: values[secret])
    assert isinstance(failure, Failure)
    assert (failure.kind, failure.message) == (
        FailureKind.UNEXPECTED,
        "an unexpected KeyError stopped the work on this cluster",
    )
    assert __file__ in failure.trace
    assert secret not in f"{failure}{failure.trace}"


def test_a_run_that_is_stopped_on_purpose_is_stopped() -> None:
    def stopped() -> None:
        raise GitError("the branch cannot be written")

    with pytest.raises(GitError):
        result_or_failure(stopped)


def test_a_member_that_never_answers_is_left_behind() -> None:
    """The observation of it ends with its time, whatever its thread is stuck in."""
    over = threading.Event()
    clusters = {name: FakeCluster(name=name) for name in NAMES}

    def stuck(_request: Request) -> Answer | None:
        over.wait(SECONDS)
        return None

    clusters["hostile"].faults.append(stuck)
    options = ObserveOptions(
        reach=MemberReach(open_client=lambda name, _end: clusters[name], max_parallel=1, timeout=0.0)
    )
    observed = observe_fleet(NAMES, options)
    seen = {
        each.cluster: each
        for each in (*observed.in_time, *(late.wait_for_observation() for late in observed.late.values()))
    }
    over.set()
    assert {name: each.failure for name, each in seen.items()} == {
        "alpha": None,
        "hostile": Failure(kind=FailureKind.DEADLINE, message="it was not observed within 0 s"),
        "omega": None,
    }
