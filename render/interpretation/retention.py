"""Fields of built-in kinds that a member decides: stated once, for the interpreter and for what is applied.

To the interpreter these are Karmada's rules, from the desired and the observed object to the one to send. Applying goes
by field ownership besides, which two objects do not show.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from msgspec import Struct

from render.model import Manifest

from .fields import manifest_with_value, manifest_without_value, objects_at, text_at, value_at

EACH = "*"
"""The step of a path that stands for each item of a list, found by its name in another list."""


def is_always_retained(_desired: Manifest) -> bool:
    """Say that a field is the member's to decide, whatever the manifest says."""
    return True


class Retained(Struct, frozen=True, kw_only=True):
    """A field that stays as a member has it once the object is there.

    ``condition``: asked of the desired object. ``read``: returns the field of a live object, an error where it has the
    wrong type. ``is_fixed``: no server changes it, but for a few exceptions. ``is_injected``: somebody writes it after
    us, so that one that is still ours is for the manifest to change. ``is_exact``: where the member has none, nor does
    what is sent. ``is_united``: a list to which the member adds items, known by their names; ``is_map``: others'
    items stay there whatever is sent. ``is_karmadas``: Karmada's interpreter keeps the field, and not only Argosy.
    """

    path: tuple[str, ...]
    condition: Callable[[Manifest], bool] = is_always_retained
    read: Callable[..., Any] = value_at
    is_fixed: bool = False
    is_injected: bool = False
    is_exact: bool = False
    is_united: bool = False
    is_map: bool = False
    is_karmadas: bool = True


def retain_operation_of_fields(fields: Iterable[Retained]) -> Callable[[Manifest, Manifest], Manifest] | None:
    """Return the operation of an interpreter that keeps fields; None where Karmada's keeps none of them."""
    known = tuple(field for field in fields if field.is_karmadas)

    def retain(desired: Manifest, observed: Manifest) -> Manifest:
        for field in known:
            if field.condition(desired):
                desired = _desired_with_live_value(desired, observed, field, field.path)
        return desired

    return retain if known else None


def _desired_with_live_value(desired: Manifest, observed: Manifest, field: Retained, path: tuple[str, ...]) -> Manifest:
    if EACH in path:
        return _desired_with_live_items(desired, observed, field, path)
    if field.is_united:
        return manifest_with_value(desired, _items_in_both_manifests(desired, observed, path), *path)
    live = field.read(observed, *path)
    if field.is_exact and not live:
        return manifest_without_value(desired, *path)
    return desired if live is None or live in ("", 0) else manifest_with_value(desired, live, *path)


def _desired_with_live_items(desired: Manifest, observed: Manifest, field: Retained, path: tuple[str, ...]) -> Manifest:
    place = path.index(EACH)
    above, below = path[:place], path[place + 1 :]
    if not value_at(desired, *above):
        return desired
    live = {text_at(item, "name"): item for item in objects_at(observed, *above)}
    items = [
        _desired_with_live_value(item, live[name], field, below) if (name := text_at(item, "name")) in live else item
        for item in objects_at(desired, *above)
    ]
    return manifest_with_value(desired, items, *above)


def _items_in_both_manifests(desired: Manifest, observed: Manifest, path: tuple[str, ...]) -> list[Mapping[str, Any]]:
    first_by_name: dict[str, Mapping[str, Any]] = {}
    for reference in (*objects_at(desired, *path), *objects_at(observed, *path)):
        first_by_name.setdefault(text_at(reference, "name"), reference)
    return list(first_by_name.values())
