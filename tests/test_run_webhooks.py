"""Webhooks: every provider's signature, and everything somebody hostile may send to the public address."""

import hashlib
import hmac
import http.client
import io
import json
import resource
import socket
import time
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from waitress.trigger import trigger

from reconciler.console.log import Log
from reconciler.run.web.serving import WebServer
from reconciler.run.web.signatures import Provider, delivery_id, is_secret_usable, is_webhook_signed
from reconciler.run.web.webhooks import LARGEST_BODY, RareWakes, SeenDeliveries, SourceLimits, Webhooks, WebhookSecret

from .build import Repository
from .controllers import a_fleet, controller, is_rendered, pushed
from .tables import each_row
from .waiting import SECONDS, eventually

pytestmark = pytest.mark.waits

SECRET = b"a secret of enough bytes"
KEY = b"0123456789abcdef0123456789abcdef"
STANDARD = b"whsec_" + b64encode(KEY)
BODY = b'{"ref": "refs/heads/main"}'
HEX = hmac.new(SECRET, BODY, hashlib.sha256).hexdigest()
NOW = 1_768_467_600.0
SIGNED_AT = b64encode(hmac.new(KEY, b"msg_1.1768467600." + BODY, hashlib.sha256).digest()).decode()
STANDARD_HEADERS = {"webhook-id": "msg_1", "webhook-timestamp": "1768467600", "webhook-signature": f"v1,{SIGNED_AT}"}


class Signature(NamedTuple):
    why: str
    provider: Provider
    headers: Mapping[str, str]
    want: bool
    secret: bytes = SECRET
    now: float = NOW


SIGNATURES = [
    Signature("GitHub signs the body", Provider.GITHUB, {"x-hub-signature-256": f"sha256={HEX}"}, True),
    Signature("in the form that names SHA-256", Provider.GITHUB, {"x-hub-signature-256": HEX}, False),
    Signature("GitHub's old SHA-1 is no signature", Provider.GITHUB, {"x-hub-signature": f"sha1={HEX[:40]}"}, False),
    Signature("nothing is no signature", Provider.GITHUB, {}, False),
    Signature("an empty one neither", Provider.GITHUB, {"x-hub-signature-256": ""}, False),
    Signature("another secret's is none", Provider.GITHUB, {"x-hub-signature-256": f"sha256={HEX}"}, False, KEY),
    Signature("one in capitals is none", Provider.GITHUB, {"x-hub-signature-256": f"sha256={HEX.upper()}"}, False),
    Signature("text beyond ASCII is none", Provider.GITHUB, {"x-hub-signature-256": "sha256=ä\udc80"}, False),
    Signature("Gitea signs the body", Provider.GITEA, {"x-gitea-signature": HEX}, True),
    Signature("Forgejo as well", Provider.FORGEJO, {"x-forgejo-signature": HEX}, True),
    Signature("each under its own name", Provider.GITEA, {"x-hub-signature-256": f"sha256={HEX}"}, False),
    Signature("Bitbucket signs the body", Provider.BITBUCKET, {"x-hub-signature": f"sha256={HEX}"}, True),
    Signature("anybody else may", Provider.GENERIC, {"x-argosy-signature": f"sha256={HEX}"}, True),
    Signature("GitLab sends the secret", Provider.GITLAB, {"x-gitlab-token": SECRET.decode()}, True),
    Signature("a part of it is none", Provider.GITLAB, {"x-gitlab-token": SECRET.decode()[:-1]}, False),
    Signature("GitLab signs with a key", Provider.GITLAB, STANDARD_HEADERS, True, STANDARD),
    Signature("an hour later it is a replay", Provider.GITLAB, STANDARD_HEADERS, False, STANDARD, NOW + 3600),
    Signature(
        "the id is signed as well", Provider.GITLAB, {**STANDARD_HEADERS, "webhook-id": "msg_2"}, False, STANDARD
    ),
    Signature("the key is no token", Provider.GITLAB, {"x-gitlab-token": STANDARD.decode()}, False, STANDARD),
    Signature("a time that is none", Provider.GITLAB, {**STANDARD_HEADERS, "webhook-timestamp": "²"}, False, STANDARD),
]


@each_row("case", SIGNATURES, ids=lambda case: case.why)
def test_a_signature(case: Signature) -> None:
    assert is_webhook_signed(case.provider, case.headers, BODY, [case.secret], now=case.now) is case.want


def test_any_of_several_secrets_will_do_while_one_is_exchanged() -> None:
    assert is_webhook_signed(Provider.GITEA, {"x-gitea-signature": HEX}, BODY, [KEY, SECRET], now=NOW)
    assert not is_webhook_signed(Provider.GITEA, {"x-gitea-signature": HEX}, BODY, [], now=NOW)


@each_row(
    ("provider", "secret", "want"),
    [
        (Provider.GITHUB, b"", False),
        (Provider.GITHUB, b"fifteen bytes..", False),
        (Provider.GITHUB, b"sixteen bytes...", True),
        (Provider.GITLAB, STANDARD, True),
        (Provider.GITLAB, b"whsec_this is no base64 at all", False),
    ],
)
def test_a_secret_that_can_be_guessed_is_none(provider: Provider, secret: bytes, want: bool) -> None:
    assert is_secret_usable(provider, secret) is want


def test_a_delivery_has_the_id_that_its_provider_gives_it() -> None:
    assert delivery_id(Provider.GITHUB, {"x-github-delivery": "a"}) == "a"
    assert delivery_id(Provider.GITLAB, {"x-gitlab-event-uuid": "b", "idempotency-key": "c"}) == "c"
    assert delivery_id(Provider.GENERIC, {"x-github-delivery": "a"}) == ""


def test_deliveries_are_remembered_for_a_day_and_never_more_than_ten_thousand() -> None:
    seen = SeenDeliveries()
    assert [seen.is_new("a", 0.0), seen.is_new("a", 86_000.0), seen.is_new("a", 90_000.0)] == [True, False, True]
    assert all(seen.is_new(str(number), 90_000.0) for number in range(10_000))
    assert [seen.is_new("9999", 90_000.0), seen.is_new("a", 90_000.0)] == [False, True]


def test_a_source_may_send_a_burst_and_then_so_many_a_second() -> None:
    limits = SourceLimits(rate=2.0, burst=3.0)
    assert [limits.is_allowed("a", 0.0) for _ in range(4)] == [True, True, True, False]
    assert limits.is_allowed("b", 0.0)
    assert [limits.is_allowed("a", 1.0) for _ in range(3)] == [True, True, False]


class Served(NamedTuple):
    """A public address and all that it did."""

    port: int
    woken: list[str]
    counted: list[tuple[str, str]]
    log: io.StringIO

    def post(self, path: str, body: bytes = BODY, /, **headers: str) -> int:
        sent = {"Content-Type": "application/json", **{name.replace("_", "-"): text for name, text in headers.items()}}
        return self.send("POST", path, body, sent)

    def send(self, method: str, path: str, body: Any, headers: Mapping[str, str]) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, body, dict(headers))
            return connection.getresponse().status
        finally:
            connection.close()

    def raw(self, *parts: bytes) -> bytes:
        """Send bytes as they are and return the beginning of the answer."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.settimeout(30)
            for part in parts:
                connection.sendall(part)
            return connection.recv(4096)


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET + b"\n")
    woken: list[str] = []
    counted: list[tuple[str, str]] = []
    log = io.StringIO()

    def wake(fleet: str) -> bool:
        woken.append(fleet)
        return fleet in {"", "shop"}

    secrets = tuple(WebhookSecret(provider=each, file=str(secret)) for each in (Provider.GITHUB, Provider.GENERIC))
    application = Webhooks(
        secrets=lambda: secrets,
        wake=wake,
        count=lambda provider, result: counted.append((provider, result)),
        clock=time.time,
        log=Log(stream=log),
    )
    server = WebServer(application, "127.0.0.1", 0, request_seconds=1)
    try:
        yield Served(server.port, woken, counted, log)
    finally:
        server.close()


def test_a_loop_that_is_awake_already_is_done_before_it_is_woken(monkeypatch: pytest.MonkeyPatch) -> None:
    server = WebServer(lambda _environment, _start: [b""], "127.0.0.1", 0)
    wake = trigger._physical_pull

    def wake_again(self: trigger) -> None:
        wake(self)
        thread = vars(server)["_thread"]
        thread.join(SECONDS)
        assert not thread.is_alive()
        wake(self)

    monkeypatch.setattr(trigger, "_physical_pull", wake_again)
    server.close()


GITHUB = {"X_Hub_Signature_256": f"sha256={HEX}"}


def test_a_signed_webhook_wakes_all_fleets_or_the_one_it_names(served: Served) -> None:
    assert served.post("/webhook/github", **GITHUB) == 202
    assert served.post("/webhook/github/shop", **GITHUB, X_GitHub_Delivery="1") == 202
    assert served.post("/webhook/github/other", **GITHUB) == 404
    assert served.woken == ["", "shop", "other"]


def test_a_delivery_that_was_seen_is_answered_and_wakes_nobody(served: Served) -> None:
    assert [served.post("/webhook/github", **GITHUB, X_GitHub_Delivery="1") for _ in range(3)] == [202, 202, 202]
    assert served.woken == [""]
    assert served.counted == [("github", "accepted"), ("github", "duplicate"), ("github", "duplicate")]


def test_what_is_not_signed_wakes_nobody(served: Served, tmp_path: Path) -> None:
    assert served.post("/webhook/github") == 401
    assert served.post("/webhook/github", BODY + b" ", **GITHUB) == 401
    assert served.post("/webhook/gitlab", **GITHUB) == 404
    assert served.post("/webhook/nobody", **GITHUB) == 404
    assert served.post("/", **GITHUB) == 404
    assert served.send("GET", "/webhook/github", None, {}) == 405
    assert served.post("/webhook/github", **{**GITHUB, "Content_Type": "text/xml"}) == 415
    (tmp_path / "secret").unlink()
    assert served.post("/webhook/github", **GITHUB) == 503
    assert served.woken == []
    assert served.log.getvalue() == ("error: the secret of github webhooks cannot be read: No such file or directory\n")


def test_a_body_is_refused_before_it_is_read(served: Served) -> None:
    head = b"POST /webhook/github HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
    assert b" 413 " in served.raw(head + b"Content-Length: 99999999999\r\n\r\n")
    chunk = b"fffff\r\n" + b"x" * 0xFFFFF + b"\r\n"
    assert b" 413 " in served.raw(head + b"Transfer-Encoding: chunked\r\n\r\n", chunk, chunk[:20])
    assert served.post("/webhook/github", b"x" * LARGEST_BODY) == 401
    assert served.woken == []


MALFORMED = [
    b"\x00" * 100 + b"\r\n\r\n",
    b"POST /webhook/github HTTP/9.9\r\n\r\n",
    b"POST /webhook/github HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    b"POST /webhook/github HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    b"POST /webhook/github HTTP/1.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /webhook/github HTTP/1.1\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    b"POST /webhook/%2e%2e/github HTTP/1.1\r\nContent-Length: 0\r\n\r\n",
    b"POST /webhook/github HTTP/1.1\r\nX-Hub-Signature-256: \xff\xfe\r\nContent-Length: 0\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
]


@pytest.mark.parametrize("request_", MALFORMED, ids=range(len(MALFORMED)))
def test_what_is_malformed_is_refused_and_the_next_is_served(request_: bytes, served: Served) -> None:
    answer = served.raw(request_).partition(b"\r\n")[0]
    assert answer.split(b" ")[1] in {b"400", b"401", b"404", b"405", b"411", b"413", b"415", b"431", b"501"}
    assert b"Traceback" not in answer
    assert served.post("/webhook/github", **GITHUB) == 202
    assert served.woken == [""]


def test_slow_clients_cost_no_thread_and_are_let_go(served: Served) -> None:
    """Each sends a byte now and then, so that it never counts as idle."""
    slow = [socket.create_connection(("127.0.0.1", served.port), timeout=30) for _ in range(50)]
    for each in slow:
        each.sendall(b"POST /webhook/github HTTP/1.1\r\nContent-Length: 1000\r\n\r\n")
    begun = time.monotonic()
    assert served.post("/webhook/github", **GITHUB) == 202
    assert time.monotonic() - begun < 2

    def are_let_go() -> bool:
        ended = []
        for each in slow:
            try:
                each.sendall(b"x")
            except OSError:
                each.close()
                ended.append(each)
        for each in ended:
            slow.remove(each)
        return not slow

    eventually(are_let_go, "the end of slow connections", seconds=30, pause=0.5)


def test_a_storm_is_bounded_and_its_last_push_is_not_missed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(SECRET)
    secret = WebhookSecret(provider=Provider.GITHUB, file=str(tmp_path / "secret"))
    woken, answers, counted = [0], set[str](), Counter[str]()

    def wake(_fleet: str) -> bool:
        woken[0] += 1
        return True

    late: list[Callable[[], None]] = []
    application = Webhooks(
        secrets=lambda: (secret,),
        wake=wake,
        count=lambda _provider, result: counted.update([result]),
        clock=lambda: NOW,
        log=Log(stream=io.StringIO()),
        rare=RareWakes(later=lambda _seconds, call: late.append(call)),
    )
    environ = {
        "PATH_INFO": "/webhook/github",
        "REQUEST_METHOD": "POST",
        "REMOTE_ADDR": "192.0.2.1",
        "CONTENT_TYPE": "application/json; charset=utf-8",
        "HTTP_X_HUB_SIGNATURE_256": f"sha256={HEX}",
    }
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for number in range(10_000):
        sent = {**environ, "HTTP_X_GITHUB_DELIVERY": str(number), "wsgi.input": io.BytesIO(BODY)}
        application(sent, lambda status, _headers: answers.add(status))
    assert answers == {"202 Accepted", "429 Too Many Requests"}
    assert woken[0] == counted["accepted"] + 1
    assert len(late) == 1
    late[0]()
    assert woken[0] == counted["accepted"] + 2
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000


def test_too_many_requests_wake_a_few_times_a_minute_and_the_last_is_not_left_out() -> None:
    woken: list[tuple[float, str]] = []
    late: list[tuple[float, Callable[[], None]]] = []
    now = [100.0]

    def wake(fleet: str) -> bool:
        woken.append((now[0], fleet))
        return True

    rare = RareWakes(later=lambda seconds, call: late.append((now[0] + seconds, call)))
    for second in range(60):
        now[0] = 100.0 + second
        while late and late[0][0] <= now[0]:
            late.pop(0)[1]()
        for _ in range(50):
            rare.wake_or_delay("shop", wake, now[0])
    assert [at for at, _ in woken] == [100.0, 115.0, 130.0, 145.0]
    assert len(late) == 1


def test_too_many_fleets_that_are_asked_for_are_woken_at_once() -> None:
    woken: list[str] = []
    late: list[Callable[[], None]] = []
    rare = RareWakes(later=lambda _seconds, call: late.append(call))

    def wake(fleet: str) -> bool:
        woken.append(fleet)
        return True

    for number in range(10_000):
        rare.wake_or_delay(str(number), wake, 0.0)
    late[0]()
    assert woken[0] == "0"
    assert "" in woken
    assert len(woken) < 200


def test_slow_connections_of_one_source_delay_no_signed_webhook(tmp_path: Path) -> None:
    """Its oldest ones make room; nobody waits until the time of a request is up."""
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    secrets = (WebhookSecret(provider=Provider.GITHUB, file=str(secret)),)
    application = Webhooks(
        secrets=lambda: secrets,
        wake=lambda _fleet: True,
        count=lambda *_: None,
        clock=time.time,
        log=Log(stream=io.StringIO()),
    )
    server = WebServer(application, "127.0.0.1", 0, request_seconds=600)
    slow = []
    try:
        for _ in range(400):
            slow.append(socket.create_connection(("127.0.0.1", server.port)))
            slow[-1].sendall(b"POST /webhook/github HTTP/1.1\r\nHost: a\r\n")
        assert Served(server.port, [], [], io.StringIO()).post("/webhook/github", **GITHUB) == 202
        slow[0].settimeout(SECONDS)
        assert slow[0].recv(1) == b""
        slow[-1].setblocking(False)
        with pytest.raises(BlockingIOError):
            slow[-1].recv(1)
    finally:
        for each in slow:
            each.close()
        server.close()


def test_a_flood_of_forged_ones_wakes_nobody(served: Served) -> None:
    assert {served.post("/webhook/github", X_Hub_Signature_256="sha256=00") for _ in range(150)} == {401, 429}
    assert served.woken == []


# The whole of it: a controller that is told.


@pytest.fixture
def work(tmp_path: Path) -> Repository:
    """A clone of the bare repository ``fleet.git`` beside it."""
    return a_fleet(tmp_path / "fleet.git")


def port_of(said: str, what: str) -> int:
    return int(said.partition(f"{what} at 127.0.0.1:")[2].partition("\n")[0])


def test_a_webhook_wakes_a_controller_that_polls_nothing(work: Repository, tmp_path: Path) -> None:
    bare, secret = tmp_path / "fleet.git", tmp_path / "secret"
    secret.write_bytes(SECRET)
    options = ("--webhook", "0", "--webhook-secret", f"github={secret}", "--inside", "0")
    with controller(tmp_path, f"file://{bare}", "--bootstrap", *options) as argosy:
        argosy.says("committed ")
        public, inside = port_of(argosy.said, "webhooks"), port_of(argosy.said, "metrics and health")
        commit = pushed(work, "two")
        served = Served(public, [], [], io.StringIO())
        assert served.post("/webhook/github/fleet", X_Hub_Signature_256="sha256=00") == 401
        assert served.post("/webhook/github/fleet", **GITHUB) == 202
        is_rendered(bare, commit)
        argosy.says("pass cause=change")
        metrics = eventually(lambda: page(inside, "/metrics", wanted='result="converged"} 2.0'), "the second pass")
        assert 'argosy_webhook_requests_total{provider="github",result="accepted"} 1.0' in metrics
        assert 'argosy_webhook_requests_total{provider="github",result="unsigned"} 1.0' in metrics
        assert 'argosy_git_operations_total{fleet="fleet",op="look",result="ok"} 1.0' in metrics
        assert "argosy_leader 1.0" in metrics
        assert page(inside, "/healthz") == "ok\n"
        ready = json.loads(page(inside, "/readyz"))["fleets"]
        assert [(each["name"], each["ready"], each["code"], each["source"]) for each in ready] == [
            ("fleet", True, 0, commit)
        ]
        shown = json.loads(page(inside, "/overview.json"))
        assert (shown["kind"], shown["source"]) == ("Overview", commit)
        assert served.send("GET", "/metrics", None, {}) == 404
        assert argosy.ended() == 0


def page(port: int, path: str, wanted: str = "") -> str:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", path)
    text = connection.getresponse().read().decode()
    connection.close()
    return text if wanted in text else ""


def test_webhooks_without_a_secret_do_not_start(work: Repository, tmp_path: Path) -> None:
    with controller(tmp_path, str(work.path), "--webhook", "0") as argosy:
        assert argosy.process.wait(timeout=60) == 3
    assert argosy.said == (
        "argosy: webhooks without a secret would let anybody start passes\n"
        "  hint: name the file of one: --webhook-secret github=FILE\n"
    )
    (tmp_path / "empty").write_text("\n")
    options = ("--webhook", "0", "--webhook-secret", f"github={tmp_path}/empty")
    with controller(tmp_path, str(work.path), *options) as argosy:
        assert argosy.process.wait(timeout=60) == 3
    assert argosy.said == (
        f"argosy: the secret of github webhooks has less than 16 bytes: {tmp_path}/empty\n"
        "  hint: write a longer one into the file: openssl rand -hex 32\n"
    )
