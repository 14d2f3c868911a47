"""Schemas for the values of charts: what refers to other files or addresses is taken out before a render.

A schema changes nothing that a chart makes; it only has helm refuse values. helm would fetch what a schema refers to,
or read it from a file of this machine, so that such a schema is not left to it.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from reconciler.locked.archives import unpacked_archive
from reconciler.locked.model import UnavailableSource
from render.expressions import lazy_expression

_SCHEMA, _ARCHIVE = "values.schema.json", ".tgz"
_CHARTS = "charts/"
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_DIALECT = "$schema"
_KNOWN_DIALECT = lazy_expression(r"https?://json-schema\.org/(draft-0[467]|draft/20(19-09|20-12))/schema#?")
_DEEPEST = 8


class CheckableChart(NamedTuple):
    """The files of a chart as helm may have them, and the schemas that it does not get."""

    files: Mapping[str, bytes]
    left_out: tuple[str, ...] = ()


def checkable_chart(files: Mapping[str, bytes], *, has_schemas: bool = True, depth: int = 0) -> CheckableChart:
    """Return a chart without schemas that refer elsewhere, or without any; those of packed charts in it, too.

    UnavailableSource where a packed chart cannot be looked into.
    """
    if depth > _DEEPEST:
        raise UnavailableSource(f"charts are packed in each other more than {_DEEPEST} times")
    kept: dict[str, bytes] = {}
    left_out: list[str] = []
    for path, data in files.items():
        if path.rpartition("/")[2] == _SCHEMA and not (has_schemas and is_self_contained(data)):
            left_out += [path] if has_schemas else []
        elif path.endswith(_ARCHIVE) and f"/{_CHARTS}" in f"/{path}":
            inner = unpacked_archive(data, path, has_top_folder=True)
            found = checkable_chart(inner, has_schemas=has_schemas, depth=depth + 1)
            # helm takes a chart that is a folder like one that is packed; the name of the folder means nothing.
            unpacked = {f"{path}.d/{each}": text for each, text in found.files.items()}
            kept |= {path: data} if found.files == inner else unpacked
            left_out += (f"{path}/{each}" for each in found.left_out)
        else:
            kept[path] = data
    return CheckableChart(kept, tuple(left_out))


def is_self_contained(schema: bytes) -> bool:
    """Say whether a schema refers to itself alone; one that cannot be read may refer to anything."""
    is_plain = True

    def check_keys(pairs: list[tuple[str, Any]]) -> None:
        nonlocal is_plain
        for key, value in pairs:
            is_elsewhere = key in _REFERENCES and isinstance(value, str) and not value.startswith("#")
            is_unknown = key == _DIALECT and isinstance(value, str) and not _KNOWN_DIALECT.fullmatch(value)
            is_plain = is_plain and not is_elsewhere and not is_unknown

    try:
        json.loads(schema.decode(), object_pairs_hook=check_keys)
    except (ValueError, RecursionError):
        return False
    return is_plain
