"""Values as plain data for JSON: fields in the API's spelling, objects and policies by their names in messages."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from overrides.explanation import RuleEffect
from render.model import ObjectRef

from .cleaning import cleaned_json

_LEFT_OUT = frozenset({"applied_placement"})
"""Fields that record state for the next pass and say nothing to a reader."""


def as_json(value: Any) -> str:
    """Return plain data, and structs within it, as indented JSON, as every command prints it."""
    return cleaned_json(json.dumps(value, indent=2, ensure_ascii=False, default=given_fields)) + "\n"


def given_fields(value: Struct) -> dict[str, Any]:
    """Return the fields of a struct that are given, by their names in JSON; structs in them stay structs."""
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    values = ((encoded, getattr(value, name)) for name, encoded in names)
    return {encoded: each for encoded, each in values if each is not UNSET}


def plain_value(value: Any) -> Any:
    """Return a value as plain data; empty texts and lists, None, and records of placements are left out.

    >>> plain_value(ObjectRef("apps", "Deployment", "shop", "web"))
    'Deployment.apps shop/web'
    """
    if isinstance(value, ObjectRef):
        return str(value)
    if isinstance(value, RuleEffect):
        return _plain_effect(value)
    if isinstance(value, Struct):
        items = {
            _camel(name): plain_value(getattr(value, name)) for name in value.__struct_fields__ if name not in _LEFT_OUT
        }
        return {key: item for key, item in items.items() if item is not None and item not in ("", [], {})}
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain_value(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _plain_effect(effect: RuleEffect) -> dict[str, Any]:
    applied = effect.applied
    rule = {"policy": applied.policy, "rule": applied.rule, "path": applied.origin.path}
    changes = [plain_value(change) for change in effect.changes]
    return {**rule, "changes": changes, **({"error": str(effect.error)} if effect.error else {})}


def _camel(name: str) -> str:
    """Return a name in the API's spelling.

    >>> _camel("is_selected"), _camel("required_by")
    ('isSelected', 'requiredBy')
    """
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)
