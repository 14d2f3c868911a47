"""What every applied rule changed in a manifest, for explain and diff; found when somebody asks.

The engine records which rules applied to a class of clusters; running them once more on the same manifest, one by one,
shows what each of them did. The values of a Secret are never shown, nor others that are secret (``secrecy``).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import jsonpatch
import jsonpointer

from render.documents import Hole
from render.model import Manifest

from .draft import Draft
from .errors import OverrideError
from .jsontext import json_text
from .record import Applied
from .rules import compiled_rule, run_rule
from .secrecy import HIDDEN, is_secret_entry, is_secret_key, veiled

__all__ = ["HIDDEN", "FieldChange", "Step", "changes_of", "steps_of"]

_SHOWN_IN_SECRETS = re.compile(r"/metadata/labels(/.*)?|/type|/immutable")
_ITEM = re.compile(r"/[0-9]+(?:/|$)")
_LONGEST_VALUE = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldChange:
    """A field (a JSON pointer) that was added, replaced or removed; numbers not known yet read ``(replicas)``."""

    path: str
    operator: str
    before: Any = None
    after: Any = None

    def __str__(self) -> str:
        match self.operator:
            case "add":
                return f"{self.path}: added {_short(self.after)}"
            case "remove":
                return f"{self.path}: removed, was {_short(self.before)}"
        return f"{self.path}: {_short(self.before)} -> {_short(self.after)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """What one rule did to a manifest, or why it could not."""

    applied: Applied
    changes: tuple[FieldChange, ...] = ()
    error: OverrideError | None = None


def steps_of(manifest: Manifest, applied: Iterable[Applied]) -> tuple[Step, ...]:
    """Apply rules to a manifest one by one and tell what each changed, up to the first that cannot be applied."""
    steps = []
    for record in applied:
        draft = Draft(manifest)
        error = run_rule(compiled_rule(record), draft)
        if error:
            steps.append(Step(applied=record, error=error))
            break
        steps.append(Step(applied=record, changes=changes_of(manifest, draft.root)))
        manifest = draft.root
    return tuple(steps)


def changes_of(before: Manifest, after: Manifest) -> tuple[FieldChange, ...]:
    """Return the fields in which a manifest changed, by path; changes of one list in an order that can be replayed."""
    document, target, changes = _plain(before), _plain(after), list[FieldChange]()
    for operation in jsonpatch.make_patch(document, target):
        changes += (_veiled(change, document, target) for change in _changes(document, operation))
        document = jsonpatch.apply_patch(document, [operation], in_place=True)
    ordered = _ordered(changes)
    return tuple(map(_masked, ordered)) if before.get("kind") == "Secret" else tuple(ordered)


def _ordered(changes: list[FieldChange]) -> list[FieldChange]:
    """Return changes sorted by path: what jsonpatch yields depends on its version.

    Where items come to or leave a list, later indexes depend on earlier changes, so the list's own order is kept.
    """
    shifts = any(change.operator != "replace" and change.path[-1:].isdigit() for change in changes)
    return sorted(changes, key=lambda change: _ITEM.split(change.path)[0] if shifts else change.path)


def _changes(document: Any, operation: dict[str, Any]) -> Iterator[FieldChange]:
    path, operator = operation["path"], operation["op"]
    if operator == "move":
        value = jsonpointer.resolve_pointer(document, operation["from"])
        yield FieldChange(path=operation["from"], operator="remove", before=value)
        yield FieldChange(path=path, operator="add", after=value)
        return
    before = None if operator == "add" else jsonpointer.resolve_pointer(document, path)
    yield FieldChange(path=path, operator=operator, before=before, after=operation.get("value"))


def _masked(change: FieldChange) -> FieldChange:
    if _SHOWN_IN_SECRETS.fullmatch(change.path):
        return change
    before = None if change.operator == "add" else HIDDEN
    after = None if change.operator == "remove" else HIDDEN
    return FieldChange(path=change.path, operator=change.operator, before=before, after=after)


def _veiled(change: FieldChange, *documents: Any) -> FieldChange:
    """Hide what is secret in a change: the field itself, by its name or that of the variable it is in, or parts."""
    above, _, key = change.path.rpartition("/")
    holders = (jsonpointer.resolve_pointer(document, above, None) for document in documents)
    if is_secret_key(key.replace("~1", "/")) or (key == "value" and any(map(is_secret_entry, holders))):
        return _masked(change)
    return replace(change, before=veiled(change.before), after=veiled(change.after))


def _plain(value: Any) -> Any:
    """Return a copy in which a hole is its name in parentheses."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return f"({value.name})" if isinstance(value, Hole) else value


def _short(value: Any) -> str:
    text = value if value == HIDDEN else json_text(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[: _LONGEST_VALUE - 3]}..."
