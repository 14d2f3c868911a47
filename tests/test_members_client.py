"""The client of one cluster against servers that misbehave in every way a cluster can."""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from reconciler.members.client import Clock, KubeClient, json_body
from reconciler.members.connection import open_connection
from reconciler.members.credentials import AuthPlugins
from reconciler.members.exchange import UNREACHABLE, Answer, Expected, Failure, FailureKind, Request
from reconciler.members.identity import Impersonation
from reconciler.members.kubeconfig import Context
from reconciler.members.request_limits import Hangs, RequestLimit
from render.documents import parse_documents

from .tables import each_row
from .waiting import at_once
from .wires import Asked, Reply, Wire, answering, ok, refused

STANDING = Clock(lambda: 0.0, lambda _seconds: None)
ASK = Request(method="GET", path="/api/v1/namespaces/kube-system", timeout=5.0)


def client_for(wire: Wire, *, pauses: list[float] | None = None, seconds: float = 60.0, **user: Any) -> KubeClient:
    """A client whose pauses are written down instead of slept."""
    context = Context(name="it", cluster={"server": wire.host}, user=user)
    connection = open_connection(context, AuthPlugins(environment=os.environ), identity=Impersonation.of(user))
    assert not isinstance(connection, Failure)
    told = pauses if pauses is not None else []
    return KubeClient(connection, deadline=seconds, user_agent="argosy/1", clock=Clock(lambda: 0.0, told.append))


class Tried(NamedTuple):
    why: str
    reply: Reply
    kind: FailureKind
    tries: int


WEBHOOK = 'Internal error occurred: failed calling webhook "policy.example.com": connection refused'
TYPED = (
    "failed to create typed patch object (shop/web; apps/v1, Kind=Deployment): .spec.x: field not declared in schema"
)
TRIES = [
    Tried("malformed", refused(400), FailureKind.BAD_REQUEST, 1),
    Tried("not allowed", refused(403), FailureKind.FORBIDDEN, 1),
    Tried("too large", refused(413), FailureKind.TOO_LARGE, 1),
    Tried("not acceptable", refused(415), FailureKind.UNSUPPORTED, 1),
    Tried("not valid", refused(422), FailureKind.INVALID, 1),
    Tried("changed meanwhile is for the caller to look at", refused(409), FailureKind.RACE, 1),
    Tried("an expired list is for the caller to restart", refused(410), FailureKind.EXPIRED, 1),
    Tried("a manifest's fault stays one, however often", refused(500, TYPED), FailureKind.MANIFEST, 1),
    Tried("a webhook that is down is tried twice", refused(500, WEBHOOK), FailureKind.WEBHOOK, 2),
    Tried("a server error", refused(500), FailureKind.UNAVAILABLE, 4),
    Tried("a gateway without a backend", Reply(503, "<html>", {}), FailureKind.UNAVAILABLE, 4),
    Tried("too much to do", Reply(429, "Too many requests", {}), FailureKind.THROTTLED, 8),
    Tried("a broken connection", Reply(cut=True), FailureKind.UNREACHABLE, 3),
    Tried("credentials are renewed once", refused(401), FailureKind.UNAUTHORIZED, 2),
    Tried("a page of somebody else's", Reply(200, "<html>hello</html>", {}), FailureKind.STRANGER, 3),
    Tried("a redirect is not followed", Reply(302, "", {"Location": "http://127.0.0.1:1/"}), FailureKind.STRANGER, 3),
]


@each_row("case", TRIES, ids=lambda case: case.why)
def test_each_failure_is_tried_as_often_as_it_is_worth(case: Tried) -> None:
    with answering(case.reply) as wire:
        outcome = client_for(wire).send(ASK)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, len(wire.asked)) == (case.kind, case.tries)


def test_a_redirect_is_no_answer_of_an_api_server() -> None:
    """A proxy that wants a person to log in was called BadRequest, with nothing to go by but the status."""
    with answering(Reply(302, "", {"Location": "https://login.example.com/"})) as wire:
        outcome = client_for(wire).send(ASK)
    assert outcome == Failure(
        kind=FailureKind.STRANGER,
        message=f"what answers at {wire.host} is no Kubernetes API server: it redirects elsewhere (HTTP status 302)",
        hint="see the server address of this cluster's context; a proxy with a page to log in may stand before the"
        " API server",
    )


class Stranger(NamedTuple):
    why: str
    reply: Reply
    hint: str


STRANGER = "what answers may be no API server: see what stands before it"
STRANGERS = [
    Stranger("a page of a proxy that forbids", Reply(403, "<html>Forbidden</html>", {}), STRANGER),
    Stranger("a page of a web server that finds nothing", Reply(404, "<html>404</html>", {}), STRANGER),
    Stranger("TLS is wanted", Reply(400, "Client sent an HTTP request to an HTTPS server.\n", {}), STRANGER),
    Stranger("an API server that does not serve the path", Reply(404, "404 page not found\n", {}), ""),
    Stranger("an API server that refuses", refused(400), ""),
]


@each_row("case", STRANGERS, ids=lambda case: case.why)
def test_a_refusal_that_is_no_status_may_be_of_something_else(case: Stranger) -> None:
    with answering(case.reply) as wire:
        outcome = client_for(wire).send(ASK)
    assert isinstance(outcome, Failure)
    assert outcome.hint == case.hint


def test_a_server_that_is_too_busy_for_ever_stops_its_client() -> None:
    with answering(Reply(429, "Too many requests", {})) as wire:
        client = client_for(wire)
        outcome = client.send(ASK)
    assert isinstance(outcome, Failure)
    assert client.stopped == outcome


class Alone(NamedTuple):
    why: str
    reply: Reply
    kind: FailureKind
    tries: int


CONVERSION = (
    "storage is (re)initializing: failed to list example.com/v2, Kind=Widget: conversion webhook for example.com/v1, "
    'Kind=Widget failed: Post "https://127.0.0.1:1/convert?timeout=30s": connection refused'
)
LIST = Request(method="GET", path="/apis/example.com/v2/widgets", expects=Expected.LIST, tries=5, timeout=5.0)
ALONE = [
    Alone("a kind whose conversion fails", refused(429, CONVERSION, Retry_After="1"), FailureKind.CONVERSION, 2),
    Alone("a kind that is read in", refused(429, "storage is (re)initializing"), FailureKind.INITIALIZING, 3),
    Alone("too much to do for this", Reply(429, "Too many requests", {}), FailureKind.ALONE, 5),
    Alone("an error", refused(500, "unable to transform key"), FailureKind.ALONE, 4),
    Alone("a broken connection", Reply(cut=True), FailureKind.ALONE, 3),
    Alone("the page of a proxy", Reply(200, "<html>too large</html>", {}), FailureKind.ALONE, 3),
]


@each_row("case", ALONE, ids=lambda case: case.why)
def test_a_failure_of_one_request_is_none_of_a_server_that_answers_others(case: Alone) -> None:
    def choose(asked: Asked) -> Reply:
        return case.reply if "widgets" in asked.path else ok({"kind": "Namespace"})

    with answering(choose=choose) as wire:
        client = client_for(wire)
        outcome, other = client.send(LIST), client.send(ASK)
    assert isinstance(outcome, Failure)
    asked = [path for _, path, _ in wire.asked if path.startswith(LIST.path)]
    assert (outcome.kind, len(asked), client.stopped) == (case.kind, case.tries, None)
    assert isinstance(other, Answer)


@each_row("case", ALONE[2:], ids=lambda case: case.why)
def test_a_failure_of_every_request_is_the_servers(case: Alone) -> None:
    with answering(case.reply) as wire:
        client = client_for(wire)
        outcome = client.send(LIST)
    assert isinstance(outcome, Failure)
    assert outcome.kind in UNREACHABLE
    assert client.stopped == (None if outcome.kind is FailureKind.UNAVAILABLE else outcome)


def test_a_right_that_is_missing_is_told_with_the_command_that_grants_it() -> None:
    lacking = 'configmaps is forbidden: User "ada" cannot list resource "configmaps" in API group ""'
    with answering(refused(403, lacking), refused(403, lacking), refused(403, "no such luck")) as wire:
        client = client_for(wire)
        unknown = client.send(LIST)
        client.granting = "argosy rbac --cluster eu"
        hints = [
            outcome.hint
            for outcome in (unknown, *(client.send(LIST) for _ in range(2)))
            if isinstance(outcome, Failure)
        ]
    assert hints == [
        "grant the user of this context the verb on the resource",
        "grant what is missing: argosy rbac --cluster eu",
        "see which authorizer or admission plugin of the cluster refused it",
    ]


def test_what_hangs_is_not_tried_again_and_stops_nothing_where_the_server_answers_others() -> None:
    now = 0.0

    def choose(asked: Asked) -> Reply:
        nonlocal now
        now += 30.0 if asked.method == "PATCH" else 0.0
        return Reply(cut=True) if asked.method == "PATCH" else ok({"kind": "Namespace"})

    with answering(choose=choose) as wire:
        client = KubeClient(
            client_for(wire)._connection, deadline=300.0, clock=Clock(lambda: now, lambda _seconds: None)
        )
        outcome = client.send(Request(method="PATCH", path="/api/v1/namespaces/shop/configmaps/a", body={}))
    assert isinstance(outcome, Failure)
    assert [method for method, _, _ in wire.asked] == ["PATCH", "GET"]
    assert (outcome.kind, client.stopped) == (FailureKind.ALONE, None)


def test_writes_that_hang_one_after_the_other_end_the_visit() -> None:
    """Each cost its whole time, until all of the cluster's was over."""
    now, patched = 0.0, 0

    def choose(asked: Asked) -> Reply:
        nonlocal now, patched
        patched += asked.method == "PATCH"
        now += 30.0 if asked.method == "PATCH" else 0.0
        return Reply(cut=True) if asked.method == "PATCH" else ok({"kind": "Namespace"})

    with answering(choose=choose) as wire:
        clock = Clock(lambda: now, lambda _seconds: None)
        client = KubeClient(client_for(wire)._connection, deadline=3000.0, concurrency=3, clock=clock)
        write = Request(method="PATCH", path="/api/v1/namespaces/shop/configmaps/a", body={})
        kinds = [outcome.kind for outcome in (client.send(write) for _ in range(6)) if isinstance(outcome, Failure)]
    assert kinds == [FailureKind.ALONE] * 3 + [FailureKind.UNREACHABLE] * 3
    assert (patched, client.stopped is not None) == (4, True)


WRITE = Request(method="PATCH", path="/x", body={}, timeout=35.0)
LATE = Failure(kind=FailureKind.UNREACHABLE, message="it did not answer in time")


def test_a_write_that_hung_leaves_the_next_ones_little_time_until_one_is_answered() -> None:
    hangs, seconds = Hangs(2), list[float]()
    for outcome, took in ((LATE, 35.0), (LATE, 0.1), (Answer(status=200), 4.0), (LATE, 35.0)):
        hangs.note_outcome(WRITE, outcome, took, hangs.seconds_for(WRITE))
        seconds.append(hangs.seconds_for(WRITE))
    # A connection that is refused says nothing of the writes before it.
    assert seconds == [5.0, 5.0, 35.0, 5.0]
    assert hangs.seconds_for(LIST) == LIST.timeout


def test_what_succeeds_at_the_second_try_succeeded() -> None:
    pauses: list[float] = []
    with answering(refused(503), ok({"kind": "Namespace"})) as wire:
        outcome = client_for(wire, pauses=pauses).send(ASK)
    assert isinstance(outcome, Answer)
    assert outcome.body == {"kind": "Namespace"}
    assert len(pauses) == 1
    assert 0.25 <= pauses[0] <= 0.5


def test_pauses_double_and_never_agree_exactly() -> None:
    pauses: list[float] = []
    with answering(refused(503)) as wire:
        client_for(wire, pauses=pauses).send(ASK)
    assert [0.25 * 2**turn <= pause <= 0.5 * 2**turn for turn, pause in enumerate(pauses)] == [True] * 3


def test_a_server_that_says_when_is_asked_then() -> None:
    pauses: list[float] = []
    with answering(refused(429, "", Retry_After="7"), ok()) as wire:
        client_for(wire, pauses=pauses).send(ASK)
    assert 7.5 <= pauses[0] <= 8.0


def test_a_request_that_asks_for_one_try_gets_one() -> None:
    with answering(refused(503)) as wire:
        client_for(wire).send(Request(method="GET", path="/version", tries=1))
    assert len(wire.asked) == 1


def test_a_pause_that_the_deadline_does_not_allow_is_not_begun() -> None:
    pauses: list[float] = []
    with answering(refused(429, "", Retry_After="90")) as wire:
        outcome = client_for(wire, pauses=pauses, seconds=60).send(ASK)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, pauses) == (FailureKind.THROTTLED, [])


def test_nothing_is_sent_after_the_deadline() -> None:
    with answering(ok()) as wire:
        outcome = client_for(wire, seconds=0).send(ASK)
    assert outcome == Failure(kind=FailureKind.DEADLINE, message="the time this cluster was given is over")
    assert wire.asked == []


def test_a_silent_server_costs_its_time_limit_and_stops_the_client() -> None:
    with answering(Reply(silent=True)) as wire:
        client = client_for(wire)
        outcome = client.send(Request(method="GET", path="/version", timeout=0.05))
        again = client.send(ASK)
    assert outcome == Failure(
        kind=FailureKind.UNREACHABLE,
        message=f"{wire.host} did not answer in time",
        hint="see whether the cluster is up",
    )
    assert again == client.stopped == outcome
    assert len(wire.asked) == 3


def test_a_refused_connection_says_so() -> None:
    with answering(ok()) as wire:
        pass
    outcome = client_for(wire).send(ASK)
    assert isinstance(outcome, Failure)
    assert outcome.message == f"{wire.host} refuses connections"


def test_a_writing_request_is_sent_as_compact_json() -> None:
    with answering(ok({"kind": "ConfigMap"}, Warning='299 - "this version is old"', Date="Sat, 21 Nov 2026")) as wire:
        outcome = client_for(wire).send(
            Request(method="PATCH", path="/x", query={"fieldManager": "a b"}, body={"a": 1}, content_type="a/b")
        )
    assert isinstance(outcome, Answer)
    assert outcome.warnings == ("this version is old",)
    method, path, headers = wire.asked[0]
    assert (method, path) == ("PATCH", "/x?fieldManager=a+b")
    assert (headers["content-type"], headers["content-length"]) == (["a/b"], ["7"])
    assert headers["user-agent"] == ["argosy/1"]


def test_the_paths_of_a_server_behind_a_prefix_begin_with_it() -> None:
    with answering(ok()) as wire:
        context = Context(name="it", cluster={"server": f"{wire.host}/k8s/clusters/c-1/"}, user={})
        connection = open_connection(context, AuthPlugins(environment={}))
        assert not isinstance(connection, Failure)
        KubeClient(connection, deadline=1, clock=STANDING).send(ASK)
    assert wire.asked[0][1] == "/k8s/clusters/c-1/api/v1/namespaces/kube-system"


def test_a_proxy_is_asked_for_the_whole_address() -> None:
    with answering(ok()) as wire:
        cluster = {"server": "http://kubernetes.example.com/prefix", "proxy-url": wire.host}
        connection = open_connection(Context(name="it", cluster=cluster, user={}), AuthPlugins(environment={}))
        assert not isinstance(connection, Failure)
        KubeClient(connection, deadline=1, clock=STANDING).send(ASK)
    assert wire.asked[0][1] == "http://kubernetes.example.com/prefix/api/v1/namespaces/kube-system"


def test_a_token_and_whom_to_act_as_are_in_every_request() -> None:
    with answering(ok()) as wire:
        user: dict[str, Any] = {"token": "t0ken", "as": "ada", "as-groups": ["one", "two"], "as-uid": "7"}
        client_for(wire, **user).send(ASK)
    headers = wire.asked[0][2]
    assert headers["authorization"] == ["Bearer t0ken"]
    assert headers["impersonate-user"] == ["ada"]
    assert headers["impersonate-group"] == ["one", "two"]
    assert headers["impersonate-uid"] == ["7"]


def test_a_password_is_sent_as_one() -> None:
    with answering(ok()) as wire:
        client_for(wire, username="ada", password="secret").send(ASK)
    assert wire.asked[0][2]["authorization"] == ["Basic YWRhOnNlY3JldA=="]


def test_a_token_file_is_read_again_after_a_refusal(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("old\n")
    with answering(refused(401), ok()) as wire:
        context = Context(name="it", cluster={"server": wire.host}, user={"tokenFile": "token"}, user_folder=tmp_path)
        connection = open_connection(context, AuthPlugins(environment={}))
        assert not isinstance(connection, Failure)
        token.write_text("new\n")
        outcome = KubeClient(connection, deadline=1, clock=STANDING).send(ASK)
    assert isinstance(outcome, Answer)
    assert [asked[2]["authorization"] for asked in wire.asked] == [["Bearer old"], ["Bearer new"]]


class TestRequestLimit:
    def test_each_complaint_halves_what_may_be_under_way(self) -> None:
        limit = RequestLimit(8, clock=lambda: 0.0)
        limits = []
        for _ in range(5):
            limit.slow_down()
            limits.append(limit.current)
        assert limits == [4, 2, 1, 1, 1]

    def test_calm_lets_one_more_through_at_a_time(self) -> None:
        now = 0.0
        limit = RequestLimit(4, clock=lambda: now)
        limit.slow_down()
        limits = []
        for now in (29.0, 30.0, 31.0, 60.0, 90.0):  # noqa: B007 - the clock reads it
            with limit:
                pass
            limits.append(limit.current)
        assert limits == [2, 3, 3, 4, 4]

    def test_no_more_than_the_limit_are_ever_under_way(self) -> None:
        limit = RequestLimit(2, clock=lambda: 0.0)
        under_way, most, lock = 0, 0, threading.Lock()

        def work(_number: int) -> None:
            nonlocal under_way, most
            for _ in range(50):
                with limit:
                    with lock:
                        under_way += 1
                        most = max(most, under_way)
                    with lock:
                        under_way -= 1

        at_once(work, 6)
        assert most <= 2


def test_a_complaint_slows_this_cluster_down() -> None:
    with answering(refused(429), ok()) as wire:
        client = client_for(wire)
        client.send(ASK)
    assert client.concurrency == 4


class TestWithin:
    def test_a_time_for_a_part_bounds_every_try_together(self) -> None:
        with answering(Reply(silent=True)) as wire:
            context = Context(name="it", cluster={"server": wire.host}, user={})
            connection = open_connection(context, AuthPlugins(environment={}))
            assert not isinstance(connection, Failure)
            began = time.monotonic()
            client = KubeClient(connection, deadline=began + 60)
            outcome = client.within(0.3).send(Request(method="GET", path="/api/v1/pods", timeout=30.0))
            seconds = time.monotonic() - began
        assert isinstance(outcome, Failure)
        assert outcome.message == f"{wire.host} did not answer in time"
        assert 0.2 < seconds < 5
        assert client.stopped == outcome

    def test_the_time_of_all_is_not_extended(self) -> None:
        with answering(ok()) as wire:
            client = client_for(wire, seconds=0)
            outcome = client.within(60.0).send(ASK)
        assert outcome == Failure(kind=FailureKind.DEADLINE, message="the time this cluster was given is over")

    def test_a_time_that_is_over_ends_only_its_part(self) -> None:
        with answering(ok({"kind": "Namespace"})) as wire:
            client = client_for(wire)
            late = client.within(0.0).send(ASK)
            outcome = client.send(ASK)
        assert isinstance(late, Failure)
        assert isinstance(outcome, Answer)
        assert client.stopped is None


def test_a_body_is_the_same_as_json_and_as_yaml() -> None:
    """Servers read what is applied as YAML, which has no pairs of escapes for one character."""
    body = {"a": "é 😀", "b": "\x7f\x85\u2028\ufeff\\u", "\U0001f680": "\x07"}
    sent = json_body(body)
    assert sent.decode() == ('{"a":"é 😀","b":"\\u007f\\u0085\\u2028\\ufeff\\\\u","\U0001f680":"\\u0007"}')
    assert json.loads(sent) == parse_documents(sent)[0].value == body


def test_a_body_with_half_a_character_is_sent_with_it_escaped() -> None:
    assert json_body({"a": "\ud83d", "b": 1.5}) == b'{"a":"\\ud83d","b":1.5}'
