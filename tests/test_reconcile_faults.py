"""The faults a member's server can have, beside a healthy member: that one converges and is recorded all the same.

The faulty one has a failure of its own, and is as it should be in the run after it is well again.
"""

import copy
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

import pytest

from reconciler.cli import run
from render.documents import emit, parse_documents

from .attack.hostile_wires import HEAD, dripping, raw_server
from .build import Ended, Repository, a_cluster, a_config_map, a_policy, argosy, copied, on_clusters
from .fakes import FakeCluster
from .served import Fault, asked_again_at_once, given_up_soon, kubeconfig_of, serving_members
from .waiting import SECONDS

NAMES = ("faulty", "healthy")
OVER = threading.Event()
"""Set when a test is over, so that nothing hangs any longer."""
KEPT = "/api/v1/namespaces/default/configmaps/kept"
GONE = "/api/v1/namespaces/default/configmaps/gone"


def every(_handler: BaseHTTPRequestHandler) -> bool:
    return True


def listing(handler: BaseHTTPRequestHandler) -> bool:
    """Say whether a request lists what is ours of a kind."""
    return handler.command == "GET" and "labelSelector=" in handler.path and "/configmaps?" in handler.path


def method(name: str) -> Callable[[BaseHTTPRequestHandler], bool]:
    return lambda handler: handler.command == name


def answering(status: int, reason: str, when: Callable[[BaseHTTPRequestHandler], bool] = every) -> Fault:
    """Refuse requests with a status."""

    def fault(handler: BaseHTTPRequestHandler) -> bool:
        if not when(handler):
            return False
        said = f'{{"kind": "Status", "code": {status}, "reason": "{reason}", "message": "scripted"}}'.encode()
        handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(said)))
        handler.end_headers()
        handler.wfile.write(said)
        return True

    return fault


def hanging(when: Callable[[BaseHTTPRequestHandler], bool]) -> Fault:
    """Take requests and never answer."""
    return lambda handler: when(handler) and OVER.wait(SECONDS)


def breaking(when: Callable[[BaseHTTPRequestHandler], bool]) -> Fault:
    """Break answers off in their middle."""

    def fault(handler: BaseHTTPRequestHandler) -> bool:
        if when(handler):
            handler.wfile.write(HEAD + b'Content-Length: 4096\r\n\r\n{"kind": "ConfigMapList", "items": [{"meta')
        return when(handler)

    return fault


@contextmanager
def refusing() -> Iterator[str]:
    """An address at which nobody listens."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{unused.getsockname()[1]}"


@contextmanager
def garbled_tls() -> Iterator[str]:
    """An address at which something answers that is no TLS."""
    with raw_server(lambda client, _over: client.sendall(b"\x15\x03\x01 what?")) as host:
        yield host.replace("http:", "https:")


class Scripted(NamedTuple):
    """A fault: of its answers, or of the wire to it; the state of the faulty member, and the exit code."""

    why: str
    state: str
    code: int
    fault: Fault = lambda _handler: False
    wire: Callable[[], AbstractContextManager[str]] | None = None
    is_endless: bool = False


HEALTHY = Scripted("there is no fault", "Converged", 0)
FAULTS = [
    Scripted("connections are refused", "Unreachable", 7, wire=refusing),
    Scripted("it hangs after it was connected to", "Unreachable", 7, hanging(every), is_endless=True),
    Scripted("what answers is no TLS", "CertificateRejected", 7, wire=garbled_tls),
    Scripted(
        "it answers byte by byte", "Unreachable", 7, wire=lambda: raw_server(dripping(HEAD * 90, 0.5)), is_endless=True
    ),
    Scripted("the credentials are refused", "Unauthorized", 7, answering(401, "Unauthorized")),
    Scripted("everything is forbidden", "Forbidden", 1, answering(403, "Forbidden")),
    Scripted("it has too much to do for ever", "TooManyRequests", 7, answering(429, "TooManyRequests")),
    Scripted("it is broken for ever", "ServerUnavailable", 7, answering(500, "InternalError")),
    Scripted("its lists hang", "Unreachable", 7, hanging(listing), is_endless=True),
    Scripted("the lists of a kind break off", "Incomplete", 1, breaking(listing)),
    Scripted("the lists of a kind are too much", "Incomplete", 1, answering(429, "TooManyRequests", listing)),
    Scripted("the lists of a kind fail", "Incomplete", 1, answering(500, "InternalError", listing)),
    Scripted("the lists of a kind are forbidden", "Incomplete", 1, answering(403, "Forbidden", listing)),
    Scripted("its watch cache is too old", "Incomplete", 1, answering(410, "Expired", listing)),
    Scripted("its writes hang", "Unreachable", 7, hanging(method("PATCH")), is_endless=True),
    Scripted("its deletions hang", "Unreachable", 7, hanging(method("DELETE")), is_endless=True),
]


@pytest.fixture(scope="module")
def applied(tmp_path_factory: pytest.TempPathFactory) -> tuple[Repository, dict[str, FakeCluster]]:
    """Two members that hold two ConfigMaps; by the newest source one of these is gone and the other has changed."""
    folder = tmp_path_factory.mktemp("applied")
    members = {name: FakeCluster(name=name) for name in NAMES}
    repository = Repository.create(folder / "fleet")
    policy = a_policy(selectors=[{"apiVersion": "v1", "kind": "ConfigMap"}], placement=on_clusters(*NAMES))
    files = {f"{name}.yaml": a_config_map(name, a="1") for name in ("kept", "gone")}
    repository.commit({**{f"{name}.yaml": a_cluster(name) for name in NAMES}, **files, "policy.yaml": policy})
    with serving_members(members.values(), folder / "before") as served:
        reach = ("--kubeconfigs", str(served.kubeconfigs))
        assert run(["-q", "-C", str(repository.path), "reconcile", "--bootstrap", *reach]) == 0
    repository.commit({"kept.yaml": a_config_map("kept", a="2"), "gone.yaml": None})
    return repository, members


@pytest.fixture
def fleet(
    applied: tuple[Repository, dict[str, FakeCluster]], tmp_path: Path
) -> Iterator[tuple[Repository, dict[str, FakeCluster]]]:
    """A copy of the fleet and of its members."""
    (repository,) = copied(tmp_path, applied[0])
    OVER.clear()
    yield repository, copy.deepcopy(applied[1])
    OVER.set()


def reconciled(
    repository: Repository,
    capsys: pytest.CaptureFixture[str],
    members: dict[str, FakeCluster],
    folder: Path,
    *,
    case: Scripted = HEALTHY,
) -> Ended:
    """Run a pass while the faulty member has its fault."""
    with (
        serving_members(members.values(), folder, {"faulty": case.fault}) as served,
        case.wire() if case.wire else nullcontext() as host,
        asked_again_at_once(),
        given_up_soon("faulty") if case.is_endless else nullcontext(),
    ):
        if host is not None:
            (folder / "faulty.yaml").write_bytes(emit(kubeconfig_of("faulty", host)))
        reach = ("--kubeconfigs", str(served.kubeconfigs), "--timeout", "60")
        ended = argosy(repository, capsys, "reconcile", *reach)
        OVER.set()
    return ended


def states(ended: Ended) -> dict[str, str]:
    lines = (line.split() for line in ended.out.splitlines())
    return {words[0]: words[-1] for words in lines if words and words[0] in NAMES}


def is_as_wanted(member: FakeCluster) -> bool:
    kept = member.read(KEPT)
    return kept["data"] == {"a": "2"} and member.read(GONE) is None


def converged(repository: Repository, name: str) -> bool:
    """Say whether the status branch has a member at the newest rendered commit."""
    text = repository.show(f"inventory/{name}.yaml", "argosy/status") + "\n"
    found = parse_documents(text.encode())[0].value["converged"]
    return bool(found == repository.git("rev-parse", "argosy/rendered"))


@pytest.mark.waits
@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.why)
def test_a_fault_costs_its_member_alone(
    case: Scripted,
    fleet: tuple[Repository, dict[str, FakeCluster]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    repository, members = fleet
    ended = reconciled(repository, capsys, members, tmp_path / "faulty", case=case)
    assert (states(ended), ended.code) == ({"faulty": case.state, "healthy": "Converged"}, case.code), ended.err
    assert is_as_wanted(members["healthy"])
    assert (converged(repository, "healthy"), converged(repository, "faulty")) == (True, False)
    ended = reconciled(repository, capsys, members, tmp_path / "well")
    assert (states(ended), ended.code) == (dict.fromkeys(NAMES, "Converged"), 0), ended.err
    assert is_as_wanted(members["faulty"])
    assert converged(repository, "faulty")
