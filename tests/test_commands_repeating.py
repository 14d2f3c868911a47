"""``--watch``: a run now, a run for every save, and errors that end neither."""

import signal
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest

from reconciler.commands.diff import DiffOptions, diff_and_show
from reconciler.commands.options.repeating import run_for_each_change
from reconciler.console.log import ERRORS_ONLY, Log
from reconciler.rendering.memory import SourceMemory
from render.errors import GitError
from tests.build import Repository, a_cluster, a_config_map, a_deployment, a_policy, argosy
from tests.prepared import prepared
from tests.waiting import SECONDS, eventually

EVERYTHING = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.commit(
        {
            "cluster.yaml": a_cluster("bern"),
            "policy.yaml": a_policy("all", selectors=EVERYTHING),
            "nginx.yaml": a_deployment(replicas=2),
        }
    )
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


def test_an_error_of_one_run_does_not_end_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    runs: Iterator[int | GitError] = iter([1, GitError("the branch is gone"), 0])

    def run() -> int:
        result = next(runs)
        if isinstance(result, GitError):
            raise result
        return result

    log = Log(stream=StringIO())
    assert run_for_each_change(log, run, [set(), {"a"}, {"a", "b"}]) == 0
    assert capsys.readouterr().err == "the branch is gone\n"
    lines = [line.split() for line in log.stream.getvalue().splitlines()]  # type: ignore[attr-defined]  # a StringIO
    assert [(saved, code) for _, saved, _, code in lines] == [
        ("saved=0", "code=1"),
        ("saved=1", "code=4"),
        ("saved=2", "code=0"),
    ]


def test_what_is_remembered_changes_no_answer(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    """Parsed files are shared between runs: a run that wrote into them would tell the next one something else."""
    log, memory = Log(stream=StringIO(), level=ERRORS_ONLY, repository=str(repository.path)), SourceMemory()

    def saved() -> Iterator[str]:
        for replicas, name in ((3, "one"), (5, "one"), (2, "two"), (3, "one")):
            config_map = a_config_map("settings", value=name)
            repository.write({"nginx.yaml": a_deployment(replicas=replicas), "settings.yaml": config_map})
            capsys.readouterr()
            diff_and_show(log, DiffOptions(), memory)
            yield capsys.readouterr().out
            diff_and_show(log, DiffOptions())
            yield capsys.readouterr().out

    told = list(saved())
    assert told[0::2] == told[1::2]
    assert (told[0], len(set(told))) == (told[6], 3)


@pytest.mark.waits
@pytest.mark.parametrize("command", ["diff", "render", "test", "validate"])
def test_a_save_is_seen(command: str, repository: Repository, tmp_path: Path) -> None:
    log = tmp_path / "log"

    def told(times: int) -> list[str]:
        """The words of a line of the log, once there are so many."""
        lines = [line.split() for line in log.read_text().splitlines(keepends=True) if line.startswith("watching")]
        return lines[times - 1] if len(lines) >= times else []

    arguments = ["-C", str(repository.path), command, "--watch"]
    with log.open("w") as file, prepared().running(arguments, stderr=file) as process:
        first = eventually(lambda: told(1), "the first run")
        repository.write({"nginx.yaml": a_deployment(replicas=7)})
        second = eventually(lambda: told(2), "a run for what was saved")
        process.send_signal(signal.SIGINT)
        assert process.wait(SECONDS) == 130
    codes = ["code=0", "code=1"] if command == "diff" else ["code=0", "code=0"]
    assert [first[1], second[1], first[3], second[3]] == ["saved=0", "saved=1", *codes]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["diff", "HEAD", "HEAD", "--watch"], "Error: HEAD goes without --watch, which compares the work tree"),
        (
            ["validate", "--rev", "HEAD", "--watch"],
            "Error: --rev goes without --watch, which checks the files as they stand",
        ),
        (
            ["test", "--rev", "HEAD", "--watch"],
            "Error: --rev goes without --watch, which tests the files as they stand",
        ),
        (
            ["test", "--update", "--watch"],
            "Error: --update goes without --watch, which tests the files as they stand",
        ),
        (
            ["render", "--rev", "HEAD", "--watch"],
            "Error: --rev goes with neither --worktree nor --watch",
        ),
    ],
)
def test_only_a_work_tree_is_watched(
    arguments: list[str], message: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(repository, capsys, *arguments)
    assert (ended.code, ended.err.splitlines()[-1]) == (2, message)


def test_a_bare_repository_has_nothing_to_watch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Repository.create(tmp_path / "work").commit({"nginx.yaml": a_deployment()})
    Repository(tmp_path).git("clone", "-q", "--bare", "work", "bare.git")
    ended = argosy(Repository(tmp_path / "bare.git"), capsys, "diff", "--watch")
    assert (ended.code, ended.err) == (
        4,
        "argosy: a bare repository has no work tree to watch\n  hint: run this in a clone of it\n",
    )
