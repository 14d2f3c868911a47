"""The shapes of API servers' answers: content is decoded, bounded in depth, and checked before anything reads it.

A member is somebody else's machine. What it answers is JSON and nothing else, nested no deeper than documents of a
repository may be, and of the types that the API promises for the request; whatever else is that member's failure, with
the request and the place in its answer named. Only what the API promises of every object is checked here: fields
beyond ``metadata`` belong to kinds, and a member whose fields lead nowhere is stopped at its own boundary.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from msgspec import DecodeError
from msgspec.json import decode

from render.model import as_list, as_mapping

from .exchange import Expected, Request

Check = Callable[[Any], str]
"""A check returns the place and the fault of a value, as ``.metadata.name is missing``; nothing when all is well."""

MOST_BYTES: Mapping[Expected, int] = {
    Expected.TEXT: 1 << 20,
    Expected.VERSION: 1 << 20,
    Expected.JSON: 16 << 20,
    Expected.OBJECT: 16 << 20,
    Expected.DISCOVERY: 64 << 20,
    Expected.LIST: 64 << 20,
    Expected.CONTENT: 64 << 20,
}
"""The bytes that an answer may have.

An object is at most what etcd takes (1.5 MiB, raised by some to a few more) and once more in its managed fields.
"""
MOST_LEVELS = 200
"""The depth of documents in repositories as well; code that walks a value by recursion is safe with twice as many."""
_LONGEST_TEXT = 16 << 10
_MOST_CAUSES = 100
_MOST_SECONDS = 86_400
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


class UnusableAnswer(Exception):
    """The content of an answer is not what the request asks for; the text is the end of a sentence about it."""


class NoJson(Exception):
    """The content of an answer is no JSON at all: something else than an API server answers."""


def expected_content(request: Request, content: bytes) -> Any:
    """Return the content of an answer as what the request expects."""
    if request.expects is Expected.TEXT:
        return content.decode(errors="replace")
    if request.expects is Expected.CONTENT:
        return content
    body = plain_json(content)
    fault = _CHECKS[request.expects](body)
    if fault:
        raise UnusableAnswer(fault if fault.startswith(".") else f"the whole of it {fault}")
    return body


def shaped_refusal(content: bytes) -> dict[str, Any]:
    """Return a Status with every field that is read of one, bounded; ``isStatus`` is False for anything else.

    A refusal has said the most important thing with its status code: what does not fit here counts as absent.
    """
    try:
        body = plain_json(content)
    except (NoJson, UnusableAnswer):
        body = None
    status: Mapping[str, Any] = as_mapping(body)
    details = status.get("details")
    details = as_mapping(details)
    causes = details.get("causes")
    seconds = details.get("retryAfterSeconds")
    return {
        "isStatus": bool(status),
        "message": _short_text(status, "message"),
        "reason": _short_text(status, "reason"),
        "details": {
            "name": _short_text(details, "name"),
            "kind": _short_text(details, "kind"),
            "retryAfterSeconds": min(seconds, _MOST_SECONDS) if type(seconds) is int and seconds > 0 else 0,
            "causes": [
                {key: _short_text(each, key) for key in ("reason", "message", "field")}
                for each in as_list(causes)[:_MOST_CAUSES]
                if isinstance(each, dict)
            ],
        },
    }


def _short_text(value: Mapping[str, Any], key: str) -> str:
    """Return the text of a field; nothing for another type, and a few words for one too long to be a message."""
    text = value.get(key)
    if not isinstance(text, str):
        return ""
    # Cut in the middle, a text might end in half of a value that is to be masked.
    return text if len(text) <= _LONGEST_TEXT else f"a text of {len(text)} characters"


def plain_json(content: bytes) -> Any:
    """Return JSON as plain data that can be written down again: no NaN, no half characters, no endless nesting."""
    try:
        body = decode(content)
    except (DecodeError, UnicodeDecodeError, RecursionError):
        body = _slowly_decoded(content)
    # What has fewer brackets than levels are allowed needs no walk to be known for shallow.
    if content.count(b"{") + content.count(b"[") > MOST_LEVELS and is_deeper(body, MOST_LEVELS):
        raise UnusableAnswer(f"it is nested deeper than {MOST_LEVELS} levels")
    return body


def _slowly_decoded(content: bytes) -> Any:
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


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def is_deeper(value: Any, levels: int) -> bool:
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


def _text(value: Any) -> str:
    return "" if value is None or isinstance(value, str) else "is no text"


def _some_text(value: Any) -> str:
    return _text(value) if value else "is missing"


def _boolean(value: Any) -> str:
    return "" if value is None or isinstance(value, bool) else "is neither true nor false"


def _whole_number(value: Any) -> str:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return "" if value is None or is_number else "is no whole number"


def _mapping(value: Any) -> str:
    return "" if value is None or isinstance(value, dict) else "is no object"


def _required_mapping(value: Any) -> str:
    return "" if isinstance(value, dict) else "is no object"


def _record(**fields: Check) -> Check:
    """Return the check of an object's fields; others it may have, and none of its own unless that is required."""
    required = frozenset(name for name, inner in fields.items() if inner(None))

    def check(value: Any) -> str:
        if not isinstance(value, dict):
            return "is no object"
        for name, inner in fields.items():
            field = value.get(name)
            fault = "" if field is None and name not in required else inner(field)
            if fault:
                return _fault_at(f".{name}", fault)
        return ""

    return check


def _optional(inner: Check) -> Check:
    return lambda value: "" if value is None else inner(value)


def _list_of(inner: Check) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, list):
            return "is no list"
        for number, each in enumerate(value):
            fault = inner(each)
            if fault:
                return _fault_at(f"[{number}]", fault)
        return ""

    return _optional(check)


def _texts_by_name(value: Any) -> str:
    if value is None:
        return ""
    if not isinstance(value, dict):
        return "is no object"
    return "" if all(isinstance(each, str) for each in value.values()) else "has a value that is no text"


def _fault_at(place: str, fault: str) -> str:
    return f"{place}{fault}" if fault.startswith((".", "[")) else f"{place} {fault}"


_MANAGED = _record(
    manager=_text, operation=_text, apiVersion=_text, subresource=_text, time=_text, fieldsType=_text, fieldsV1=_mapping
)
_METADATA = _record(
    name=_some_text,
    namespace=_text,
    uid=_text,
    resourceVersion=_text,
    creationTimestamp=_text,
    deletionTimestamp=_text,
    generation=_whole_number,
    labels=_texts_by_name,
    annotations=_texts_by_name,
    finalizers=_list_of(_text),
    ownerReferences=_list_of(_mapping),
    managedFields=_list_of(_MANAGED),
)
_OBJECT = _record(apiVersion=_text, kind=_text, metadata=_METADATA)


_LISTED = _record(metadata=_optional(_record(**{"continue": _text})), items=_list_of(_OBJECT))


def _list(value: Any) -> str:
    # A server writes an empty list as [] or null, but never leaves it out: an answer without items is no list, and
    # would read as a cluster that holds nothing.
    return ".items is missing" if isinstance(value, dict) and "items" not in value else _LISTED(value)


_AGGREGATED_RESOURCE = _record(
    resource=_some_text, responseKind=_optional(_record(kind=_text)), scope=_text, verbs=_list_of(_some_text)
)
_AGGREGATED = _record(
    items=_list_of(
        _record(
            metadata=_optional(_record(name=_text)),
            versions=_list_of(
                _record(version=_some_text, freshness=_text, resources=_list_of(_AGGREGATED_RESOURCE)),
            ),
        )
    )
)
_GROUP_VERSION = _record(groupVersion=_some_text)
_GROUPS = _record(
    groups=_list_of(_record(preferredVersion=_optional(_record(groupVersion=_text)), versions=_list_of(_GROUP_VERSION)))
)
_RESOURCES = _record(
    resources=_list_of(_record(name=_some_text, kind=_some_text, namespaced=_boolean, verbs=_list_of(_some_text)))
)
_VERSIONS = _record(versions=_list_of(_some_text))
_DISCOVERY: Mapping[str, Check] = {
    "APIGroupDiscoveryList": _AGGREGATED,
    "APIGroupList": _GROUPS,
    "APIVersions": _VERSIONS,
    "APIResourceList": _RESOURCES,
}


def _discovery(value: Any) -> str:
    if not isinstance(value, dict):
        return "is no object"
    kind = value.get("kind")
    check = _DISCOVERY.get(kind) if isinstance(kind, str) else None
    return check(value) if check else ".kind is none of discovery"


_CHECKS: Mapping[Expected, Check] = {
    Expected.TEXT: _text,
    Expected.VERSION: _record(gitVersion=_text),
    Expected.JSON: _required_mapping,
    Expected.OBJECT: _OBJECT,
    Expected.LIST: _list,
    Expected.DISCOVERY: _discovery,
}
