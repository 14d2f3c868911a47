"""JSONPath as kubectl reads and prints it."""

from typing import Any, NamedTuple

import pytest

from render.jsonpath import JsonPathError, fault_of_jsonpath, jsonpath_text, jsonpath_values

from .tables import each_row

STATUS: dict[str, Any] = {
    "phase": "Running",
    "ok": True,
    "none": None,
    "big": 12345678,
    "small": 0.00001,
    "replicas": 3,
    "a.b": "dotted",
    "job": {"id": 7, "path": "s3://b/x"},
    "list": ["a", "b", "c"],
    "conditions": [{"type": "Ready", "status": "True", "n": 1}, {"type": "Synced", "status": "False", "n": 2}],
}


class Reading(NamedTuple):
    why: str
    template: str
    text: str


READINGS = [
    Reading("text outside of braces stands for itself", "pre-{.phase}-post", "pre-Running-post"),
    Reading("without braces nothing is looked up", ".phase", ".phase"),
    Reading("quoted text within braces stands for itself", "{.phase}{'}'}", "Running}"),
    Reading("the root may be written", "{$.phase}", "Running"),
    Reading("the current object may be written", "{@.phase}", "Running"),
    Reading("a large number has an exponent", "{.big}", "1.2345678e+07"),
    Reading("a small number has an exponent", "{.small}", "1e-05"),
    Reading("true is bare", "{.ok}", "true"),
    Reading("null is Go's nil", "{.none}", "<nil>"),
    Reading("an object is compact JSON", "{.job}", '{"id":7,"path":"s3://b/x"}'),
    Reading("a nested field", "{.job.path}", "s3://b/x"),
    Reading("a quoted field", "{['a.b']}", "dotted"),
    Reading("an escaped dot", r"{.a\.b}", "dotted"),
    Reading("an index", "{.list[1]}", "b"),
    Reading("an index from the end", "{.list[-1]}", "c"),
    Reading("a slice", "{.list[0:2]}", "a b"),
    Reading("a slice with a step", "{.list[0:3:2]}", "a c"),
    Reading("a union of indexes", "{.list[0,2]}", "a c"),
    Reading("a union of fields", "{['phase','replicas']}", "Running 3"),
    Reading("all items", "{.conditions[*].type}", "Ready Synced"),
    Reading("all fields", "{.job.*}", "7 s3://b/x"),
    Reading("a filter by text", '{.conditions[?(@.type=="Synced")].status}', "False"),
    Reading("a filter by number", "{.conditions[?(@.n<2)].type}", "Ready"),
    Reading("a filter by difference", '{.conditions[?(@.type!="Ready")].type}', "Synced"),
    Reading("a filter by existence", "{.conditions[?(@.n)].type}", "Ready Synced"),
    Reading("anywhere below", "{..id}", "7"),
    Reading("a loop over texts", "{range .list[*]}x{@}{end}", "xaxbxc"),
    Reading("a loop with escapes", r'{range .conditions[*]}{.type}{"\t"}{.n}{"\n"}{end}', "Ready\t1\nSynced\t2\n"),
    Reading("a loop from which the root is seen", "{range .conditions[*]}{$.phase} {end}", "Running Running "),
    Reading("a loop in a loop", "{range .conditions[*]}{range $.list[0:2]}{@}{end};{end}", "ab;ab;"),
]


@each_row("case", READINGS, ids=lambda case: case.why)
def test_text_is_taken_out_of_a_status(case: Reading) -> None:
    assert jsonpath_text(case.template, STATUS) == case.text


class Failure(NamedTuple):
    why: str
    template: str
    message: str


FAILURES = [
    Failure("a missing key", "{.nosuch}", 'failed to execute jsonpath "{.nosuch}": nosuch is not found'),
    Failure(
        "an index past the end",
        "{.list[5]}",
        'failed to execute jsonpath "{.list[5]}": array index out of bounds: index 5, length 3',
    ),
    Failure(
        "an index of no list", "{.phase[0]}", 'failed to execute jsonpath "{.phase[0]}": Running is not array or slice'
    ),
    Failure(
        "a filter that nothing passes",
        "{.conditions[?(@.nosuch)].type}",
        'failed to execute jsonpath "{.conditions[?(@.nosuch)].type}": type is not found',
    ),
    Failure("an open brace", "{.phase", "unclosed action"),
    Failure("an odd index", "{.list[x]}", 'failed to execute jsonpath "{.list[x]}": invalid array index x'),
    Failure(
        "a text compared with a number",
        "{.conditions[?(@.type>2)]}",
        'failed to execute jsonpath "{.conditions[?(@.type>2)]}": incompatible types for comparison',
    ),
    Failure("an open loop", "{range .list[*]}x", "unterminated range"),
    Failure("an end of nothing", "{.phase}{end}", "not in range, nothing to end"),
]


@each_row("case", FAILURES, ids=lambda case: case.why)
def test_what_cannot_be_taken_is_an_error(case: Failure) -> None:
    with pytest.raises(JsonPathError) as caught:
        jsonpath_text(case.template, STATUS)
    assert str(caught.value) == case.message


def test_a_missing_key_is_nothing_where_that_is_asked_for() -> None:
    template = "{.nosuch}{range .conditions[*]}[{.nosuch.at}]{end}{range .nosuch[*]}x{end}"
    assert jsonpath_text(template, STATUS, allows_missing=True) == "[][]"


def test_a_path_gives_the_values_themselves() -> None:
    assert jsonpath_values(".conditions[*].n", STATUS) == [1, 2]
    assert jsonpath_values(".nosuch", STATUS) == []


def test_a_template_is_checked_without_a_status() -> None:
    assert fault_of_jsonpath("{.nosuch}") == ""
    assert fault_of_jsonpath("{.phase") == "unclosed action"
    assert fault_of_jsonpath("{.list[x]}") == "invalid array index x"
    assert fault_of_jsonpath("{range .list[x]}{end}") == "invalid array index x"
    assert fault_of_jsonpath("{range .list[*]}{.a[x]}{end}") == "invalid array index x"
