"""What applying would change, as the server itself says: its answer to a dry run beside the live object."""

from collections.abc import Iterator, Mapping
from typing import Any

from reconciler.members.masking import shown
from reconciler.plans.fieldpaths import MISSING, Key, Path, path_text
from reconciler.plans.ownership import Change
from reconciler.plans.plan_values import FieldChange
from render.model import Manifest

_WRITTEN_BY_SERVERS = frozenset(
    {"creationTimestamp", "deletionTimestamp", "generation", "managedFields", "resourceVersion", "selfLink", "uid"}
)


def changed_fields(live: Manifest | None, answer: Manifest) -> tuple[FieldChange, ...]:
    """Return the fields a dry run would change, masked where they may hold a secret; all of them for a new object."""
    before, after = _content(live or {}), _content(answer)
    return tuple(
        FieldChange(
            path=path_text(path),
            change=Change.LOST if old is MISSING else Change.DROPPED if new is MISSING else Change.MODIFIED,
            live="" if old is MISSING else shown(old, path_text(path), answer),
            want="" if new is MISSING else shown(new, path_text(path), answer),
        )
        for path, old, new in _changed(before, after, ())
    )


def _content(manifest: Manifest) -> dict[str, Any]:
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in _WRITTEN_BY_SERVERS}
    body = {key: value for key, value in manifest.items() if key not in {"apiVersion", "kind", "metadata", "status"}}
    return {"metadata": metadata, **body}


def _changed(old: Any, new: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the innermost fields that differ, items of lists found by their names."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            yield from _changed(old.get(name, MISSING), new.get(name, MISSING), (*path, name))
    elif _is_named(old) and _is_named(new):
        olds, news = _by_name(old), _by_name(new)
        for name in dict.fromkeys([*olds, *news]):
            step = Key((("name", name),))
            yield from _changed(olds.get(name, MISSING), news.get(name, MISSING), (*path, step))
    elif old != new or old is MISSING or new is MISSING:
        yield path, old, new


def _is_named(items: Any) -> bool:
    return (
        isinstance(items, list) and bool(items) and all(isinstance(item, Mapping) and "name" in item for item in items)
    )


def _by_name(items: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {str(item["name"]): item for item in items}
