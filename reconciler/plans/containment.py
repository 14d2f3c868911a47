"""The comparison of a live value with the wanted one, allowing for the ways in which API servers rewrite values.

The server adds defaults inside what we own as one piece, writes quantities canonically (``1000m`` is ``1``), leaves
empty values out, re-encodes certificates and times. None of that is drift. Tolerance is for places where the server is
known to do so: a label ``"1.0"`` that became ``"1"`` was changed by somebody.

What a live value has beyond the wanted one may be a default, or the rest of what an earlier manifest said. Looking
cannot tell these apart (``Likeness.FILLED_IN``): the server can.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any

from render.quantity import parse_quantity

from .field_paths import MISSING, Path

_QUANTITY_PARENTS = frozenset({"limits", "requests", "capacity", "allocatable", "hard", "podFixed", "overhead"})
_QUANTITY_FIELDS = frozenset({"sizeLimit", "divisor", "averageValue"})
_OPAQUE = frozenset({"data", "binaryData", "annotations", "labels", "matchLabels", "env", "args", "command"})
# Defaults that servers fill in inside pieces of the kinds that are Kubernetes' own, by the field they are in. Of every
# other field beyond the wanted ones nobody knows where it comes from.
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "fieldRef": {"apiVersion": "v1"},
    "resourceFieldRef": {"divisor": "0"},
    "ports": {"protocol": "TCP"},
    "serviceAccountToken": {"expirationSeconds": 3600},
    "subjects": {"apiGroup": "rbac.authorization.k8s.io"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io"},
    "rules": {"scope": "*"},
    "resourceRules": {"scope": "*"},
    "excludeResourceRules": {"scope": "*"},
    "onPodConditions": {"status": "True"},
    "volumeClaimTemplates": {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "status": {"phase": "Pending"},
    },
    "volumeClaimTemplates.spec": {"volumeMode": "Filesystem"},
    "volumeClaimTemplates.metadata": {"creationTimestamp": None},
}
_EMPTY: tuple[Any, ...] = ({}, [], "", None, False, 0)


class Likeness(IntEnum):
    """The likeness of a live value to a wanted one, the best first.

    ``FILLED_IN``: the live value has all of the wanted one, and more, or the same in a form that the server may have
    given it. Whether applying would change it only the server knows.
    """

    EQUAL = 0
    FILLED_IN = 1
    DIFFERENT = 2


def is_contained_in(want: Any, live: Any, path: Path = ()) -> bool:
    """Return whether ``live`` has all of ``want``; what it has beyond that does not matter."""
    return likeness_of_values(want, live, path) is not Likeness.DIFFERENT


def likeness_of_values(want: Any, live: Any, path: Path = (), *, has_forms: bool = True) -> Likeness:
    """Compare two values of a field, both ways.

    ``has_forms``: the server is known to write values of this object in forms of its own, as it does for the kinds that
    are Kubernetes' own. It stores those of a custom resource as they are.
    """
    if is_equal_to_server(want, live):
        return Likeness.EQUAL
    if want is None or live is MISSING or live is None:
        return _likeness_of_nothing(want, live, has_forms=has_forms)
    if isinstance(want, Mapping):
        return _likeness_of_fields(want, live, path, has_forms=has_forms)
    if isinstance(want, list):
        if not isinstance(live, list) or len(want) != len(live):
            return Likeness.DIFFERENT
        return _worst_likeness(
            likeness_of_values(item, other, path, has_forms=has_forms) for item, other in zip(want, live, strict=True)
        )
    is_known_form = _is_same_scalar(want, live, path)
    return (Likeness.EQUAL if has_forms else Likeness.FILLED_IN) if is_known_form else Likeness.DIFFERENT


def _likeness_of_nothing(want: Any, live: Any, *, has_forms: bool) -> Likeness:
    """Compare where there is no value on one side; a list of no items is left out wherever a list may be left out."""
    is_left_out = live is MISSING and want in (None, [])
    # A null among texts is an empty one.
    if has_forms and (is_left_out or (want is None and live == "")):
        return Likeness.EQUAL
    is_empty = (
        want is None
        or any(want == empty and type(want) is type(empty) for empty in _EMPTY)
        or _has_only_empty_containers(want)
    )
    return Likeness.FILLED_IN if is_empty else Likeness.DIFFERENT


def _likeness_of_fields(want: Mapping[str, Any], live: Any, path: Path, *, has_forms: bool) -> Likeness:
    if not isinstance(live, Mapping) or (not live and not _has_only_empty_containers(want)):
        return Likeness.DIFFERENT
    filled = Likeness.FILLED_IN
    if live.keys() <= want.keys() or (has_forms and _has_defaults_alone(want, live, path)):
        filled = Likeness.EQUAL
    inner = (
        likeness_of_values(value, live.get(key, MISSING), (*path, key), has_forms=has_forms)
        for key, value in want.items()
    )
    return max(filled, _worst_likeness(inner))


def _has_defaults_alone(want: Mapping[str, Any], live: Mapping[str, Any], path: Path) -> bool:
    """Return whether all that the live value has beyond the wanted one is what a server fills in there."""
    names = [step for step in path if isinstance(step, str)]
    defaults = _DEFAULTS.get(".".join(names[-2:])) or _DEFAULTS.get(names[-1] if names else "") or {}
    return all(key in want or is_equal_to_server(defaults.get(key, MISSING), value) for key, value in live.items())


def _worst_likeness(found: Iterable[Likeness]) -> Likeness:
    worst = Likeness.EQUAL
    for each in found:
        if each is Likeness.DIFFERENT:
            return each
        worst = max(worst, each)
    return worst


def is_equal_to_server(want: Any, live: Any) -> bool:
    """Return whether two values are equal to a server, to which a boolean is no number as it is to Python."""
    return want == live and _has_equal_types(want, live)


def _has_equal_types(want: Any, live: Any) -> bool:
    if isinstance(want, Mapping):
        return all(_has_equal_types(value, live[key]) for key, value in want.items())
    if isinstance(want, list):
        return all(map(_has_equal_types, want, live))
    return isinstance(want, bool) == isinstance(live, bool)


def _has_only_empty_containers(want: Any) -> bool:
    """Return whether a mapping has nothing but empty mappings and lists, which the server leaves out altogether."""
    return isinstance(want, Mapping) and all(
        _has_only_empty_containers(value) or (isinstance(value, list) and not value) for value in want.values()
    )


def _is_same_scalar(want: Any, live: Any, path: Path) -> bool:
    if isinstance(want, bool) or isinstance(live, bool):
        return False
    if isinstance(want, int | float) and isinstance(live, int | float):
        return want == live
    names = [step for step in path if isinstance(step, str)]
    if _is_field_of_quantity(names):
        return _is_same_quantity(want, live)
    if not (isinstance(want, str) and isinstance(live, str)):
        return False
    if names[-1:] == ["caBundle"]:
        return _is_same_base64(want, live)
    return not _OPAQUE.intersection(names) and _is_same_instant(want, live)


def _is_field_of_quantity(names: list[str]) -> bool:
    if len(names) < 2 or _OPAQUE.intersection(names[:-2]):
        return False
    if names[-2] in _QUANTITY_PARENTS or names[-1] in _QUANTITY_FIELDS:
        return True
    # An autoscaler's metric, and the bounds of a LimitRange.
    return names[-2:] == ["target", "value"] or names[-3:-2] == ["limits"]


def _is_same_quantity(want: Any, live: Any) -> bool:
    try:
        return parse_quantity(str(want)) == parse_quantity(str(live))
    except ValueError:
        return False


def _is_same_base64(want: str, live: str) -> bool:
    """Compare base64 by what it encodes: line breaks in it mean nothing."""
    try:
        return base64.b64decode("".join(want.split()), validate=True) == base64.b64decode(live, validate=True)
    except (binascii.Error, ValueError):
        return False


def _is_same_instant(want: str, live: str) -> bool:
    """Compare RFC 3339 times by the instant they name, for a server drops fractions and writes another zone."""
    if not (len(want) >= 20 <= len(live) and want[4:5] == live[4:5] == "-" and want[10:11] == live[10:11] == "T"):
        return False
    try:
        return datetime.fromisoformat(want) == datetime.fromisoformat(live)
    except (ValueError, TypeError):
        return False
