"""``argosy run`` as it is: real repositories, real processes, real signals."""

import json
import signal
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from reconciler.run.pass_job import PassJob

from .build import Repository, a_cluster, a_config_map, a_deployment, a_policy
from .build import argosy as argosy_here
from .controllers import SETTINGS, a_fleet, controller, is_rendered, pushed, rendered_source
from .fakes import FakeCluster
from .served import serving_members
from .waiting import SECONDS, eventually, happened, running

pytestmark = pytest.mark.waits


@pytest.fixture
def work(tmp_path: Path) -> Repository:
    """A clone of the bare repository ``fleet.git`` beside it."""
    return a_fleet(tmp_path / "fleet.git")


def test_a_push_to_a_bare_repository_is_rendered_at_once(work: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "fleet.git"
    with controller(tmp_path, str(bare), "--bootstrap") as argosy:
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        argosy.says("committed ")
        begun = time.monotonic()
        is_rendered(bare, pushed(work, "two"))
        assert time.monotonic() - begun < 5
        assert argosy.ended() == 0
    assert "fleet: pass cause=start\n" in argosy.said
    assert "fleet: pass cause=change\n" in argosy.said
    assert argosy.said.count("pass cause=") == 2
    assert argosy.said.endswith("stopping: SIGTERM\n")


def test_a_commit_in_a_work_tree_is_rendered_at_once(work: Repository, tmp_path: Path) -> None:
    work.git("remote", "remove", "origin")
    with controller(tmp_path, str(work.path), "--bootstrap") as argosy:
        is_rendered(work.path, work.git("rev-parse", "HEAD"))
        argosy.says("committed ")
        is_rendered(work.path, work.commit({SETTINGS: a_config_map("settings", text="two")}))


def test_changed_settings_wait_until_the_file_of_the_controller_has_them(work: Repository, tmp_path: Path) -> None:
    """Each pass reads the file, so that nothing has to be started again."""
    bare, accepted = tmp_path / "fleet.git", tmp_path / "accepted.yaml"
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    accepted.write_text(json.dumps(fleet))
    with controller(tmp_path, str(bare), "--bootstrap", "--accepted-settings", str(accepted)) as argosy:
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        work.commit({"argosy.yaml": {**fleet, "spec": {"validation": "Off"}}})
        work.git("push", "-q")
        argosy.says("spec.validation: Strict -> Off")
        accepted.write_text(json.dumps({**fleet, "spec": {"validation": "Off"}}))
        is_rendered(bare, pushed(work, "two"))


@pytest.mark.parametrize("is_remote", [False, True], ids=["a repository here", "a remote"])
def test_settings_that_another_run_accepts_are_in_force_at_once(
    work: Repository, tmp_path: Path, capsys: pytest.CaptureFixture[str], *, is_remote: bool
) -> None:
    bare = tmp_path / "fleet.git"
    place = (f"file://{bare}", "--poll", "200ms") if is_remote else (str(bare),)
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    with controller(tmp_path, *place, "--bootstrap") as argosy:
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        work.commit({"argosy.yaml": {**fleet, "spec": {"validation": "Off"}}})
        work.git("push", "-q")
        argosy.says("spec.validation: Strict -> Off")
        assert argosy_here(work, capsys, "reconcile", "--accept-settings").code == 0
        argosy.says("the last pass went well again")
    assert argosy.said.count("pass cause=change") == 2


def test_settings_that_the_file_of_the_controller_gets_afterwards_are_in_force_at_once(
    work: Repository, tmp_path: Path
) -> None:
    bare, accepted = tmp_path / "fleet.git", tmp_path / "accepted.yaml"
    fleet = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "metadata": {"name": "default"}}
    accepted.write_text(json.dumps(fleet))
    place = (f"file://{bare}", "--poll", "200ms", "--bootstrap", "--accepted-settings", str(accepted))
    with controller(tmp_path, *place) as argosy:
        is_rendered(bare, work.git("rev-parse", "HEAD"))
        changed = work.commit({"argosy.yaml": {**fleet, "spec": {"validation": "Off"}}})
        work.git("push", "-q")
        argosy.says("spec.validation: Strict -> Off")
        accepted.write_text(json.dumps({**fleet, "spec": {"validation": "Off"}}))
        is_rendered(bare, changed)


def test_a_remote_is_polled_for_its_branch(work: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "fleet.git"
    with controller(tmp_path, f"file://{bare}", "--bootstrap", "--poll", "200ms") as argosy:
        argosy.says("committed ")
        is_rendered(bare, pushed(work, "two"))
        assert argosy.ended(signal.SIGINT) == 130
    assert argosy.said.count("pass cause=") == 2


def test_drift_is_looked_for_where_nothing_happens(work: Repository, tmp_path: Path) -> None:
    with controller(tmp_path, str(tmp_path / "fleet.git"), "--bootstrap", "--drift", "500ms") as argosy:
        argosy.says("pass cause=drift", times=2)
    assert work.git("ls-remote", "origin", "argosy/rendered")


def test_a_broken_commit_is_told_and_the_last_good_one_stays(work: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "fleet.git"
    with controller(tmp_path, str(bare), "--bootstrap") as argosy:
        good = work.git("rev-parse", "HEAD")
        is_rendered(bare, good)
        work.commit({"policy.yaml": "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\nspec: 3\n"})
        work.git("push", "-q")
        argosy.says("fleet: error: ")
        assert rendered_source(bare) == good
        work.git("reset", "-q", "--hard", good)
        is_rendered(bare, pushed_again(work, "mended"))
        argosy.says("the last pass went well again")


def pushed_again(work: Repository, text: str) -> str:
    """Push on top of what was broken: a branch that went back would be refused."""
    work.git("reset", "-q", "--soft", "origin/main")
    return pushed(work, text)


def test_a_remote_that_goes_away_ends_nothing(work: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "fleet.git"
    with controller(tmp_path, f"file://{bare}", "--bootstrap", "--poll", "200ms") as argosy:
        argosy.says("committed ")
        bare.rename(tmp_path / "away.git")
        argosy.says("git ls-remote")
        (tmp_path / "away.git").rename(bare)
        is_rendered(bare, pushed(work, "two"))
        assert argosy.ended() == 0


def test_each_fleet_of_a_folder_fails_alone_and_new_ones_come_with_sighup(tmp_path: Path) -> None:
    fleets = tmp_path / "fleets"
    for name in ("east", "west"):
        a_fleet(tmp_path / f"{name}.git")
    fleets.mkdir()
    (tmp_path / "east.git").rename(fleets / "east.git")
    Repository.create(fleets / "broken.git", bare=True)
    with controller(tmp_path, str(fleets), "--bootstrap") as argosy:
        argosy.says("running 2 fleets")
        argosy.says("broken: error: ")
        argosy.says("east: committed ")
        (tmp_path / "west.git").rename(fleets / "west.git")
        argosy.signal(signal.SIGHUP)
        argosy.says("read the settings again: 3 fleets")
        argosy.says("west: committed ")
        assert argosy.ended() == 0


def test_a_pass_that_is_killed_is_done_again(work: Repository, tmp_path: Path) -> None:
    bare = tmp_path / "fleet.git"
    slow = {"ARGOSY_AUTHOR_NAME": "Ada"}
    with controller(tmp_path, str(bare), "--bootstrap", "--pass-timeout", "1ms", environment=slow) as argosy:
        argosy.says("the process of the pass ended by SIGKILL")
        argosy.says("pass cause=retry")
        assert argosy.ended() == 0
    assert rendered_source(bare) == ""
    with controller(tmp_path, str(bare), "--bootstrap"):
        is_rendered(bare, work.git("rev-parse", "HEAD"))


def test_a_controller_that_is_killed_leaves_no_process_behind(work: Repository, tmp_path: Path) -> None:
    """A pass ends with its controller: its git asks for a password that nobody will ever type."""
    hanging = tmp_path / "ssh"
    hanging.write_text(f"#!/bin/sh\necho $$ >> {tmp_path}/pids\nexec sleep 600\n")
    hanging.chmod(0o755)
    environment = {"GIT_SSH_COMMAND": str(hanging)}
    work.git("remote", "set-url", "origin", "ssh://nobody@127.0.0.1/fleet.git")
    with controller(tmp_path, str(work.path), "--bootstrap", environment=environment) as argosy:
        pid = int(eventually(lambda: (tmp_path / "pids").exists() and (tmp_path / "pids").read_text(), "git over ssh"))
        assert argosy.ended(signal.SIGKILL) == -signal.SIGKILL
        eventually(lambda: not is_alive(pid), "the end of what the pass started")


def is_alive(pid: int) -> bool:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False
    return "State:\tZ" not in status


def test_sigterm_ends_what_hangs_within_the_grace_and_a_second_one_at_once(work: Repository, tmp_path: Path) -> None:
    """A remote that hangs keeps a pass from ending by itself only until it is told to: it has written nothing yet."""
    hanging = tmp_path / "ssh"
    hanging.write_text(f"#!/bin/sh\ntouch {tmp_path}/hangs\nexec sleep 600\n")
    hanging.chmod(0o755)
    environment = {"GIT_SSH_COMMAND": str(hanging)}
    work.git("remote", "set-url", "origin", "ssh://nobody@127.0.0.1/fleet.git")
    with controller(tmp_path, str(work.path), "--bootstrap", environment=environment) as argosy:
        eventually((tmp_path / "hangs").exists, "git over ssh")
        begun = time.monotonic()
        assert argosy.ended() == 0
        assert time.monotonic() - begun < 10
    assert "killed" not in argosy.said


def test_a_folder_without_repositories_does_not_start(tmp_path: Path) -> None:
    with controller(tmp_path, str(tmp_path)) as argosy:
        assert argosy.process.wait(timeout=60) == 3
    assert argosy.said == (
        f"argosy: {tmp_path} is not in a Git repository, and holds none\n"
        "  hint: name repositories, their addresses, or a folder of repositories\n"
    )


def test_sigterm_lets_a_pass_finish_the_cluster_it_is_at_and_begins_no_other(tmp_path: Path) -> None:
    work, bare = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git"
    at_first, go_on = threading.Event(), threading.Event()

    def slow(handler: BaseHTTPRequestHandler) -> bool:
        if handler.command == "PATCH" and "configmaps/settings" in handler.path:
            at_first.set()
            happened(go_on, "the signal", seconds=40)
        return False

    members = [FakeCluster(name=name) for name in ("member1", "member2")]
    with serving_members(members, tmp_path / "kubeconfigs", {"member1": slow, "member2": slow}) as served:
        options = ("--bootstrap", "--max-parallel", "1", "--kubeconfigs", str(served.kubeconfigs))
        with controller(tmp_path, str(bare), *options) as argosy:
            happened(at_first, "the first write", seconds=40)
            argosy.signal(signal.SIGTERM)
            argosy.says("stopping: SIGTERM")
            go_on.set()
            assert argosy.process.wait(timeout=60) == 0
    assert "killed" not in argosy.said
    path = "/api/v1/namespaces/default/configmaps/settings"
    written = [member.name for member in members if member.read(path)]
    assert len(written) == 1
    recorded = work.git("ls-remote", "origin", "argosy/status")
    assert recorded
    assert [name.split("/")[1] for name in Repository(bare).files("argosy/status", "works")] == written


def test_a_push_during_a_pass_does_not_wait_for_a_member_that_hangs(tmp_path: Path) -> None:
    """The pass makes way once it has recorded the others, so that they get the new commit within seconds."""
    work, bare = a_fleet(tmp_path / "fleet.git"), tmp_path / "fleet.git"
    hangs, over = threading.Event(), threading.Event()

    def hanging(handler: BaseHTTPRequestHandler) -> bool:
        if handler.command == "PATCH" and not over.is_set():
            hangs.set()
            happened(over, "the end of the wait", seconds=40)
        return False

    members = [FakeCluster(name=name) for name in ("member1", "member2")]
    path = "/api/v1/namespaces/default/configmaps/settings"

    def texts() -> list[str]:
        return [member.read(path)["data"]["text"] for member in members if member.read(path)]

    kubeconfigs = tmp_path / "kubeconfigs"
    with (
        serving_members(members, kubeconfigs, {"member2": hanging}),
        controller(tmp_path, str(bare), "--bootstrap", "--kubeconfigs", str(kubeconfigs)) as argosy,
    ):
        happened(hangs, "the first write to what hangs", seconds=40)
        argosy.says("still waiting for member2")
        begun = time.monotonic()
        commit = pushed(work, "two")
        eventually(lambda: texts() == ["two"], "the new commit in the member that answers", seconds=40)
        took = time.monotonic() - begun
        over.set()
        eventually(lambda: texts() == ["two", "two"], "the new commit in both", seconds=40)
        assert argosy.ended() == 0
    assert took < 5
    assert argosy.said.count("a newer commit: the pass finishes the clusters it is at") == 1
    assert rendered_source(bare) == commit


def test_a_pass_whose_controller_was_killed_ends_without_a_word(tmp_path: Path) -> None:
    """Nobody reads its report any more: it stops, and its log has no traceback of that."""
    repository = Repository.create(tmp_path / "fleet")
    repository.commit({"cluster.yaml": a_cluster("member1"), "web.yaml": a_deployment(), "policy.yaml": a_policy()})
    job = PassJob(fleet="shop", repository=str(repository.path), bootstrap=True)
    program = "from reconciler.run.processes.pass_process import main; main()"
    pipe = subprocess.PIPE
    with running([sys.executable, "-c", program], stdin=pipe, stdout=pipe, stderr=pipe) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(job.to_json() + "\n")
        process.stdin.flush()
        process.stdout.close()
        # Its standard input stays open: the end of that would stop it, most often before it has a report.
        said = process.stderr.read()
        assert (process.wait(timeout=SECONDS), "Traceback" in said) == (0, False), said
