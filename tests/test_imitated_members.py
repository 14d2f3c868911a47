"""Members that are imitated (``tests/members``) answer as a real kube-apiserver does, request by request.

Both get the same requests about objects of every kind: applied, applied again, edited at random and applied, by one
manager and by another, with and without force, patched, listed and deleted. Answers must be equal but for what is
drawn or counted in each server.
"""

import json
import random
import re
from collections.abc import Iterator, Mapping
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import Any

import pytest

from .clusters import JSON, Member, Server
from .edits.changes import Draft, edited
from .edits.objects import SPACE, definitions, named, whole_objects
from .members.program import ImitatedMembers, imitated_members
from .waiting import eventually

pytestmark = [pytest.mark.cluster, pytest.mark.imitated, pytest.mark.usefixtures("imitated_program")]

APPLY, MERGE_PATCH, JSON_PATCH = (
    f"application/{name}" for name in ("apply-patch+yaml", "merge-patch+json", "json-patch+json")
)
UNSERVED = frozenset({"FlowSchema", "ResourceClaimTemplate", "PriorityLevelConfiguration", "DeviceClass", "Pod"})
"""Kinds that the imitated members do not serve, or not with all plugins that fill in something."""
OF_CONTROLLERS = frozenset({"CustomResourceDefinition"})
"""Kinds whose objects a server's own controllers change whenever they come to it."""
EDITS = 4
OBJECTS = [each for each in whole_objects() if each["kind"] not in UNSERVED | OF_CONTROLLERS]
DRAWN = frozenset({"clusterIP", "clusterIPs", "nodePort", "healthCheckNodePort"})
UID = re.compile(r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b")
UNKNOWN = "field not declared in schema"
SOME_UNKNOWN = re.compile(rf": (errors:|\S+: {UNKNOWN})$")
TIMES = frozenset(
    {
        "creationTimestamp",
        "deletionTimestamp",
        "time",
        "lastTransitionTime",
        "lastUpdateTime",
        "lastPhaseTransitionTime",
    }
)


def differences(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield where two values differ, for whoever reads why a test failed."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in one.keys() | other.keys():
            yield from differences(one.get(key), other.get(key), f"{path}.{key}")
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple) and len(one) == len(other):
        for number, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, f"{path}[{number}]")
    elif one != other:
        yield f"{path}: {one!r}, {other!r}"


class Pair:
    """A real server and an imitated one, and the versions of objects that each has told of so far."""

    def __init__(self, real: Server, imitated: Server) -> None:
        self.real = real
        self.servers = (real, imitated)
        self._seen: tuple[dict[str, list[str]], dict[str, list[str]]] = ({}, {})

    def ask(self, method: str, path: str, body: Any = None, *, content_type: str = JSON) -> tuple[int, Any]:
        """Ask both the same, and return what both answered; fail where they answer differently."""
        answers = [
            (status, self._comparable(answer, seen, path.partition("?")[0]))
            for server, seen in zip(self.servers, self._seen, strict=True)
            for status, answer in [server.request(method, path, body, content_type=content_type)]
        ]
        assert answers[1] == answers[0], f"{method} {path} {json.dumps(body)}: {[*differences(answers[0], answers[1])]}"
        return answers[0]

    def ask_each(self, method: str, path: str, body_of: Any, *, content_type: str = JSON) -> None:
        """Ask each with a body of its own, which a function makes of the object that it has."""
        answers = []
        for server, seen in zip(self.servers, self._seen, strict=True):
            body = body_of(server.read(path.partition("?")[0]))
            status, answer = server.request(method, path, body, content_type=content_type)
            answers.append((status, self._comparable(answer, seen, path.partition("?")[0])))
        assert answers[1] == answers[0], f"{method} {path}: {[*differences(answers[0], answers[1])]}"

    def path_of(self, manifest: Mapping[str, Any]) -> str:
        return f"{self.servers[0].path_of(manifest)}/{manifest['metadata']['name']}"

    def _comparable(self, value: Any, seen: dict[str, list[str]], path: str) -> Any:
        """Return an answer without what each server draws; of versions only whether they are the one before."""
        if isinstance(value, list):
            return _sorted_where_servers_draw([self._comparable(each, seen, path) for each in value])
        if isinstance(value, str):
            # Of several unknown fields a server names any, one or more, in any order.
            first, *others = UID.sub("UID", value).split("\n")
            others = sorted(line for line in others if UNKNOWN not in line)
            return "\n".join([SOME_UNKNOWN.sub(": fields are unknown", first) if UNKNOWN in value else first, *others])
        if not isinstance(value, dict):
            return value
        if str(value.get("kind", "")).endswith("List"):
            items = [self._comparable(each, seen, f"{path}/{each['metadata']['name']}") for each in value["items"]]
            return {**{key: value[key] for key in ("apiVersion", "kind")}, "items": items}
        return {key: self._comparable_field(key, each, seen, path) for key, each in value.items()}

    def _comparable_field(self, key: str, value: Any, seen: dict[str, list[str]], path: str) -> Any:
        if key == "resourceVersion" and isinstance(value, str):
            known = seen.setdefault(path, [])
            known += [] if value in known else [value]
            return known.index(value)
        if key in TIMES and value is not None:
            return "TIME"
        if key in DRAWN and value not in ("None", "", ["None"]):
            return "DRAWN"
        return self._comparable(value, seen, path)


def _sorted_where_servers_draw(items: list[Any]) -> list[Any]:
    """Return entries of managed fields without their order, which is that of seconds, and causes, which have none."""
    if all(isinstance(each, dict) and ("manager" in each or "reason" in each) for each in items):
        return sorted(items, key=json.dumps)
    return items


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImitatedMembers]:
    with imitated_members(tmp_path_factory.mktemp("imitated"), 2, healthy_after=-1.0, seconds=1800) as running:
        yield running


@pytest.fixture(scope="module")
def pair(two: ImitatedMembers) -> Iterator[Pair]:
    with Member("real") as real:
        both = Pair(real, two.members[0])
        for name in sorted({SPACE, *(each["metadata"].get("namespace", SPACE) for each in OBJECTS)}):
            space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            assert both.ask("PATCH", f"/api/v1/namespaces/{name}?fieldManager=test", space, content_type=APPLY)[0] < 300
        for each in definitions():
            for server in (real, two.members[0]):
                path = f"{server.path_of(each)}/{each['metadata']['name']}"
                assert server.request("PATCH", f"{path}?fieldManager=test", each, content_type=APPLY)[0] == 201
                eventually(partial(_is_served, server, path), "the definition")
        yield both


def _is_served(server: Server, path: str) -> bool:
    crd = server.read(path)
    established = {each["type"]: each["status"] for each in (crd.get("status") or {}).get("conditions") or ()}
    version = f"/apis/{crd['spec']['group']}/{crd['spec']['versions'][0]['name']}"
    return (
        established.get("Established") == "True"
        and server.request("GET", f"{version}/{crd['spec']['names']['plural']}")[0] == 200
    )


def test_an_unknown_field_is_named(pair: Pair) -> None:
    (first,) = (named(each, 99) for each in OBJECTS if each["kind"] == "Deployment")
    unheard = {**first, "unheard": {"of": 1}}
    for server in pair.servers:
        _, said = server.request("PATCH", f"{pair.path_of(first)}?fieldManager=a", unheard, content_type=APPLY)
        assert said["message"].endswith(f": .unheard: {UNKNOWN}")


@pytest.mark.parametrize("number", range(len(OBJECTS)), ids=lambda number: f"{number}-{OBJECTS[number]['kind']}")
def test_an_imitated_member_answers_as_a_real_server(pair: Pair, number: int) -> None:
    draw = random.Random(number)
    first = named(OBJECTS[number], 100 + number)
    path = pair.path_of(first)
    ours, others = f"{path}?fieldManager=argosy&fieldValidation=Strict", f"{path}?fieldManager=other"
    assert pair.ask("PATCH", ours, first, content_type=APPLY)[0] == HTTPStatus.CREATED
    assert pair.ask("PATCH", ours, first, content_type=APPLY)[0] == HTTPStatus.OK
    want = first
    for _ in range(EDITS):
        want = edited(Draft(want, first, pair.real.read(path)), draw)
        pair.ask("PATCH", f"{ours}&dryRun=All", want, content_type=APPLY)
        pair.ask("PATCH", ours, want, content_type=APPLY)
        pair.ask("PATCH", others, first, content_type=APPLY)
        pair.ask("PATCH", f"{others}&force=true", edited(Draft(first, first, first), draw), content_type=APPLY)
        patch = {"metadata": {"labels": {"a": draw.choice(["1", "9"]), "new": None}, "annotations": {"by": "hand"}}}
        pair.ask("PATCH", f"{path}?fieldManager=kubectl-edit", patch, content_type=MERGE_PATCH)
        pair.ask("PATCH", ours, want, content_type=APPLY)
        pair.ask("PATCH", f"{ours}&force=true", want, content_type=APPLY)
    pair.ask("PATCH", ours, {**want, "unheard": {"of": 1}}, content_type=APPLY)
    pair.ask(
        "PATCH",
        f"{ours}&force=true",
        {**first, "metadata": {**first["metadata"], "uid": "another"}},
        content_type=APPLY,
    )
    pair.ask(
        "PATCH",
        f"{ours}&force=true",
        {**first, "metadata": {**first["metadata"], "resourceVersion": "1"}},
        content_type=APPLY,
    )
    pair.ask("GET", path)
    pair.ask("GET", f"{path.rpartition('/')[0]}?labelSelector=a%3D1")
    reset = [{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]
    pair.ask("PATCH", path, reset, content_type=JSON_PATCH)
    pair.ask_each(
        "PUT",
        f"{path}?fieldManager=put",
        lambda live: {**live, "metadata": {**live["metadata"], "labels": {"put": "1"}}},
    )
    pair.ask("DELETE", path, {"preconditions": {"uid": "another"}, "propagationPolicy": "Background"})
    pair.ask("DELETE", f"{path}?dryRun=All")
    pair.ask_each(
        "DELETE",
        path,
        lambda live: {"preconditions": {"uid": live["metadata"]["uid"]}, "propagationPolicy": "Background"},
    )
    if first["kind"] != "Namespace":  # the imitated members play the controllers that end it
        pair.ask("GET", path)


def test_a_definition_is_answered_as_by_a_real_server(pair: Pair) -> None:
    for each in definitions():
        pair.ask("PATCH", f"{pair.path_of(each)}?fieldManager=test&dryRun=All", each, content_type=APPLY)


REFUSED = (
    (
        "no such namespace",
        "/api/v1/namespaces/nowhere/configmaps/a",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
    ),
    (
        "another name",
        f"/api/v1/namespaces/{SPACE}/configmaps/a",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "b"}},
    ),
    (
        "another namespace",
        f"/api/v1/namespaces/{SPACE}/configmaps/a",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "default"}},
    ),
    (
        "managed fields",
        f"/api/v1/namespaces/{SPACE}/configmaps/a",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "managedFields": [{"manager": "x"}]}},
    ),
    (
        "a wrong type",
        f"/api/v1/namespaces/{SPACE}/configmaps/a",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": 1}},
    ),
    (
        "another version",
        f"/api/v1/namespaces/{SPACE}/configmaps/a",
        {"apiVersion": "apps/v1", "kind": "ConfigMap", "metadata": {"name": "a"}},
    ),
    (
        "a uid of nothing",
        f"/api/v1/namespaces/{SPACE}/configmaps/a",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "x"}},
    ),
    (
        "no such kind",
        f"/apis/apps/v1/namespaces/{SPACE}/oddities/a",
        {"apiVersion": "apps/v1", "kind": "Oddity", "metadata": {"name": "a"}},
    ),
    (
        "a name that is none",
        f"/api/v1/namespaces/{SPACE}/configmaps/A_b",
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "A_b"}},
    ),
)


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0])
def test_an_imitated_member_refuses_as_a_real_server(pair: Pair, row: tuple[str, str, Any]) -> None:
    _, path, body = row
    assert pair.ask("PATCH", f"{path}?fieldManager=test", body, content_type=APPLY)[0] >= HTTPStatus.BAD_REQUEST
    assert pair.ask("PATCH", path, body, content_type=APPLY)[0] >= HTTPStatus.BAD_REQUEST


def test_lists_come_in_pages(pair: Pair) -> None:
    path = f"/api/v1/namespaces/{SPACE}/configmaps"
    for number in range(5):
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": f"page-{number}", "labels": {"pages": "yes"}},
        }
        pair.ask("PATCH", f"{path}/page-{number}?fieldManager=test", body, content_type=APPLY)
    for server in pair.servers:
        names, token = [], ""
        while True:
            answer = server.request("GET", f"{path}?labelSelector=pages%3Dyes&limit=2&continue={token}")[1]
            names.append([each["metadata"]["name"] for each in answer["items"]])
            if not (token := answer["metadata"].get("continue", "")):
                break
        assert names == [["page-0", "page-1"], ["page-2", "page-3"], ["page-4"]]


def test_members_hold_objects_of_their_own_and_are_told_apart(two: ImitatedMembers) -> None:
    one, other = two.members
    path = "/api/v1/namespaces/default/configmaps"
    assert one.request("POST", path, {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "alone"}})[0] == 201
    assert (one.read(f"{path}/alone") is None, other.read(f"{path}/alone")) == (False, None)
    uids = {member.read("/api/v1/namespaces/kube-system")["metadata"]["uid"] for member in two.members}
    assert uids == {one.uid, other.uid}


def test_workloads_become_healthy_after_the_time_that_was_set(tmp_path: Path) -> None:
    with imitated_members(tmp_path, 1, healthy_after=0.2) as running:
        (member,) = running.members
        container = {"name": "a", "image": "a:1"}
        labels = {"a": "1"}
        spec = {
            "replicas": 3,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
        }
        body = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"}, "spec": spec}
        path = "/apis/apps/v1/namespaces/default/deployments/a"
        running.mark()
        assert member.request("PATCH", f"{path}?fieldManager=test", body, content_type=APPLY)[0] == 201
        eventually(lambda: member.read(path)["status"].get("readyReplicas") == 3, "three replicas")
        changes = [(each.what, each.key) for each in running.changes()]
        assert changes == [("written", "/apps/deployments/default/a"), ("healthy", "/apps/deployments/default/a")]
        written, healthy = running.changes()
        assert 0.2 <= healthy.at - written.at < 10
        assert running.told().requests["patch deployments"] == 1
