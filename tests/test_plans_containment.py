"""A value that a server writes its own way is no drift - where it does so, and nowhere else."""

from typing import Any, NamedTuple

from reconciler.plans.containment import Likeness, is_contained_in, likeness_of_values
from reconciler.plans.field_paths import MISSING, Path

from .tables import each_row

RESOURCES: Path = ("spec", "containers", "resources", "limits")


class Case(NamedTuple):
    why: str
    want: Any
    live: Any
    path: Path
    is_contained: bool


CASES = [
    Case("the same", {"a": [1, {"b": "c"}]}, {"a": [1, {"b": "c"}]}, (), True),
    Case("defaults beside it", {"a": 1}, {"a": 1, "b": 2}, (), True),
    Case("defaults inside a list's item", [{"a": 1}], [{"a": 1, "b": 2}], (), True),
    Case("a longer list", [1], [1, 2], (), False),
    Case("another order", [1, 2], [2, 1], (), False),
    Case("a missing field", {"a": 1}, {}, (), False),
    Case("an empty struct left out", {"a": {}}, {}, (), True),
    Case("a struct of empty values left out", {"a": {"b": {"c": []}}}, {}, (), True),
    Case("an empty text that was never written into an empty mapping", {"a": ""}, {}, ("data",), False),
    Case("an empty text left out beside another", {"a": "", "b": "c"}, {"b": "c"}, ("spec", "x"), True),
    Case("a struct with a value left out", {"a": {"b": "c"}}, {}, (), False),
    Case("a zero left out", 0, MISSING, ("spec", "x"), True),
    Case("false left out", False, MISSING, ("spec", "x"), True),
    Case("true left out", True, MISSING, ("spec", "x"), False),
    Case("an empty text that became one", "", "allocated", ("spec", "x"), False),
    Case("a whole number and a decimal of the same value", 1, 1.0, ("spec", "x"), True),
    Case("a number and its text", 80, "80", ("spec", "x"), False),
    Case("true and one", True, 1, ("spec", "x"), False),
    Case("a canonical quantity", "1000m", "1", (*RESOURCES, "cpu"), True),
    Case("a quantity written as a number", 0.5, "500m", (*RESOURCES, "cpu"), True),
    Case("another quantity", "1001m", "1", (*RESOURCES, "cpu"), False),
    Case("a storage size", "1024Mi", "1Gi", ("spec", "resources", "requests", "storage"), True),
    Case("a volume's limit", "1024Mi", "1Gi", ("spec", "volumes", "emptyDir", "sizeLimit"), True),
    Case("an autoscaler's target", "1000m", "1", ("spec", "metrics", "resource", "target", "averageValue"), True),
    Case("a LimitRange's bound", "1000m", "1", ("spec", "limits", "max", "cpu"), True),
    Case("a label that only looks like a quantity", "1.0", "1", ("metadata", "labels", "version"), False),
    Case("data that only looks like a quantity", "1000m", "1", ("data", "limits", "cpu"), False),
    Case("a variable that only looks like one", "1000m", "1", ("spec", "env", "value"), False),
    Case("a moment in another notation", "2026-01-01T01:00:00+01:00", "2026-01-01T00:00:00Z", ("spec", "at"), True),
    Case("another moment", "2026-01-01T01:00:00Z", "2026-01-01T00:00:00Z", ("spec", "at"), False),
    Case(
        "a moment in an annotation is text",
        "2026-01-01T00:00:00+00:00",
        "2026-01-01T00:00:00Z",
        ("metadata", "annotations", "at"),
        False,
    ),
    Case("a certificate with line breaks", "YWJj\nZGVm\n", "YWJjZGVm", ("webhooks", "clientConfig", "caBundle"), True),
    Case("text that is base64 by chance", "YWJj\n", "YWJj", ("data", "x"), False),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_contained(case: Case) -> None:
    assert is_contained_in(case.want, case.live, case.path) is case.is_contained


class Likened(NamedTuple):
    why: str
    want: Any
    live: Any
    path: Path
    likeness: Likeness
    has_forms: bool = True


FIELD = ("spec", "template", "spec", "containers", "env", "valueFrom", "fieldRef")
EQUAL, FILLED_IN, DIFFERENT = Likeness
LIKENED = [
    Likened("a default that the server fills in there", {"p": "x"}, {"p": "x", "apiVersion": "v1"}, FIELD, EQUAL),
    Likened("another value of that field", {"p": "x"}, {"p": "x", "apiVersion": "v2"}, FIELD, FILLED_IN),
    Likened("another field beside it", {"p": "x"}, {"p": "x", "apiVersion": "v1", "q": "y"}, FIELD, FILLED_IN),
    Likened("it in an item of a list", [{"port": 80}], [{"port": 80, "protocol": "TCP"}], ("spec", "ports"), EQUAL),
    Likened("another protocol", [{"port": 80}], [{"port": 80, "protocol": "UDP"}], ("spec", "ports"), FILLED_IN),
    Likened(
        "in a custom resource nothing is known",
        [{"port": 80}],
        [{"port": 80, "protocol": "TCP"}],
        ("spec", "ports"),
        FILLED_IN,
        has_forms=False,
    ),
    Likened("a label beyond those that select", {"a": "b"}, {"a": "b", "c": "d"}, ("spec", "selector"), FILLED_IN),
    Likened("a null in a custom resource", None, MISSING, ("spec", "x"), FILLED_IN, has_forms=False),
    Likened("a null that became a default", None, "red", ("spec", "x"), FILLED_IN, has_forms=False),
    Likened("a null that became an empty text", None, "", ("data", "x"), EQUAL),
    Likened("a canonical quantity", "1000m", "1", (*RESOURCES, "cpu"), EQUAL),
    Likened("one of a custom resource", "1000m", "1", (*RESOURCES, "cpu"), FILLED_IN, has_forms=False),
    Likened("true and one, deep inside", {"a": [True]}, {"a": [1]}, ("spec",), DIFFERENT),
    Likened("the worst of several counts", [{"a": 1}, {"b": 1}], [{"a": 1, "x": 1}, {"b": 2}], ("spec",), DIFFERENT),
    Likened("no seconds at all, or none given", [{"a": 0}], [{}], ("spec",), DIFFERENT),
    Likened("no seconds at all, or none given beside", [{"a": 0, "b": 1}], [{"b": 1}], ("spec",), FILLED_IN),
]


@each_row("case", LIKENED, ids=lambda case: case.why)
def test_likeness(case: Likened) -> None:
    assert likeness_of_values(case.want, case.live, case.path, has_forms=case.has_forms) is case.likeness
