"""A test that waits has a bound and says for what: the means to wait, and that nothing in the tests waits otherwise."""

import ast
import re
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from . import conftest
from .prepared import prepared
from .tables import each_row
from .waiting import at_once, eventually, happened, joined, raced, running

TESTS = Path(__file__).parent
MODULES = sorted(
    path.relative_to(TESTS).as_posix() for path in TESTS.rglob("*.py") if path.relative_to(TESTS).parts[0] != "bench"
)
MAY_START_PROCESSES = {"waiting.py", "clusters.py", "kubernetes/supervisor.py", "mutations/trial.py"}
MAY_SLEEP = {"waiting.py", "clusters.py"}
ENDLESS = {"wait", "join", "result", "communicate"}
RUNS = {"run", "call", "check_call", "check_output"}
SUSPICIOUS = re.compile(
    r"subprocess\s*\.\w+\(|time\s*\.sleep\(|\.(?:communicate|accept|recv)\(|\.(?:wait|join|result)\(\s*\)"
)


def unbounded(module: str, code: str) -> Iterator[str]:
    """Yield every call that may wait for ever, or in a way of its own."""
    if not SUSPICIOUS.search(code):
        return  # parsing all files takes seconds
    has_timeout = ".settimeout(" in code
    for node in ast.walk(ast.parse(code)):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        name, owner = node.func.attr, ast.unparse(node.func.value)
        is_named = any(word.arg in {"timeout", "seconds"} for word in node.keywords)
        is_strange = (
            (owner == "subprocess" and name in RUNS and not is_named)
            or (owner == "subprocess" and name == "Popen" and module not in MAY_START_PROCESSES)
            or (owner == "time" and name == "sleep" and module not in MAY_SLEEP)
            or (name == "communicate" and not is_named)
            or (name in ENDLESS and not node.args and not node.keywords and module not in MAY_START_PROCESSES)
            or (name in {"accept", "recv"} and not has_timeout)
        )
        if is_strange:
            yield f"{module}:{node.lineno}: {owner}.{name}"


class Wait(NamedTuple):
    why: str
    code: str
    is_found: bool


WAITS = [
    Wait("a process that may never end", "subprocess.run(command, check=True)", True),
    Wait("a process that ends in time", "subprocess.run(command, check=True, timeout=SECONDS)", False),
    Wait("a process nobody ends", "subprocess.Popen(command)", True),
    Wait("output that may never end", "process.communicate('go')", True),
    Wait("output that ends in time", "process.communicate('go', timeout=SECONDS)", False),
    Wait("an event that may never happen", "over.wait()", True),
    Wait("an event that happens in time", "over.wait(SECONDS)", False),
    Wait("a thread that may never end", "thread.join()", True),
    Wait("words are joined, too", "', '.join(words)", False),
    Wait("a pause, of a loop most likely", "time.sleep(0.1)", True),
    Wait("a socket without a time limit", "client.recv(1)", True),
    Wait("a socket with one", "client.settimeout(SECONDS); client.recv(1)", False),
]


@each_row("case", WAITS, ids=lambda case: case.why)
def test_what_may_wait_for_ever_is_found(case: Wait) -> None:
    assert bool(list(unbounded("test_it.py", case.code))) is case.is_found


def test_no_test_waits_without_a_bound() -> None:
    found = [line for module in MODULES for line in unbounded(module, (TESTS / module).read_text(encoding="utf-8"))]
    assert found == []


def test_a_test_that_does_not_end_fails(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conftest, "TEST_SECONDS", 0.05)
    bound = conftest.pytest_runtest_call(request.node)
    next(bound)
    with pytest.raises(pytest.fail.Exception, match=r"^the test has not ended within 0\.05 s$"):
        signal.pause()
    with pytest.raises(StopIteration):
        next(bound)


class TestWaiting:
    def test_an_answer_that_becomes_true_is_returned(self) -> None:
        answers = iter([0, "", "yes"])
        assert eventually(lambda: next(answers), "yes", pause=0) == "yes"

    def test_what_does_not_come_true_is_named(self) -> None:
        with pytest.raises(AssertionError, match=r"^not within 0 s: a miracle"):
            eventually(lambda: False, "a miracle", seconds=0)

    def test_what_does_not_happen_is_named(self) -> None:
        with pytest.raises(AssertionError, match=r"^not within 0 s: the end"):
            happened(threading.Event(), "the end", seconds=0)

    def test_threads_that_go_on_are_named(self) -> None:
        over = threading.Event()
        thread = threading.Thread(target=over.wait, args=(30,), name="the slow one")
        thread.start()
        with pytest.raises(AssertionError, match=r"^not within 0 s: the end of the slow one"):
            joined(thread, seconds=0)
        over.set()
        joined(thread)

    def test_threads_are_told_their_numbers(self) -> None:
        numbers: list[int] = []
        at_once(numbers.append, 3)
        assert sorted(numbers) == [0, 1, 2]


class TestProcesses:
    def test_one_that_goes_on_is_killed_and_named(self) -> None:
        command = [sys.executable, "-c", "import signal; signal.pause()"]
        named = r"^not within 0\.1 s: the end of .* 'import signal; signal\.pause\(\)'$"
        with pytest.raises(AssertionError, match=named), running(command, seconds=0.1) as process:
            process.wait(30)
        assert process.returncode == -signal.SIGKILL

    def test_one_that_is_left_ends(self) -> None:
        with running([sys.executable, "-c", "import signal; signal.pause()"]) as process:
            assert process.poll() is None
        assert process.returncode == -signal.SIGKILL

    def test_racers_start_together(self) -> None:
        code = "import sys; print('ready', flush=True); sys.stdin.readline(); print(sys.argv[1])"
        assert raced([[sys.executable, "-c", code, name] for name in "ab"]) == ["a", "b"]


@pytest.mark.parametrize("said", [b"", b"\0\0\0\x09", b"\0\0\0\x09abc"], ids=["nothing", "a size", "a part"])
def test_a_command_that_is_asked_for_in_part_ends_no_other(said: bytes) -> None:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(prepared().address)
        connection.sendall(said)
    assert prepared().ended(["--version"])[0] == 0
