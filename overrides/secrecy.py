"""Values that are secret outside of Secrets: those of variables whose names say so, and copies of whole objects."""

import re
from collections.abc import Mapping
from typing import Any

from render.expressions import lazy_expression

HIDDEN = "(hidden)"

_SECRET_NAME = lazy_expression(
    r"passw|passphrase|secret|token|credential|(?:api|access|private|signing)[_-]?key", re.IGNORECASE
)
_COPIES = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


def is_secret_entry(entry: Any) -> bool:
    """Say whether this is a variable (``name`` and ``value``) whose name says that its value is secret.

    >>> is_secret_entry({"name": "DB_PASSWORD", "value": "x"}), is_secret_entry({"name": "LEVEL", "value": "x"})
    (True, False)
    """
    if not isinstance(entry, Mapping) or not entry.get("value"):
        return False
    name = entry.get("name")
    return isinstance(name, str) and _SECRET_NAME.search(name) is not None


def is_secret_key(key: str) -> bool:
    """Say whether the value under this key repeats an object, secrets and all."""
    return key in _COPIES


def redacted_value(value: Any) -> Any:
    """Return a copy in which secret values read ``(hidden)``.

    >>> redacted_value([{"name": "TOKEN", "value": "x"}])
    [{'name': 'TOKEN', 'value': '(hidden)'}]
    """
    if isinstance(value, list):
        return [redacted_value(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    is_entry = is_secret_entry(value)
    return {
        key: HIDDEN if is_secret_key(key) or (is_entry and key == "value") else redacted_value(item)
        for key, item in value.items()
    }


def holds_secrets(value: Any) -> bool:
    """Say whether anything secret is in a manifest or a list of them: a Secret, a variable, a copy."""
    if isinstance(value, list):
        return any(map(holds_secrets, value))
    if not isinstance(value, Mapping):
        return False
    if value.get("kind") == "Secret" or is_secret_entry(value) or any(map(is_secret_key, value)):
        return True
    return any(holds_secrets(item) for item in value.values() if isinstance(item, dict | list))
