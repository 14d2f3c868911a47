"""The fields in which two manifests differ, without noise: items of a list are told apart by name, not by position.

``spec.template.spec.containers[web].image`` stays the same field when a container is put before it. Where names do not
tell items apart, positions do. The values of a Secret are never shown.
"""

import json
import re
from typing import Any

from overrides.changes import ChangedField, changes_of
from render.model import Manifest

_NAMED = "\0"
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


def field_changes(before: Manifest, after: Manifest) -> tuple[ChangedField, ...]:
    """Return the fields in which two manifests differ, by path; nothing for manifests that say the same."""
    changes = changes_of(_named(before), _named(after)) or changes_of(before, after)
    return tuple(
        ChangedField(
            path=dotted(change.path),
            operator=change.operator,
            before=_listed(change.before),
            after=_listed(change.after),
        )
        for change in changes
    )


def _named(value: Any) -> Any:
    """Return a copy in which a list of items with distinct names is a mapping by name."""
    if isinstance(value, dict):
        return {key: _named(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [_named(item) for item in value]
    names = [item.get("name") if isinstance(item, dict) else None for item in items]
    if items and all(isinstance(name, str) for name in names) and len(set(names)) == len(names):
        return {f"{_NAMED}{name}": item for name, item in zip(names, items, strict=True)}
    return items


def _listed(value: Any) -> Any:
    """Undo ``_named``."""
    if isinstance(value, list):
        return [_listed(item) for item in value]
    if not isinstance(value, dict):
        return value
    if any(isinstance(key, str) and key.startswith(_NAMED) for key in value):
        return [_listed(item) for item in value.values()]
    return {key: _listed(item) for key, item in value.items()}


def dotted(pointer: str) -> str:
    r"""Return a JSON pointer as people write paths.

    >>> dotted("/spec/containers/\0web/env/0"), dotted("/metadata/labels/example.com~1team")
    ('spec.containers[web].env[0]', 'metadata.labels["example.com/team"]')
    """
    path = ""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        if key.startswith(_NAMED):
            name = key.removeprefix(_NAMED)
            path += f"[{name if name.isprintable() else json.dumps(name)}]"
        elif key.isdigit():
            path += f"[{key}]"
        elif _WORD.fullmatch(key):
            path += f".{key}" if path else key
        else:
            path += f"[{json.dumps(key, ensure_ascii=not key.isprintable())}]"
    return path
