"""The sources that checks ask: what each answer means, and whom nobody asks."""

import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from reconciler.asking.answers import CheckReply
from reconciler.asking.questions import Sources, ask_all
from render.rollouts.checks import CheckQuestion, CheckSource, GateCheck, HttpSource, PrometheusSource
from render.settings.rollout_sources import RolloutSource

from .asked import AskedSource, asked_source
from .waiting import SECONDS


@pytest.fixture
def source() -> Iterator[AskedSource]:
    with asked_source() as source:
        yield source


def a_question(source: CheckSource, **fields: Any) -> CheckQuestion:
    check = GateCheck(name="errors", source=source, timeout=5)
    since = datetime(2026, 3, 1, tzinfo=UTC)
    defaults = {"rollout": "web", "change": "1", "wave": "canary", "since": since, "check": check}
    return CheckQuestion(**{**defaults, **fields})


def reply_to(source: CheckSource, *allowed: RolloutSource, **fields: Any) -> CheckReply:
    question = a_question(source, **fields)
    return ask_all([question], Sources(addresses=allowed).ask)[question.id]


def said(reply: CheckReply) -> tuple[str, str]:
    return ("met" if reply.is_met else "not met" if reply.is_answer else "no answer", reply.value)


NUMBERS: tuple[tuple[str, tuple[str, ...], tuple[str, str]], ...] = (
    ("< 0.01", ("0.009",), ("met", "0.009")),
    ("< 0.01", ("0.01",), ("not met", "0.01")),
    ("< 0.01", ("0.001", "0.02"), ("not met", "0.02")),
    (">= 99.5", ("1e2",), ("met", "1e2")),
    ("!= 0", ("NaN",), ("not met", "NaN")),
    ("> 1", ("+Inf",), ("met", "+Inf")),
    ("< 0.01", (), ("no answer", "no answer: the query has no result")),
    ("< 0.01", ("many",), ("no answer", "no answer: the query has a result that is no number")),
)


def test_each_sample_of_a_query_has_to_meet_the_threshold(source: AskedSource) -> None:
    found = []
    for threshold, numbers, _ in NUMBERS:
        source.answer_with_numbers(*numbers)
        query = PrometheusSource(address=source.address, query="a{b='c d'}&", threshold=threshold)
        found.append((threshold, numbers, said(reply_to(query, RolloutSource(address=source.address)))))
    assert found == list(NUMBERS)
    assert set(source.asked) == {"/api/v1/query?query=a%7Bb%3D%27c%20d%27%7D%26"}


OTHERWISE: tuple[tuple[str, int, bytes, str], ...] = (
    ("a scalar", 200, b'{"status":"success","data":{"resultType":"scalar","result":[1,"0"]}}', "0"),
    (
        "a refusal",
        400,
        b'{"status":"error","errorType":"bad_data","error":"1:2: parse error"}',
        "no answer: the query is refused: 1:2: parse error",
    ),
    ("a page", 200, b"<html>", "no answer: it answers with status 200, and not as Prometheus does"),
    ("nothing", 503, b"", "no answer: it answers with status 503, and not as Prometheus does"),
    (
        "a matrix",
        200,
        b'{"status":"success","data":{"resultType":"matrix","result":[]}}',
        "no answer: the query has a result that is neither a scalar nor a vector",
    ),
    (
        "a sample without a number",
        200,
        b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{}}]}}',
        "no answer: it answers otherwise than Prometheus does",
    ),
    (
        "a number that is no text",
        200,
        b'{"status":"success","data":{"resultType":"vector","result":[{"value":[1,0]}]}}',
        "no answer: it answers otherwise than Prometheus does",
    ),
)


def test_what_is_no_result_of_a_query_is_no_answer(source: AskedSource) -> None:
    for why, status, body, value in OTHERWISE:
        source.status, source.body = status, body
        query = PrometheusSource(address=source.address, query="up", threshold="< 1")
        assert reply_to(query, RolloutSource(address=source.address)).value == value, why


HTTP: tuple[tuple[dict[str, Any], int, bytes, tuple[str, str]], ...] = (
    ({}, 200, b"", ("met", "status 200")),
    ({}, 204, b"", ("not met", "status 204")),
    ({"status": 404}, 404, b"", ("met", "status 404")),
    ({"json_path": "{.state}", "equals": "ok"}, 200, b'{"state":"ok"}', ("met", "ok")),
    ({"json_path": "{.state}", "equals": "ok"}, 200, b'{"state":"no"}', ("not met", "no")),
    ({"json_path": "{.state}", "equals": "ok"}, 500, b'{"state":"ok"}', ("not met", "status 500")),
    ({"json_path": "{.n}", "matches": "[0-9]+"}, 200, b'{"n":12}', ("met", "12")),
    ({"json_path": "{.n}", "matches": "[0-9]"}, 200, b'{"n":12}', ("not met", "12")),
    ({"json_path": "{.n}", "equals": "1"}, 200, b"{}", ("no answer", "no answer: there is nothing at {.n}")),
    ({"json_path": "{.n}", "equals": "1"}, 200, b"n=1", ("no answer", "no answer: it answers with no JSON")),
    (
        {"json_path": "{.a}", "equals": "1"},
        200,
        b"[" * 5000 + b"]" * 5000,
        ("no answer", "no answer: it answers with no JSON"),
    ),
    ({}, 302, b"", ("not met", "status 302")),
)


def test_an_address_answers_by_its_status_and_a_value(source: AskedSource) -> None:
    source.headers["Location"] = f"{source.address}/elsewhere"
    for fields, status, body, wanted in HTTP:
        source.status, source.body = status, body
        address = HttpSource(url=f"{source.address}/ready?x=1", **fields)
        assert said(reply_to(address, RolloutSource(address=source.address))) == wanted, (fields, status)
    assert set(source.asked) == {"/ready?x=1"}


def test_the_name_of_a_cluster_stands_in_what_is_asked_about_it(source: AskedSource) -> None:
    address = HttpSource(url=f"{source.address}/$(cluster)/ready")
    reply_to(address, RolloutSource(address=source.address), cluster="oslo")
    query = PrometheusSource(address=source.address, query='up{c="$(cluster)"}', threshold="< 1")
    reply_to(query, RolloutSource(address=source.address), cluster="oslo")
    assert source.asked == ["/oslo/ready", "/api/v1/query?query=up%7Bc%3D%22oslo%22%7D"]


def test_nobody_is_asked_whom_argosy_yaml_does_not_name(source: AskedSource) -> None:
    """The token of one address is not for another one, either."""
    asked = reply_to(HttpSource(url=f"{source.address}/ready"), RolloutSource(address=f"{source.address}/other"))
    assert said(asked) == (
        "no answer",
        "no answer: argosy.yaml names no such address under spec.rollouts.sources",
    )
    assert source.asked == []


def test_a_token_is_sent_to_the_address_that_it_is_for(source: AskedSource, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("s3cret\n")
    sources = (
        RolloutSource(address=source.address),
        RolloutSource(address=f"{source.address}/inside", token_file=str(tmp_path / "token")),
    )
    for path in ("/inside/a", "/outside"):
        reply_to(HttpSource(url=f"{source.address}{path}"), *sources)
    assert source.tokens == ["Bearer s3cret", ""]
    missing = RolloutSource(address=source.address, token_file=str(tmp_path / "none"))
    reply = reply_to(HttpSource(url=source.address), missing)
    assert (reply.is_answer, "s3cret" in reply.value) == (False, False)
    assert reply.value.startswith("no answer: ")


def test_nobody_at_an_address_is_no_answer() -> None:
    with asked_source() as source:
        address = source.address
    reply = reply_to(HttpSource(url=address), RolloutSource(address=address))
    host = address.partition("://")[2]
    assert said(reply) == ("no answer", f"no answer: {host} refuses connections")


def test_questions_of_one_rollout_do_not_wait_behind_those_of_another() -> None:
    """Twenty questions of a rollout whose source hangs are as many as nobody asks at once."""
    over, source = Event(), HttpSource(url="https://x.example")
    short = GateCheck(name="errors", source=source, timeout=1)
    rollouts = [*["hangs"] * 20, "quick"]
    asked = [a_question(source, rollout=each, cluster=str(n), check=short) for n, each in enumerate(rollouts)]

    def ask(question: CheckQuestion, until: float) -> CheckReply:
        if question.rollout == "hangs":
            over.wait(max(0.0, until - time.monotonic()) + SECONDS)
        return CheckReply(is_met=True, value="ok")

    replies = ask_all(asked, ask)
    over.set()
    assert [said(replies[each.id]) for each in asked] == [("no answer", "no answer in time")] * 20 + [("met", "ok")]
