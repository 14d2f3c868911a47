"""The comparison of a live value with the wanted one, allowing for the ways in which API servers rewrite values.

The server adds defaults inside what we own as one piece, writes quantities canonically (``1000m`` is ``1``), leaves
empty values out, re-encodes certificates and times. None of that is drift. Tolerance is for places where the server is
known to do so: a label ``"1.0"`` that became ``"1"`` was changed by somebody.
"""

import base64
import binascii
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from render.quantity import parse_quantity

from .field_paths import MISSING, Path

_QUANTITY_PARENTS = frozenset({"limits", "requests", "capacity", "allocatable", "hard", "podFixed", "overhead"})
_QUANTITY_FIELDS = frozenset({"sizeLimit", "divisor", "averageValue"})
_OPAQUE = frozenset({"data", "binaryData", "annotations", "labels", "matchLabels", "env", "args", "command"})
_EMPTY: tuple[Any, ...] = ({}, [], "", None, False, 0)


def contained(want: Any, live: Any, path: Path = ()) -> bool:
    """Return whether ``live`` has all of ``want``; what it has beyond that does not matter."""
    # To Python True is 1, to a server a boolean is no number.
    if want == live and isinstance(want, bool) == isinstance(live, bool):
        return True
    if live is MISSING or live is None:
        return any(want == empty and type(want) is type(empty) for empty in _EMPTY) or _is_hollow(want)
    if isinstance(want, Mapping):
        if not live:
            return isinstance(live, Mapping) and _is_hollow(want)
        return isinstance(live, Mapping) and all(
            contained(value, live.get(key, MISSING), (*path, key)) for key, value in want.items()
        )
    if isinstance(want, list):
        return (
            isinstance(live, list)
            and len(want) == len(live)
            and all(contained(item, other, path) for item, other in zip(want, live, strict=True))
        )
    return _same_scalar(want, live, path)


def _is_hollow(want: Any) -> bool:
    """Return whether a mapping has nothing but empty mappings and lists, which the server leaves out altogether."""
    return isinstance(want, Mapping) and all(
        _is_hollow(value) or (isinstance(value, list) and not value) for value in want.values()
    )


def _same_scalar(want: Any, live: Any, path: Path) -> bool:
    if isinstance(want, bool) or isinstance(live, bool):
        return False
    if isinstance(want, int | float) and isinstance(live, int | float):
        return want == live
    names = [step for step in path if isinstance(step, str)]
    if _is_quantity(names):
        return _same_quantity(want, live)
    if not (isinstance(want, str) and isinstance(live, str)):
        return False
    if names[-1:] == ["caBundle"]:
        return _same_bytes(want, live)
    return not _OPAQUE.intersection(names) and _same_time(want, live)


def _is_quantity(names: list[str]) -> bool:
    if len(names) < 2 or _OPAQUE.intersection(names[:-2]):
        return False
    if names[-2] in _QUANTITY_PARENTS or names[-1] in _QUANTITY_FIELDS:
        return True
    # An autoscaler's metric, and the bounds of a LimitRange.
    return names[-2:] == ["target", "value"] or names[-3:-2] == ["limits"]


def _same_quantity(want: Any, live: Any) -> bool:
    try:
        return parse_quantity(str(want)) == parse_quantity(str(live))
    except ValueError:
        return False


def _same_bytes(want: str, live: str) -> bool:
    """Compare base64 by what it encodes: line breaks in it mean nothing."""
    try:
        return base64.b64decode("".join(want.split()), validate=True) == base64.b64decode(live, validate=True)
    except (binascii.Error, ValueError):
        return False


def _same_time(want: str, live: str) -> bool:
    """Compare RFC 3339 times by the instant they name, for a server drops fractions and writes another zone."""
    if not (len(want) >= 20 <= len(live) and want[4:5] == live[4:5] == "-" and want[10:11] == live[10:11] == "T"):
        return False
    try:
        return datetime.fromisoformat(want) == datetime.fromisoformat(live)
    except (ValueError, TypeError):
        return False
