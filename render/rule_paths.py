"""Paths of field rules: the fields that people mean by ``.spec.ports[port=80].nodePort`` or ``.data.*``.

A name may have dots of its own, as those of labels do. An item of a list is named by the keys that tell it from others,
or by some of them, and a value of a set by ``[="a"]``. ``[*]`` is every item, and ``*`` in a name stands for any text.
"""

import json
import re
from typing import Any, NamedTuple

_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^,=\[\]\s"']+)"""
_KEY = re.compile(rf"""(?<![^=,*\[\]\s"'])(?P<name>[^=,*\[\]\s"']*)=(?P<value>{_VALUE})""")
_ITEMS = re.compile(rf"""()\[(?:\*|[^=,*\[\]\s"']*={_VALUE}(?:,\s*[^=,*\[\]\s"']+={_VALUE})*)\]""")
_NAME = re.compile(r"""\.([^.,\[\]\s"'/$][^.,\[\]\s"']*)""")
_LISTED = re.compile(
    r"""(?>(?:\[(?>(?:"(?>(?:[^"\\]|\\.?)*)(?:"|\Z)|'[^']*+(?:'|\Z)|[^\]"'])*)(?:\]|\Z)|[^,\s])+)""", re.DOTALL
)


class Items(NamedTuple):
    """The items of a list that have these values of keys, in the order of names; without any, all of them."""

    keys: tuple[tuple[str, Any], ...] = ()


RulePath = tuple[str | Items, ...]


def listed_paths(text: str) -> tuple[str, ...]:
    """Return the paths that an annotation lists.

    >>> listed_paths('.spec.replicas, .spec.ports[port=80, protocol="TCP"].nodePort')
    ('.spec.replicas', '.spec.ports[port=80, protocol="TCP"].nodePort')
    """
    return tuple(_LISTED.findall(text))


def parsed_path(text: str) -> RulePath | None:
    """Return the steps of a path; None for a text that is none.

    >>> parsed_path(".spec.ports[protocol='TCP',port=80].nodePort")
    ('spec', 'ports', Items(keys=(('port', 80), ('protocol', 'TCP'))), 'nodePort')
    >>> parsed_path(".spec.containers[0]"), parsed_path("/spec/replicas")
    (None, None)
    """
    text = text if text.startswith(".") else f".{text}"
    steps = list[str | Items]()
    position = 0
    while position < len(text):
        found = _NAME.match(text, position) or _ITEMS.match(text, position)
        if found is None:
            return None
        steps.append(found[1] or _items(found[0]))
        position = found.end()
    return tuple(steps)


def _items(text: str) -> Items:
    keys = ((key["name"], _plain(key["value"])) for key in _KEY.finditer(text))
    return Items(tuple(sorted(keys, key=lambda key: key[0])))


def _plain(text: str) -> Any:
    """Return the value of a key: a text in any quotes or none, a number or a boolean."""
    if text.startswith("'"):
        return text[1:-1]
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if isinstance(value, str | int) else text
