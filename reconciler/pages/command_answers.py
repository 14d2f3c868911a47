"""Answers that take long, of differences and what-ifs: the program gives them, in processes of their own.

Such a process can be ended when it takes too long, and its memory goes with it. A page waits a little for the answer,
and asks again while there is none.
"""

import os
import signal
import subprocess
import sys
import threading
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from typing import Any

from msgspec import Struct

from reconciler.console.cleaning import safe_for_terminal
from render.errors import ConfigError, ReconcileError
from render.json_values import value_of_json_text

_AT_ONCE, _MOST_WAITING, _MOST_KEPT = 2, 8, 64
_PATIENCE = 1.5
"""The seconds that a page waits for an answer."""
_LONGEST = 300.0
_LARGEST = 64 << 20


class CommandAnswer(Struct, frozen=True, kw_only=True):
    """The document that a command printed, None while it computes; ``error`` is the reason why it printed none."""

    document: Mapping[str, Any] | None = None
    error: str = ""
    is_ready: bool = True


class CommandAnswers:
    """The answers of commands over one location, two computed at a time."""

    def __init__(self, location: str) -> None:
        self._location = location
        self._lock = threading.Lock()
        self._workers = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="pages-ask")
        self._answers: OrderedDict[Hashable, Future[CommandAnswer]] = OrderedDict()
        self._processes: set[subprocess.Popen[bytes]] = set()

    def answer(self, key: Hashable, words: tuple[str, ...]) -> CommandAnswer:
        """Return the answer to some words, computed once for a key; one that is not ready after a moment says so.

        Where too many wait already, this one is not begun: a page asks for it again by itself.
        """
        with self._lock:
            future = self._answers.get((key, words))
            if future is None and sum(not each.done() for each in self._answers.values()) < _MOST_WAITING:
                future = self._begin(key, words)
        if future is None:
            return CommandAnswer(is_ready=False)
        with suppress(NotYet):
            return future.result(_PATIENCE)
        return CommandAnswer(is_ready=False)

    def close(self) -> None:
        """End every process that still computes."""
        self._workers.shutdown(wait=False, cancel_futures=True)
        for process in tuple(self._processes):
            _end(process)

    def _begin(self, key: Hashable, words: tuple[str, ...]) -> "Future[CommandAnswer]":
        future = self._workers.submit(self._ask, words)
        self._answers[key, words] = future
        while len(self._answers) > _MOST_KEPT:
            self._answers.popitem(last=False)
        return future

    def _ask(self, words: tuple[str, ...]) -> CommandAnswer:
        command = [sys.executable, "-m", "reconciler", "-C", self._location, "--no-color", *words, "-o", "json"]
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._processes.add(process)
        try:
            out, err = process.communicate(timeout=_LONGEST)
        except subprocess.TimeoutExpired:
            _end(process)
            return CommandAnswer(error=f"no answer within {_LONGEST:.0f} seconds")
        finally:
            self._processes.discard(process)
        document = value_of_json_text(out, dict[str, Any]) if len(out) <= _LARGEST else None
        if document is not None:
            return CommandAnswer(document=document)
        said = safe_for_terminal(err.decode("utf-8", "replace")).strip().removeprefix("argosy: ")
        return CommandAnswer(error=said[-4000:] or f"it ended with code {process.returncode}")


def _end(process: "subprocess.Popen[bytes]") -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def error_of_answer(answer: CommandAnswer) -> ReconcileError:
    """Return what a command said that printed no document, as an error with its hint."""
    message, _, hint = answer.error.partition("\n  hint: ")
    return ConfigError(message, hint=hint)
