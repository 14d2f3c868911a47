"""``argosy lock`` and ``argosy vendor``: the lock of a repository, written, checked, fetched and vendored."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.artifact_servers import ArtifactServer, Reply, serving_artifacts
from tests.build import Repository, a_deployment, a_policy, argosy, on_clusters

CHART = {"Chart.yaml": b"name: web\n", "templates/web.yaml": b"apiVersion: v1\nkind: Service\n"}


@pytest.fixture
def server() -> Iterator[ArtifactServer]:
    with serving_artifacts() as server:
        server.add_chart("web", "1.0.0", CHART)
        yield server


@pytest.fixture
def fleet(tmp_path: Path, server: ArtifactServer) -> Repository:
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"web.yaml": a_source(server)})
    return repository


def a_source(server: ArtifactServer, name: str = "web", version: str = "1.x") -> dict[str, Any]:
    place = {"url": f"{server.url}/charts", "chart": "web", "version": version}
    return {"apiVersion": "argosy.dev/v1alpha1", "kind": "Source", "metadata": {"name": name}, "spec": {"helm": place}}


Run = Callable[..., tuple[int, str, str]]
"""Run a command line in the repository; return its exit code and what it printed."""


@pytest.fixture
def run(fleet: Repository, capsys: pytest.CaptureFixture[str]) -> Run:
    def ended(*arguments: str) -> tuple[int, str, str]:
        end = argosy(fleet, capsys, *arguments)
        return end.code, end.out, end.err

    return ended


def lock(fleet: Repository) -> str:
    return (fleet.path / "argosy.lock").read_text()


def vendored(fleet: Repository) -> dict[str, bytes]:
    folder = fleet.path / "vendor/web"
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_source_is_locked_once_and_moves_only_when_it_is_told_to(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    assert run("lock") == (0, "+ web: 1.0.0\n", "")
    first = lock(fleet)
    server.add_chart("web", "1.1.0", {**CHART, "values.yaml": b""})
    assert run("lock")[:2] == (0, "")
    assert lock(fleet) == first
    assert run("lock", "--update", "web", "--check") == (1, "~ web: 1.0.0 -> 1.1.0\n", "")
    assert lock(fleet) == first
    assert run("lock", "--update", "web") == (0, "~ web: 1.0.0 -> 1.1.0\n", "")
    assert "version: 1.1.0" in lock(fleet).replace('"', "")


def test_a_check_asks_nobody_and_says_what_differs(fleet: Repository, server: ArtifactServer, run: Run) -> None:
    assert run("lock", "--check") == (1, "+ web: not in argosy.lock\n", "")
    run("lock")
    assert run("lock", "--check") == (0, "", "")
    server.asked.clear()
    fleet.write({"web.yaml": [a_source(server, version="2.x"), a_source(server, "new")]})
    wanted = "+ new: not in argosy.lock\n~ web: changed since it was locked\n"
    assert run("lock", "--check") == (1, wanted, "")
    fleet.write({"web.yaml": a_source(server, "new")})
    wanted = "+ new: not in argosy.lock\n- web: no Source has this name\n"
    assert (run("lock", "--check"), server.asked) == ((1, wanted, ""), [])


def test_a_source_that_cannot_be_resolved_leaves_the_lock_as_it_is(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    run("lock")
    first = lock(fleet)
    fleet.write({"more.yaml": a_source(server, "more"), "none.yaml": a_source(server, "none", ">9")})
    code, out, err = run("lock")
    assert (code, out) == (3, "+ more: 1.0.0\n")
    assert f"{server.url}/charts/index.yaml has no version of 'web' in '>9'" in err
    assert lock(fleet) == first


def test_an_unknown_source_is_named_with_its_nearest(run: Run) -> None:
    assert run("lock", "--update", "webb") == (
        2,
        "",
        "argosy: there is no Source 'webb'\n  hint: did you mean 'web'?\n",
    )


def test_fetching_fills_the_cache_of_another_clone_and_refuses_other_content(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    run("lock")
    cache = fleet.path / ".git/argosy/sources"
    (kept,) = cache.iterdir()
    content = kept.read_bytes()
    shutil.rmtree(cache)
    assert run("lock", "--fetch")[0] == 0
    assert kept.read_bytes() == content
    shutil.rmtree(cache)
    server.replies["/charts/web-1.0.0.tgz"] = Reply(b"other")
    code, _, err = run("lock", "--fetch")
    assert (code, cache.exists()) == (3, False)
    assert "web-1.0.0.tgz does not match its locked digest sha256:" in err


def test_vendored_content_is_read_without_a_server_and_leaves_again(
    fleet: Repository, server: ArtifactServer, run: Run
) -> None:
    run("lock")
    locked = lock(fleet)
    assert run("vendor") == (0, "4 files written, 0 removed\n", "")
    marker = b"The content of a Source: argosy vendor writes this folder, and argosy.lock has its digest.\n"
    assert vendored(fleet) == {**CHART, ".argosy-source": marker}
    shutil.rmtree(fleet.path / ".git/argosy/sources")
    server.asked.clear()
    fleet.commit({"app.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("m1"))})
    assert (run("validate")[0], run("lock", "--check")[0], server.asked) == (0, 0, [])
    assert run("vendor", "--remove", "web")[:2] == (0, "1 files written, 3 removed\n")
    assert (vendored(fleet), lock(fleet)) == ({}, locked)


def test_an_update_replaces_vendored_content(fleet: Repository, server: ArtifactServer, run: Run) -> None:
    run("lock")
    run("vendor")
    server.add_chart("web", "1.1.0", {"Chart.yaml": b"name: web\n", "values.yaml": b"a: 1\n"})
    assert run("lock", "--update", "*")[:2] == (0, "~ web: 1.0.0 -> 1.1.0\n")
    assert sorted(vendored(fleet)) == [".argosy-source", "Chart.yaml", "values.yaml"]


def test_a_pass_fetches_what_its_commit_locks(fleet: Repository, server: ArtifactServer, run: Run) -> None:
    run("lock")
    files = {"app.yaml": a_deployment(), "policy.yaml": a_policy(placement=on_clusters("m1"))}
    fleet.commit(files, "begin")
    cache = fleet.path / ".git/argosy/sources"
    shutil.rmtree(cache)
    assert run("validate")[0] == 0
    assert not cache.exists()
    server.asked.clear()
    code, _, err = run("reconcile", "--bootstrap")
    assert "NoClusterFit" in err
    assert (code, [each.path for each in server.asked]) == (1, ["/charts/web-1.0.0.tgz"])
    assert len(list(cache.iterdir())) == 1


def test_fetching_and_updating_are_two_things(run: Run) -> None:
    code, _, err = run("lock", "--fetch", "--check")
    assert code == 2
    assert "--fetch changes no version: leave out --update and --check" in err
