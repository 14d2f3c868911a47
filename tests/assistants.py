"""A client of ``argosy mcp`` over a real pipe, and a look at everything that a call could have written."""

import hashlib
import io
import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.build import (
    Repository,
    a_cluster,
    a_config_map,
    a_deployment,
    a_policy,
    on_clusters,
)
from tests.waiting import SECONDS, running

Reply = Mapping[str, Any]


class Client:
    """A program that talks to a server; replies come in any order, and are told apart by their ids."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process
        self._lines: queue.Queue[str] = queue.Queue()
        self._replies: dict[object, Reply] = {}
        self._count = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def send_bytes(self, line: bytes) -> None:
        assert isinstance(self._process.stdin, io.TextIOWrapper)
        self._process.stdin.buffer.write(line + b"\n")
        self._process.stdin.flush()

    def send(self, message: object) -> None:
        self.send_bytes(json.dumps(message).encode())

    def next(self) -> Any:
        """The next message, whatever it is; None at the end of the pipe."""
        line = self._lines.get(timeout=SECONDS)
        return json.loads(line) if line else None

    def begin(self, method: str, **params: Any) -> int:
        """Ask for something, and return the id by which its answer is told."""
        self._count += 1
        self.send({"jsonrpc": "2.0", "id": self._count, "method": method, "params": params})
        return self._count

    def answer(self, request_id: object) -> Reply:
        """The answer to a request, whatever comes before it."""
        while request_id not in self._replies:
            message = self.next()
            assert message is not None, "the server has ended"
            if "id" in message:
                self._replies[message["id"]] = message
        return self._replies.pop(request_id)

    def ask(self, method: str, **params: Any) -> Reply:
        return self.answer(self.begin(method, **params))

    def call(self, tool: str, **arguments: Any) -> Reply:
        """The result of a call of a tool."""
        reply = self.ask("tools/call", name=tool, arguments=arguments)
        assert "result" in reply, reply
        result: Reply = reply["result"]
        return result

    def close(self) -> int:
        """End the pipe, and return how the server ends."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        return self._process.wait(timeout=SECONDS)


@contextmanager
def a_server(repository: Repository, *options: str, home: Path | None = None) -> Iterator[Client]:
    """A server for a repository, as a client starts it."""
    environment = {**os.environ, **({"HOME": str(home)} if home else {})}
    command = [sys.executable, "-m", "reconciler", "-C", str(repository.path), "mcp", *options]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with running(command, seconds=4 * SECONDS, env=environment, **pipes) as process:
        client = Client(process)
        yield client
        client.close()


def a_fleet(path: Path) -> Repository:
    """A repository with a fleet of two clusters, a Deployment and a ConfigMap."""
    repository = Repository.create(path)
    selectors = [{"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "v1", "kind": "ConfigMap"}]
    repository.commit(
        {
            "clusters/oslo.yaml": a_cluster("oslo"),
            "clusters/paris.yaml": a_cluster("paris"),
            "policy.yaml": a_policy("all", selectors=selectors, placement=on_clusters("oslo", "paris")),
            "web.yaml": a_deployment("web", replicas=2),
            "settings.yaml": a_config_map("settings", colour="red"),
        },
        "A fleet",
    )
    return repository


def texts_of(result: Reply) -> list[str]:
    """The parts of an answer."""
    return [part["text"] for part in result["content"]]


def everything_below(*roots: Path) -> dict[str, str]:
    """Every file and folder below some folders: kind, rights, content and the time it was last written."""
    found = {}
    for root in roots:
        for path in sorted([root, *root.rglob("*")]):
            status = path.lstat()
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() and not path.is_symlink() else ""
            found[str(path)] = f"{status.st_mode:o} {status.st_mtime_ns} {content}"
    return found
