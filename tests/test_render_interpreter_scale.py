"""The scale subresource of a custom kind, where nothing else interprets it."""

from typing import Any, NamedTuple

import pytest

from render.interpretation.operations import Interpretation, Replicas
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.interpreter.scale import plain_scale, scales_of, scales_of_members
from tests.tables import each_row

READ, WRITE, ADD = Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA, Operation.AGGREGATE_STATUS
NONE, SCALE = Layer.NONE, Layer.SCALE


def a_definition(
    path: str = ".spec.replicas", *, group: str = "example.io", kind: str = "Widget", schema: Any = None, **more: Any
) -> dict[str, Any]:
    """Return a definition with a scale subresource; ``more`` are other fields of its version."""
    scale = {"specReplicasPath": path, "statusReplicasPath": ".status.count", "labelSelectorPath": ".status.selector"}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "subresources": {"scale": scale},
        "schema": {"openAPIV3Schema": schema or {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
        **more,
    }
    names = {"kind": kind, "plural": f"{kind.lower()}s"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.lower()}s.{group}"},
        "spec": {"group": group, "names": names, "scope": "Namespaced", "versions": [version]},
    }


def a_widget(api_version: str = "example.io/v1", kind: str = "Widget", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "w"}, "spec": spec}


def by(*definitions: Any, customized: Any = None) -> Interpreter:
    return Interpreter(scales=scales_of(definitions), customized=customized or {})


DEFAULTED = {"properties": {"spec": {"properties": {"replicas": {"type": "integer", "default": 2}}}}}


class Count(NamedTuple):
    """A definition and an object: the replicas that are read (None: none), and the spec with five of them."""

    why: str
    definition: dict[str, Any]
    widget: dict[str, Any]
    replicas: int | None
    revised: Any = None


COUNTS = [
    Count("the usual path", a_definition(), a_widget(replicas=3), 3, {"replicas": 5}),
    Count(
        "a path through another field",
        a_definition(".spec.run.size"),
        a_widget(run={"size": 3}),
        3,
        {"run": {"size": 5}},
    ),
    Count("none is a number, too", a_definition(), a_widget(replicas=0), 0, {"replicas": 5}),
    Count(
        "what is left out is the default of the schema", a_definition(schema=DEFAULTED), a_widget(), 2, {"replicas": 5}
    ),
    Count("null is left out", a_definition(schema=DEFAULTED), a_widget(replicas=None), 2, {"replicas": 5}),
    Count("what is left out is unknown without a default", a_definition(), a_widget(), None),
    Count(
        "an object on the way that is left out has no defaults in it", a_definition(".spec.run.size"), a_widget(), None
    ),
    Count("a text is none", a_definition(), a_widget(replicas="3"), None),
    Count("true is none", a_definition(), a_widget(replicas=True), None),
    Count("fewer than none is none", a_definition(), a_widget(replicas=-1), None),
    Count("more than 32 bits is none", a_definition(), a_widget(replicas=2**31), None),
    Count("a step through a text is none", a_definition(".spec.run.size"), a_widget(run="x"), None),
    Count("another version of the kind", a_definition(), a_widget("example.io/v2", replicas=3), None),
    Count("a version that is not served", a_definition(served=False), a_widget(replicas=3), None),
    Count(
        "a definition without the subresource", a_definition(subresources={"status": {}}), a_widget(replicas=3), None
    ),
    Count("a path outside of the spec", a_definition(".metadata.generation"), a_widget(replicas=3), None),
    Count("a path in another notation", a_definition("$.spec.replicas"), a_widget(replicas=3), None),
    Count(
        "a definition of the wrong shape",
        {**a_definition(), "spec": {"versions": [None, "x"]}},
        a_widget(replicas=3),
        None,
    ),
]


@each_row("case", COUNTS, ids=lambda case: case.why)
def test_replicas_are_read_and_written_where_the_definition_says(case: Count) -> None:
    interpreter, widget = by(case.definition), case.widget
    answer = interpreter.replicas(widget)
    assert (answer and answer.replicas) == case.replicas
    is_told = case.replicas is not None
    assert (
        interpreter.answering_layer(READ, widget)
        is interpreter.answering_layer(WRITE, widget)
        is (SCALE if is_told else NONE)
    )
    assert interpreter.revise_replica(widget, 5)["spec"] == (case.revised if is_told else widget["spec"])


def test_a_default_is_not_written() -> None:
    """Whoever sets it in a cluster, such as an autoscaler, keeps it."""
    assert by(a_definition(schema=DEFAULTED)).revise_replica(a_widget(), 2) == a_widget()


FLINK = ("flink.apache.org/v1beta1", "FlinkDeployment")
TORCH = ("kubeflow.org/v1", "PyTorchJob")
THREE = Interpretation(replicas=lambda _: Replicas(replicas=3))
COMPONENTS = Interpretation(components=lambda _: ())


class Asked(NamedTuple):
    """An interpreter and an object: the layers that read and write its replicas."""

    why: str
    interpreter: Interpreter
    widget: dict[str, Any]
    read: Layer
    write: Layer


CUSTOMIZED = Layer.CUSTOMIZATION
THIRD_PARTY = Layer.THIRD_PARTY
ASKED = [
    Asked(
        "a customization goes first",
        by(a_definition(), customized={("example.io/v1", "Widget"): THREE}),
        a_widget(replicas=3),
        CUSTOMIZED,
        SCALE,
    ),
    Asked(
        "one that counts something else is not written by it",
        by(a_definition(), customized={("example.io/v1", "Widget"): THREE}),
        a_widget(replicas=4),
        CUSTOMIZED,
        NONE,
    ),
    Asked(
        "nor one that counts and finds nothing there",
        by(a_definition(), customized={("example.io/v1", "Widget"): THREE}),
        a_widget(),
        CUSTOMIZED,
        NONE,
    ),
    Asked(
        "a kind with several pod templates has no one number",
        by(a_definition(), customized={("example.io/v1", "Widget"): COMPONENTS}),
        a_widget(replicas=3),
        NONE,
        NONE,
    ),
    Asked(
        "Flink's managers are more than the workers it scales",
        by(
            a_definition(".spec.taskManager.replicas", group="flink.apache.org", kind="FlinkDeployment", name="v1beta1")
        ),
        a_widget(*FLINK, taskManager={"replicas": 3}),
        THIRD_PARTY,
        NONE,
    ),
    Asked(
        "a training has a master beside its workers",
        by(a_definition(group="kubeflow.org", kind="PyTorchJob")),
        a_widget(*TORCH, replicas=3),
        NONE,
        NONE,
    ),
    Asked(
        "no definition goes before Kubernetes' own kinds",
        by(a_definition(".spec.other", group="apps", kind="Deployment")),
        a_widget("apps/v1", "Deployment", replicas=3),
        Layer.NATIVE,
        Layer.NATIVE,
    ),
]


@each_row("case", ASKED, ids=lambda case: case.why)
def test_it_is_asked_last(case: Asked) -> None:
    asked = case.interpreter.answering_layer(READ, case.widget), case.interpreter.answering_layer(WRITE, case.widget)
    assert asked == (case.read, case.write)
    assert case.interpreter.has(WRITE, case.widget) is (case.write is not NONE)


@pytest.mark.parametrize("paths", [(".spec.replicas", ".spec.size"), (".spec.size", ".spec.replicas")])
def test_no_share_is_written_where_members_do_not_agree(paths: tuple[str, ...]) -> None:
    """Whoever comes first: one of them may have another number by that name, and none would end a division."""
    kind = ("example.io/v1", "Widget")
    recorded = [{kind: plain_scale(scales_of([a_definition(path)])[kind])} for path in paths]
    interpreter = Interpreter(scales=scales_of_members(recorded), customized={kind: THREE})
    widget = a_widget(replicas=3, size=7)
    assert interpreter.replicas(widget) == Replicas(replicas=3)
    assert interpreter.replica_field(widget) is None
    with pytest.raises(InterpreterError, match="say in different fields how many replicas it has"):
        interpreter.revise_replica(widget, 2)


def test_a_kind_has_no_needs_health_or_dependencies_by_it() -> None:
    interpreter = by(a_definition())
    assert interpreter.replicas(a_widget(replicas=3)) == Replicas(replicas=3, requirements=None)
    told = {each for each in Operation if interpreter.answering_layer(each, a_widget(replicas=3)) is SCALE}
    assert told == {READ, WRITE, ADD}


class Sum(NamedTuple):
    """The statuses of members, and the status that the template has by them."""

    why: str
    statuses: list[Any] | None
    want: Any


SUMS = [
    Sum(
        "the sum of the replicas, and the selector that all have",
        [{"count": 2, "selector": "a=b"}, {"count": 1, "selector": "a=b"}],
        {"old": 1, "count": 3, "selector": "a=b"},
    ),
    Sum(
        "selectors that differ are none",
        [{"count": 2, "selector": "a=b"}, {"count": 1, "selector": "a=c"}],
        {"old": 1, "count": 3},
    ),
    Sum("a member without a status adds nothing", [{"count": 2}, None], {"old": 1, "count": 2}),
    Sum("a member that counts none adds nothing", [{"count": 2}, {"phase": "New"}], {"old": 1, "count": 2}),
    Sum("where nobody counts, it stays", [{"phase": "New"}], {"old": 1}),
    Sum("where nothing was collected, it stays", None, {"old": 1}),
]


@each_row("case", SUMS, ids=lambda case: case.why)
def test_statuses_are_added_up_as_far_as_they_are_known(case: Sum) -> None:
    items = None
    if case.statuses is not None:
        items = [{"clusterName": f"m{number}", "status": status} for number, status in enumerate(case.statuses)]
    template = {**a_widget(replicas=3), "status": {"old": 1}}
    assert by(a_definition()).aggregate_status(template, items) == {**template, "status": case.want}


def test_a_status_with_a_path_below_another_field() -> None:
    definition = a_definition()
    scale = definition["spec"]["versions"][0]["subresources"]["scale"]
    scale.update(statusReplicasPath=".status.pods.count")
    items = [{"clusterName": "m", "status": {"pods": {"count": 4}}}, {"clusterName": "n", "status": {"pods": "none"}}]
    assert by(definition).aggregate_status(a_widget(), items)["status"] == {"pods": {"count": 4}}


@pytest.mark.parametrize("scale", [None, "x", {}, {"specReplicasPath": ".spec.a"}, {"specReplicasPath": 1}])
def test_a_subresource_of_the_wrong_shape_is_none(scale: Any) -> None:
    assert scales_of([a_definition(subresources={"scale": scale})]) == {}
