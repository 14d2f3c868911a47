"""A Fleet from an admitted argosy.yaml: a written setting wins over the value that ``compatibility`` implies."""

from collections.abc import Mapping
from typing import Any

from msgspec import UNSET, Struct

from render.limits import Limit
from render.model import Manifest
from render.settings.fleet import Fleet

from .fields import SettingField, setting_fields


def parse_fleet(manifest: Manifest, *, path: str = "") -> Fleet:
    """Return the settings of an admitted Fleet document."""
    spec = manifest.get("spec") or {}
    name = (manifest.get("metadata") or {}).get("name") or ""
    found = _values_of_struct_fields(
        Fleet, {**spec, "metadata.name": name}, is_karmada=spec.get("compatibility") == "Karmada"
    )
    return Fleet(**found, path=path)


def _values_of_struct_fields(struct: type[Struct], plain: Mapping[str, Any], *, is_karmada: bool) -> dict[str, Any]:
    """Return the values of a struct by its fields; what neither is written nor implied is left to its default."""
    found = {}
    for field in setting_fields(struct):
        written = plain if not field.setting.name else plain.get(field.setting.name)
        value = _value_of_field(field, written, is_karmada=is_karmada)
        if value is not UNSET:
            found[field.attribute] = value
    return found


def _value_of_field(field: SettingField, written: Any, *, is_karmada: bool) -> Any:
    """Return the value of a field, or UNSET where its default counts."""
    setting, section = field.setting, field.section
    if section and not field.is_list and (written is not None or not field.is_optional):
        return section(**_values_of_struct_fields(section, written or {}, is_karmada=is_karmada))
    if written is None or (written == "" and not field.is_required) or (setting.is_default_empty and not written):
        return setting.karmada if is_karmada else UNSET
    if field.is_list:
        return tuple(_item_of_field(field, each, is_karmada=is_karmada) for each in written)
    return _item_of_field(field, written, is_karmada=is_karmada)


def _item_of_field(field: SettingField, written: Any, *, is_karmada: bool) -> Any:
    """Return what a written value stands for, or each item of a list."""
    if section := field.section:
        return section(**_values_of_struct_fields(section, written, is_karmada=is_karmada))
    if field.is_portion:
        return Limit.of_text(str(written))
    choices = field.choices
    return written if choices is None else choices[written]
