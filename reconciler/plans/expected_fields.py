"""Fields beyond a manifest that rules of retention leave to the cluster: they are expected there, and no addition.

Such a rule - Retain of a customization, of a webhook or of a bundled kind, or what ``render.kinds`` states of a kind -
says of a field that the cluster decides it. Whoever wrote it there has done what the source provides for.
"""

from collections.abc import Iterable

from render.interpretation.retention import EACH, Retained
from render.model import Manifest

from .containment import is_equal_to_server
from .field_paths import MISSING, Key, Path, value_at
from .model import DesiredObject
from .ownership import Owner
from .retention import Retain, retained_fields_of_kind

OwnedPath = tuple[Owner, Path]


def fields_kept_and_not_kept_by_rules(
    beyond: Iterable[OwnedPath], live: Manifest, want: DesiredObject, retain: Retain
) -> tuple[tuple[OwnedPath, ...], tuple[OwnedPath, ...]]:
    """Return those fields beyond a manifest that are additions, and those that rules of retention keep.

    The rules are asked only where there is such a field.
    """
    found = tuple(beyond)
    if not found:
        return (), ()
    desired, kept = want.manifest, retain(want.manifest, live)
    own = [each for each in retained_fields_of_kind(want.ref) if each.condition(desired)]
    expected = tuple(
        (owner, path)
        for owner, path in found
        if _is_field_kept(kept, desired, live, path) or any(_is_path_in_field(path, each) for each in own)
    )
    return tuple(each for each in found if each not in expected), expected


def _is_field_kept(kept: Manifest, desired: Manifest, live: Manifest, path: Path) -> bool:
    """Say whether a rule put into a manifest what the cluster has in a field, which the manifest itself is without."""
    value = value_at(kept, path)
    if value is MISSING or value_at(desired, path) is not MISSING:
        return False
    return is_equal_to_server(value, value_at(live, path))


def _is_path_in_field(path: Path, field: Retained) -> bool:
    """Say whether a path leads to a field that stays in every cluster as it is there, or into it."""
    if len(path) < len(field.path):
        return False
    return all(
        isinstance(step, Key) if name == EACH else step == name for step, name in zip(path, field.path, strict=False)
    )
