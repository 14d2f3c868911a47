"""``argosy status --watch`` on a terminal: the whole of it, with keys, sizes and a clean end; in a pipe, repetition."""

import io
import signal
from pathlib import Path

import pytest

from reconciler.console.log import Log
from reconciler.console.progress import ProgressLine, Step, line_of_steps
from tests.build import Repository, a_cluster, a_config_map, a_policy, argosy
from tests.prepared import prepared
from tests.terminals import LiveTerminal, environment_of_terminal
from tests.waiting import eventually

NAMES = ("berlin", "oregon", "paris")
SHOWN, GONE = "\x1b[?1049h", "\x1b[?1049l"


@pytest.fixture
def repository(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Repository:
    made = Repository.create(tmp_path / "fleet")
    files = {f"{name}.yaml": a_cluster(name) for name in NAMES}
    selectors = [{"apiVersion": "v1", "kind": "ConfigMap"}]
    made.commit({**files, "settings.yaml": a_config_map("settings"), "policy.yaml": a_policy(selectors=selectors)})
    assert argosy(made, capsys, "reconcile", "--bootstrap").code == 0
    return made


def watching(repository: Repository, *words: str) -> tuple[str, ...]:
    return ("-C", str(repository.path), "status", "--watch", *words)


TABLE = ["CLUSTER   OBJECTS   REPLICAS   NOTE", *(f"{name:10}1         0" for name in NAMES)]


def test_it_takes_the_whole_terminal_follows_its_size_and_gives_it_back(repository: Repository) -> None:
    with LiveTerminal.running(watching(repository), (70, 12)) as terminal:
        before = terminal.settings()
        lines = terminal.until("q ends")
        assert lines[2:6] == TABLE
        assert lines[6:11] == ["", "bindings: 1 Success", "", "", ""]
        assert lines[11].startswith("argosy status, as it was at ")
        terminal.resize((40, 6))
        eventually(lambda: terminal.lines()[2:5] == TABLE[:3], "the smaller screen")
        assert terminal.lines()[5].startswith("argosy status, as it was at ")
        terminal.press("G")
        terminal.until("bindings: 1 Success")
        terminal.press("q")
        assert terminal.code() == 0
        assert (terminal.written.count(SHOWN), terminal.written.count(GONE)) == (1, 1)
        assert terminal.written.rindex("\x1b[?25h") > terminal.written.rindex("\x1b[?25l")
        assert terminal.settings()[:4] == before[:4]


def test_it_shows_a_commit_that_comes_meanwhile(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    with LiveTerminal.running(watching(repository), (70, 12)) as terminal:
        terminal.until("bindings: 1 Success")
        repository.commit({"more.yaml": a_config_map("more")})
        assert argosy(repository, capsys, "reconcile").code == 0
        terminal.until("bindings: 2 Success")
        terminal.press("q")
        assert terminal.code() == 0


@pytest.mark.parametrize("how", ["a key", "a signal", "an end"])
def test_however_it_ends_the_terminal_is_as_it_was(repository: Repository, how: str) -> None:
    with LiveTerminal.running(watching(repository), (70, 12), NO_COLOR="1") as terminal:
        before = terminal.settings()
        terminal.until("q ends")
        if how == "a key":
            terminal.press("\x03")
        else:
            terminal.process.send_signal(signal.SIGINT if how == "a signal" else signal.SIGTERM)
        assert terminal.code() == (0 if how == "an end" else 130)
        eventually(lambda: GONE in terminal.written, "the screen that was there before")
        assert terminal.settings()[:4] == before[:4]
        assert "Traceback" not in terminal.written


def test_an_error_at_the_beginning_stands_on_the_ordinary_screen(tmp_path: Path) -> None:
    made = Repository.create(tmp_path / "empty")
    made.commit({"settings.yaml": a_config_map("settings")})
    with LiveTerminal.running(watching(made), (70, 12)) as terminal:
        assert terminal.code() == 3
        eventually(lambda: "argosy: " in terminal.written.rpartition(GONE)[2], "the error")


@pytest.mark.parametrize("words", [("-o", "json"), ("-o", "name")])
def test_data_is_printed_again_and_again_also_on_a_terminal(repository: Repository, words: tuple[str, ...]) -> None:
    with LiveTerminal.running(watching(repository, *words), (70, 12)) as terminal:
        eventually(lambda: "berlin" in terminal.written, "the names")
        assert SHOWN not in terminal.written
        terminal.press("\x03")
        assert terminal.code() == 130


def test_in_a_pipe_it_is_printed_again(repository: Repository, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = watching(repository)
    with out.open("w") as stream, prepared().running(words, environment=environment_of_terminal(), stdout=stream) as it:
        eventually(lambda: "bindings: 1 Success" in out.read_text(), "the status")
        it.send_signal(signal.SIGINT)
        assert it.wait(60) == 130
    assert out.read_text().splitlines()[2:6] == TABLE


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        raise OSError


def a_step(what: str, total: int = 0, done: int = 0, busy_with: str = "") -> Step:
    step = Step(what, total, 0.0)
    step.done, step.busy_with = done, busy_with
    return step


def test_the_line_of_progress_says_how_many_for_how_long_and_what_is_under_way() -> None:
    losses = a_step("lose clusters", 8, 2, "paris")
    assert line_of_steps([losses], 0.4, 50) == "lose clusters: 2 of 8: paris"
    assert line_of_steps([losses], 7.2, 50) == "lose clusters: 2 of 8, 7 s: paris"
    assert line_of_steps([a_step("outer"), losses, a_step("render")], 7.2, 50) == "lose clusters: 2 of 8, 7 s: render"
    bar = "\u2501" * 5 + "\u2500" * 15
    assert line_of_steps([losses], 7.2, 80) == f"lose clusters: 2 of 8, 7 s {bar}: paris"
    assert (
        line_of_steps([losses], 7.2, 80, has_unicode=False) == f"lose clusters: 2 of 8, 7 s {'=' * 5}{'-' * 15}: paris"
    )
    assert line_of_steps([a_step("render 9 templates for 2 clusters")], 3.0, 80) == (
        "render 9 templates for 2 clusters: 3 s"
    )


def test_the_line_is_written_over_cut_to_the_terminal_and_gone_at_the_end() -> None:
    stream = Tty()
    line = ProgressLine(stream, is_shown=True, clock=lambda: 0.0)
    step = line.begin("x" * 200)
    line.end(step)
    first, second = stream.getvalue().split("\r\x1b[2K")[1:]
    assert (len(first), first[-1], second) == (79, ".", "")


def test_time_passes_in_the_line_while_nothing_is_counted() -> None:
    stream = Tty()
    log = Log(stream=stream, is_terminal=True)
    with log.timed("render", "9 templates"):
        eventually(lambda: "render 9 templates: 1 s" in stream.getvalue(), "a second", seconds=20)
        log.warning("odd")
    written = stream.getvalue()
    assert "\r\x1b[2Kwarning: odd\n" in written
    assert written.endswith(("\r\x1b[2K", "odd\n"))


def test_no_line_of_progress_is_in_a_pipe() -> None:
    stream = io.StringIO()
    log = Log(stream=stream)
    with log.timed("render"), log.counted("lose", 3) as count_one:
        count_one("paris")
    assert stream.getvalue() == ""
