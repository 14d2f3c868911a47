"""The settings that a PolicyTest may try."""

from collections.abc import Mapping
from functools import cache

from msgspec import UNSET

from render.settings.fleet import Fleet

from .fields import SettingField, documented_fields, setting_fields


@cache
def settings_that_trials_may_set() -> Mapping[str, tuple[str, ...]]:
    """Return the settings that decide where objects go, with the fields of a Fleet that each of them sets.

    ``compatibility`` also sets what it implies.
    """
    fields = [field for field in setting_fields(Fleet) if field.setting.is_tried]
    found = {field.setting.name: (field.attribute,) for field in fields}
    implied = tuple(field.attribute for field in fields if _has_other_value_in_karmada(field))
    return {**found, "compatibility": (*found["compatibility"], *implied)}


def _has_other_value_in_karmada(field: SettingField) -> bool:
    """Say whether Karmada has another value than the default of a setting, or of one below it."""
    below = documented_fields(field.section) if field.section else ()
    return any(each.karmada is not UNSET for each in (field.setting, *(each.setting for _, _, each in below)))
