"""git run as a process, hardened: a clean environment, no hooks, no prompts, nothing run from a repository's content.

* Every ``GIT_*`` variable is dropped but the few that say how *this person* reaches a server (``_KEPT``): a hook or a
  ``rebase --exec`` around us must not redirect us to another repository, index, identity or configuration.
* Protocols are allow-listed per call: none for what is local - so that nothing is ever fetched lazily - and file, https
  and ssh for what talks to a remote. The variable beats any configuration.
* git runs *in* the repository, which makes it check who owns it (``safe.directory``); it may not look further up.
* A process that cannot ask cannot hang on its question: no terminal, no askpass window, and a deadline on every call.
"""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from msgspec import field

from render.errors import ConfigError
from render.values import DiscreetStruct

from .failures import error_of_failed_command, error_of_missing_git, error_of_slow_command

LOCAL_TIMEOUT = 300.0
"""Seconds a command that reads or writes only this machine may take."""

NETWORK_TIMEOUT = 600.0
"""Seconds a command that talks to a remote may take, unless ``ARGOSY_GIT_TIMEOUT`` says otherwise."""

_KEPT = frozenset(
    {
        "GIT_ASKPASS",
        "GIT_CONFIG_GLOBAL",
        "GIT_CONFIG_NOSYSTEM",
        "GIT_CONFIG_SYSTEM",
        "GIT_EXEC_PATH",
        "GIT_PROXY_SSL_CAINFO",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_SSL_CERT",
        "GIT_SSL_KEY",
    }
)
_FIXED = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_EDITOR": ":",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "LANGUAGE": "C",
    "LC_ALL": "C",
    "SSH_ASKPASS_REQUIRE": "never",
}

OPTIONS = (
    f"core.hooksPath={os.devnull}",
    f"core.attributesFile={os.devnull}",
    "core.fsmonitor=false",
    "core.alternateRefsCommand=true",
    "safe.bareRepository=all",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "fetch.writeCommitGraph=false",
    "push.recurseSubmodules=no",
    "push.followTags=false",
    "push.gpgSign=false",
    "core.fsync=committed,reference",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)
"""Configuration that every call overrides."""

NETWORK_PROTOCOLS = "file:https:ssh"
"""The protocols allowed to a remote; ``ext::``, ``git://`` and plain ``http://`` are refused."""


def network_timeout(environment: Mapping[str, str]) -> float:
    """Return how many seconds a command may take that talks to a remote."""
    text = environment.get("ARGOSY_GIT_TIMEOUT", "")
    if not text:
        return NETWORK_TIMEOUT
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise ConfigError(f"ARGOSY_GIT_TIMEOUT is {text!r}", hint="write a number of seconds, such as 600")
    return float(text)


def is_run_by_git(environment: Mapping[str, str]) -> bool:
    """Say whether another git runs us, as a hook or by ``rebase --exec``: its variables are about what it does."""
    return any(name in environment for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_REFLOG_ACTION", "GIT_EXEC_PATH"))


def environment_for_git(environment: Mapping[str, str], *, protocols: str = "none") -> dict[str, str]:
    """Return the environment git runs in."""
    kept = {name: value for name, value in environment.items() if not name.startswith("GIT_") or name in _KEPT}
    kept.pop("SSH_ASKPASS", None)
    return {**kept, **_FIXED, "GIT_ALLOW_PROTOCOL": protocols}


class GitCommand(DiscreetStruct, frozen=True, kw_only=True):
    """git in one folder: ``run`` for short answers, ``stream`` for long ones.

    ``extra`` is configuration handed over through the environment, where other users of the machine cannot read it;
    ``network_timeout`` is how many seconds a command may take that talks to a remote.
    """

    UNSHOWN = ("environment", "extra")

    folder: Path
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    extra: tuple[tuple[str, str], ...] = ()
    options: tuple[str, ...] = OPTIONS
    network_timeout: float = NETWORK_TIMEOUT

    def run(
        self,
        *arguments: str,
        stdin: bytes = b"",
        network: bool = False,
        answers: frozenset[int] = frozenset({0}),
        timeout: float | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command to its end; an exit code that is not among ``answers`` is a ``GitError``."""
        limit = timeout or (self.network_timeout if network else LOCAL_TIMEOUT)
        with self._started_process(arguments, network=network) as process:
            try:
                output, errors = process.communicate(stdin, timeout=limit)
            except subprocess.TimeoutExpired as error:
                raise error_of_slow_command(arguments[0], limit, network=network) from error
        if process.returncode not in answers:
            raise error_of_failed_command(arguments[0], errors, process.returncode)
        return subprocess.CompletedProcess(arguments, process.returncode, output, errors)

    def text(self, *arguments: str) -> str:
        """Return what a command prints, without the line's end."""
        return self.run(*arguments).stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    @contextmanager
    def stream(self, *arguments: str, stdin: bytes = b"") -> Iterator[IO[bytes]]:
        """Run a command whose output is read as it comes; a failure is a ``GitError`` once all is read."""
        complaints: list[bytes] = []
        with self._started_process(arguments) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stderr is not None
            aside = (
                threading.Thread(target=_write_and_close, args=(process.stdin, stdin), daemon=True),
                threading.Thread(target=complaints.extend, args=(process.stderr,), daemon=True),
            )
            deadline = threading.Timer(LOCAL_TIMEOUT, _kill_process, (process,))
            deadline.daemon = True
            for thread in (*aside, deadline):
                thread.start()
            try:
                yield process.stdout
                complete = not process.stdout.read(1)
            finally:
                deadline.cancel()
                process.stdout.close()
                for thread in aside:
                    thread.join()
            code = process.wait() if complete else 0
        if code:
            raise error_of_failed_command(arguments[0], b"".join(complaints), code)

    def command_line(self, arguments: Sequence[str]) -> list[str]:
        """Return the whole command."""
        overridden = [part for option in self.options for part in ("-c", option)]
        return ["git", "-C", str(self.folder), *overridden, *arguments]

    def clean_environment(self, *, network: bool = False) -> dict[str, str]:
        """Return the environment of a call."""
        environment = environment_for_git(self.environment, protocols=NETWORK_PROTOCOLS if network else "none")
        environment["GIT_CEILING_DIRECTORIES"] = str(self.folder.parent)
        if self.extra:
            environment["GIT_CONFIG_COUNT"] = str(len(self.extra))
        for index, (name, value) in enumerate(self.extra):
            environment |= {f"GIT_CONFIG_KEY_{index}": name, f"GIT_CONFIG_VALUE_{index}": value}
        return environment

    @contextmanager
    def _started_process(self, arguments: Sequence[str], *, network: bool = False) -> Iterator[subprocess.Popen[bytes]]:
        """Start git in a session of its own - no terminal to ask on - and leave nothing of it behind."""
        try:
            process = subprocess.Popen(
                self.command_line(arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=self.clean_environment(network=network),
                start_new_session=True,
            )
        except FileNotFoundError as error:
            raise error_of_missing_git() from error
        try:
            with process:
                try:
                    yield process
                except BaseException:
                    _kill_process(process)
                    raise
        finally:
            _kill_process(process)


def _write_and_close(pipe: IO[bytes], data: bytes) -> None:
    """Hand a command its input; one that has ended already needs no more."""
    with suppress(BrokenPipeError, ValueError), pipe:
        pipe.write(data)


def _kill_process(process: subprocess.Popen[bytes]) -> None:
    """Kill what still runs, with whatever it started."""
    if process.returncode is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
