"""Rules of every command line: global options on both sides of the command, and the report of a bug."""

import errno
import json
import os
import sys
from pathlib import Path

import pytest

from reconciler.cli import COMMANDS, run
from tests.build import Repository, a_cluster, a_deployment, a_policy
from tests.prepared import prepared

PLACES = [
    ("-C", "{repo}", "doctor", "--offline"),
    ("doctor", "--offline", "-C", "{repo}"),
    ("doctor", "--repo", "{repo}", "--offline"),
    ("-C", "nowhere", "doctor", "--offline", "-C", "{repo}"),
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    made.commit({"fleet.yaml": [a_cluster("member1"), a_deployment(), a_policy()]})
    return made


@pytest.mark.parametrize("words", PLACES, ids=" ".join)
def test_the_repository_may_be_named_on_either_side(
    words: tuple[str, ...], repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run([word.format(repo=repository.path) for word in words])
    assert (code, "ok   source: 1 template, 1 policy, 1 cluster" in capsys.readouterr().out.splitlines()) == (0, True)


def test_a_command_of_a_group_takes_global_options(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["cluster", "label", "member1", "a=b", "-C", str(repository.path), "--log-format=json"])
    captured = capsys.readouterr()
    assert (code, captured.out.splitlines()[0]) == (0, "cluster/member1 labeled")
    assert json.loads(captured.err) == {"level": "info", "event": "wrote", "file": "fleet.yaml"}
    assert run(["cluster", "label", "member1", "c=d", "-C", str(repository.path), "-q"]) == 0
    captured = capsys.readouterr()
    assert (captured.out.splitlines()[0], captured.err) == ("cluster/member1 labeled", "")


def test_counts_add_up(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["-v", "render", "-C", str(repository.path), "-v", "--bootstrap"]) == 0
    assert "read source ms=" in capsys.readouterr().err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_help_says_so(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert text.endswith("-C/--repo, -v, -q, --log-format and --no-color may stand here as well: argosy --help.")


def test_a_missing_module_is_named(
    repository: Repository, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "reconciler.commands.doctor", None)
    assert run(["doctor", "-C", str(repository.path)]) == 70
    said = capsys.readouterr().err.splitlines()[0]
    assert said == ("argosy: a bug: ModuleNotFoundError: reconciler.commands.doctor; please report it with these lines")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device without room")
@pytest.mark.parametrize(
    "words", [("--version",), ("render", "--bootstrap", "-o", "yaml"), ("validate",)], ids=" ".join
)
def test_output_that_finds_no_room_is_told_of(words: tuple[str, ...], repository: Repository) -> None:
    with Path("/dev/full").open("w") as full:
        code, _, errors = prepared().ended(["-C", str(repository.path), *words], stdout=full)
    assert (code, errors.splitlines()[-2:]) == (
        4,
        [
            "argosy: there is no room to write: no space left on device",
            "  hint: make room where this was to be written, and run again",
        ],
    )


def test_a_full_disk_ends_with_one_code_whoever_meets_it(
    repository: Repository, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is rendered into, as a stream; what git says of one is told so by ``test_console_disk_errors``."""

    def full(*_: object) -> bool:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "clusters/oslo.yaml")

    monkeypatch.setattr("reconciler.repository.output._write_if_different", full)
    monkeypatch.setattr(os, "dup2", lambda *_: 0)  # what the standard output leads to is that of all tests
    code = run(["-C", str(repository.path), "render", "--bootstrap", "--output-dir", str(tmp_path / "out")])
    assert code == 4
    assert capfd.readouterr().err.startswith("argosy: there is no room to write: no space left on device\n")


def test_a_reader_that_goes_away_ends_a_command_quietly(repository: Repository) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        command = ["-C", str(repository.path), "render", "--bootstrap", "-o", "yaml"]
        assert prepared().ended(command, stdout=pipe)[2] == ""


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("rendr", "render"),
        ("join", "cluster join"),
        ("uncodron", "cluster uncordon"),
        ("version", "--version"),
        ("trace", "explain KIND/NAME"),
        ("prune", "reconcile"),
    ],
)
def test_another_word_for_a_command_leads_to_it(word: str, meant: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([word]) == 2
    said = f"Error: No such command {word!r}. Did you mean 'argosy {meant}'?"
    assert capsys.readouterr().err.splitlines()[-1] == said


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("cordn", " Did you mean 'argosy cluster cordon'?"),
        ("list", " Did you mean 'argosy status'?"),
        ("add", " Did you mean 'argosy cluster join'?"),
        ("xyz", " 'argosy cluster --help' lists the commands."),
    ],
)
def test_another_word_for_a_command_about_members_leads_to_it(
    word: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["cluster", word]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"Error: No such command {word!r}.{said}"


@pytest.mark.parametrize(
    ("word", "way"),
    [
        ("undo", "'argosy rollback' puts files and replicas back as they were, and 'git revert' files alone;"),
        ("log", "'argosy history' tells what passes changed; 'git log argosy/status' has what they saw."),
        ("suspend", "'argosy rollout pause' and 'argosy rollout resume' are about a change that goes out by waves."),
    ],
)
def test_what_is_done_without_a_command_says_how(word: str, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The command that is spelt most alike would be another thing."""
    assert run([word]) == 2
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"Error: No such command {word!r}. {way}")
