"""YAML texts that are edited in place: read as kubectl reads them, written with sorted keys and without comments."""

import re
from typing import Any

from render.documents import emit, read_documents

from .errors import Refused

_ITEM_INDENT = re.compile("^(?:- |  )", re.MULTILINE)


def parse_yaml(text: str) -> Any:
    """Return the value of a text's first document; None if there is none."""
    documents, errors = read_documents(text.encode())
    first = documents[0] if documents else None
    if errors and (first is None or errors[0].line < first.line):
        raise Refused(f"cannot be read as YAML: line {errors[0].line}: {errors[0].message}", hint=errors[0].hint)
    return first.value if first else None


def yaml_text(value: Any) -> str:
    r"""Return a value as YAML, its keys in plain order.

    As the item of a list, because ``emit`` gives the keys of a manifest an order of their own.

    >>> yaml_text({"kind": "Config", "debug": True})
    'debug: true\nkind: Config\n'
    """
    return _ITEM_INDENT.sub("", emit([value]).decode())
