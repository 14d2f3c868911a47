"""The shapes of answers: what the decoder takes for ordinary is well, and depth is that of a walk over all of it."""

import json
import random
from typing import Any

import pytest

from reconciler.members.exchange import Expected, Request
from reconciler.members.ordinary_shapes import OrdinaryList, OrdinaryObject, has_shape
from reconciler.members.shapes import (
    MOST_LEVELS,
    NoJson,
    UnusableAnswer,
    check_expected_part,
    is_nested_deeper,
    parse_expected_content,
)

from .tables import each_row

SHAPES: dict[Expected, type[OrdinaryObject | OrdinaryList]] = {
    Expected.OBJECT: OrdinaryObject,
    Expected.LIST: OrdinaryList,
}
WHOLE: dict[str, Any] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {
        "name": "web",
        "namespace": "shop",
        "uid": "u",
        "resourceVersion": "7",
        "creationTimestamp": "t",
        "deletionTimestamp": None,
        "generation": 1,
        "labels": {"a": "b"},
        "annotations": {"a": "b"},
        "finalizers": ["x", None],
        "ownerReferences": [{"uid": 1}],
        "managedFields": [
            {"manager": "m", "operation": "Apply", "apiVersion": "v1", "time": "t", "fieldsV1": {"f:spec": {}}}
        ],
    },
    "spec": {"replicas": 1.5},
}
ODD: tuple[Any, ...] = (None, 1, 1.0, 1 << 70, True, "", "x", [], {}, [None], [1], {"a": None}, {"a": "b"})


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all that is in a value."""
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for name, each in inside for found in places(each, (*path, name)))]


def with_value(value: Any, path: tuple[Any, ...], other: Any) -> Any:
    if not path:
        return other
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = with_value(value[path[0]], path[1:], other)
    return copy


def fault(expects: Expected, value: Any) -> str:
    """Return the words of the walk over a decoded answer about it."""
    try:
        check_expected_part(expects, value)
    except UnusableAnswer as error:
        return str(error)
    return ""


@each_row("expects", SHAPES)
def test_what_the_decoder_takes_for_ordinary_has_no_fault_and_nearly_all_else_has_one(expects: Expected) -> None:
    whole = WHOLE if expects is Expected.OBJECT else {"kind": "List", "metadata": {"continue": "x"}, "items": [WHOLE]}
    others = [with_value(whole, path, odd) for path in places(whole) for odd in ODD]
    found = {
        json.dumps(each): (has_shape(json.dumps(each).encode(), SHAPES[expects]), fault(expects, each))
        for each in others
    }
    assert [text for text, (is_ordinary, said) in found.items() if is_ordinary and said] == []
    assert [text for text, (is_ordinary, said) in found.items() if not is_ordinary and not said] == []
    assert has_shape(json.dumps(whole).encode(), SHAPES[expects])


def test_an_answer_without_what_is_required_is_not_ordinary() -> None:
    for content in (b"{}", b'{"metadata":{}}', b'{"metadata":{"name":""}}', b"[]", b"", b"{", b'{"items":[]}'):
        assert not has_shape(content, OrdinaryObject), content
    for content in (b"{}", b'{"kind":"List"}', b'{"items":[{}]}', b'{"items":[null]}'):
        assert not has_shape(content, OrdinaryList), content


def nested(levels: int, *, with_brackets_in_texts: bool = False) -> Any:
    """A value of so many levels."""
    value: Any = "}]}" if with_brackets_in_texts else 1
    for level in range(levels):
        value = {"a": value, "]": "}]" * 9} if level % 2 else [value, "[{" * 3]
    return value


def is_refused(expects: Expected, value: Any) -> bool:
    content = json.dumps(value).encode()
    try:
        parse_expected_content(Request(method="GET", path="/", expects=expects), content)
    except UnusableAnswer as error:
        return "nested" in str(error)
    return False


def test_the_depth_of_an_answer_is_that_of_a_walk_wherever_in_it_the_depth_is() -> None:
    rng = random.Random(7)
    for _ in range(60):
        depths = [rng.choice((1, 150, 196, 197, 198, 199, 250)) for _ in range(rng.randrange(1, 4))]
        items = [
            {"metadata": {"name": "x"}, "spec": nested(each, with_brackets_in_texts=rng.random() < 0.5)}
            for each in depths
        ]
        beside = {"x": nested(rng.choice((1, 100, 198, 199, 200, 201)))} if rng.random() < 0.3 else {}
        value = {**beside, "items": items}
        assert is_refused(Expected.LIST, value) is is_nested_deeper(value, MOST_LEVELS), (depths, beside)


def test_many_shallow_items_are_no_deep_answer() -> None:
    item = {"metadata": {"name": "x"}, "spec": [nested(3) for _ in range(60)]}
    assert not is_refused(Expected.LIST, {"items": [item] * 5})
    assert is_refused(Expected.LIST, {"items": [item, {"metadata": {"name": "x"}, "spec": nested(198)}]})


NUMBERS_BEYOND_ALL: tuple[str, ...] = ("1e400", "-1e999", f"{'9' * 400}.0", "NaN", "Infinity", "-Infinity")


@each_row("number", NUMBERS_BEYOND_ALL)
def test_an_answer_has_no_number_that_could_not_be_written_down_again(number: str) -> None:
    """The reports of all members are recorded in one go, so that those of one must not stop it."""
    content = f'{{"metadata": {{"name": "web"}}, "status": {{"replicas": {number}}}}}'
    with pytest.raises(NoJson):
        parse_expected_content(Request(method="GET", path="/", expects=Expected.OBJECT), content.encode())


def test_numbers_that_python_alone_can_hold_stay_as_they_are() -> None:
    values = [10**30, 5e-324, 1.5e300, 0.0]
    content = json.dumps({"metadata": {"name": "web"}, "values": values}).encode()
    assert parse_expected_content(Request(method="GET", path="/", expects=Expected.OBJECT), content)["values"] == values
