"""Paths of field rules: the fields that people mean by ``.spec.ports[port=80].nodePort`` or ``.data.*``.

A name may have dots of its own, as those of labels do. An item of a list is named by the keys that tell it from others,
or by some of them, and a value of a set by ``[="a"]``. ``[*]`` is every item, and ``*`` in a name stands for any text.
"""

import json
import re
from typing import Any, NamedTuple

from .expressions import lazy_expression
from .syntax import quoted_text

_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^,=\[\]\s"']+)"""
_KEY = lazy_expression(rf"""(?<![^=,*\[\]\s"'])(?P<name>[^=,*\[\]\s"']*)=(?P<value>{_VALUE})""")
_ITEMS = lazy_expression(rf"""()\[(?:\*|[^=,*\[\]\s"']*={_VALUE}(?:,\s*[^=,*\[\]\s"']+={_VALUE})*)\]""")
_NAME = lazy_expression(r"""\.([^.,\[\]\s"'/$][^.,\[\]\s"']*)""")
_LISTED = lazy_expression(
    r"""(?>(?:\[(?>(?:"(?>(?:[^"\\]|\\.?)*)(?:"|\Z)|'[^']*+(?:'|\Z)|[^\]"'])*)(?:\]|\Z)|[^,\s])+)""", re.DOTALL
)


class Items(NamedTuple):
    """The items of a list that have these values of keys, in the order of names; without any, all of them."""

    keys: tuple[tuple[str, Any], ...] = ()


RulePath = tuple[str | Items, ...]

_INDEX = lazy_expression(r"\[\d+\]")
_EXAMPLE = """such as '.spec.replicas' or '.spec.template.spec.containers[name="web"].image'"""


def paths_in_annotation(text: str) -> tuple[str, ...]:
    """Return the paths that an annotation lists.

    >>> paths_in_annotation('.spec.replicas, .spec.ports[port=80, protocol="TCP"].nodePort')
    ('.spec.replicas', '.spec.ports[port=80, protocol="TCP"].nodePort')
    """
    return tuple(_LISTED.findall(text))


def parse_rule_path(text: str) -> RulePath | None:
    """Return the steps of a path; None for a text that is none.

    >>> parse_rule_path(".spec.ports[protocol='TCP',port=80].nodePort")
    ('spec', 'ports', Items(keys=(('port', 80), ('protocol', 'TCP'))), 'nodePort')
    >>> parse_rule_path(".spec.containers[0]"), parse_rule_path("/spec/replicas")
    (None, None)
    """
    text = text if text.startswith(".") else f".{text}"
    steps = list[str | Items]()
    position = 0
    while position < len(text):
        found = _NAME.match(text, position) or _ITEMS.match(text, position)
        if found is None:
            return None
        steps.append(found[1] or _items_of_path_segment(found[0]))
        position = found.end()
    return tuple(steps)


def _items_of_path_segment(text: str) -> Items:
    keys = ((key["name"], _value_in_key_text(key["value"])) for key in _KEY.finditer(text))
    return Items(tuple(sorted(keys, key=lambda key: key[0])))


def _value_in_key_text(text: str) -> Any:
    """Return the value of a key: a text in any quotes or none, a number or a boolean."""
    if text.startswith("'"):
        return text[1:-1]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int) else text


def rule_path_fault(path: str) -> tuple[str, str] | None:
    """Return what is wrong with the path of a rule, and a hint; None for one that is right."""
    if parse_rule_path(path) is not None:
        return None
    if not path.strip():
        return "must name a field", _EXAMPLE
    if path.startswith("/") and parse_rule_path(rule_path_of_json_pointer(path)) is not None:
        return f"{quoted_text(path)} is a JSON pointer", f"write {quoted_text(rule_path_of_json_pointer(path))}"
    if _INDEX.search(path):
        hint = """name it by its keys, such as '[name="web"]', or each by '[*]'"""
        return f"{quoted_text(path)} names an item of a list by its number", hint
    return f"{quoted_text(path)} is no path of a field", _EXAMPLE


def rule_path_of_json_pointer(pointer: str) -> str:
    """Return the path that a JSON pointer stands for, which numbers the items of lists.

    >>> (
    ...     rule_path_of_json_pointer("/spec/ports/0/nodePort"),
    ...     rule_path_of_json_pointer("/metadata/labels/example.com~1tier"),
    ... )
    ('.spec.ports[*].nodePort', '.metadata.labels.example.com/tier')
    """
    names = (name.replace("~1", "/").replace("~0", "~") for name in pointer.split("/")[1:])
    return "".join("[*]" if name.isdecimal() else f".{name}" for name in names)
