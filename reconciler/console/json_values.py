"""Values as plain data for JSON: fields in the API's spelling, objects and policies by their names in messages."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from overrides.explanation import RuleEffect
from render.model import ObjectRef

from .cleaning import json_safe_for_terminal

_LEFT_OUT = frozenset({"applied_placement"})
"""Fields that record state for the next pass and say nothing to a reader."""


def as_json(value: Any) -> str:
    """Return plain data, and structs within it, as indented JSON, as every command prints it."""
    return json_safe_for_terminal(json.dumps(value, indent=2, ensure_ascii=False, default=fields_set_in_struct)) + "\n"


def fields_set_in_struct(value: Struct) -> dict[str, Any]:
    """Return the fields of a struct that are given, by their names in JSON; structs in them stay structs."""
    names = zip(value.__struct_fields__, value.__struct_encode_fields__, strict=True)
    values = ((encoded, getattr(value, name)) for name, encoded in names)
    return {encoded: each for encoded, each in values if each is not UNSET}


def value_as_plain_data(value: Any) -> Any:
    """Return a value as plain data; empty texts and lists, None, and records of placements are left out.

    >>> value_as_plain_data(ObjectRef("apps", "Deployment", "shop", "web"))
    'Deployment.apps shop/web'
    """
    if isinstance(value, ObjectRef):
        return str(value)
    if isinstance(value, RuleEffect):
        return _rule_effect_as_plain_data(value)
    if isinstance(value, Struct):
        items = {
            _camel_case(name): value_as_plain_data(getattr(value, name))
            for name in value.__struct_fields__
            if name not in _LEFT_OUT
        }
        return {key: item for key, item in items.items() if item is not None and item not in ("", [], {})}
    if isinstance(value, Mapping):
        return {str(key): value_as_plain_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [value_as_plain_data(item) for item in value]
    return str(value) if isinstance(value, str) else value


def _rule_effect_as_plain_data(effect: RuleEffect) -> dict[str, Any]:
    applied = effect.applied
    rule = {"policy": applied.policy, "rule": applied.rule, "path": applied.origin.path}
    changes = [value_as_plain_data(change) for change in effect.changes]
    return {**rule, "changes": changes, **({"error": str(effect.error)} if effect.error else {})}


def _camel_case(name: str) -> str:
    """Return a name in the API's spelling.

    >>> _camel_case("is_selected"), _camel_case("required_by")
    ('isSelected', 'requiredBy')
    """
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)
