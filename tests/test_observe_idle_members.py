"""Idle members, in memory: everything that is remembered counts."""

import json
from dataclasses import dataclass
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.members.discovery import Discovery, discover_served_kinds
from reconciler.members.exchange import Answer, Expected, Failure, FailureKind, Request
from reconciler.members.listing import Listing
from reconciler.observe.idle_members import IdleMember, apis_digest, idle_member, is_still_idle
from reconciler.observe.objects import CONFIG_MAPS
from reconciler.plans.admission import Admission
from reconciler.plans.model import ObservedCluster
from render.json_values import json_text, value_of_json_text
from render.model import Manifest, ObjectRef

from .build import a_config_map
from .fakes import FakeCluster
from .tables import each_row

PARENT = ObjectRef("", "ConfigMap", "default", "argosy")
SETTINGS = ObjectRef("", "ConfigMap", "default", "settings")
OTHER = ObjectRef("apps", "Deployment", "shop", "web")
DOWN = Failure(kind=FailureKind.FORBIDDEN, message="not allowed", status=403)


@dataclass
class ByteCluster(FakeCluster):
    """A cluster in memory that gives lists as bytes where they are asked for so, the head first as servers do."""

    def send(self, request: Request) -> Answer | Failure:
        outcome = super().send(request)
        if request.expects is not Expected.CONTENT or isinstance(outcome, Failure):
            return outcome
        head = {"kind": "PartialObjectMetadataList", "metadata": {"resourceVersion": str(len(self.requests))}}
        return replace(
            outcome, body=json.dumps({**head, "items": outcome.body["items"]}, separators=(",", ":")).encode()
        )


def a_member() -> tuple[ByteCluster, ObservedCluster]:
    """A member with two ConfigMaps, one of which is the parent of the set, and its observation."""
    cluster = ByteCluster()
    for name in ("argosy", "settings"):
        assert cluster.request("POST", "/api/v1/namespaces/default/configmaps", a_config_map(name, a="b"))[0] == 201
    discovery = discover_served_kinds(cluster)
    assert isinstance(discovery, Discovery)
    objects = {ref: _read(cluster, ref) for ref in (PARENT, SETTINGS)}
    observed = ObservedCluster(
        cluster="member1",
        uid=cluster.read("/api/v1/namespaces/kube-system")["metadata"]["uid"],
        discovery=discovery,
        live=objects,
        parent=objects[PARENT],
        listings=(Listing(resource=CONFIG_MAPS),),
    )
    return cluster, observed


def _read(cluster: ByteCluster, ref: ObjectRef) -> Manifest:
    found: dict[str, Any] = cluster.read(f"/api/v1/namespaces/{ref.namespace}/configmaps/{ref.name}")
    return found


def at_rest(cluster: ByteCluster, observed: ObservedCluster) -> IdleMember:
    known = idle_member(cluster, observed, observed.live, {})
    assert known is not None
    return known


def test_a_member_that_answers_the_same_is_still_at_rest() -> None:
    cluster, observed = a_member()
    known = at_rest(cluster, observed)
    assert is_still_idle(cluster, known)
    assert value_of_json_text(json_text(known), IdleMember) == known
    assert cluster.writes == []


def test_webhooks_are_asked_about_where_an_answer_counts_and_nowhere_else() -> None:
    cluster, observed = a_member()
    observed = replace(observed, admission=Admission(digest="unknown"))
    asked = []
    for has_answers in (True, False):
        known = idle_member(cluster, observed, observed.live, {}, has_answers=has_answers)
        assert known is not None
        assert is_still_idle(cluster, known)
        asked.append(known.admission)
    assert asked == ["unknown", ""]


class Known(NamedTuple):
    why: str
    fields: dict[str, Any]


LISTED = Listing(resource=CONFIG_MAPS)
DIFFERENCES = [
    Known("another cluster", {"uid": "another"}),
    Known("other APIs", {"apis": "others"}),
    Known("another version of the parent", {"parent_version": "0"}),
    Known("another parent", {"parent": replace(PARENT, name="none")}),
    Known("other objects", {"digests": ((LISTED, "another"),)}),
    Known("another autoscaled workload", {"autoscaled": frozenset([OTHER])}),
    Known("other webhooks, where objects are as they should be by an answer", {"admission": "others"}),
    Known("another finding", {"findings": ((OTHER, (("Pod", "main", "CrashLoopBackOff"),)),)}),
]


@each_row("case", DIFFERENCES, ids=lambda case: case.why)
def test_whatever_differs_ends_the_rest(case: Known) -> None:
    cluster, observed = a_member()
    assert not is_still_idle(cluster, replace(at_rest(cluster, observed), **case.fields))


CHANGES = [{"plural": "other"}, {"is_namespaced": False}, {"verbs": frozenset({"get"})}, {"is_scaled": True}]


@each_row("change", CHANGES)
def test_a_kind_that_is_served_otherwise_ends_the_rest(change: dict[str, Any]) -> None:
    """A plan leaves replicas to others where a kind has the scale subresource: once that could come and go unseen."""
    kind = (CONFIG_MAPS.api_version, CONFIG_MAPS.kind)
    before, after = (Discovery(resources={kind: each}) for each in (CONFIG_MAPS, replace(CONFIG_MAPS, **change)))
    assert apis_digest(before) != apis_digest(after)


@pytest.mark.parametrize("path", ["/apis", "/api/v1/namespaces/kube-system", "/api/v1/configmaps"])
def test_a_question_that_fails_ends_the_rest(path: str) -> None:
    cluster, observed = a_member()
    known = at_rest(cluster, observed)
    cluster.faults.append(lambda request: DOWN if request.path == path else None)
    assert not is_still_idle(cluster, known)


def test_what_changed_since_it_was_observed_is_not_remembered() -> None:
    cluster, observed = a_member()
    stale = {**observed.live[SETTINGS], "metadata": {**observed.live[SETTINGS]["metadata"], "resourceVersion": "0"}}
    assert idle_member(cluster, replace(observed, live={**observed.live, SETTINGS: stale}), {}, {}) is None
    assert idle_member(cluster, replace(observed, live={PARENT: observed.live[PARENT]}), {}, {}) is None


UNSURE = [
    Known("objects asked for by name", {"listings": None}),
    Known("a kind that could not be listed", {"unlisted": {"ConfigMap": DOWN}}),
    Known("an object that could not be read", {"unread": {SETTINGS: DOWN}}),
    Known("no parent", {"parent": None}),
]


@pytest.mark.parametrize("case", UNSURE, ids=lambda case: case.why)
def test_a_member_that_lists_do_not_tell_all_about_is_not_remembered(case: Known) -> None:
    cluster, observed = a_member()
    assert idle_member(cluster, replace(observed, **case.fields), observed.live, {}) is None
