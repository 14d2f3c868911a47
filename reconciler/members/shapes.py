"""The shapes of API servers' answers: content is decoded, bounded in depth, and checked before anything reads it.

A member is somebody else's machine. What it answers is JSON and nothing else, nested no deeper than documents of a
repository may be, and of the types that the API promises for the request; whatever else is that member's failure, with
the request and the place in its answer named. Only what the API promises of every object is checked here: fields
beyond ``metadata`` belong to kinds, and a member whose fields lead nowhere is stopped at its own boundary.
"""

import json
from collections.abc import Callable, Mapping
from functools import lru_cache
from math import isfinite
from typing import Any, NoReturn

from msgspec import DecodeError
from msgspec.json import decode

from render.expressions import lazy_expression
from render.model import list_or_empty, mapping_or_empty

from .exchange import Expected, Request
from .ordinary_shapes import OrdinaryList, OrdinaryObject, brackets_in_items, count_of_brackets, has_shape

Check = Callable[[Any], str]
"""A check returns the place and the fault of a value, as ``.metadata.name is missing``; nothing when all is well."""

MOST_BYTES: Mapping[Expected, int] = {
    Expected.TEXT: 1 << 20,
    Expected.VERSION: 1 << 20,
    Expected.JSON: 16 << 20,
    Expected.OBJECT: 16 << 20,
    Expected.DISCOVERY: 64 << 20,
    Expected.LIST: 64 << 20,
    Expected.TABLE: 64 << 20,
    Expected.CONTENT: 64 << 20,
}
"""The bytes that an answer may have.

An object is at most what etcd takes (1.5 MiB, raised by some to a few more) and once more in its managed fields.
"""
MOST_LEVELS = 200
"""The depth of documents in repositories as well; code that walks a value by recursion is safe with twice as many."""
_LEVELS_AROUND_ITEMS = 2
_LONGEST_TEXT = 16 << 10
_MOST_CAUSES = 100
_MOST_SECONDS = 86_400
_SURROGATE = lazy_expression(rb"\\u[dD][89a-fA-F]")


class UnusableAnswer(Exception):
    """The content of an answer is not what the request asks for; the text is the end of a sentence about it."""


class NoJson(Exception):
    """The content of an answer is no JSON at all: something else than an API server answers."""


def parse_expected_content(request: Request, content: bytes) -> Any:
    """Return the content of an answer as what the request expects."""
    if request.expects is Expected.TEXT:
        return content.decode(errors="replace")
    if request.expects is Expected.CONTENT:
        return content
    return (
        _parsed_discovery(content) if request.expects is Expected.DISCOVERY else _parsed_json(request.expects, content)
    )


@lru_cache(maxsize=8)
def _parsed_discovery(content: bytes) -> Any:
    """Return what a server says of its kinds: most members of a fleet say the same, in as many bytes as all else."""
    return _parsed_json(Expected.DISCOVERY, content)


def _parsed_json(expected: Expected, content: bytes) -> Any:
    body = parse_json(content)
    ordinary = _ORDINARY.get(expected)
    if ordinary is None or not has_shape(content, ordinary):
        check_expected_part(expected, body)
    return body


def check_expected_part(expects: Expected, value: object) -> None:
    """Raise UnusableAnswer for a part of an answer that is not what such a request expects, as in an event."""
    fault = _CHECKS[expects](value)
    if fault:
        raise UnusableAnswer(fault if fault.startswith(".") else f"the whole of it {fault}")


def parse_status_of_refusal(content: bytes) -> dict[str, Any]:
    """Return a Status with every field that is read of one, bounded; ``isStatus`` is False for anything else.

    A refusal has said the most important thing with its status code: what does not fit here counts as absent.
    """
    try:
        body = parse_json(content)
    except (NoJson, UnusableAnswer):
        body = None
    status: Mapping[str, Any] = mapping_or_empty(body)
    details = status.get("details")
    details = mapping_or_empty(details)
    causes = details.get("causes")
    seconds = details.get("retryAfterSeconds")
    return {
        "isStatus": bool(status),
        "message": _bounded_text_field(status, "message"),
        "reason": _bounded_text_field(status, "reason"),
        "details": {
            "name": _bounded_text_field(details, "name"),
            "kind": _bounded_text_field(details, "kind"),
            "retryAfterSeconds": min(seconds, _MOST_SECONDS) if type(seconds) is int and seconds > 0 else 0,
            "causes": [
                {key: _bounded_text_field(each, key) for key in ("reason", "message", "field")}
                for each in list_or_empty(causes)[:_MOST_CAUSES]
                if isinstance(each, dict)
            ],
        },
    }


def _bounded_text_field(value: Mapping[str, Any], key: str) -> str:
    """Return the text of a field; nothing for another type, and a few words for one too long to be a message."""
    text = value.get(key)
    if not isinstance(text, str):
        return ""
    # Cut in the middle, a text might end in half of a value that is to be masked.
    return text if len(text) <= _LONGEST_TEXT else f"a text of {len(text)} characters"


def parse_json(content: bytes) -> Any:
    """Return JSON as plain data that can be written down again: no NaN, no half characters, no endless nesting."""
    try:
        body = decode(content)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        body = _parse_unusual_json(content)
    if _is_nested_too_deep(content, body):
        raise UnusableAnswer(f"it is nested deeper than {MOST_LEVELS} levels")
    return body


def _is_nested_too_deep(content: bytes, body: Any) -> bool:
    """Say whether an answer is nested too deep.

    What has no more brackets than levels are allowed needs no walk to be known for shallow; nor has an item of a list.
    """
    total = count_of_brackets(content)
    if total <= MOST_LEVELS:
        return False
    in_items, levels = brackets_in_items(content), MOST_LEVELS - _LEVELS_AROUND_ITEMS
    if not in_items or total - sum(in_items) > MOST_LEVELS:
        return is_nested_deeper(body, MOST_LEVELS)
    return any(
        is_nested_deeper(item, levels)
        for item, brackets in zip(body["items"], in_items, strict=True)
        if brackets > levels
    )


def _parse_unusual_json(content: bytes) -> Any:
    """Return JSON that is in another encoding than UTF-8, or has numbers that fit nowhere, or say why it is none."""
    try:
        body = _DECODER.decode(content.decode(json.detect_encoding(content), "surrogatepass"))
        if _SURROGATE.search(content):
            json.dumps(body, ensure_ascii=False).encode()
    except RecursionError as error:
        raise UnusableAnswer(f"it is nested deeper than {MOST_LEVELS} levels") from error
    except ValueError as error:
        raise NoJson from error
    return body


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite_number(text: str) -> float:
    number = float(text)
    return number if isfinite(number) else _refuse_constant(text)


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_finite_number)


def is_nested_deeper(value: Any, levels: int) -> bool:
    """Say whether a value is nested deeper than so many levels, whatever its depth."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(levels):
        level = [
            child
            for each in level
            for child in (each.values() if isinstance(each, dict) else each)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return bool(level)


def _fault_unless_text(value: Any) -> str:
    return "" if value is None or isinstance(value, str) else "is no text"


def _fault_unless_nonempty_text(value: Any) -> str:
    return _fault_unless_text(value) if value else "is missing"


def _fault_unless_boolean(value: Any) -> str:
    return "" if value is None or isinstance(value, bool) else "is neither true nor false"


def _fault_unless_whole_number(value: Any) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return "" if value is None or is_number else "is no whole number"


def _fault_unless_mapping(value: Any) -> str:
    return "" if value is None or isinstance(value, dict) else "is no object"


def _fault_unless_present_mapping(value: Any) -> str:
    return "" if isinstance(value, dict) else "is no object"


def _check_of_fields(**fields: Check) -> Check:
    """Return the check of an object's fields; others it may have, and none of its own unless that is required."""
    required = frozenset(name for name, inner in fields.items() if inner(None))

    def fault_of_fields(value: Any) -> str:
        if not isinstance(value, dict):
            return "is no object"
        for name, inner in fields.items():
            field = value.get(name)
            fault = "" if field is None and name not in required else inner(field)
            if fault:
                return _fault_with_place(f".{name}", fault)
        return ""

    return fault_of_fields


def _check_unless_absent(inner: Check) -> Check:
    return lambda value: "" if value is None else inner(value)


def _check_of_each_item(inner: Check) -> Check:
    def fault_of_items(value: Any) -> str:
        if not isinstance(value, list):
            return "is no list"
        for number, each in enumerate(value):
            fault = inner(each)
            if fault:
                return _fault_with_place(f"[{number}]", fault)
        return ""

    return _check_unless_absent(fault_of_items)


def _fault_unless_texts_by_name(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, dict):
        return "is no object"
    return "" if all(isinstance(each, str) for each in value.values()) else "has a value that is no text"


def _fault_with_place(place: str, fault: str) -> str:
    return f"{place}{fault}" if fault.startswith((".", "[")) else f"{place} {fault}"


_MANAGED = _check_of_fields(
    manager=_fault_unless_text,
    operation=_fault_unless_text,
    apiVersion=_fault_unless_text,
    subresource=_fault_unless_text,
    time=_fault_unless_text,
    fieldsType=_fault_unless_text,
    fieldsV1=_fault_unless_mapping,
)
_METADATA = _check_of_fields(
    name=_fault_unless_nonempty_text,
    namespace=_fault_unless_text,
    uid=_fault_unless_text,
    resourceVersion=_fault_unless_text,
    creationTimestamp=_fault_unless_text,
    deletionTimestamp=_fault_unless_text,
    generation=_fault_unless_whole_number,
    labels=_fault_unless_texts_by_name,
    annotations=_fault_unless_texts_by_name,
    finalizers=_check_of_each_item(_fault_unless_text),
    ownerReferences=_check_of_each_item(_fault_unless_mapping),
    managedFields=_check_of_each_item(_MANAGED),
)
_OBJECT = _check_of_fields(apiVersion=_fault_unless_text, kind=_fault_unless_text, metadata=_METADATA)


_LISTED = _check_of_fields(
    metadata=_check_unless_absent(_check_of_fields(**{"continue": _fault_unless_text})),
    items=_check_of_each_item(_OBJECT),
)


def _fault_of_object_list(value: Any) -> str:
    # A server writes an empty list as [] or null, but never leaves it out: an answer without items is no list, and
    # would read as a cluster that holds nothing.
    return ".items is missing" if isinstance(value, dict) and "items" not in value else _LISTED(value)


_COLUMN = _check_of_fields(
    name=_fault_unless_nonempty_text, type=_fault_unless_text, priority=_fault_unless_whole_number
)
_ROW = _check_of_fields(cells=_check_of_each_item(lambda _value: ""), object=_check_unless_absent(_OBJECT))
_TABLE = _check_of_fields(
    metadata=_check_unless_absent(_check_of_fields(**{"continue": _fault_unless_text})),
    columnDefinitions=_check_of_each_item(_COLUMN),
    rows=_check_of_each_item(_ROW),
)


def _fault_of_table(value: Any) -> str:
    """Return the fault of a Table; a server that cannot make one answers with the list or the object itself."""
    if isinstance(value, dict) and value.get("kind") == "Table":
        return _TABLE(value)
    return _fault_of_object_list(value) if isinstance(value, dict) and "items" in value else _OBJECT(value)


_OTHER_NAMES = {
    "shortNames": _check_of_each_item(_fault_unless_text),
    "categories": _check_of_each_item(_fault_unless_text),
}
_AGGREGATED_RESOURCE = _check_of_fields(
    resource=_fault_unless_nonempty_text,
    responseKind=_check_unless_absent(_check_of_fields(kind=_fault_unless_text)),
    scope=_fault_unless_text,
    verbs=_check_of_each_item(_fault_unless_nonempty_text),
    singularResource=_fault_unless_text,
    **_OTHER_NAMES,
)
_AGGREGATED = _check_of_fields(
    items=_check_of_each_item(
        _check_of_fields(
            metadata=_check_unless_absent(_check_of_fields(name=_fault_unless_text)),
            versions=_check_of_each_item(
                _check_of_fields(
                    version=_fault_unless_nonempty_text,
                    freshness=_fault_unless_text,
                    resources=_check_of_each_item(_AGGREGATED_RESOURCE),
                ),
            ),
        )
    )
)
_GROUP_VERSION = _check_of_fields(groupVersion=_fault_unless_nonempty_text)
_GROUPS = _check_of_fields(
    groups=_check_of_each_item(
        _check_of_fields(
            preferredVersion=_check_unless_absent(_check_of_fields(groupVersion=_fault_unless_text)),
            versions=_check_of_each_item(_GROUP_VERSION),
        )
    )
)
_RESOURCES = _check_of_fields(
    resources=_check_of_each_item(
        _check_of_fields(
            name=_fault_unless_nonempty_text,
            kind=_fault_unless_nonempty_text,
            namespaced=_fault_unless_boolean,
            verbs=_check_of_each_item(_fault_unless_nonempty_text),
            singularName=_fault_unless_text,
            **_OTHER_NAMES,
        )
    )
)
_VERSIONS = _check_of_fields(versions=_check_of_each_item(_fault_unless_nonempty_text))
_DISCOVERY: Mapping[str, Check] = {
    "APIGroupDiscoveryList": _AGGREGATED,
    "APIGroupList": _GROUPS,
    "APIVersions": _VERSIONS,
    "APIResourceList": _RESOURCES,
}


def _fault_of_discovery(value: Any) -> str:
    if not isinstance(value, dict):
        return "is no object"
    kind = value.get("kind")
    check = _DISCOVERY.get(kind) if isinstance(kind, str) else None
    return check(value) if check else ".kind is none of discovery"


_CHECKS: Mapping[Expected, Check] = {
    Expected.TEXT: _fault_unless_text,
    Expected.VERSION: _check_of_fields(gitVersion=_fault_unless_text),
    Expected.JSON: _fault_unless_present_mapping,
    Expected.OBJECT: _OBJECT,
    Expected.LIST: _fault_of_object_list,
    Expected.TABLE: _fault_of_table,
    Expected.DISCOVERY: _fault_of_discovery,
}
_ORDINARY: Mapping[Expected, type[OrdinaryObject | OrdinaryList]] = {
    Expected.OBJECT: OrdinaryObject,
    Expected.LIST: OrdinaryList,
}
"""The shapes that nearly all answers have which may be large."""
