"""Connections that make sure which cluster they lead to, and the ways round: plain proxies, tunnels, SOCKS."""

import json
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.deliver.cluster import apply_plan
from reconciler.ledger.inventory import ApplyOutcome, Inventory
from reconciler.members.client import Clock, KubeClient
from reconciler.members.connection import open_connection
from reconciler.members.credentials import AuthPlugins
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.kubeconfig import Context
from reconciler.observe.objects import observe_cluster
from reconciler.plans.cluster import make_plan
from reconciler.plans.model import ClusterDesired

from .applying import desired_objects
from .attack.hostile_wires import HEAD, raw_server
from .build import a_config_map
from .fakes import FakeCluster
from .proxies import refusing, socks, tunnelling
from .tables import each_row
from .waiting import SECONDS, at_once
from .wires import Asked, Reply, Wire, a_certificate, answering, ok

WHO = "/api/v1/namespaces/kube-system"
WRITE = Request(method="PATCH", path="/api/v1/namespaces/shop/configmaps/a", body={"a": 1})
READ = Request(method="GET", path="/api/v1/namespaces/shop/configmaps/a")


def client_for(wire: Wire, *, pin: str = "", concurrency: int = 8, **user: Any) -> KubeClient:
    context = Context(name="it", cluster={"server": wire.host}, user=user)
    connection = open_connection(context, AuthPlugins(environment={}))
    assert not isinstance(connection, Failure)
    standing = Clock(lambda: 0.0, lambda _seconds: None)
    client = KubeClient(connection, deadline=60, concurrency=concurrency, clock=standing)
    client.require_cluster_uid(pin)
    return client


def told(wire: Wire) -> list[str]:
    return [f"{method} {path.partition('?')[0]}" for method, path, _ in wire.asked]


class Behind:
    """A balancer: each connection it takes leads to one of the clusters named, in turn; the last one stays.

    ``closing``: methods whose answers end their connection.
    """

    def __init__(self, *uids: str, closing: str = "") -> None:
        self.uids = uids
        self.closing = closing
        self.written: list[str] = []

    def __call__(self, asked: Asked) -> Reply:
        uid = self.uids[min(asked.connection, len(self.uids)) - 1]
        headers = {"Connection": "close"} if asked.method in self.closing.split() else {}
        if asked.method != "GET":
            self.written.append(uid)
        body = {"metadata": {"uid": uid}} if asked.path == WHO else {"kind": "ConfigMap"}
        return Reply(body=body, headers=headers)


class Turn(NamedTuple):
    why: str
    balancer: Behind
    requests: list[Request]
    asked: list[str]
    written: list[str]
    outcome: FailureKind | None = None


ASK_WHO, WRITTEN, HAD = f"GET {WHO}", f"PATCH {WRITE.path}", f"GET {READ.path}"
TURNS = [
    Turn("a connection is asked once", Behind("a"), [WRITE, WRITE], [ASK_WHO, WRITTEN, WRITTEN], ["a", "a"]),
    Turn("reading needs no asking", Behind("b"), [READ, READ], [HAD, HAD], []),
    Turn("reading first spares no asking", Behind("a"), [READ, WRITE], [HAD, ASK_WHO, WRITTEN], ["a"]),
    Turn(
        "a new connection to the same cluster goes on",
        Behind("a", "a", closing="PATCH"),
        [WRITE, WRITE],
        [ASK_WHO, WRITTEN, ASK_WHO, WRITTEN],
        ["a", "a"],
    ),
    Turn(
        "a new connection to another cluster ends it",
        Behind("a", "b", closing="PATCH"),
        [WRITE, WRITE, WRITE],
        [ASK_WHO, WRITTEN, ASK_WHO],
        ["a"],
        FailureKind.WRONG_CLUSTER,
    ),
    Turn(
        "the very first connection may be astray",
        Behind("b"),
        [WRITE],
        [ASK_WHO],
        [],
        FailureKind.WRONG_CLUSTER,
    ),
    Turn(
        "where no connection lasts, each write is asked for",
        Behind("a", closing="GET PATCH"),
        [WRITE, WRITE],
        [ASK_WHO, WRITTEN, ASK_WHO, WRITTEN],
        ["a", "a"],
    ),
]


@each_row("case", TURNS, ids=lambda case: case.why)
def test_a_connection_is_asked_where_it_leads_before_it_writes(case: Turn) -> None:
    with answering(choose=case.balancer) as wire:
        client = client_for(wire, pin="a")
        outcomes = [client.send(request) for request in case.requests]
    last = outcomes[-1]
    assert told(wire) == case.asked
    assert case.balancer.written == case.written
    assert (last.kind if isinstance(last, Failure) else None) == case.outcome


def test_what_is_said_of_a_connection_that_leads_elsewhere() -> None:
    with answering(choose=Behind("b")) as wire:
        client = client_for(wire, pin="a")
        outcome = client.send(WRITE)
    assert outcome == client.stopped
    assert str(outcome) == (
        f"a new connection to {wire.host} leads to another cluster than a moment ago\n"
        "  hint: see what stands between here and the cluster"
    )


def test_nothing_is_asked_without_a_cluster_to_find() -> None:
    with answering(choose=Behind("a")) as wire:
        client_for(wire).send(WRITE)
    assert told(wire) == [WRITTEN]


def test_of_two_connections_at_once_only_the_right_one_writes() -> None:
    balancer, both = Behind("a", "b"), threading.Barrier(2)

    def together(asked: Asked) -> Reply:
        if asked.path == WHO:
            both.wait(SECONDS)
        return balancer(asked)

    outcomes: list[Answer | Failure] = []
    with answering(choose=together) as wire:
        client = client_for(wire, pin="a")
        at_once(lambda _number: outcomes.append(client.send(WRITE)), 2)
    assert balancer.written == ["a"]
    assert [item.kind for item in outcomes if isinstance(item, Failure)] == [FailureKind.WRONG_CLUSTER]


def test_the_question_is_asked_as_who_writes() -> None:
    with answering(choose=Behind("a")) as wire:
        user: dict[str, Any] = {"token": "t0ken", "as": "ada", "as-groups": ["one", "two"]}
        client_for(wire, pin="a", **user).send(WRITE)
    asking = wire.asked[0][2]
    assert (asking["authorization"], asking["impersonate-user"]) == (["Bearer t0ken"], ["ada"])
    assert asking["impersonate-group"] == ["one", "two"]
    assert "content-type" not in asking


def once_each(client: socket.socket, _over: threading.Event) -> None:
    """Answer one request, and close the connection at the next without a word."""
    client.settimeout(SECONDS)
    client.sendall(HEAD + b'Content-Length: 20\r\n\r\n{"kind": "Whatever"}')
    client.recv(65536)


@pytest.mark.parametrize("request_", [READ, WRITE], ids=["reading", "writing"])
def test_only_reading_is_repeated_where_a_connection_was_closed_between_requests(request_: Request) -> None:
    with raw_server(once_each) as host:
        connection = open_connection(Context(name="it", cluster={"server": host}, user={}), AuthPlugins(environment={}))
        assert not isinstance(connection, Failure)
        client = KubeClient(connection, deadline=60, clock=Clock(lambda: 0.0, lambda _seconds: None))
        assert isinstance(client.send(READ), Answer)
        outcome = client.send(replace(request_, tries=1))
    assert isinstance(outcome, Answer) is (request_ is READ)


class Refusal(NamedTuple):
    why: str
    status: int
    kind: FailureKind
    asked: int


REFUSALS = [
    Refusal("who may not look may not write", 403, FailureKind.FORBIDDEN, 1),
    Refusal("a server in trouble is asked again, and then whether it is", 503, FailureKind.UNAVAILABLE, 5),
    Refusal("no such namespace is no such cluster", 404, FailureKind.NOT_SERVED, 1),
]


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.why)
def test_an_answer_that_tells_nothing_stops_the_write(case: Refusal) -> None:
    with answering(Reply(status=case.status, body={"kind": "Status"})) as wire:
        outcome = client_for(wire, pin="a").send(WRITE)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, told(wire)) == (case.kind, [ASK_WHO] * case.asked)


def test_a_connection_that_breaks_off_at_the_question_writes_nothing() -> None:
    balancer, broken = Behind("a"), iter([True])

    def breaking(asked: Asked) -> Reply:
        return Reply(cut=True) if next(broken, False) else balancer(asked)

    with answering(choose=breaking) as wire:
        outcome = client_for(wire, pin="a").send(WRITE)
    assert isinstance(outcome, Answer)
    assert (told(wire), balancer.written) == ([ASK_WHO, ASK_WHO, WRITTEN], ["a"])


def test_a_pass_whose_connections_come_to_lead_elsewhere_writes_nothing_there() -> None:
    """The server closes connections as it likes; each new one may be taken by another cluster behind the address."""
    right, wrong = FakeCluster("right"), FakeCluster("wrong")
    wrong.objects["namespaces.", "", "kube-system"]["metadata"]["uid"] = "another"
    for cluster in (right, wrong):
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "argosy-system"}}
        assert cluster.request("POST", "/api/v1/namespaces", body)[0] == 201
    writes = {"right": 0, "wrong": 0}

    def balanced(asked: Asked) -> Reply:
        cluster = right if asked.connection == 1 else wrong
        body = json.loads(asked.content) if asked.content else None
        status, answer = cluster.request(asked.method, asked.path, body, content_type=asked.content_type)
        writes[cluster.name] += asked.method != "GET"
        is_last = asked.method != "GET" and writes["right"] == 3
        return Reply(status=status, body=answer, headers={"Connection": "close"} if is_last else {})

    manifests = [a_config_map(f"m-{number}", namespace="argosy-system") for number in range(6)]
    with answering(choose=balanced) as wire:
        client = client_for(wire, concurrency=1)
        desired = ClusterDesired(cluster="it", commit="c0ffee", objects=desired_objects(manifests))
        inventory = Inventory(cluster="it")
        plan = make_plan(desired, observe_cluster(client, desired, inventory), inventory)
        applied = apply_plan(client, plan)
    assert writes == {"right": 3, "wrong": 0}
    assert applied.outcome is ApplyOutcome.INTERRUPTED
    assert applied.failure is not None
    assert applied.failure.kind is FailureKind.WRONG_CLUSTER


def test_a_second_answer_of_ok_is_not_taken_for_an_identity() -> None:
    with answering(ok({"kind": "Status", "metadata": {}})) as wire:
        outcome = client_for(wire, pin="a").send(WRITE)
    assert isinstance(outcome, Failure)
    assert outcome.kind is FailureKind.WRONG_CLUSTER


class TestProxies:
    """The name of the server means nothing here: only the proxy can find it."""

    def test_a_tunnel(self, tmp_path: Path) -> None:
        certificate = a_certificate(tmp_path, "api.example.com")
        with answering(ok(), certificate=certificate) as wire, tunnelling(wire.host) as proxy:
            outcome = asked_through(
                f"http://ada:se%3Acret@127.0.0.1:{proxy.port}", "https://api.example.com:6443", tmp_path / "server.crt"
            )
        assert isinstance(outcome, Answer)
        assert proxy.asked == ["api.example.com:6443"]
        assert proxy.shown == ["proxy-authorization: Basic YWRhOnNlOmNyZXQ="]

    def test_a_plain_proxy_that_wants_a_password(self) -> None:
        with answering(ok()) as wire:
            proxy = wire.host.replace("://", "://ada:secret@")
            outcome = asked_through(proxy, "http://api.example.com/prefix")
        assert isinstance(outcome, Answer)
        assert wire.asked[0][:2] == ("GET", f"http://api.example.com/prefix{READ.path}")
        assert wire.asked[0][2]["proxy-authorization"] == ["Basic YWRhOnNlY3JldA=="]
        assert wire.asked[0][2]["host"] == ["api.example.com"]

    @pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
    def test_socks(self, scheme: str, tmp_path: Path) -> None:
        certificate = a_certificate(tmp_path, "api.example.com")
        with answering(ok(), certificate=certificate) as wire, socks(wire.host) as proxy:
            outcome = asked_through(
                f"{scheme}://ada:secret@127.0.0.1:{proxy.port}", "https://api.example.com", tmp_path / "server.crt"
            )
        assert isinstance(outcome, Answer)
        assert (proxy.asked, proxy.shown) == (["api.example.com:443"], ["ada:secret"])

    def test_a_connection_through_a_proxy_is_asked_where_it_leads_as_well(self, tmp_path: Path) -> None:
        certificate = a_certificate(tmp_path, "api.example.com")
        balancer = Behind("b")
        with answering(choose=balancer, certificate=certificate) as wire, socks(wire.host) as proxy:
            url = f"socks5://ada:secret@127.0.0.1:{proxy.port}"
            outcome = asked_through(url, "https://api.example.com", tmp_path / "server.crt", request=WRITE, pin="a")
        assert isinstance(outcome, Failure)
        assert (outcome.kind, balancer.written) == (FailureKind.WRONG_CLUSTER, [])

    def test_a_socks_proxy_without_its_library_is_told(self) -> None:
        """In a process of its own, in which there is no such library."""
        command = [sys.executable, "-c", WITHOUT_SOCKS]
        run = subprocess.run(command, check=True, capture_output=True, text=True, timeout=SECONDS)
        assert run.stdout == (
            "socks5 proxies need a library that is not installed\n"
            "  hint: install PySocks beside Argosy: pipx inject argosy PySocks\n"
        )


class LostWay(NamedTuple):
    """A proxy: the bytes that it says to each thing it is told, and the failure that this is."""

    why: str
    scheme: str
    answers: tuple[bytes, ...]
    kind: FailureKind
    message: str = ""


HELLO = b"\x05\x00"
LOST = "does not let us through"
LOST_WAYS = [
    LostWay("wants a password", "http", (b"HTTP/1.1 407 Who\r\n\r\n",), FailureKind.PROXY, f"{LOST}: HTTP status 407"),
    LostWay("forbids it", "http", (b"HTTP/1.1 403 No\r\n\r\n",), FailureKind.PROXY, f"{LOST}: HTTP status 403"),
    LostWay("does not get there", "http", (b"HTTP/1.1 502 No\r\n\r\n",), FailureKind.UNREACHABLE),
    LostWay("takes no way to log in", "socks5", (b"\x05\xff",), FailureKind.PROXY, LOST),
    LostWay("has a rule", "socks5", (HELLO, b"\x05\x02\x00\x01" + bytes(6)), FailureKind.PROXY, LOST),
    LostWay("is refused there", "socks5", (HELLO, b"\x05\x05\x00\x01" + bytes(6)), FailureKind.UNREACHABLE),
    LostWay("is none", "socks5", (b"HTTP/1.1 400 Bad\r\n\r\n",), FailureKind.PROXY, "cannot be reached, or is none"),
]


@pytest.mark.parametrize("lost", LOST_WAYS, ids=lambda lost: f"{lost.scheme} {lost.why}")
def test_a_proxy_that_fails_is_told_from_a_server_that_is_not_there(lost: LostWay) -> None:
    with refusing(*lost.answers) as proxy:
        outcome = asked_through(f"{lost.scheme}://127.0.0.1:{proxy.port}", "https://api.example.com")
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.is_without_sight_of_member) == (lost.kind, lost.kind is FailureKind.PROXY)
    if lost.message:
        assert outcome.message == f"the proxy on the way to https://api.example.com {lost.message}"


@pytest.mark.parametrize("scheme", ["http", "socks5"])
def test_a_proxy_that_is_not_there_says_nothing_of_the_cluster(scheme: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    outcome = asked_through(f"{scheme}://127.0.0.1:{port}", "https://api.example.com")
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.is_without_sight_of_member) == (FailureKind.PROXY, True)
    assert outcome.hint.endswith("nothing is known of the cluster")


def test_a_name_that_is_not_resolved_says_nothing_of_the_cluster() -> None:
    cluster = {"server": "https://a..b:6443"}
    connection = open_connection(Context(name="it", cluster=cluster, user={}), AuthPlugins(environment={}))
    assert not isinstance(connection, Failure)
    outcome = KubeClient(connection, deadline=60, clock=Clock(lambda: 0.0, lambda _seconds: None)).send(READ)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.is_without_sight_of_member) == (FailureKind.NAME, True)
    assert outcome.message == "https://a..b:6443 has no address here: its name is not resolved"


WITHOUT_SOCKS = """
import sys
sys.modules["socks"] = None
from reconciler.members.credentials import AuthPlugins
from reconciler.members.connection import open_connection
from reconciler.members.kubeconfig import Context
cluster = {"server": "https://api.example.com", "proxy-url": "socks5://127.0.0.1:1"}
print(open_connection(Context(name="it", cluster=cluster, user={}), AuthPlugins(environment={})))
"""


def asked_through(
    proxy: str, server: str, authority: Path | None = None, *, request: Request = READ, pin: str = ""
) -> Answer | Failure:
    cluster = {"server": server, "proxy-url": proxy}
    cluster |= {"certificate-authority": str(authority)} if authority else {}
    connection = open_connection(Context(name="it", cluster=cluster, user={}), AuthPlugins(environment={}))
    assert not isinstance(connection, Failure)
    connection.require_cluster_uid(pin)
    return KubeClient(connection, deadline=60, clock=Clock(lambda: 0.0, lambda _seconds: None)).send(request)
