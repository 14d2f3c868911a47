"""Sources of checks that hang, drip, answer without end or lead elsewhere: each costs its own check, and no other."""

import gzip
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from datetime import UTC, datetime

from reconciler.asking.answers import CheckReply
from reconciler.asking.questions import Sources, ask_all
from render.rollouts.checks import CheckQuestion, CheckSource, GateCheck, HttpSource, PrometheusSource
from render.settings.rollout_sources import RolloutSource
from tests.asked import asked_source
from tests.attack.hostile_wires import HEAD, dripping, endless, raw_server

Write = Callable[[socket.socket, threading.Event], None]
TIMEOUT = 2


def a_question(name: str, source: CheckSource) -> CheckQuestion:
    check = GateCheck(name=name, source=source, timeout=TIMEOUT)
    since = datetime(2026, 3, 1, tzinfo=UTC)
    return CheckQuestion(rollout=name, change="1", wave="canary", check=check, since=since)


def whole(content: bytes, head: bytes = HEAD) -> Write:
    """Send an answer at once."""

    def write(client: socket.socket, _over: threading.Event) -> None:
        client.sendall(head + b"Content-Length: %d\r\n\r\n" % len(content) + content)

    return write


def silence(_client: socket.socket, over: threading.Event) -> None:
    over.wait(60)


NESTED = b"[" * 200_000 + b"]" * 200_000
MANY = b'{"status":"success","data":{"resultType":"vector","result":[' + b'{"value":[1,"0"]},' * 60_000
ATTACKS: dict[str, tuple[Write, str]] = {
    "hangs": (silence, "answer in time"),
    "drips": (dripping(HEAD + b"Content-Length: 99\r\n\r\n", 0.2), "answer in time"),
    "ten megabytes": (whole(b" " * (10 << 20)), "answers with more than 1 MiB"),
    "without end": (endless(HEAD + b"\r\n", b"x" * 65536), "answers with more than 1 MiB"),
    "packed small": (
        whole(gzip.compress(b" " * (64 << 20)), HEAD + b"Content-Encoding: gzip\r\n"),
        "answers with more than 1 MiB",
    ),
    "packed otherwise": (whole(b"x", HEAD + b"Content-Encoding: br\r\n"), "answers in an encoding that nobody asked"),
    "nested": (whole(NESTED), "not as Prometheus does"),
    "many samples": (whole(MANY[:-1] + b"]}}"), "answers with more than 1 MiB"),
    "no HTTP": (whole(b"", b"SSH-2.0-OpenSSH_9.6\r\n"), "broke the connection off"),
    "control characters": (
        whole(b'{"status":"error","error":"\\u001b[2Jall is well\\n::error::x"}'),
        "the query is refused: \\x1b[2Jall is well ::error::x",
    ),
}


def test_each_attack_is_no_answer_in_time_and_an_honest_source_beside_them_is_heard() -> None:
    with ExitStack() as stack:
        honest = stack.enter_context(asked_source())
        honest.answer_with_numbers("0")
        addresses = {name: stack.enter_context(raw_server(write)) for name, (write, _) in ATTACKS.items()}
        addresses["honest"] = honest.address
        questions = {
            name: a_question(name, PrometheusSource(address=address, query="up", threshold="< 1"))
            for name, address in addresses.items()
        }
        began = time.monotonic()
        allowed = [RolloutSource(address=each) for each in addresses.values()]
        replies = ask_all(questions.values(), Sources(addresses=tuple(allowed)).ask)
        assert time.monotonic() - began < TIMEOUT + 10
    found = {name: replies[each.id] for name, each in questions.items()}
    assert found.pop("honest").is_met
    wrong = {name: each.value for name, each in found.items() if each.is_met or ATTACKS[name][1] not in each.value}
    assert wrong == {}
    assert {name: len(each.value) < 200 and not each.is_answer for name, each in found.items()} == dict.fromkeys(
        found, True
    )


def test_a_redirect_is_an_answer_and_leads_nowhere() -> None:
    """Not to the address in it either, where a token would be sent along."""
    with asked_source() as elsewhere, asked_source() as source:
        source.status, source.headers["Location"] = 302, f"{elsewhere.address}/secret"
        question = a_question("redirect", HttpSource(url=source.address))
        allowed = [RolloutSource(address=each.address) for each in (source, elsewhere)]
        (reply,) = ask_all([question], Sources(addresses=tuple(allowed)).ask).values()
        assert (reply, elsewhere.asked) == (
            CheckReply(is_met=False, value="status 302", digest=reply.digest),
            [],
        )
