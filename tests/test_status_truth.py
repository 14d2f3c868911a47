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


@pytest.fixture
def clones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Repository, Repository]:
    """Two clones of a hub: one in which passes run, and somebody's, which has fetched nothing since the first one."""
    hub = Repository.create(tmp_path / "hub.git", bare=True)
    passes, own = Repository.create(tmp_path / "passes"), tmp_path / "own"
    passes.git("remote", "add", "origin", str(hub.path))
    clusters = {f"clusters/{name}.yaml": a_cluster(name) for name in MEMBERS}
    passes.commit({**clusters, "web.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters(*MEMBERS))})
    passes.git("push", "-q", "-u", "origin", "main")
    hub.git("symbolic-ref", "HEAD", "refs/heads/main")
    early = tmp_path / "early"
    passes.git("clone", "-q", str(hub.path), str(early))
    ended = argosy(passes, capsys, "reconcile", "--bootstrap")
    assert ended.code == 0, ended
    passes.git("clone", "-q", str(hub.path), str(own))
    return Repository(early), Repository(own)


API = a_deployment("api")
API_POLICY = a_policy(
    "api", selectors=[{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api"}], placement=on_clusters(*MEMBERS)
)


def test_a_clone_that_was_not_fetched_does_not_know_what_is_rendered(
    clones: tuple[Repository, Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, it said that nothing is rendered yet, or that no policy selects the object."""
    early, own = clones
    ended = argosy(early, capsys, "status", "deploy/nginx")
    assert ended.code == 3
    assert ended.err == (
        "argosy: nothing rendered is known here: branch 'argosy/rendered' of 'origin' was not there when last fetched\n"
        "  hint: git fetch origin, or argosy reconcile --bootstrap if nothing was ever rendered\n"
    )
    rendered = own.git("rev-parse", "--short=12", "origin/argosy/rendered")
    source = own.git("rev-parse", "--short=12", "HEAD")
    newest = own.commit({"api.yaml": API, "api-policy.yaml": API_POLICY})
    message = (
        f"argosy: Deployment.apps default/api is not in argosy/rendered {rendered}, the newest that is known here,"
        f" which holds source {source}"
    )
    ended = argosy(own, capsys, "status", "deploy/api")
    assert ended.err == f"{message}; HEAD {newest[:12]} is not pushed, so no pass sees it\n  hint: git push\n"
    own.git("push", "-q", "origin", "main")
    ended = argosy(own, capsys, "status", "deploy/api")
    hint = "git fetch origin, or argosy reconcile if no pass runs by itself"
    assert (ended.code, ended.err) == (3, f"{message}, and not {newest[:12]}\n  hint: {hint}\n")


def test_an_object_that_is_not_rendered_yet_is_waited_for(
    clones: tuple[Repository, Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    """Before, waiting for it ended at once: no policy selects it."""
    _, own = clones
    newest = own.commit({"api.yaml": API, "api-policy.yaml": API_POLICY})
    own.git("push", "-q", "origin", "main")
    ended = argosy(own, capsys, "wait", "deploy/api", "--timeout", "0")
    assert (ended.code, f"source {newest[:12]} is not rendered yet" in ended.err) == (1, True)


def test_a_clone_without_the_status_branch_says_how_to_get_it(
    clones: tuple[Repository, Repository], capsys: pytest.CaptureFixture[str]
) -> None:
    _, own = clones
    own.commit({"argosy.yaml": a_fleet(*MEMBERS)})
    ended = argosy(own, capsys, "status")
    assert f"eu: not applied: {NO_RUN}\n  hint: git fetch origin\n" in ended.out
