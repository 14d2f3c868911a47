"""The documents, made: ``python -m tests.docs --write`` runs their commands and writes what they print into them.

Without ``--write`` the documents are named that are not as they would be made. A document is a script: its blocks run
in order, where the comments before them say. Authors, times and addresses are fixed, so that even commit ids come out
the same everywhere.

* A block fenced as ``console`` holds commands after ``$`` (further lines of one after ``>``) and what they print.
* ``<!-- fleet: examples/NAME -->`` begins anew in a repository made from that fleet, ``<!-- folder: NAME -->`` in an
  empty folder.
* ``<!-- file: PATH -->`` writes the block below it to a file there.
* ``<!-- remote -->`` gives the repository a bare one to push to. ``<!-- members: NAME... -->`` serves members from
  memory, whose contexts are in the usual kubeconfig; ``<!-- settle -->`` lets their workloads become ready,
  ``<!-- down: NAME... -->`` keeps those members from answering, and ``<!-- up -->`` has all answer again.
* The block below ``<!-- made by python -m tests.NAME -->`` is what that prints.
"""

import fcntl
import os
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reconciler.members.exchange import JSON
from render.documents import emit, parse_documents
from tests.build import AUTHOR, Repository
from tests.fakes import FakeCluster
from tests.memory_fleet import add_node, settle
from tests.prepared import CLOCK, prepared
from tests.reference import page
from tests.served import serving_members
from tests.waiting import SECONDS, running

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
EXAMPLES = ROOT / "examples"
REFERENCE = EXAMPLES / "reference" / "README.md"
LINES = re.compile(
    r"(?P<comment><!-- (?P<word>[a-z]+)(?:: (?P<words>[^>]*?))? -->\n)"
    r"|(?P<made><!-- made by python -m (?P<module>tests\.\w+) -->\n)"
    r"|```(?P<language>[a-z]*)\n(?P<block>.*?)```\n",
    re.DOTALL,
)
MOMENT = 1_768_467_600  # 2026-01-15 09:00 UTC
_PORT = re.compile(r"127\.0\.0\.1:\d+")
_NOBODY = "127.0.0.1:1023"
"""An address that refuses connections, as wide as the one that documents show."""
_PLAIN = re.compile(r"argosy(?: (?:[\w./:=@,^+-]+|'[^'\n]*'))+")
"""A command in which a shell would have nothing to do."""


def documents() -> list[Path]:
    """Return every document whose commands are run, and the reference, which is made as a whole."""
    return [README, *sorted(EXAMPLES.glob("*/README.md")), EXAMPLES / "README.md"]


def made(path: Path, columns: int = 0) -> str:
    """Return a document with the output of every command as it is today.

    ``columns``: as a terminal of so many columns shows what commands print, without what they say on stderr.
    """
    text = path.read_text(encoding="utf-8")
    if path == REFERENCE:
        return page()
    with tempfile.TemporaryDirectory() as folder, Script.begun(Path(folder)) as script:
        script.columns = columns
        return LINES.sub(script.replaced, text)


def fixed_environment(folder: Path) -> dict[str, str]:
    """Return an environment in which a run depends on nothing around it."""
    scripts = str(Path(sys.executable).parent)
    moment = f"@{MOMENT} +0000"
    return {
        **AUTHOR,
        "GIT_AUTHOR_DATE": moment,
        "GIT_COMMITTER_DATE": moment,
        "ARGOSY_AUTHOR_NAME": "Ada",
        "ARGOSY_AUTHOR_EMAIL": "ada@example.com",
        "PATH": f"{scripts}:{os.environ['PATH']}",
        "HOME": str(folder),
        "LC_ALL": "C.UTF-8",
        "COLUMNS": "120",
    }


class Member(FakeCluster):
    """A member in memory that is of a version one may meet."""

    def request(self, method: str, path: str, body: Any = None, *, content_type: str = JSON) -> tuple[int, Any]:
        """Answer one request."""
        if path.partition("?")[0] == "/version":
            return 200, {"gitVersion": "v1.34.1"}
        return super().request(method, path, body, content_type=content_type)


@dataclass
class Script:
    """A document being run: the folder commands run in, and the members there are."""

    home: Path
    stack: ExitStack
    environment: dict[str, str]
    place: Path
    kubeconfigs: Path = ROOT
    members: dict[str, FakeCluster] = field(default_factory=dict)
    target: str = ""
    module: str = ""
    count: int = 0
    columns: int = 0

    @classmethod
    @contextmanager
    def begun(cls, home: Path) -> Iterator["Script"]:
        """Begin in an empty folder; members are served until the end of the block."""
        environment, scripts = fixed_environment(home), home / "bin"
        scripts.mkdir()
        prepared().program(scripts / "argosy")
        environment["PATH"] = f"{scripts}:{environment['PATH']}"
        with ExitStack() as stack:
            yield cls(home=home, stack=stack, environment=environment, place=home)

    def replaced(self, found: re.Match[str]) -> str:
        """Do what a comment says, or run a block, and return it as it is today."""
        if found["made"]:
            self.module = found["module"]
            return found[0]
        if found["comment"]:
            self._steps()[found["word"]](found["words"] or "")
            return found[0]
        return f"```{found['language']}\n{self._block(found['language'], found['block'])}```\n"

    def _block(self, language: str, text: str) -> str:
        if self.module:
            module, self.module = self.module, ""
            return run([sys.executable, "-m", module], ROOT, dict(os.environ))
        if self.target:
            path, self.target = self.place / self.target, ""
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return "".join(map(self._shown, commands(text))) if language == "console" else text

    def _shown(self, command: str) -> str:
        self.count += 1
        environment = {**self.environment, CLOCK: str(MOMENT + 60 * self.count)}
        for member in self.members.values():
            member.now = MOMENT + 60 * self.count
        if self.columns:
            output = run_on_terminal(["bash", "-c", command], self.place, environment, self.columns)
        elif _PLAIN.fullmatch(command):
            output = trimmed(prepared().output(shlex.split(command)[1:], self.place, environment))
        else:
            output = run(["bash", "-c", command], self.place, environment)
        first, *more = command.splitlines()
        return "".join([f"$ {first}\n", *(f"> {line}\n" for line in more), self._plain(output)])

    def _plain(self, output: str) -> str:
        """Return output without what differs from run to run: ports, and the order in which members finish."""
        lines = _PORT.sub("127.0.0.1:6443", output).replace(str(self.home), "/home/ada").splitlines(keepends=True)
        names = {*self.members, *(path.stem for path in self.place.glob("clusters/*.yaml"))}
        starts = tuple(f"{name}: " for name in sorted(names))
        found: list[str] = []
        group: list[str] = []
        for line in [*lines, ""]:
            if line.startswith(starts):
                group.append(line)
            elif group and line.startswith("  hint: "):
                group[-1] += line
            else:
                found += [*sorted(group, key=lambda each: each.partition(":")[0]), line]
                group = []
        return "".join(found)

    def _steps(self) -> dict[str, Callable[[str], None]]:
        return {
            "fleet": self._begin_fleet,
            "folder": self._begin_folder,
            "file": self._name_file,
            "remote": self._add_remote,
            "members": self._serve_members,
            "settle": self._settle,
            "down": lambda names: self._write_contexts(set(names.split())),
            "up": lambda _words: self._write_contexts(set()),
        }

    def _begin_fleet(self, name: str) -> None:
        self._begin_folder(Path(name).name)
        shutil.copytree(
            ROOT / name,
            self.place,
            ignore=shutil.ignore_patterns("rendered", "explained", "README.md"),
            dirs_exist_ok=True,
        )
        for command in ("git init -q -b main", "git add -A", "git commit -q -m 'Add the fleet'"):
            run(["bash", "-c", command], self.place, self.environment)

    def _begin_folder(self, name: str) -> None:
        self.place = self.home / f"{len(list(self.home.iterdir()))}" / name
        self.place.mkdir(parents=True)

    def _name_file(self, path: str) -> None:
        self.target = path

    def _add_remote(self, _words: str) -> None:
        hub = self.place.parent / "hub.git"
        Repository.create(hub, bare=True)
        for command in (f"git remote add origin file://{hub}", "git push -q -u origin main"):
            run(["bash", "-c", command], self.place, self.environment)

    def _serve_members(self, names: str) -> None:
        self.members = {name: Member(name=name) for name in names.split()}
        for member in self.members.values():
            add_node(member, "node-1", cpu="8", memory="32Gi", pods="110")
        served = self.stack.enter_context(serving_members(self.members.values(), self.place.parent / "kubeconfigs"))
        self.kubeconfigs = served.kubeconfigs
        self._write_contexts(set())

    def _write_contexts(self, down: set[str]) -> None:
        """Write the usual kubeconfig; the context of a member that is down leads nowhere."""
        texts = {name: (self.kubeconfigs / f"{name}.yaml").read_text(encoding="utf-8") for name in self.members}
        shown = (_PORT.sub(_NOBODY, text) if name in down else text for name, text in texts.items())
        values = [parse_documents(text.encode())[0].value for text in shown]
        parts = {part: [item for value in values for item in value[part]] for part in ("contexts", "clusters", "users")}
        config = self.home / ".kube" / "config"
        config.parent.mkdir(exist_ok=True)
        config.write_bytes(emit({"apiVersion": "v1", "kind": "Config", **parts}))

    def _settle(self, _words: str) -> None:
        for member in self.members.values():
            settle(member)


def commands(text: str) -> Iterator[str]:
    """Yield the commands of a block, those of several lines whole."""
    found: list[str] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(line.removeprefix("$ "))
        elif found and (line.startswith("> ") or line == ">"):
            found[-1] += "\n" + line[2:]
    yield from found


def run(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    """Run one command and return what it prints, both streams."""
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    return trimmed(done.stdout)


def run_on_terminal(command: list[str], folder: Path, environment: dict[str, str], columns: int) -> str:
    """Run one command whose output goes to a terminal of so many columns, and return that."""
    ours, its = os.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    streams = {"stdin": subprocess.DEVNULL, "stdout": its, "stderr": subprocess.DEVNULL}
    with running(command, cwd=folder, env={**environment, "NO_COLOR": "1"}, **streams):
        os.close(its)
        read = b""
        with suppress(OSError), os.fdopen(ours, "rb", buffering=0) as terminal:  # the end of a terminal is an error
            while part := terminal.read(1 << 16):
                read += part
    return trimmed(read.decode())


def trimmed(text: str) -> str:
    """Return lines without the blanks at their ends."""
    return "".join(f"{line.rstrip()}\n" for line in text.splitlines())


def main(arguments: Sequence[str]) -> int:
    """Write the documents named, or all; without ``--write`` name those that would change."""
    names = {Path(name).resolve() for name in arguments if not name.startswith("-")}
    chosen = [path for path in documents() if not names or path in names]
    prepared()  # once for all threads
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        texts = dict(zip(chosen, pool.map(made, chosen), strict=True))
    stale = [path for path, text in texts.items() if text != path.read_text(encoding="utf-8")]
    for path in stale:
        print(path.relative_to(ROOT))
        if "--write" in arguments:
            path.write_text(texts[path], encoding="utf-8")
    return 0 if "--write" in arguments else min(len(stale), 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
