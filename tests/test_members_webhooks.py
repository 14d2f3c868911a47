"""Asking webhooks over real HTTPS: what goes out, how every failure is told, what is asked once and what no more."""

import base64
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from reconciler.members.webhook_transport import address_of_webhook
from reconciler.members.webhooks import WebhookCalls
from render.interpreter import Interpreter, InterpreterError
from tests.hooks import Authority, Behaviour, Hook, Said, a_patch, an_authority, said_of, serving
from tests.waiting import SECONDS, at_once, joined

WIDGET = {
    "apiVersion": "example.io/v1",
    "kind": "Widget",
    "metadata": {"name": "w", "namespace": "shop"},
    "spec": {"size": 1, "token": "canary"},
}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return an_authority(tmp_path_factory.mktemp("authority"))


def asking(*configurations: Mapping[str, Any]) -> Interpreter:
    return Interpreter.of(configurations, send=WebhookCalls(user_agent="argosy/1").send)


def message(asked: Interpreter, manifest: Mapping[str, Any] = WIDGET) -> str:
    """Return the message when an object's health cannot be asked for."""
    with pytest.raises(InterpreterError) as raised:
        asked.is_healthy(manifest)
    return str(raised.value)


def test_a_question_is_a_post_with_its_time_limit(authority: Authority) -> None:
    with serving(authority, lambda _asked: {"healthy": True}) as hook:
        assert asking(hook.configuration(path="/interpret a")).is_healthy(WIDGET) is True
    path, headers = hook.heads[0]
    assert path == "/interpret%20a?timeout=30s"
    sent = {name: headers[name] for name in ("Content-Type", "Accept", "User-Agent", "Connection", "Accept-Encoding")}
    assert sent == {
        "Content-Type": "application/json",
        "Accept": "application/json",
        "User-Agent": "argosy/1",
        "Connection": "close",
        "Accept-Encoding": "identity",
    }
    assert (hook.asked[0]["operation"], hook.asked[0]["object"]) == ("InterpretHealth", WIDGET)


def test_every_operation_over_the_wire(authority: Authority) -> None:
    patch = a_patch({"op": "add", "path": "/spec/kept", "value": True}, {"op": "add", "path": "/status", "value": {}})
    answers: dict[str, dict[str, Any]] = {
        "InterpretReplica": {"replicas": 3},
        "InterpretComponent": {"components": [{"name": "a", "replicas": 1}]},
        "ReviseReplica": patch,
        "Retain": patch,
        "AggregateStatus": patch,
        "InterpretDependency": {"dependencies": []},
        "InterpretStatus": {"rawStatus": {"ready": 1}},
        "InterpretHealth": {"healthy": False},
    }
    with serving(authority, lambda asked: answers[asked["operation"]]) as hook:
        asked = asking(hook.configuration())
        replicas = asked.replicas(WIDGET)
        assert replicas is not None
        assert replicas.replicas == 3
        assert [component.name for component in asked.components(WIDGET) or ()] == ["a"]
        patched = {**WIDGET, "spec": {"size": 1, "token": "canary", "kept": True}, "status": {}}
        assert asked.revise_replica(WIDGET, 2) == patched
        assert asked.retain(WIDGET, WIDGET) == patched
        assert asked.aggregate_status(WIDGET, [{"clusterName": "a"}]) == {**WIDGET, "status": {}}
        assert asked.dependencies(WIDGET) == ()
        assert asked.reflect_status(WIDGET) == {"ready": 1}
        assert asked.is_healthy(WIDGET) is False
    assert [request["operation"] for request in hook.asked] == list(answers)
    assert (hook.asked[2]["replicas"], hook.asked[3]["observedObject"]) == (2, WIDGET)
    assert hook.asked[4]["aggregatedStatus"] == [{"clusterName": "a"}]


class Fault(NamedTuple):
    why: str
    behave: Behaviour
    want: str


def stranger(asked: dict[str, Any]) -> Said:
    return said_of({**asked, "uid": "another"}, {"healthy": True})


def other_kind(asked: dict[str, Any]) -> Said:
    return Said(json.dumps({"kind": "AdmissionReview", "response": {"uid": asked["uid"], "allowed": True}}).encode())


DEEP = b'{"response":' + b"[" * 101 + b"]" * 101 + b"}"
FAULTS = [
    Fault("it hangs", lambda _asked: Said(silent=True), "did not answer within 1 s"),
    Fault("each byte comes in time, the answer does not", lambda _: Said(dripping=True), "did not answer within 1 s"),
    Fault("it breaks off", lambda _asked: Said(cut=True), "broke the connection off at {url}/"),
    Fault("500", lambda _asked: Said(b"canary", 500), "answered with HTTP status 500"),
    Fault("404", lambda _asked: Said(status=404), "answered with HTTP status 404"),
    Fault(
        "a redirect",
        lambda _asked: Said(status=307, headers={"Location": "https://elsewhere.example.io"}),
        "answered with a redirect (HTTP status 307), and redirects are not followed",
    ),
    Fault("a flood", lambda _asked: Said(b" " * (3 * 2**20 + 1)), "answered with more than 3 MiB"),
    Fault("a page", lambda _asked: Said(b"<html>canary</html>"), "answered with no JSON"),
    Fault("nothing", lambda _asked: Said(), "answered with no JSON"),
    Fault("half of it", lambda asked: Said(said_of(asked, {}).body[:-1]), "answered with no JSON"),
    Fault("no number", lambda _asked: Said(b'{"response": NaN}'), "answered with no JSON"),
    Fault("half a character", lambda _asked: Said(b'{"response": "\\ud800"}'), "answered with no JSON"),
    Fault("a list", lambda _asked: Said(b"[]"), "answered with JSON that is no object"),
    Fault("too deep", lambda _asked: Said(DEEP), "answered with JSON nested deeper than 100 levels"),
    Fault("endless", lambda _asked: Said(b"[" * 100_000), "answered with no JSON"),
    Fault("another kind", other_kind, "answered with another kind than ResourceInterpreterContext"),
    Fault("another request", stranger, "answered another request"),
    Fault(
        "no success",
        lambda _asked: {"successful": False, "status": {"message": "no size", "code": 422}},
        "refused: no size (code 422)",
    ),
    Fault("no answer", lambda _asked: {}, "left out response.healthy"),
]


@pytest.mark.waits
@pytest.mark.parametrize("case", FAULTS, ids=lambda case: case.why)
def test_faults(case: Fault, authority: Authority) -> None:
    with serving(authority, case.behave) as hook:
        seconds = 1 if "within 1 s" in case.want else 30
        said = message(asking(hook.configuration(timeoutSeconds=seconds)))
        want = case.want.format(url=hook.url)
    assert said == f"Widget shop/w: InterpretHealth: webhook hooks.example.io {want}"
    assert len(hook.asked) == 1, "nothing is asked twice"


@contextmanager
def listening(answer: bytes) -> Iterator[int]:
    """Run something on a port that says this to the first who connects, whatever is asked."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(SECONDS)

        def serve() -> None:
            connection, _ = server.accept()
            connection.settimeout(SECONDS)
            with connection:
                connection.recv(1)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()[1]
        joined(thread)


def test_a_certificate_of_another_authority_is_refused(
    authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = an_authority(tmp_path_factory.mktemp("other"), "other")
    with serving(authority, lambda _asked: {"healthy": True}) as hook:
        strange = hook.configuration(clientConfig={"url": hook.url, "caBundle": other.bundle})
        unknown = hook.configuration(clientConfig={"url": hook.url})
        said = [message(asking(each)) for each in (strange, unknown)]
    start = f"Widget shop/w: InterpretHealth: webhook hooks.example.io shows a certificate at {hook.url}/ that"
    assert said == [
        f"{start} its caBundle does not vouch for (unable to get local issuer certificate)",
        f"{start} this system does not vouch for (unable to get local issuer certificate)",
    ]
    assert hook.asked == []


def test_a_certificate_for_another_name_is_refused(authority: Authority) -> None:
    with serving(authority, lambda _asked: {"healthy": True}) as hook:
        url = hook.url.replace("127.0.0.1", "localhost")
        said = message(asking(hook.configuration(clientConfig={"url": url, "caBundle": hook.bundle})))
    assert said == (
        f"Widget shop/w: InterpretHealth: webhook hooks.example.io shows a certificate at {url}/ that its caBundle "
        "does not vouch for (Hostname mismatch, certificate is not valid for 'localhost')"
    )


def test_the_servers_own_certificate_may_be_the_bundle(authority: Authority) -> None:
    """As for Kubernetes: whatever the bundle holds is trusted."""
    own = base64.b64encode(authority.certificate.read_bytes()).decode()
    with serving(authority, lambda _asked: {"healthy": True}) as hook:
        assert asking(hook.configuration(clientConfig={"url": hook.url, "caBundle": own})).is_healthy(WIDGET) is True


class Unreached(NamedTuple):
    why: str
    client: dict[str, Any]
    want: str


UNREACHED = [
    Unreached(
        "a host nobody knows",
        {"url": "https://hooks.invalid/x"},
        "has no address here: https://hooks.invalid:443/x is not found",
    ),
    Unreached(
        "a service of another cluster",
        {"service": {"namespace": "shop", "name": "hooks", "port": 8443, "path": "/interpret"}},
        (
            "has no address here: https://hooks.shop.svc:8443/interpret is not found; "
            "a service is found inside its cluster alone - run there, or write clientConfig.url"
        ),
    ),
    Unreached("no name", {"url": "https://a..b"}, "has no address here: https://a..b:443/ is not found"),
    Unreached(
        "a bundle of something else",
        {"url": "https://127.0.0.1:1", "caBundle": "YWJj"},
        "is not asked: its caBundle holds no certificates",
    ),
]


@pytest.mark.parametrize("case", UNREACHED, ids=lambda case: case.why)
def test_unreached(case: Unreached, authority: Authority) -> None:
    with serving(authority, lambda _asked: {}) as hook:
        configuration = hook.configuration(clientConfig=case.client)
    assert message(asking(configuration)) == f"Widget shop/w: InterpretHealth: webhook hooks.example.io {case.want}"


def test_a_port_where_nobody_listens_and_one_without_tls(authority: Authority) -> None:
    with serving(authority, lambda _asked: {}) as hook:
        pass
    assert message(asking(hook.configuration())).endswith(f"refuses connections at {hook.url}/")
    with listening(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        plain = Hook(url=f"https://127.0.0.1:{port}", bundle=authority.bundle, behave=lambda _asked: {})
        said = message(asking(plain.configuration()))
    assert said.endswith(f"could not agree on TLS at https://127.0.0.1:{port}/ (wrong version number)")


class Place(NamedTuple):
    why: str
    client: dict[str, Any]
    want: str


PLACES = [
    Place("a service has port 443", {"service": {"namespace": "a", "name": "b"}}, "https://b.a.svc:443/"),
    Place("a URL alone", {"url": "https://hooks.example.io"}, "https://hooks.example.io:443/"),
    Place("a URL in full", {"url": "https://hooks.example.io:8443/a/b"}, "https://hooks.example.io:8443/a/b"),
    Place("an IPv6 address", {"url": "https://[::1]:8443/"}, "https://[::1]:8443/"),
    Place(
        "a service wins",
        {"url": "https://x", "service": {"namespace": "a", "name": "b", "path": "/c"}},
        "https://b.a.svc:443/c",
    ),
]


@pytest.mark.parametrize("case", PLACES, ids=lambda case: case.why)
def test_places(case: Place, authority: Authority) -> None:
    with serving(authority, lambda _asked: {}) as hook:
        asked = Interpreter.of([hook.configuration(clientConfig=case.client)])
    assert str(address_of_webhook(asked.webhooks[0])) == case.want


def test_a_question_is_asked_once_in_a_pass(authority: Authority) -> None:
    with serving(authority, lambda _asked: {"healthy": True}) as hook:
        asked = asking(hook.configuration())
        assert [asked.is_healthy(WIDGET) for _ in range(3)] == [True] * 3
        assert asked.is_healthy({**WIDGET, "spec": {}}) is True
        hook.behave = lambda _asked: Said(status=500)
        other = {**WIDGET, "spec": {"size": 2}}
        assert message(asked, other) == message(asked, other)
    assert len(hook.asked) == 3


def test_a_webhook_that_is_down_is_left_alone_after_three_questions(authority: Authority) -> None:
    with (
        serving(authority, lambda _asked: Said(cut=True)) as hook,
        serving(authority, lambda _: {"healthy": True}) as up,
    ):
        widgets = [{**WIDGET, "metadata": {"name": f"w{number}"}} for number in range(6)]
        gadget = {"apiVersion": "example.io/v1", "kind": "Gadget", "metadata": {"name": "g"}}
        rule = {**up.configuration()["webhooks"][0]["rules"][0], "kinds": ["Gadget"]}
        asked = asking(hook.configuration(), up.configuration("up", rules=[rule]))
        said = {message(asked, widget).partition(": ")[2] for widget in widgets}
        assert asked.is_healthy(gadget) is True
    assert said == {f"InterpretHealth: webhook hooks.example.io broke the connection off at {hook.url}/"}
    assert hook.operations() == ["InterpretHealth w0", "InterpretHealth w1", "InterpretHealth w2"]


def test_failures_that_are_answers_leave_nobody_alone(authority: Authority) -> None:
    with serving(authority, lambda _asked: Said(status=500)) as hook:
        asked = asking(hook.configuration())
        for number in range(5):
            message(asked, {**WIDGET, "metadata": {"name": f"w{number}"}})
    assert len(hook.asked) == 5


def test_no_message_tells_what_was_asked(authority: Authority) -> None:
    with serving(authority, lambda _asked: Said(b"canary", 500)) as hook:
        assert "canary" not in message(asking(hook.configuration()))


def test_a_proxy_of_the_environment_is_not_used(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    with serving(authority, lambda _asked: {"healthy": True}) as hook:
        assert asking(hook.configuration()).is_healthy(WIDGET) is True


def test_many_threads_may_ask(authority: Authority) -> None:
    with serving(authority, lambda asked: {"healthy": asked["name"] != "w3"}) as hook:
        asked, healths = asking(hook.configuration()), dict[int, bool]()

        def ask(number: int) -> None:
            healths[number] = asked.is_healthy({**WIDGET, "metadata": {"name": f"w{number % 8}"}})

        at_once(ask, 32)
    assert healths == {number: number % 8 != 3 for number in range(32)}
