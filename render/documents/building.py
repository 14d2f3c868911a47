"""Plain data from parser events, as go-yaml and then JSON make it: keys become text, merge keys are merged.

A container is built by one function that pulls events until its end; recursion is bounded by ``MAX_DEPTH``. Ordinary
scalars, which are nearly everything, are resolved in place through a memo; a node with a tag, an anchor or an alias
goes through ``_node``. An ``UnusableDocument`` carries no position: its place is that of the last event pulled.

Explicit tags (``!!str``, ``!!binary``, ``!mine``) are taken as go-yaml takes them: core tags convert, others are
ignored.
"""

import base64
import binascii
import re
from collections.abc import Callable
from typing import Any

from render.expressions import lazy_expression

from .aliases import Anchors
from .document import MAX_DEPTH, UnusableDocument, quoted_key_for_message
from .scalars import PlainKeys, PlainValues, UnusableScalar, json_key, json_value, resolved_scalar
from .scanning import SyntaxProblem
from .syntax import AliasEvent, MappingEndEvent, MappingStartEvent, ScalarEvent, SequenceEndEvent, StreamEndEvent

_MERGE_TAG = "tag:yaml.org,2002:merge"
_KEPT_LAST = "kubectl would silently keep only the last one"
_CORE = "tag:yaml.org,2002:"
_NAMES = {
    bool: "bool",
    int: "int",
    float: "float",
    type(None): "null",
    str: "str",
}
_TIMESTAMP = lazy_expression(
    r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
    r"(?:[Tt][0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?(?:Z|[-+][0-9]{2}:[0-9]{2})"
    r"| [0-9]{1,2}:[0-9]{1,2}:[0-9]{1,2}(?:[.,][0-9]+)?)?",
    re.ASCII,
)


class _Merge(str):
    """The key of a merge; a quoted ``"<<"`` is an ordinary key."""

    __slots__ = ()


_MERGE = _Merge("<<")
_VALUES, _KEYS = PlainValues(), PlainKeys({"<<": _MERGE})


class Builder:
    """Builds the one document of a chunk; ``line`` (from 0) is where it starts."""

    def __init__(self, next_event: Callable[[], Any]) -> None:
        self.next_event = next_event
        self.anchors = Anchors()
        self.depth = 0
        self.line = 0

    def document(self) -> Any:
        """Return the value of the document; None where there is none."""
        self.next_event()
        if type(self.next_event()) is StreamEndEvent:
            return None
        root = self.next_event()
        self.line = root.start_mark.line
        try:
            value = self._value_of_node(root)
        except UnusableScalar as error:
            raise UnusableDocument(str(error)) from None
        self.anchors.check_share_of_aliases(value)
        self.next_event()
        if not self._is_at_end():
            raise UnusableDocument(
                "text after the document's end, which kubectl ignores", "start a new document with '---'"
            )
        return value

    def _is_at_end(self) -> bool:
        try:
            return type(self.next_event()) is StreamEndEvent
        except SyntaxProblem:
            return False

    def _value_of_node(self, event: Any) -> Any:
        """Return the value of the node that starts with an event."""
        kind = type(event)
        if kind is AliasEvent:
            value = self.anchors.value_of_alias(event.anchor, depth=self.depth)
            return value if isinstance(value, (dict, list)) else json_value(value)
        anchor = self.anchors.register_anchor(event.anchor) if event.anchor is not None else None
        if kind is ScalarEvent:
            scalar = self._value_of_scalar(event)
            if anchor:
                anchor.value = scalar
            return json_value(scalar)
        value = self._value_of_mapping() if kind is MappingStartEvent else self._value_of_sequence()
        if anchor:
            anchor.value = value
        return value

    def _value_of_sequence(self) -> list[Any]:
        next_event = self.next_event
        self._enter_deeper_level()
        items: list[Any] = []
        while True:
            event = next_event()
            if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
                items.append(_VALUES[event.value] if event.implicit[0] else event.value)
            elif type(event) is SequenceEndEvent:
                self.depth -= 1
                return items
            else:
                items.append(self._value_of_node(event))

    def _value_of_mapping(self) -> dict[str, Any]:
        next_event = self.next_event
        self._enter_deeper_level()
        mapping: dict[str, Any] = {}
        while True:
            event = next_event()
            if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
                key = _KEYS[event.value] if event.implicit[0] else event.value
            elif type(event) is MappingEndEvent:
                self.depth -= 1
                return mapping
            else:
                key = self._key_of_event(event)
            if key is _MERGE:
                return self._mapping_with_merges(mapping)
            if key in mapping:
                raise UnusableDocument(f"duplicate key {quoted_key_for_message(key)}", _KEPT_LAST)
            event = next_event()
            if type(event) is ScalarEvent and event.tag is None and event.anchor is None:
                mapping[key] = _VALUES[event.value] if event.implicit[0] else event.value
            else:
                mapping[key] = self._value_of_node(event)

    def _mapping_with_merges(self, mapping: dict[str, Any]) -> dict[str, Any]:
        """Finish a mapping after its first merge key: a merge replaces keys before it, keys after it replace it."""
        written = set(mapping)
        self._merge_next_value_into(mapping)
        while type(event := self.next_event()) is not MappingEndEvent:
            key = self._key_of_event(event)
            if key is _MERGE:
                self._merge_next_value_into(mapping)
                continue
            if key in written:
                raise UnusableDocument(f"duplicate key {quoted_key_for_message(key)}", _KEPT_LAST)
            written.add(key)
            mapping[key] = self._value_of_node(self.next_event())
        self.depth -= 1
        return mapping

    def _merge_next_value_into(self, mapping: dict[str, Any]) -> None:
        event = self.next_event()
        value = self._value_of_node(event)
        # A sequence must stand here itself; an alias of one is refused, as kubectl does. Earlier items win.
        sources = value[::-1] if isinstance(value, list) and type(event) is not AliasEvent else [value]
        for source in sources:
            if not isinstance(source, dict):
                raise UnusableDocument("a merge key '<<' without a mapping", "merge a mapping or a list of mappings")
            mapping.update(self.anchors.counted_merge(source))

    def _key_of_event(self, event: Any) -> str:
        """Return the key an event stands for; mappings and sequences cannot be one."""
        kind = type(event)
        if kind is AliasEvent:
            value = self.anchors.value_of_alias(event.anchor, depth=self.depth)
        elif kind is ScalarEvent:
            if event.value == "<<" and (event.implicit[0] or event.tag == _MERGE_TAG):
                return _MERGE
            value = self._value_of_scalar(event)
            if event.anchor is not None:
                self.anchors.register_anchor(event.anchor).value = value
        else:
            value = {}
        if isinstance(value, (dict, list)):
            raise UnusableDocument(
                "a key that is a mapping or a list", "put text that starts with '{' or '[' in quotes"
            )
        return json_key(value)

    def _enter_deeper_level(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnusableDocument(f"nested deeper than {MAX_DEPTH} levels")

    def _value_of_scalar(self, event: Any) -> Any:
        """Return a scalar as resolved, before JSON."""
        if event.tag is not None:
            return value_of_tagged_scalar(event.tag, event.value)
        return resolved_scalar(event.value) if event.implicit[0] else event.value


def value_of_tagged_scalar(tag: str, text: str) -> Any:
    """Return the value of a scalar with an explicit tag."""
    name = tag.removeprefix(_CORE) if tag.startswith(_CORE) else ""
    if name == "binary":
        return _text_of_base64(text)
    if name not in {"bool", "int", "float", "null", "timestamp"}:
        return text
    if name == "timestamp":
        if _TIMESTAMP.fullmatch(text):
            return text
        raise _error_of_mismatched_tag(name)
    value = resolved_scalar(text)
    found = _NAMES[type(value)]
    if name == "float" and found == "int" and -(2**63) <= value < 2**63:
        return float(value)
    if name != found:
        raise _error_of_mismatched_tag(name)
    return value


def _error_of_mismatched_tag(name: str) -> UnusableDocument:
    return UnusableDocument(
        f"a value that its tag !!{name} does not fit", "drop the tag, or write a value of that type"
    )


def _text_of_base64(text: str) -> str:
    """Decode base64 to text; kubectl replaces what is not UTF-8."""
    try:
        data = base64.b64decode(text.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        raise UnusableDocument("!!binary with text that is not base64") from None
    return data.decode(errors="replace")
