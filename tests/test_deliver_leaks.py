"""A canary in every place a secret can be, and everything that is ever said about applying it."""

import base64
import io
import json
import logging
import os
import time
import traceback
from typing import Any, NamedTuple

import pytest

from reconciler.deliver.cluster import apply_plan
from reconciler.deliver.holder import LeaseHolder
from reconciler.deliver.results import ApplySettings
from reconciler.members.client import KubeClient
from reconciler.members.connection import open_connection
from reconciler.members.credentials import AuthPlugins
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.members.kubeconfig import Context
from reconciler.members.refusals import failure_of_refusal
from reconciler.plans.model import DesiredObject
from render.model import ObjectRef
from render.policy import ConflictResolution

from .applying import Cluster, Recorder, Send
from .build import a_config_map, a_deployment
from .wires import Reply, answering

CANARY = "canary-8f14e45f"
ENCODED = base64.b64encode(CANARY.encode()).decode()
LAST = "kubectl.kubernetes.io/last-applied-configuration"


def a_secret(cluster: Cluster, name: str = "login", **content: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": cluster.space, "annotations": {LAST: f'{{"data":"{ENCODED}"}}'}}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, **content}


def a_workload(cluster: Cluster, value: str = CANARY) -> dict[str, Any]:
    web = a_deployment("web", namespace=cluster.space)
    web["metadata"]["annotations"] = {LAST: f'{{"value":"{CANARY}"}}'}
    (container,) = web["spec"]["template"]["spec"]["containers"]
    container["env"] = [{"name": "PASSWORD", "value": value}]
    return web


@pytest.fixture
def said(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Any:
    """Everything logged or printed, at the most talkative level, with what a test adds."""
    log, root = io.StringIO(), logging.getLogger()
    monkeypatch.setattr(root, "handlers", [logging.StreamHandler(log)])
    monkeypatch.setattr(root, "level", logging.DEBUG)
    told: list[str] = []

    def all_of_it(*values: object) -> str:
        told.extend(f"{value!r}\n{value}" for value in values)
        out, err = capfd.readouterr()
        return "\n".join([*told, log.getvalue(), out, err])

    return all_of_it


def pass_over(cluster: Cluster, *manifests: Any, client: Recorder | None = None, **chosen: Any) -> list[object]:
    """Everything one pass makes: what was seen, planned, done - and what a dry run would say."""
    sender = client or cluster.client()
    observed, plan = cluster.plan(list(manifests), **chosen)
    told = apply_plan(sender, plan, ApplySettings(dry_run=True))
    applied = apply_plan(sender, plan, ApplySettings(holder=LeaseHolder(name="x")))
    everything: list[object] = [observed, plan, told, applied, *sender.requests]
    for result in (*told.results, *applied.results):
        everything += [result, *result.changes, *result.foreign, *result.warnings]
    return everything


def assert_silent(text: str) -> None:
    assert text
    for secret in (CANARY, ENCODED):
        assert secret not in text, text[max(0, text.find(secret) - 200) : text.find(secret) + 40]


def test_creating_and_leaving_alone(cluster: Cluster, said: Any) -> None:
    manifests = (a_secret(cluster, data={"a": ENCODED}, stringData={"b": CANARY}), a_workload(cluster))
    for _ in range(2):
        assert_silent(said(*pass_over(cluster, *manifests)))
    assert cluster.read("secrets", "login")["data"] == {"a": ENCODED, "b": ENCODED}


def test_drift_in_both_directions(cluster: Cluster, said: Any) -> None:
    manifests = (a_secret(cluster, data={"a": ENCODED}), a_workload(cluster))
    pass_over(cluster, *manifests)
    cluster.edit("secrets", "login", {"data": {"a": "eA==", "added": ENCODED}})
    env = [{"name": "PASSWORD", "value": "x"}, {"name": "ADDED", "value": CANARY}]
    patch = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "nginx:1.29", "env": env}]}}}}
    cluster.edit("deployments", "web", patch, api="apis/apps/v1")
    assert_silent(said(*pass_over(cluster, *manifests)))
    harmless = (a_secret(cluster, data={"a": "eA=="}), a_workload(cluster, "x"))
    pass_over(cluster, *manifests)
    assert_silent(said(*pass_over(cluster, *harmless)))


def test_conflicts_and_adoption(cluster: Cluster, said: Any) -> None:
    cluster.create("secrets", a_secret(cluster, data={"a": ENCODED}))
    wanted = a_secret(cluster, data={"a": base64.b64encode(f"{CANARY}-new".encode()).decode()})
    assert_silent(said(*pass_over(cluster, wanted)))
    overwriting = DesiredObject(
        ref=ObjectRef.of(wanted), manifest=wanted, conflict_resolution=ConflictResolution.OVERWRITE
    )
    assert_silent(said(*pass_over(cluster, overwriting)))
    cluster.edit("secrets", "login", {"data": {"a": ENCODED}}, manager="helm")
    assert_silent(said(*pass_over(cluster, wanted)))


def test_refusals_of_a_real_kind(cluster: Cluster, said: Any) -> None:
    frozen = a_secret(cluster, "frozen", data={"a": "eA=="}, immutable=True)
    pass_over(cluster, frozen)
    manifests: list[Any] = [
        {**frozen, "data": {"a": ENCODED}},
        a_secret(cluster, "no-base64", data={"a": f"{CANARY}!"}),
        a_secret(cluster, "no-text", stringData={"a": [CANARY]}),
        a_config_map("no-text", namespace=cluster.space) | {"data": {"a": {"b": CANARY}}},
        a_secret(cluster, "no-key", data={"this is no key": ENCODED}),
    ]
    assert_silent(said(*pass_over(cluster, *manifests)))


class Body(NamedTuple):
    why: str
    status: int
    message: str


BODIES = [
    Body("a webhook that quotes", 403, f'admission webhook "x" denied the request: {CANARY} is weak'),
    Body("a webhook that quotes what it decoded", 403, f"denied: the value {ENCODED} means {CANARY}"),
    Body("a validation message", 422, f'spec.env[0].value: Invalid value: "{CANARY}": too short'),
    Body("a typed error", 500, f'failed to create typed patch object: got &value.valueUnstructured{{"{CANARY}"}}'),
    Body("a bad request", 400, f'strict decoding error: json: cannot unmarshal "{CANARY}" into Go value'),
    Body("a conflict", 409, f"the object {CANARY} has been modified"),
]


@pytest.mark.parametrize("case", BODIES, ids=lambda case: case.why)
def test_error_bodies(case: Body, cluster: Cluster, said: Any) -> None:
    def refusing(request: Request, send: Send) -> Answer | Failure:
        if request.method != "PATCH" or "argosy" in request.path:
            return send(request)
        body = {"kind": "Status", "message": case.message, "reason": "Whatever"}
        return failure_of_refusal(request, case.status, {}, json.dumps(body).encode())

    client = cluster.client()
    client.wire = refusing
    manifests = (a_secret(cluster, data={"a": ENCODED}), a_workload(cluster))
    assert_silent(said(*pass_over(cluster, *manifests, client=client)))


@pytest.mark.parametrize(
    "reply",
    [Reply(500, CANARY), Reply(401, {"message": CANARY}), Reply(200, CANARY), Reply(cut=True)],
    ids=["a page", "a refusal", "no API server", "a broken connection"],
)
def test_tokens_and_what_answers_them(reply: Reply, said: Any) -> None:
    with answering(reply) as wire:
        context = Context(name="it", cluster={"server": wire.host}, user={"token": CANARY, "password": CANARY})
        connection = open_connection(context, AuthPlugins(environment=os.environ))
        assert not isinstance(connection, Failure)
        client = KubeClient(connection, deadline=time.monotonic() + 5)
        outcome = client.send(Request(method="GET", path="/version", tries=1, body={"password": CANARY}))
    assert isinstance(outcome, Failure)
    assert_silent(said(outcome, client, connection, context, client.stopped))


def test_a_crash_in_the_middle(cluster: Cluster, said: Any) -> None:
    def crashing(request: Request, send: Send) -> Answer | Failure:
        if request.method == "PATCH":
            raise ZeroDivisionError
        return send(request)

    client = cluster.client()
    client.wire = crashing
    _, plan = cluster.plan([a_secret(cluster, data={"a": ENCODED}), a_workload(cluster)])
    try:
        apply_plan(client, plan)
    except ZeroDivisionError:
        assert_silent(said(traceback.format_exc()))
    else:
        pytest.fail("it went on as if nothing had happened")


def test_a_broken_kubeconfig_with_a_key_in_it(said: Any) -> None:
    user = {"client-certificate-data": ENCODED, "client-key-data": ENCODED}
    context = Context(name="it", cluster={"server": "https://127.0.0.1:1"}, user=user)
    failure = open_connection(context, AuthPlugins(environment={}))
    assert isinstance(failure, Failure)
    assert failure.kind is FailureKind.CREDENTIALS
    assert_silent(said(failure, context))
