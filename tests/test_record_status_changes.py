"""Webhooks asked about the objects of all clusters ahead: equal ones once, many at once, and no other objects."""

import threading
from collections.abc import Mapping
from typing import Any

from reconciler.deliver.results import ClusterReport, ClusterResult
from reconciler.plans.model import Action, Plan, PlannedObject
from reconciler.record.recorded_status import RecordedStatus
from reconciler.record.status_changes import ask_webhooks_ahead
from render.interpreter import Interpreter
from render.interpreter.webhooks import Webhook
from render.model import ObjectRef

from .build import a_config_map
from .waiting import SECONDS


def a_widget(name: str, *, ready: int = 0, uid: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": "default", "uid": uid}
    return {"apiVersion": "example.io/v1", "kind": "Widget", "metadata": metadata, "status": {"ready": ready}}


def a_report(cluster: str, *live: dict[str, Any]) -> ClusterReport:
    items = tuple(PlannedObject(ref=ObjectRef.of(each), action=Action.UNCHANGED, live=each) for each in live)
    return ClusterReport(
        cluster=cluster, plan=Plan(cluster=cluster, objects=items), applied=ClusterResult(cluster=cluster)
    )


class Calls:
    """A ``Send`` that counts; with a barrier, nobody is answered before so many have asked."""

    def __init__(self, together: int = 1) -> None:
        self.asked: list[str] = []
        self.barrier = threading.Barrier(together)

    def send(self, _webhook: Webhook, context: Mapping[str, Any]) -> Mapping[str, Any]:
        request = context["request"]
        self.asked.append(f"{request['operation']} {request['name']} {request['object']['status']['ready']}")
        self.barrier.wait(SECONDS)
        return {"response": {"uid": request["uid"], "successful": True, "healthy": True, "rawStatus": {}}}

    def interpreter(self, *operations: str) -> Interpreter:
        rule = {"operations": list(operations), "apiGroups": ["example.io"], "apiVersions": ["v1"], "kinds": ["Widget"]}
        configuration = {
            "apiVersion": "config.karmada.io/v1alpha1",
            "kind": "ResourceInterpreterWebhookConfiguration",
            "metadata": {"name": "hooks"},
            "webhooks": [{"name": "a.example.io", "clientConfig": {"url": "https://a"}, "rules": [rule]}],
        }
        return Interpreter.of([configuration], send=self.send)


def test_alike_objects_are_asked_about_once() -> None:
    calls = Calls()
    settings = a_config_map("settings")
    reports = [
        a_report("a", a_widget("w", ready=1, uid="1"), settings),
        a_report("b", a_widget("w", ready=1, uid="2"), settings),
        a_report("c", a_widget("w", ready=2, uid="3"), a_widget("v", ready=1)),
        ClusterReport(cluster="d"),
    ]
    ask_webhooks_ahead(reports, calls.interpreter("InterpretHealth"))
    assert sorted(calls.asked) == ["InterpretHealth v 1", "InterpretHealth w 1", "InterpretHealth w 2"]


def test_many_are_asked_at_once() -> None:
    calls = Calls(together=8)
    reports = [a_report(f"c{number}", a_widget("w", ready=number)) for number in range(8)]
    ask_webhooks_ahead(reports, calls.interpreter("InterpretStatus"))
    assert len(calls.asked) == 8


def test_a_kind_that_no_webhook_judges_is_left_for_later() -> None:
    calls = Calls()
    ask_webhooks_ahead([a_report("a", a_widget("w"))], calls.interpreter("Retain"))
    ask_webhooks_ahead([a_report("a", a_widget("w"))], Interpreter())
    assert calls.asked == []


def test_a_file_that_was_just_made_is_not_read_and_one_at_fault_is_named() -> None:
    recorded = RecordedStatus(
        files={"works/eu/shop/Service/x.yaml": b"not: read\n", "works/eu/shop/Service/z.yaml": b"metadata: {name: z}\n"}
    )
    good, bad = {"metadata": {"name": "x"}, "status": {}}, {"metadata": {"name": ["z"]}}
    recorded.remember_parsed_object("works/eu/shop/Service/x.yaml", b"not: read\n", good)
    recorded.remember_parsed_object("works/eu/shop/Service/z.yaml", b"metadata: {name: z}\n", bad)
    assert recorded.manifest("works/eu/shop/Service/x.yaml") is good
    assert recorded.manifest("works/eu/shop/Service/z.yaml") == {"metadata": {"name": "z"}}
