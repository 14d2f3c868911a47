"""Plans of objects that are equal to those of other members: the same as if each were planned by itself."""

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from msgspec.structs import replace

from reconciler.members.discovery import Resource
from reconciler.plans.allocated_fields import live_without_allocated_fields
from reconciler.plans.applyset import ApplySet
from reconciler.plans.context import PlanContext
from reconciler.plans.equal_objects import PlansOfEquals
from reconciler.plans.model import DesiredObject, PlanOptions
from reconciler.plans.object import plan_object
from reconciler.plans.payload import manifest_as_sent
from render.model import Manifest

from .applying import desired_objects
from .build import a_deployment
from .fake_fields import server_side_applied
from .tables import each_row

VERBS = frozenset({"get", "list", "patch"})
DEPLOYMENT = Resource(
    group="apps", version="v1", kind="Deployment", plural="deployments", is_namespaced=True, verbs=VERBS
)
WEB = a_deployment("web", replicas=2)
(DESIRED,) = desired_objects([WEB])


def context(desired: DesiredObject = DESIRED, **options: Any) -> PlanContext:
    return PlanContext(desired=desired, resource=DEPLOYMENT, options=PlanOptions(**options), are_scalers_known=True)


def applied(uid: str = "u1") -> dict[str, Any]:
    """The object as it is after we applied it."""
    sent = manifest_as_sent(WEB, DEPLOYMENT, ApplySet().id)
    live, _ = server_side_applied({"metadata": {"name": "web", "namespace": "default"}}, sent, "argosy")
    live["metadata"] |= {"uid": uid, "resourceVersion": f"of {uid}", "creationTimestamp": f"at {uid}", "generation": 1}
    return live


def of_another_member() -> dict[str, Any]:
    """An object like it: written at another time, and with another status."""
    live = applied("u2")
    live["status"] = {"observedGeneration": 7}
    for entry in live["metadata"]["managedFields"]:
        entry["time"] = "2026-01-01T00:00:00Z"
    return live


def counted(calls: list[Manifest]) -> Callable[[Manifest, Manifest], Manifest]:
    """A rule of the source that keeps nothing, and notes what it is asked about."""

    def retain(want: Manifest, live: Manifest) -> Manifest:
        calls.append(live)
        return want

    return retain


def test_an_equal_object_is_planned_as_by_itself_without_being_compared() -> None:
    asked, plans = list[Manifest](), PlansOfEquals()
    retain = counted(asked)
    first = plans.plan(applied(), context(retain=retain))
    before = len(asked)
    second = plans.plan(of_another_member(), context(retain=retain))
    assert first == plan_object(applied(), context())
    assert second == plan_object(of_another_member(), context())
    assert (second.action, second.uid, second.resource_version) == ("unchanged", "u2", "of u2")
    assert len(asked) == before


class Edit(NamedTuple):
    why: str
    edit: Callable[[dict[str, Any]], object]


EDITS = [
    Edit("a value is another", lambda live: live["spec"].update(replicas=3)),
    Edit("a value is of another type, which Python takes for equal", lambda live: live["spec"].update(replicas=2.0)),
    Edit("true stands for one", lambda live: live["spec"].update(replicas=True)),
    Edit("there is a field more", lambda live: live["spec"].update(paused=True)),
    Edit("a label is lost", lambda live: live["metadata"].update(labels={})),
    Edit("an annotation came", lambda live: live["metadata"].update(annotations={"a": "b"})),
    Edit("it is being deleted", lambda live: live["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z")),
    Edit("nobody owns its fields any more", lambda live: live["metadata"].update(managedFields=[])),
    Edit("somebody else owns them", lambda live: live["metadata"]["managedFields"][0].update(manager="kubectl")),
    Edit("they are owned otherwise", lambda live: live["metadata"]["managedFields"][0].update(operation="Update")),
    Edit("we own fewer", lambda live: live["metadata"]["managedFields"][0]["fieldsV1"].pop("f:spec")),
    Edit(
        "somebody else owns more",
        lambda live: live["metadata"]["managedFields"].append(
            {"manager": "x", "operation": "Update", "apiVersion": "apps/v1", "fieldsV1": {"f:spec": {"f:paused": {}}}}
        ),
    ),
]


@each_row("case", EDITS, ids=lambda case: case.why)
def test_an_object_that_is_not_equal_is_planned_by_itself(case: Edit) -> None:
    plans, live = PlansOfEquals(), of_another_member()
    plans.plan(applied(), context())
    case.edit(live)
    assert plans.plan(copy.deepcopy(live), context()) == plan_object(live, context())


CONTEXTS = {
    "something scales it": replace(context(), is_autoscaled=True),
    "it is not known what scales it": replace(context(), are_scalers_known=False),
    "the cluster holds it by another manifest": context(changed=frozenset({DESIRED.ref})),
    "it is suspended": context(replace(DESIRED, is_suspended=True)),
    "a tool is replaced": context(migrate_from=frozenset({"argosy", "kubectl"})),
    "another fleet delivers it": context(applyset=ApplySet(name="argosy-other")),
    "its manifest asks for more": context(*desired_objects([a_deployment("web", replicas=5)])),
}


@each_row("why", CONTEXTS)
def test_what_else_decides_is_not_taken_for_equal(why: str) -> None:
    plans, live = PlansOfEquals(), of_another_member()
    plans.plan(applied(), context())
    assert plans.plan(live, CONTEXTS[why]) == plan_object(live, CONTEXTS[why])


def test_what_a_rule_of_the_source_keeps_is_asked_of_each_object() -> None:
    """Such a rule sees the status as well, which differs."""
    plans = PlansOfEquals()

    def as_observed(want: Manifest, live: Manifest) -> Manifest:
        return {**want, "spec": {**want["spec"], "replicas": (live.get("status") or {}).get("observedGeneration", 2)}}

    for live in (applied(), of_another_member()):
        assert plans.plan(live, context(retain=as_observed)) == plan_object(live, context(retain=as_observed))


SERVICE = Resource(group="", version="v1", kind="Service", plural="services", is_namespaced=True, verbs=VERBS)
FRONT: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Service",
    "metadata": {"name": "front", "namespace": "default"},
    "spec": {"type": "NodePort", "selector": {"app": "web"}, "ports": [{"name": "web", "port": 80}]},
}
ADDRESS, PORT = {"clusterIP": "10.0.0.1", "clusterIPs": ["10.0.0.1"]}, {"nodePort": 30001}


def a_service(want: Manifest = FRONT, *, address: str = "10.0.0.1", port: int = 30001) -> dict[str, Any]:
    """A Service as a member has it after we applied it: with an address and a port of its own."""
    sent = manifest_as_sent(want, SERVICE, ApplySet().id)
    live, _ = server_side_applied({"metadata": {"name": "front", "namespace": "default"}}, sent, "argosy")
    live["spec"] |= {"clusterIP": address, "clusterIPs": [address]}
    live["spec"]["ports"] = [{**each, "nodePort": port} for each in live["spec"]["ports"]]
    live["metadata"] |= {"uid": address, "resourceVersion": f"of {address}"}
    return live


def context_of_service(want: Manifest = FRONT, **options: Any) -> PlanContext:
    (desired,) = desired_objects([want])
    return PlanContext(desired=desired, resource=SERVICE, options=PlanOptions(**options), are_scalers_known=True)


def is_compared_again(first: Manifest, second: Manifest, want: Manifest = FRONT) -> bool:
    """Say whether a Service is compared by itself after that of another member; its plan is the same either way."""
    asked, plans = list[Manifest](), PlansOfEquals()
    alone = plan_object(second, context_of_service(want))
    # The context has to be the same, for manifests are told apart as objects.
    known = context_of_service(want, retain=counted(asked))
    plans.plan(first, known)
    before = len(asked)
    assert replace(plans.plan(second, known), desired=None) == replace(alone, desired=None)
    return len(asked) > before


def test_addresses_and_ports_that_members_allocated_are_no_difference() -> None:
    assert not is_compared_again(a_service(), a_service(address="10.0.0.2", port=30002))


def test_what_no_cluster_allocates_is_compared() -> None:
    assert is_compared_again(a_service(), {**a_service(), "spec": {**a_service()["spec"], "type": "ClusterIP"}})


def test_what_a_manifest_states_is_no_field_that_is_left_out() -> None:
    """Whoever owns it."""
    live = a_service(WITH_ADDRESS)
    live["metadata"]["managedFields"] = []
    assert live_without_allocated_fields(live, WITH_ADDRESS) == {**live, "spec": {**FRONT["spec"], **ADDRESS}}


def nothing_more(_live: dict[str, Any]) -> None:
    return


def owning(**spec: Any) -> Callable[[dict[str, Any]], None]:
    """Return what has another manager own fields of a Service."""

    def own(live: dict[str, Any]) -> None:
        fields = {"f:spec": {f"f:{name}": owned for name, owned in spec.items()}}
        entry = {"manager": "x", "operation": "Update", "apiVersion": "v1", "fieldsV1": fields}
        live["metadata"]["managedFields"].append(entry)

    return own


WITH_ADDRESS = {**FRONT, "spec": {**FRONT["spec"], **ADDRESS}}
WITH_PORT = {**FRONT, "spec": {**FRONT["spec"], "ports": [{**FRONT["spec"]["ports"][0], **PORT}]}}
ASKED_ABOUT: dict[str, tuple[Manifest, Callable[[dict[str, Any]], None]]] = {
    "the manifest states the address": (WITH_ADDRESS, nothing_more),
    "the manifest states the port": (WITH_PORT, nothing_more),
    "somebody owns the address": (FRONT, owning(clusterIP={})),
    "somebody owns the port": (FRONT, owning(ports={'k:{"name":"web"}': {"f:nodePort": {}}})),
    "somebody owns the whole of it": (FRONT, owning()),
}


@pytest.mark.parametrize("why", ASKED_ABOUT)
def test_allocated_fields_that_a_plan_asks_about_are_compared(why: str) -> None:
    """Both members have the same owners, so that nothing else tells them apart."""
    want, edit = ASKED_ABOUT[why]
    first, second = a_service(want), a_service(want, address="10.0.0.2", port=30002)
    for each in (first, second):
        edit(each)
    assert is_compared_again(first, second, want)
