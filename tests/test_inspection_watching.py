"""``argosy get -w`` over members that hang, refuse, break off and forget: each is named, and no change is lost."""

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from reconciler.cli import run
from reconciler.inspection.objects import ObjectOutput
from reconciler.inspection.tables import Column, Row, Shown
from reconciler.inspection.watched_documents import WatchedDocuments
from reconciler.inspection.watched_tables import WatchedRow, WatchedTable
from reconciler.inspection.watching import WatchInterrupted, WatchNews, next_news

from .build import Repository, a_cluster, argosy
from .fakes import FakeCluster
from .served import serving_members
from .waiting import SECONDS, eventually, running

COLUMNS = [{"name": "Name", "type": "string"}, {"name": "Data", "type": "string"}]
PATH = "/api/v1/namespaces/default/configmaps"


def a_row(name: str, version: int, data: str = "1") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "resourceVersion": str(version)}
    return {"cells": [name, data], "object": {"kind": "PartialObjectMetadata", "metadata": metadata}}


def a_table(version: int, *rows: dict[str, Any], columns: Sequence[Any] | None = COLUMNS) -> dict[str, Any]:
    metadata = {"resourceVersion": str(version)}
    return {"kind": "Table", "metadata": metadata, "columnDefinitions": columns, "rows": list(rows)}


def an_event(kind: str, name: str, version: int, data: str = "1") -> dict[str, Any]:
    return {"type": kind, "object": a_table(version, a_row(name, version, data), columns=None)}


GONE = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}}
BOOKMARK = {"type": "BOOKMARK", "object": a_table(9, columns=None)}


class Told(NamedTuple):
    """One answer to a watch: its events, and whether it breaks off, ends as servers end one, or goes on in silence."""

    events: tuple[Mapping[str, Any], ...]
    ending: str = "silence"


class Script:
    """A member that answers lists and watches one after the other, and remembers from where it was asked to tell."""

    def __init__(self, lists: Sequence[Mapping[str, Any]], watches: Sequence[Told]) -> None:
        self.lists, self.watches = list(lists), list(watches)
        self.asked_from: list[str] = []
        self.over = threading.Event()

    def __call__(self, handler: BaseHTTPRequestHandler) -> bool:
        address = urlsplit(handler.path)
        if address.path != PATH:
            return False
        query = parse_qs(address.query)
        if "watch" not in query:
            send_json(handler, 200, self.lists.pop(0) if len(self.lists) > 1 else self.lists[0])
            return True
        self.asked_from += query["resourceVersion"]
        told = self.watches.pop(0) if self.watches else Told(())
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for event in told.events:
            line = json.dumps(event).encode() + b"\n"
            # In two parts, as a line may come.
            for part in (line[:7], line[7:]):
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
                handler.wfile.flush()
        if told.ending == "end":
            handler.wfile.write(b"0\r\n\r\n")
        elif told.ending == "silence":
            self.over.wait(SECONDS)
        handler.close_connection = True
        return True


def send_json(handler: BaseHTTPRequestHandler, code: int, body: Mapping[str, Any]) -> None:
    content = json.dumps(body).encode()
    handler.send_response(code)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(content)))
    handler.end_headers()
    handler.wfile.write(content)


def refusing(handler: BaseHTTPRequestHandler) -> bool:
    if urlsplit(handler.path).path != PATH:
        return False
    send_json(handler, 403, {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "you may not"})
    return True


class Watched(NamedTuple):
    """A watch that goes on in a process, and what it has printed."""

    process: "subprocess.Popen[str]"
    output: Path
    errors: Path

    def interrupted(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(timeout=SECONDS)


@contextmanager
def a_watch(
    folder: Path, faults: Mapping[str, Callable[[BaseHTTPRequestHandler], bool]], *words: str
) -> Iterator[Watched]:
    """A watch of ConfigMaps over members with these faults."""
    repository = Repository.create(folder / "fleet")
    repository.commit({f"{name}.yaml": a_cluster(name) for name in faults})
    assert run(["-C", str(repository.path), "-q", "reconcile", "--bootstrap"]) == 0
    members = [FakeCluster(name) for name in faults]
    output, errors = folder / "out", folder / "err"
    with serving_members(members, folder / "kubeconfigs", faults) as served, ExitStack() as stack:
        for fault in faults.values():
            if isinstance(fault, Script):
                stack.callback(fault.over.set)
        command = [sys.executable, "-m", "reconciler", "-C", str(repository.path), "get", "configmaps", "-w"]
        command += ["--kubeconfigs", str(served.kubeconfigs), *words]
        out, err = stack.enter_context(output.open("w")), stack.enter_context(errors.open("w"))
        process = running(command, stdout=out, stderr=err, stdin=subprocess.DEVNULL)
        yield Watched(stack.enter_context(process), output, errors)


def test_a_member_that_breaks_off_and_forgets_loses_no_change(tmp_path: Path) -> None:
    """After 410 Gone it is listed again: what is gone, changed and new since the last change is told, and no more."""
    script = Script(
        lists=[
            a_table(5, a_row("a", 3), a_row("b", 4)),
            a_table(20, a_row("b", 15, "2"), a_row("c", 16), a_row("e", 8)),
        ],
        watches=[
            Told((an_event("MODIFIED", "a", 6, "7"),), "break"),
            Told((an_event("ADDED", "e", 8), BOOKMARK), "end"),
            Told((GONE,), "end"),
            Told((an_event("ADDED", "d-of-a-longer-name", 21), an_event("MODIFIED", "d-of-a-longer-name", 22, "2"))),
        ],
    )
    with a_watch(tmp_path, {"m1": script}, "--output-watch-events") as watched:
        eventually(lambda: watched.output.read_text().count("d-of-a") == 2, "the last change")
        assert watched.interrupted() == 130
    assert watched.output.read_text() == (
        "CLUSTER   EVENT   NAME   DATA\n"
        "m1        ADDED   a      1\n"
        "m1        ADDED   b      1\n"
        "m1        MODIFIED   a      7\n"
        "m1        ADDED      e      1\n"
        "m1        DELETED    a      7\n"
        "m1        MODIFIED   b      2\n"
        "m1        ADDED      c      1\n"
        "m1        ADDED      d-of-a-longer-name   1\n"
        "m1        MODIFIED   d-of-a-longer-name   2\n"
    )
    assert script.asked_from == ["5", "6", "9", "20"]
    assert watched.errors.read_text().splitlines()[:3] == [
        "warning: m1: the answer broke off; it is asked again from there",
        "  it is asked again",
        "warning: m1: answers again; nothing that happened meanwhile is left out",
    ]


def test_a_member_that_hangs_or_refuses_is_named_and_others_are_watched(tmp_path: Path) -> None:
    silence = Script([], [])

    def hanging(_handler: BaseHTTPRequestHandler) -> bool:
        silence.over.wait(10)
        return True

    well = Script([a_table(5, a_row("a", 3))], [Told((an_event("ADDED", "b", 6),))])
    with a_watch(tmp_path, {"m1": well, "m2": refusing, "m3": hanging}, "--no-headers") as watched:
        eventually(lambda: "b " in watched.output.read_text(), "a change of the member that is well")
        errors = eventually(lambda: watched.errors.read_text() if "m3" in watched.errors.read_text() else "", "m3")
        assert watched.interrupted() == 130
        silence.over.set()
    assert watched.output.read_text() == "m1    a     1\nm1    b     1\n"
    assert [line for line in errors.splitlines() if line.startswith("warning: m")] == [
        "warning: m2: you may not",
        "warning: m3: no answer yet; what it has follows once it answers",
    ]
    assert "  it is left out" in errors


def test_only_changes_are_shown_where_that_is_asked_for(tmp_path: Path) -> None:
    script = Script([a_table(5, a_row("a", 3))], [Told((an_event("DELETED", "a", 6),))])
    with a_watch(tmp_path, {"m1": script}, "--watch-only") as watched:
        eventually(watched.output.read_text, "a change")
        assert watched.interrupted() == 130
    assert watched.output.read_text() == "CLUSTER   NAME   DATA\nm1        a      1\n"


def an_item(name: str, version: int, **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "resourceVersion": str(version), "managedFields": [{}]}
    return {"metadata": metadata, **fields}


def a_whole_event(kind: str, item: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": kind, "object": {"apiVersion": "v1", "kind": "ConfigMap", **item}}


SHOWN_A = """{
  "cluster": "m1",
  "metadata": {
    "name": "a",
    "namespace": "default",
    "resourceVersion": "3"
  },
  "apiVersion": "v1",
  "kind": "ConfigMap"
}
"""
CHANGED_A = """{
  "cluster": "m1",
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {
    "name": "a",
    "namespace": "default",
    "resourceVersion": "6"
  }
}
"""
SHOWN_C = """apiVersion: v1
kind: ConfigMap
metadata:
  name: c
  namespace: default
  resourceVersion: "7"
cluster: m1
"""


class Streamed(NamedTuple):
    words: tuple[str, ...]
    text: str


STREAMED = [
    Streamed(("-o", "name"), "m1 configmap/a\nm1 configmap/a\nm1 configmap/c\n"),
    Streamed(
        ("-o", "name", "--output-watch-events"),
        "m1 ADDED configmap/a\nm1 DELETED configmap/a\nm1 ADDED configmap/c\n",
    ),
    Streamed(("-o", "json"), SHOWN_A + CHANGED_A + CHANGED_A.replace('"6"', '"7"').replace('"a"', '"c"')),
    Streamed(
        ("-o", "json", "--output-watch-events", "--watch-only"),
        '{"type":"DELETED","object":{"cluster":"m1","apiVersion":"v1","kind":"ConfigMap",'
        '"metadata":{"name":"a","namespace":"default","resourceVersion":"6"}}}\n'
        '{"type":"ADDED","object":{"cluster":"m1","apiVersion":"v1","kind":"ConfigMap",'
        '"metadata":{"name":"c","namespace":"default","resourceVersion":"7"}}}\n',
    ),
    Streamed(("-o", 'jsonpath={.cluster}: {.metadata.name} {.nosuch}{"\\n"}'), "m1: a \nm1: a \nm1: c \n"),
    Streamed(
        ("-o", 'jsonpath={.type} {.object.metadata.name}{"\\n"}', "--output-watch-events", "--watch-only"),
        "DELETED a\nADDED c\n",
    ),
    Streamed(("-o", "jsonpath-as-json={.metadata.name}", "--watch-only"), '[\n    "a"\n]\n[\n    "c"\n]\n'),
    Streamed(
        ("-o", "custom-columns=NAME:.metadata.name,VERSION:metadata.resourceVersion"),
        "CLUSTER   NAME   VERSION\nm1        a      3\nm1        a      6\nm1        c      7\n",
    ),
    Streamed(
        ("-o", "custom-columns=EVENT:.type,NAME:.object.metadata.name", "--output-watch-events", "--no-headers"),
        "m1    ADDED   a\nm1    DELETED   a\nm1    ADDED     c\n",
    ),
    Streamed(
        ("-o", "yaml", "--watch-only"),
        SHOWN_C.replace("name: c", "name: a").replace('"7"', '"6"') + "---\n" + SHOWN_C,
    ),
    Streamed(
        ("-o", "yaml", "--watch-only", "--output-watch-events", "--show-managed-fields"),
        """object:
  apiVersion: v1
  cluster: m1
  kind: ConfigMap
  metadata:
    managedFields:
    - {}
    name: a
    namespace: default
    resourceVersion: "6"
type: DELETED
---
object:
  apiVersion: v1
  cluster: m1
  kind: ConfigMap
  metadata:
    managedFields:
    - {}
    name: c
    namespace: default
    resourceVersion: "7"
type: ADDED
""",
    ),
]


@pytest.mark.parametrize("case", STREAMED, ids=lambda case: " ".join(case.words))
def test_each_event_is_a_document_in_a_form_for_programs(case: Streamed, tmp_path: Path) -> None:
    script = Script(
        lists=[{"kind": "ConfigMapList", "metadata": {"resourceVersion": "5"}, "items": [an_item("a", 3)]}],
        watches=[
            Told((a_whole_event("DELETED", an_item("a", 6)), a_whole_event("BOOKMARK", an_item("", 9))), "end"),
            Told((a_whole_event("ADDED", an_item("c", 7)),)),
        ],
    )
    with a_watch(tmp_path, {"m1": script}, *case.words) as watched:
        eventually(lambda: len(watched.output.read_text()) >= len(case.text), "the last document", seconds=15)
        assert watched.interrupted() == 130
    assert watched.output.read_text() == case.text
    assert script.asked_from == ["5", "9"]


class Quiet(SimpleQueue[WatchNews]):
    """News that come at the third look; how long each look would have waited."""

    def __init__(self, come: WatchNews) -> None:
        self.come, self.waits = come, list[float | None]()

    def get(self, block: bool = True, timeout: float | None = None) -> WatchNews:
        self.waits.append(timeout if block else 0.0)
        if len(self.waits) < 3:
            raise Empty
        return self.come


def test_a_wait_for_news_begins_again_so_that_no_signal_is_missed_for_long() -> None:
    """One that comes when Python has just looked for signals would else wait for the next news, maybe for ever."""
    come = WatchInterrupted(name="m1", failure=None)
    news = Quiet(come)
    assert next_news(news) is come
    assert news.waits == [0.5] * 3


def test_no_event_shows_the_content_of_a_secret() -> None:
    item = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "key"}, "data": {"token": "c2VjcmV0"}}
    row = WatchedRow(cluster="m1", event="ADDED", row=Row(cells=(), name="key", item=item))
    documents = WatchedDocuments(output=ObjectOutput(form="json"), has_events=True)
    assert documents.text_of_rows([row]) == (
        '{"type":"ADDED","object":{"cluster":"m1","apiVersion":"v1","kind":"Secret","metadata":{"name":"key"},'
        '"data":{"token":"(hidden)"}}}\n'
    )


WRONG = [
    (("cm,pods", "-w"), "-w watches one kind, or one object of it: name no other"),
    (("cm", "a", "b", "-w"), "-w watches one kind, or one object of it: name no other"),
    (("cm", "-w", "--sort-by", ".kind"), "--sort-by goes without -w"),
    (("cm", "a", "-w", "--subresource", "status"), "--subresource goes without -w"),
    (("cm", "-w", "-o", "json", "--show-labels"), "--show-labels goes with tables"),
    (("cm", "--output-watch-events"), "--output-watch-events goes with -w"),
]


@pytest.mark.parametrize(("words", "want"), WRONG, ids=lambda each: " ".join(each) if isinstance(each, tuple) else "")
def test_what_cannot_be_watched_is_refused(
    words: tuple[str, ...], want: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = Repository.create(tmp_path)
    repository.commit({"m1.yaml": a_cluster("m1")})
    ended = argosy(repository, capsys, "get", *words)
    assert (ended.code, want in ended.err) == (2, True), ended.err


def test_nobody_that_could_be_watched_ends_it(tmp_path: Path) -> None:
    with a_watch(tmp_path, {"m1": refusing}) as watched:
        assert watched.process.wait(timeout=SECONDS) == 1
    assert watched.output.read_text() == ""


def test_columns_become_wider_and_are_named_again_when_they_change() -> None:
    table = WatchedTable(shown=Shown())
    name, more = (Column(name="Name"),), (Column(name="Name"), Column(name="Age"))

    def row(*cells: str) -> list[WatchedRow]:
        return [WatchedRow(cluster="m1", event="ADDED", row=Row(cells=cells))]

    assert [table.text_of_rows(name, row("a")), table.text_of_rows(name, row("b"))] == [
        "CLUSTER   NAME\nm1        a\n",
        "m1        b\n",
    ]
    assert table.text_of_rows(more, row("a-longer-name", "5s")) == (
        "CLUSTER   NAME            AGE\nm1        a-longer-name   5s\n"
    )
    assert table.text_of_rows(more, row("a", "6s")) == "m1        a               6s\n"
    assert table.text_of_rows(more, []) == ""
