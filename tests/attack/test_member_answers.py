"""One member's answers, one request at a time: garbage, endless, slow, packed - each is that member's failure."""

import gzip
import json
import time
import tracemalloc
from typing import Any, NamedTuple

import pytest

from reconciler.members.client import KubeClient
from reconciler.members.connection import open_connection
from reconciler.members.credentials import AuthPlugins
from reconciler.members.discovery import discover_served_kinds
from reconciler.members.exchange import APPLY, Answer, Expected, Failure, FailureKind, Request
from reconciler.members.kubeconfig import Context
from reconciler.members.refusals import failure_of_refusal
from reconciler.members.shapes import MOST_BYTES
from tests.wires import Reply, answering

from .hostile_wires import HEAD, Write, dripping, endless, raw_server

GET = Request(method="GET", path="/api/v1/namespaces/kube-system", expects=Expected.OBJECT)
LIST = Request(method="GET", path="/api/v1/pods", expects=Expected.LIST)
VERSION = Request(method="GET", path="/version", expects=Expected.VERSION)
DISCOVER = Request(method="GET", path="/apis", expects=Expected.DISCOVERY)
PATCH = Request(method="PATCH", path="/api/v1/namespaces/x", expects=Expected.OBJECT, body={}, content_type=APPLY)
DEEP = '{"metadata":{"name":"x"},"spec":' + '{"a":' * 199 + "1" + "}" * 200
DEEPER = '{"metadata":{"name":"x"},"spec":' + '{"a":' * 200 + "1" + "}" * 201


def client_of(host: str, seconds: float = 30.0) -> KubeClient:
    connection = open_connection(Context(name="it", cluster={"server": host}, user={}), AuthPlugins(environment={}))
    assert not isinstance(connection, Failure)
    return KubeClient(connection, deadline=time.monotonic() + seconds)


class Garbage(NamedTuple):
    why: str
    request: Request
    answer: str
    want: str


GARBAGE = [
    Garbage("null for an object", GET, "null", "the whole of it is no object"),
    Garbage("a number for an object", GET, "1", "the whole of it is no object"),
    Garbage("no metadata", GET, '{"kind":"Namespace"}', ".metadata is no object"),
    Garbage("metadata of null", GET, '{"metadata":null}', ".metadata is no object"),
    Garbage("no name", GET, '{"metadata":{}}', ".metadata.name is missing"),
    Garbage("a name that is a list", GET, '{"metadata":{"name":["x"]}}', ".metadata.name is no text"),
    Garbage("a uid that is a number", GET, '{"metadata":{"name":"x","uid":1}}', ".metadata.uid is no text"),
    Garbage("a kind that is a list", GET, '{"kind":[],"metadata":{"name":"x"}}', ".kind is no text"),
    Garbage(
        "a generation that is a text",
        GET,
        '{"metadata":{"name":"x","generation":"1"}}',
        ".metadata.generation is no whole number",
    ),
    Garbage("labels that are a list", GET, '{"metadata":{"name":"x","labels":[]}}', ".metadata.labels is no object"),
    Garbage(
        "a label that is a number",
        GET,
        '{"metadata":{"name":"x","labels":{"a":1}}}',
        ".metadata.labels has a value that is no text",
    ),
    Garbage(
        "managed fields of null",
        PATCH,
        '{"metadata":{"name":"x","managedFields":[null]}}',
        ".metadata.managedFields[0] is no object",
    ),
    Garbage(
        "managed fields that are a text",
        PATCH,
        '{"metadata":{"name":"x","managedFields":[{"fieldsV1":"f:x"}]}}',
        ".metadata.managedFields[0].fieldsV1 is no object",
    ),
    Garbage(
        "owners that are a text",
        GET,
        '{"metadata":{"name":"x","ownerReferences":["y"]}}',
        ".metadata.ownerReferences[0] is no object",
    ),
    Garbage("a patch answered with null", PATCH, "null", "the whole of it is no object"),
    Garbage("null for a list", LIST, "null", "the whole of it is no object"),
    Garbage("no items, which is not an empty list", LIST, '{"kind":"Status"}', ".items is missing"),
    Garbage("items that are an object", LIST, '{"items":{}}', ".items is no list"),
    Garbage("an item of null", LIST, '{"items":[null]}', ".items[0] is no object"),
    Garbage(
        "an item without metadata", LIST, '{"items":[{"metadata":{"name":"x"}},{}]}', ".items[1].metadata is no object"
    ),
    Garbage(
        "a token that is a number", LIST, '{"items":[],"metadata":{"continue":1}}', ".metadata.continue is no text"
    ),
    Garbage("a version that is a list", VERSION, "[]", "the whole of it is no object"),
    Garbage("a version of numbers", VERSION, '{"gitVersion":1}', ".gitVersion is no text"),
    Garbage("discovery of another kind", DISCOVER, '{"kind":"Status"}', ".kind is none of discovery"),
    Garbage("discovery of no kind", DISCOVER, '{"kind":{}}', ".kind is none of discovery"),
    Garbage("groups that are a text", DISCOVER, '{"kind":"APIGroupList","groups":"apps"}', ".groups is no list"),
    Garbage(
        "a group without version",
        DISCOVER,
        '{"kind":"APIGroupList","groups":[{"versions":[{}]}]}',
        ".groups[0].versions[0].groupVersion is missing",
    ),
    Garbage(
        "a resource whose verbs are numbers",
        DISCOVER,
        '{"kind":"APIResourceList","resources":[{"name":"x","kind":"X","verbs":[1]}]}',
        ".resources[0].verbs[0] is no text",
    ),
    Garbage(
        "aggregated discovery with a kind that is a list",
        DISCOVER,
        '{"kind":"APIGroupDiscoveryList","items":[{"versions":[{"version":"v1","resources":'
        '[{"resource":"x","responseKind":{"kind":[]}}]}]}]}',
        ".items[0].versions[0].resources[0].responseKind.kind is no text",
    ),
    Garbage("nested deeper than documents may be", GET, DEEPER, "it is nested deeper than 200 levels"),
    Garbage("nested 200,000 deep", GET, "[" * 200_000, "it is nested deeper than 200 levels"),
]


@pytest.mark.parametrize("case", GARBAGE, ids=lambda case: case.why)
def test_an_answer_of_another_shape_is_a_failure_that_names_the_request(case: Garbage) -> None:
    with answering(Reply(200, case.answer)) as wire:
        outcome = client_of(wire.host).send(case.request)
    assert outcome == Failure(
        kind=FailureKind.ANSWER,
        message=f"the answer to {case.request} is not what the API promises: {case.want}",
        hint="see what stands between here and the cluster",
    )
    assert len(wire.asked) == 1


NO_JSON = {
    "NaN": '{"metadata":{"name":"x"},"spec":NaN}',
    "Infinity": '{"metadata":{"name":"x"},"spec":-Infinity}',
    "half a character": '{"metadata":{"name":"\\ud800"}}',
    "an integer of 4,301 digits": '{"metadata":{"name":"x"},"spec":' + "1" * 4301 + "}",
    "a page": "<html>",
    "nothing": "",
}


@pytest.mark.parametrize("why", NO_JSON)
def test_what_is_no_json_is_no_api_server(why: str) -> None:
    with answering(Reply(200, NO_JSON[why])) as wire:
        outcome = client_of(wire.host, seconds=0.1).send(GET)
    assert isinstance(outcome, Failure)
    assert (outcome.kind, outcome.message) == (
        FailureKind.STRANGER,
        f"what answers at {wire.host} is no Kubernetes API server",
    )


GOOD = {
    "an empty list written as null": (LIST, '{"items":null}'),
    "as deep as documents may be": (GET, DEEP),
    "absent parts written as null": (
        GET,
        '{"metadata":{"name":"x","labels":null,"managedFields":null,"creationTimestamp":null}}',
    ),
}


@pytest.mark.parametrize("why", GOOD)
def test_an_answer_as_servers_give_it_is_taken(why: str) -> None:
    request, answer = GOOD[why]
    with answering(Reply(200, answer)) as wire:
        outcome = client_of(wire.host).send(request)
    assert isinstance(outcome, Answer)
    assert outcome.body == json.loads(answer)


def packed(levels: int) -> bytes:
    """A gzip file of 512 MiB of spaces, packed once more per further level."""
    content = gzip.compress(b" " * (512 << 20), 1)
    for _ in range(levels - 1):
        content = gzip.compress(content)
    return content


ENDLESS: dict[str, tuple[Write, FailureKind]] = {
    "content without end": (endless(HEAD + b"\r\n", b" " * 65536), FailureKind.ANSWER_TOO_LARGE),
    "chunks without end": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + b" " * 65536 + b"\r\n"),
        FailureKind.ANSWER_TOO_LARGE,
    ),
    "a chunk's size without end": (
        endless(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"0" * 65536),
        FailureKind.UNREACHABLE,
    ),
    "headers without end": (endless(HEAD, b"X-Header: 1\r\n" * 1000), FailureKind.UNREACHABLE),
    "a header without end": (endless(HEAD + b"X-Header: ", b"1" * 65536), FailureKind.UNREACHABLE),
    "a promise of a terabyte": (
        endless(HEAD + b"Content-Length: 1099511627776\r\n\r\n", b" " * 65536),
        FailureKind.ANSWER_TOO_LARGE,
    ),
    "an encoding nobody asked for": (
        endless(HEAD + b"Content-Encoding: br\r\n\r\n", b" " * 65536),
        FailureKind.STRANGER,
    ),
}


@pytest.mark.parametrize("why", ENDLESS)
def test_an_endless_answer_costs_little_memory(why: str) -> None:
    write, kind = ENDLESS[why]
    with raw_server(write) as host:
        client = client_of(host, seconds=20)
        tracemalloc.start()
        outcome = client.send(Request(method="GET", path="/api/v1/x", expects=Expected.OBJECT, timeout=15, tries=1))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert isinstance(outcome, Failure)
    assert outcome.kind is kind
    assert peak < 4 * MOST_BYTES[Expected.OBJECT]


def test_an_answer_that_is_packed_small_is_measured_unpacked() -> None:
    content = packed(1)
    head = HEAD + f"Content-Encoding: gzip\r\nContent-Length: {len(content)}\r\n\r\n".encode()
    with raw_server(dripping_once(head + content)) as host:
        tracemalloc.start()
        outcome = client_of(host).send(GET)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert outcome == Failure(
        kind=FailureKind.ANSWER_TOO_LARGE,
        message=f"the answer to {GET} is larger than 16 MiB",
        hint="see what stands between here and the cluster",
    )
    assert peak < 4 * MOST_BYTES[Expected.OBJECT]


def dripping_once(content: bytes) -> Write:
    return lambda client, _over: client.sendall(content)


SLOW = {
    "the status line": HEAD,
    "the headers": HEAD + b"X-Header: " + b"1" * 1000,
    "the content": HEAD + b"Content-Length: 1000\r\n\r\n" + b" " * 1000,
}


@pytest.mark.parametrize("why", SLOW)
def test_a_byte_now_and_then_does_not_extend_the_time_of_an_answer(why: str) -> None:
    """Every byte comes within the limit of one read, which is all that a socket's own limit looks at."""
    fast = SLOW[why].index(b"X-" if why == "the headers" else b"\r\n\r\n") if why != "the status line" else 0
    drip = dripping(SLOW[why][fast:], 0.05)

    def write(client: Any, over: Any) -> None:
        client.sendall(SLOW[why][:fast])
        drip(client, over)

    with raw_server(write) as host:
        began = time.monotonic()
        outcome = client_of(host).send(
            Request(method="GET", path="/version", expects=Expected.VERSION, timeout=0.5, tries=1)
        )
        seconds = time.monotonic() - began
    assert outcome == Failure(
        kind=FailureKind.UNREACHABLE, message=f"{host} did not answer in time", hint="see whether the cluster is up"
    )
    assert 0.4 < seconds < 3


def test_a_page_that_is_too_large_is_asked_for_again_with_fewer_objects() -> None:
    from reconciler.members.discovery import Resource
    from reconciler.members.listing import Listing, list_objects

    limits = []

    def choose(asked: Any) -> Reply:
        limit = int(asked.path.partition("limit=")[2].partition("&")[0])
        limits.append(limit)
        item = {"metadata": {"name": "x", "annotations": {"a": "b" * (1 << 20)}}}
        return Reply(
            200, {"items": [{**item, "metadata": {**item["metadata"], "name": str(n)}} for n in range(min(limit, 70))]}
        )

    resource = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True)
    with answering(choose=choose) as wire:
        found = list_objects(client_of(wire.host), Listing(resource=resource))
    assert isinstance(found, dict)
    assert (limits, len(found)) == ([500, 250, 125, 62], 62)


ODD_REFUSALS: list[Any] = [
    None,
    [],
    {"details": []},
    {"details": {"causes": {"a": 1}}},
    {"details": {"causes": [None, 1, {"message": []}]}},
    {"details": {"retryAfterSeconds": "soon"}},
    {"details": {"retryAfterSeconds": 10**400}},
    {"message": {"a": 1}, "reason": ["x"], "details": {"name": 1, "kind": {}}},
    {"message": 'Invalid value: "' * 20_000},
]


@pytest.mark.parametrize("status", [403, 404, 409, 422, 429, 500])
@pytest.mark.parametrize("body", ODD_REFUSALS, ids=lambda body: json.dumps(body)[:40])
def test_an_odd_refusal_is_a_refusal(status: int, body: Any) -> None:
    began = time.monotonic()
    failure = failure_of_refusal(GET, status, {"Retry-After": "²"}, json.dumps(body).encode())
    assert failure.status == status
    assert 0 <= failure.retry_after <= 86_400
    assert len(failure.message) < 1000
    assert time.monotonic() - began < 2


def test_discovery_of_garbage_is_a_failure() -> None:
    with answering(Reply(200, {"kind": "APIVersions", "versions": "v1"})) as wire:
        outcome = discover_served_kinds(client_of(wire.host))
    assert isinstance(outcome, Failure)
    assert outcome.message == "the answer to GET /api is not what the API promises: .versions is no list"
