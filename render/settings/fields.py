"""The fields of the structs of argosy.yaml, with their settings and the types of their values."""

from collections.abc import Iterator
from enum import StrEnum
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, UNSET, Struct, to_builtins
from msgspec.structs import fields as struct_fields

from render.limits import Limit

from .setting import FleetSetting


class SettingField(NamedTuple):
    """A field of a struct: its name there, its setting, and the type that it holds, or that each in its list is.

    ``default`` is NODEFAULT where the field must be written. ``is_optional``: its value may be None.
    """

    attribute: str
    setting: FleetSetting
    holds: type
    is_list: bool
    default: Any
    is_optional: bool = False

    @property
    def is_required(self) -> bool:
        """True where a document must have the field."""
        return self.default is NODEFAULT

    @property
    def section(self) -> type[Struct] | None:
        """The struct of its value, or of each in a list; None where these are words or numbers."""
        return self.holds if issubclass(self.holds, Struct) and not self.is_portion else None

    @property
    def is_portion(self) -> bool:
        """True where it is a number of some things, or a percentage of them."""
        return self.holds is Limit

    @property
    def choices(self) -> dict[str, Any] | None:
        """The words that it takes, and the value that each stands for; None where it takes others."""
        if self.setting.choices is not None:
            return dict(self.setting.choices)
        return {each.value: each for each in self.holds} if issubclass(self.holds, StrEnum) else None

    @property
    def shown_default(self) -> Any:
        """The default that people read, as plain data; None where there is none to speak of."""
        if self.setting.shown is not UNSET:
            return self.setting.shown
        if self.is_required or self.default in (None, "") or (self.section and not self.is_list):
            return None
        return self.written_value(self.default)

    def written_value(self, value: Any) -> Any:
        """Return a value as it is written in argosy.yaml."""
        choices = self.choices if self.setting.choices else None
        word = next((word for word, each in (choices or {}).items() if each == value), None)
        if isinstance(value, Limit):
            return str(value) if value.is_percentage else value.amount
        return list(to_builtins(value)) if isinstance(value, tuple) else to_builtins(value) if word is None else word


@cache
def setting_fields(struct: type[Struct]) -> tuple[SettingField, ...]:
    """Return the fields of a struct that are settings; one whose setting has no name stands for the fields below it."""
    hints = get_type_hints(struct, include_extras=True)
    return tuple(
        _setting_field(each.name, hints[each.name], _default_of_struct_field(each))
        for each in struct_fields(struct)
        if get_origin(hints[each.name]) is Annotated
    )


def _default_of_struct_field(field: Any) -> Any:
    return field.default if field.default_factory is NODEFAULT else field.default_factory()


def _setting_field(attribute: str, hint: Any, default: Any) -> SettingField:
    kind, setting = get_args(hint)
    is_list, is_optional = get_origin(kind) is tuple, isinstance(kind, UnionType)
    if is_list or is_optional:
        kind = next(each for each in get_args(kind) if each is not NoneType)
    return SettingField(attribute, setting, kind, is_list, default, is_optional)


def documented_fields(struct: type[Struct], path: str = "spec") -> Iterator[tuple[str, str, SettingField]]:
    """Yield each field below a struct: its path, the sentence about it there, and the field.

    The items of a list have the path of the list with ``[]``.
    """
    yield from _documented_below(struct, path, {})


def _documented_below(struct: type[Struct], path: str, sentences: Any) -> Iterator[tuple[str, str, SettingField]]:
    for field in setting_fields(struct):
        name = field.setting.name
        if not name and field.section:
            yield from _documented_below(field.section, path, sentences)
            continue
        here = name if "." in name else f"{path}.{name}"
        yield here, sentences.get(name, field.setting.about), field
        if field.section:
            yield from _documented_below(
                field.section, f"{here}[]" if field.is_list else here, field.setting.sentences or {}
            )
