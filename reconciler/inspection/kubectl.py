"""kubectl, run for members: each by its own context of one kubeconfig, which is there as long as the command runs.

What kubectl knows well is left to it: descriptions, logs, shells, forwarded ports, usage. Members are asked for their
version first, so that one that does not answer costs its own time, and is named.
"""

import shutil
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import IO

from msgspec import Struct
from msgspec.json import encode

from reconciler.members.exchange import Expected, Failure, Request
from reconciler.members.merged_kubeconfig import kubeconfig_of_contexts
from reconciler.members.parallel import results_in_parallel
from reconciler.members.visits import MemberReach
from render.errors import ConfigError

from .choosing import Chosen
from .tables import text_of_columns

_GAP = 2
"""Two blanks or more stand between the titles of columns; within a title there is one."""


class Ran(Struct, frozen=True, kw_only=True):
    """The end of kubectl for one member: its exit code, and everything it printed."""

    code: int
    out: str = ""
    err: str = ""

    @property
    def is_absent(self) -> bool:
        """True where it ended because the member has no such object."""
        return self.code != 0 and "(NotFound)" in self.err


class Kubectl(Struct, frozen=True, kw_only=True):
    """kubectl with a kubeconfig in which contexts are named like members, and the words before those of a command.

    ``seconds`` is the time for one member.
    """

    program: str
    kubeconfig: Path
    before: tuple[str, ...] = ()
    seconds: float = 30.0

    def words(self, member: str, arguments: Sequence[str]) -> list[str]:
        """Return the words that run it for a member."""
        return [self.program, f"--kubeconfig={self.kubeconfig}", f"--context={member}", *self.before, *arguments]

    def outcome(self, member: str, arguments: Sequence[str]) -> Ran:
        """Run it for a member, and return how it ended with everything it printed."""
        try:
            ended = subprocess.run(
                self.words(member, arguments),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=self.seconds,
            )
        except subprocess.TimeoutExpired:
            return Ran(code=1, err=f"kubectl did not end within {self.seconds:g} s")
        return Ran(code=ended.returncode, out=_text(ended.stdout), err=_text(ended.stderr))

    def code_at_terminal(self, member: str, arguments: Sequence[str]) -> int:
        """Run it for a member with the terminal of this process, and return its exit code."""
        process = subprocess.Popen(self.words(member, arguments))
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:  # it is kubectl's to obey, which has the same terminal
                continue


@contextmanager
def kubectl_for(chosen: Chosen, *, before: Sequence[str] = ()) -> Iterator[tuple[Kubectl, dict[str, Failure]]]:
    """Yield kubectl for members, and why some of them cannot be used; ConfigError where there is no kubectl."""
    program = shutil.which("kubectl")
    if program is None:
        raise ConfigError(
            "there is no kubectl on the PATH, which this command runs for each member",
            hint="install kubectl; argosy get works without it",
        )
    contexts, failures = chosen.contexts()
    answers = results_in_parallel(
        partial(_failure_to_answer, chosen.reach), list(contexts), limit=chosen.reach.max_parallel
    )
    failures |= {name: answer for name, answer in zip(contexts, answers, strict=True) if answer is not None}
    usable = {name: context for name, context in contexts.items() if name not in failures}
    with tempfile.TemporaryDirectory(prefix="argosy-") as folder:  # for this user alone
        path = Path(folder) / "kubeconfig"
        path.touch(mode=0o600)
        path.write_bytes(encode(kubeconfig_of_contexts(usable)))
        kubectl = Kubectl(program=program, kubeconfig=path, before=tuple(before), seconds=chosen.reach.timeout)
        yield kubectl, failures


def _failure_to_answer(reach: MemberReach, name: str) -> Failure | None:
    client = reach.open(name)
    if isinstance(client, Failure):
        return client
    answer = client.send(Request(method="GET", path="/version", expects=Expected.VERSION))
    return answer if isinstance(answer, Failure) else None


def outcomes_of_members(
    kubectl: Kubectl, names: Sequence[str], arguments: Sequence[str], *, limit: int
) -> dict[str, Ran]:
    """Run kubectl for members at once, and return how each ended."""
    ended = results_in_parallel(lambda name: kubectl.outcome(name, arguments), names, limit=limit)
    return dict(zip(names, ended, strict=True))


def stream_of_members(
    kubectl: Kubectl, names: Sequence[str], arguments: Sequence[str], tell: Callable[[str, str], None]
) -> dict[str, Ran]:
    """Run kubectl for all members at once, telling each line with its member as it comes; what it warns of is kept."""
    with ExitStack() as stack:
        processes = {
            name: stack.enter_context(
                subprocess.Popen(
                    kubectl.words(name, arguments),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                )
            )
            for name in names
        }
        for process in processes.values():
            stack.callback(process.terminate)  # does nothing to one that has ended
        return _outcomes_of_streams(processes, tell)


def _outcomes_of_streams(
    processes: Mapping[str, "subprocess.Popen[bytes]"], tell: Callable[[str, str], None]
) -> dict[str, Ran]:
    lock, errors = threading.Lock(), {name: list[bytes]() for name in processes}

    def tell_lines(name: str, stream: IO[bytes]) -> None:
        for line in stream:
            with lock:
                tell(name, _text(line).rstrip("\n"))

    threads = [
        threading.Thread(target=work, daemon=True)
        for name, process in processes.items()
        for work in (
            partial(tell_lines, name, _stream_of(process.stdout)),
            partial(errors[name].extend, _stream_of(process.stderr)),
        )
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return {name: Ran(code=process.wait(), err=_text(b"".join(errors[name]))) for name, process in processes.items()}


def _stream_of(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None, "its output is asked for"
    return stream


def _text(content: bytes) -> str:
    return content.decode(errors="replace")


def text_of_tables(outputs: Mapping[str, str]) -> str:
    """Return the tables that kubectl printed for members as one, the member of each row first.

    Rows of tables with other titles stand in a table of their own.
    """
    found: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for name, output in outputs.items():
        header, *rows = output.splitlines() or [""]
        starts = _starts_of_columns(header)
        titles = _cells_of_line(header, starts)
        if header:
            found.setdefault(titles, []).extend((name, *_cells_of_line(row, starts)) for row in rows)
    return "\n".join(text_of_columns([("CLUSTER", *titles), *rows]) for titles, rows in found.items())


def _starts_of_columns(header: str) -> tuple[int, ...]:
    blank = " " * _GAP
    inner = (at for at in range(_GAP, len(header)) if header[at] != " " and header[at - _GAP : at] == blank)
    return (0, *inner)


def _cells_of_line(line: str, starts: Sequence[int]) -> tuple[str, ...]:
    """Return the cells of a line that begin below the titles of columns.

    >>> _cells_of_line("5m    Normal   all is well", _starts_of_columns("AGE   TYPE     MESSAGE"))
    ('5m', 'Normal', 'all is well')
    """
    return tuple(line[start:end].strip() for start, end in pairwise((*starts, max(len(line), starts[-1]))))
