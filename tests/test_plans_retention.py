"""Retain rules of the source: what they keep is sent while it is ours, and left to its owner otherwise."""

from typing import Any, NamedTuple

import pytest

from reconciler.plans.expected_fields import fields_kept_and_not_kept_by_rules
from reconciler.plans.field_paths import parse_path
from reconciler.plans.model import DesiredObject
from reconciler.plans.ownership import Owner
from reconciler.plans.retention import (
    RetainFailed,
    fields_left_to_owners,
    manifest_with_retained_fields,
    retention_rule_by_interpreter,
)
from render.interpretation.operations import Interpretation
from render.interpretation.retention import EACH, Retained
from render.interpreter import Interpreter, Layer, Operation
from render.kinds import KUBERNETES, BuiltInKind
from render.kinds.configuration import TOKEN_TYPE
from render.kinds.workloads import RETAIN_REPLICAS
from render.model import Manifest, ObjectRef

from .applying import Cluster, outcomes
from .build import a_config_map, a_deployment
from .tables import each_row

KEEP_SIZE = (
    "function Retain(desiredObj, observedObj) desiredObj.data.size = observedObj.data.size return desiredObj end"
)


def a_rule(script: str, *, api_version: str = "v1", kind: str = "ConfigMap") -> Interpreter:
    customization = {
        "apiVersion": "config.karmada.io/v1alpha1",
        "kind": "ResourceInterpreterCustomization",
        "metadata": {"name": "keep"},
        "spec": {
            "target": {"apiVersion": api_version, "kind": kind},
            "customizations": {"retention": {"luaScript": script}},
        },
    }
    return Interpreter.of([customization])


class Kept(NamedTuple):
    """A template, the object a rule made of it, the live one with our fields, and the payload that is sent."""

    why: str
    want: dict[str, Any]
    kept: dict[str, Any]
    live: dict[str, Any]
    fields: dict[str, Any]
    sent: dict[str, Any]


SAID, THERE = {"spec": {"size": 1, "color": "red"}}, {"spec": {"size": 9, "color": "red", "note": "x"}}
OURS: dict[str, Any] = {"f:spec": {"f:size": {}, "f:color": {}}}
THEIRS: dict[str, Any] = {"f:spec": {"f:color": {}}}
FROM_THERE = {"spec": {"size": 9, "color": "red"}}
KEPT = [
    Kept("what is ours is sent as it is there", SAID, FROM_THERE, THERE, OURS, FROM_THERE),
    Kept("what is somebody else's is left out", SAID, FROM_THERE, THERE, THEIRS, {"spec": {"color": "red"}}),
    Kept(
        "what a rule makes up is sent",
        SAID,
        {"spec": {"size": 5, "color": "red"}},
        THERE,
        THEIRS,
        {"spec": {"size": 5, "color": "red"}},
    ),
    Kept("what it takes along is left out", SAID, {"spec": {**SAID["spec"], "note": "x"}}, THERE, OURS, SAID),
    Kept("a whole part it takes along is left out", {}, THERE, THERE, {}, {}),
    Kept("a list is one value", {"l": [1]}, {"l": [1, 2]}, {"l": [1, 2]}, {}, {}),
    Kept("a list of ours is sent whole", {"l": [1]}, {"l": [1, 2]}, {"l": [1, 2]}, {"f:l": {"v:1": {}}}, {"l": [1, 2]}),
    Kept("nothing there", SAID, {"spec": {"size": 1}}, {}, {}, {"spec": {"size": 1}}),
    Kept("an empty part of the template stays", {"spec": {}}, {"spec": {}}, THERE, {}, {"spec": {}}),
]


@each_row("case", KEPT, ids=lambda case: case.why)
def test_what_a_rule_kept(case: Kept) -> None:
    assert fields_left_to_owners(case.want, case.kept, case.live, case.fields) == case.sent


def test_kinds_of_kubernetes_are_kept_by_field_ownership_alone() -> None:
    web = a_deployment("web")
    there = {**web, "spec": {**web["spec"], "replicas": 9}}
    assert retention_rule_by_interpreter(Interpreter())(web, there) is web
    labelled = {
        **web,
        "metadata": {**web["metadata"], "labels": {"resourcetemplate.karmada.io/retain-replicas": "true"}},
    }
    assert retention_rule_by_interpreter(Interpreter())(labelled, there) is labelled


ANSWERED_BY_KARMADA = {
    "Deployment.apps",
    "Job.batch",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "Secret",
    "Service",
    "ServiceAccount",
}
RETAINED = [(kind, field) for kind in KUBERNETES for field in kind.retained]


def test_the_kinds_that_retain_are_karmadas() -> None:
    asked = Interpreter()
    objects = {kind.group_kind: {"apiVersion": kind.api_version, "kind": kind.kind} for kind in KUBERNETES}
    answered = {name for name, each in objects.items() if asked.answering_layer(Operation.RETAIN, each) is Layer.NATIVE}
    assert answered == ANSWERED_BY_KARMADA


def an_object_with(kind: BuiltInKind, path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """Return an object of a kind that has a value at a path, and asks for whatever is asked for by labels or types."""
    for step in reversed(path):
        value = [{"name": "a", **value}] if step == EACH else {step: value}
    metadata = {"name": "x", "namespace": "shop", "labels": {RETAIN_REPLICAS: "true"}}
    asking = {"type": TOKEN_TYPE, "aggregationRule": {"clusterRoleSelectors": []}}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": metadata, **asking, **value}


def other_values(field: Retained) -> tuple[Any, Any]:
    if field.is_united:
        return [{"name": "a"}], [{"name": "a"}, {"name": "b"}]
    counts = field.path[-1] in {"replicas", "healthCheckNodePort"}
    return (1, 2) if counts else ("mine", "theirs")


def value_in(manifest: Manifest, path: tuple[str, ...]) -> Any:
    value: Any = manifest
    for step in path:
        value = value[0] if step == EACH else value.get(step)
    return value


@each_row("row", RETAINED, ids=lambda row: f"{row[0].group_kind} {'.'.join(row[1].path)}")
def test_what_the_interpreter_keeps_is_not_overwritten(row: tuple[BuiltInKind, Retained]) -> None:
    """A field that is somebody else's is left out, or has what is there; Argosy alone keeps some, and Karmada none."""
    kind, field = row
    mine, theirs = other_values(field)
    desired, live = an_object_with(kind, field.path, mine), an_object_with(kind, field.path, theirs)
    answer = value_in(Interpreter().retain(desired, live), field.path)
    assert answer == (theirs if field.is_karmadas else mine)
    sent = value_in(
        manifest_with_retained_fields(ObjectRef.of(desired), desired, live, {}, autoscaled=False), field.path
    )
    assert sent == (mine if field.is_map else theirs if field.is_united else None)


def test_a_rule_of_a_built_in_kind_that_applying_would_not_obey_cannot_be_written() -> None:
    rule = Interpretation(retain=lambda desired, _observed: desired)
    with pytest.raises(TypeError) as raised:
        BuiltInKind(group="apps", kind="Gadget", version="v1", is_namespaced=True, interpretation=rule)
    assert str(raised.value) == ("Gadget.apps: state in 'retained' what stays, or what is applied would not obey it")


def an_account(space: str, **lists: list[str]) -> dict[str, Any]:
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": space}}
    return {**account, **{name: [{"name": each} for each in values] for name, values in lists.items()}}


def test_an_account_keeps_all_that_karmadas_rule_keeps(cluster: Cluster) -> None:
    """To a server ``secrets`` is a map of names, so that others' items stay; ``imagePullSecrets`` is one value."""
    wanted = an_account(cluster.space, secrets=["own"], imagePullSecrets=["own"])
    cluster.apply(wanted)
    given = {"secrets": [{"name": "own"}, {"name": "given"}], "imagePullSecrets": [{"name": "own"}, {"name": "given"}]}
    cluster.edit("serviceaccounts", "robot", given, manager="the-controller")
    before = cluster.read("serviceaccounts", "robot")
    cluster.apply({**wanted, "metadata": {**wanted["metadata"], "labels": {"changed": "yes"}}})
    after = cluster.read("serviceaccounts", "robot")
    kept = Interpreter().retain(wanted, before)
    assert after["metadata"]["labels"]["changed"] == "yes"
    for name in ("secrets", "imagePullSecrets"):
        assert sorted(each["name"] for each in after[name]) == sorted(each["name"] for each in kept[name])
        assert {"own", "given"} == {each["name"] for each in after[name]}


def test_a_bundled_rule_is_heard() -> None:
    flow = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": "w"}, "spec": {}}
    kept = retention_rule_by_interpreter(Interpreter())(flow, {**flow, "spec": {"suspend": True}})
    assert kept["spec"] == {"suspend": True}


def test_a_rule_never_makes_another_object() -> None:
    renames = a_rule("function Retain(desiredObj) desiredObj.metadata.name = 'other' return desiredObj end")
    with pytest.raises(RetainFailed) as raised:
        retention_rule_by_interpreter(renames)(a_config_map("settings"), a_config_map("settings"))
    assert str(raised.value) == "ConfigMap settings: Retain makes it another object"


def test_what_somebody_else_sets_stays_and_costs_no_write(cluster: Cluster) -> None:
    settings = a_config_map("settings", namespace=cluster.space, size="1", color="red")
    retain = retention_rule_by_interpreter(a_rule(KEEP_SIZE))
    cluster.apply(settings, retain=retain)
    cluster.edit("configmaps", "settings", {"data": {"size": "9"}}, manager="the-controller")
    for _ in range(2):
        sender = cluster.client()
        assert outcomes(cluster.apply(settings, client=sender, retain=retain)) == {
            "ConfigMap settings": "unchanged UpToDate"
        }
        assert [write for write in sender.writes if write.endswith("/settings")] == []
    newer = {**settings, "data": {"size": "2", "color": "blue"}}
    cluster.apply(newer, retain=retain)
    assert cluster.read("configmaps", "settings")["data"] == {"size": "9", "color": "blue"}


def test_an_object_of_somebody_elses_is_adopted_as_the_rule_keeps_it(cluster: Cluster) -> None:
    there = a_config_map("settings", namespace=cluster.space, size="9", color="red")
    cluster.create("configmaps", there)
    wanted = {**there, "data": {"size": "1", "color": "red"}}
    retain = retention_rule_by_interpreter(a_rule(KEEP_SIZE))
    assert outcomes(cluster.apply(wanted, retain=retain)) == {"ConfigMap settings": "adopted Equal"}
    assert cluster.read("configmaps", "settings")["data"] == {"size": "9", "color": "red"}


def test_a_rule_that_fails_blocks_its_own_object(cluster: Cluster) -> None:
    names = ("bad", "good")
    maps = {name: a_config_map(name, namespace=cluster.space, size="1") for name in names}
    cluster.apply(*maps.values())
    fails = a_rule("function Retain(d) if d.metadata.name == 'bad' then error('no') end return d end")
    changed = [{**each, "data": {"size": "2"}} for each in maps.values()]
    done = cluster.apply(*changed, retain=retention_rule_by_interpreter(fails))
    assert outcomes(done) == {"ConfigMap bad": "blocked InterpreterFailed", "ConfigMap good": "configured Changed"}
    failed = next(result for result in done.results if result.ref.name == "bad")
    assert (failed.message, failed.hint) == (
        f"ConfigMap {cluster.space}/bad: Retain: ResourceInterpreterCustomization keep: line 1: no",
        "correct its Retain rule, or see to its webhook",
    )
    assert cluster.read("configmaps", "bad")["data"] == {"size": "1"}


class Beyond(NamedTuple):
    """A field of somebody else's beside a manifest's own, and whether Kubernetes' own rules leave it to the cluster."""

    why: str
    manifest: Manifest
    field: str
    is_expected: bool


WEBHOOKS = {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration"}
SECRET = {"apiVersion": "v1", "kind": "Secret"}
ROLE = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole"}
BEYOND = [
    Beyond("the authority of a webhook", WEBHOOKS, '.webhooks[name="a"].clientConfig.caBundle', is_expected=True),
    Beyond("a webhook, with one", WEBHOOKS, '.webhooks[name="b"]', is_expected=False),
    Beyond("what else a webhook says", WEBHOOKS, '.webhooks[name="a"].clientConfig.url', is_expected=False),
    Beyond("a token", {**SECRET, "type": TOKEN_TYPE}, ".data.token", is_expected=True),
    Beyond("data of another Secret", {**SECRET, "type": "Opaque"}, ".data.token", is_expected=False),
    Beyond(
        "rules that are aggregated",
        {**ROLE, "aggregationRule": {"clusterRoleSelectors": [{}]}},
        ".rules",
        is_expected=True,
    ),
    Beyond("rules of another role", ROLE, ".rules", is_expected=False),
]


@each_row("case", BEYOND)
def test_what_others_wrote_is_expected_just_where_the_rule_of_its_kind_holds(case: Beyond) -> None:
    manifest = {**case.manifest, "metadata": {"name": "web", "namespace": "shop"}}
    want = DesiredObject(ref=ObjectRef.of(manifest), manifest=manifest)
    field = (Owner("kubectl-edit"), parse_path(case.field))
    parts = fields_kept_and_not_kept_by_rules([field], manifest, want, lambda desired, _live: desired)
    assert parts == (((), (field,)) if case.is_expected else ((field,), ()))
