"""The settings of two fleets compared: which are others, and which of these changes take a person to accept them.

Whoever may change the source may change what is rendered of it. A setting that names something outside of the
repository - another repository, a cluster, a file of the machine, a key - or that limits what a change may do is in
other hands: it counts as the last rendered source says, until a person accepts another value.

1. ``SETTINGS`` has a row for each field, made of what its setting says: its reach, and its value in a Fleet; in a
   list, by the name of each item;
2. ``setting_changes`` compares two Fleets, row by row;
3. a change of an outward setting waits to be accepted, one of a limit only where the new value is the weaker one, and
   members are judged by the way in which they are reached (``_members_with_changed_ways``).
"""

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from render.settings.fleet import Fleet

from .model import Manifest
from .settings.clusters import OTHERS
from .settings.fields import SettingField, setting_fields
from .settings.setting import ReachRule, SettingReach

CLUSTERS = "spec.clusters[]"
_ABSENT = None


class SettingSubject(StrEnum):
    """The subject of a setting: a field of argosy.yaml, where that file stands, a webhook, or the place of a Source."""

    FIELD = "Field"
    FOLDER = "Folder"
    WEBHOOK = "Webhook"
    SOURCE = "Source"


class ComparedSetting(NamedTuple):
    """A field of argosy.yaml that holds a value: the value in a Fleet, and its reach.

    In a list, the value is a mapping of values by the name of the item.
    """

    value: Callable[[Fleet], Any]
    reach: ReachRule


class SettingChange(Struct, frozen=True, kw_only=True):
    """A setting that is another one: its field, and the value before and after (None: there was, or is, none).

    ``waits``: it takes a person to accept it. ``subject`` says what it is a setting of.
    """

    field: str
    before: Any
    after: Any
    reach: SettingReach = SettingReach.OUTSIDE
    waits: bool = False
    subject: SettingSubject = SettingSubject.FIELD

    def __str__(self) -> str:
        return f"{self.field}: {_value_as_people_write_it(self.before)} -> {_value_as_people_write_it(self.after)}"


def _value_as_people_write_it(value: Any) -> str:
    """Return a value of a setting as people write it."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_value_as_people_write_it, value)) + "]"
    return str(value)


def _compared_settings_below(
    struct: type[Struct], path: str, found: Callable[[Fleet], Any]
) -> Iterator[tuple[str, ComparedSetting]]:
    """Yield the fields below a section; ``found`` returns it from a Fleet, or None where it is left out."""
    for field in setting_fields(struct):
        name = field.setting.name
        here = path if not name else name if "." in name else f"{path}.{name}"
        if field.section is None or field.setting.compared:
            yield here, ComparedSetting(_reader_of_setting(found, field), field.setting.reach)
        elif field.is_list:
            items = _reader_of_list_items(found, field)
            for below, row in _compared_settings_below(field.section, f"{here}[]", lambda item: item):
                yield below, ComparedSetting(_reader_of_value_of_each_item(items, row.value), row.reach)
        else:
            yield from _compared_settings_below(field.section, here, _reader_of_attribute(found, field.attribute))


def _reader_of_attribute(found: Callable[[Any], Any], attribute: str) -> Callable[[Any], Any]:
    return lambda fleet: None if (struct := found(fleet)) is None else getattr(struct, attribute)


def _reader_of_setting(found: Callable[[Any], Any], field: SettingField) -> Callable[[Any], Any]:
    """Return the function that returns what is compared: the value itself, or the word that people write for it."""
    setting, attribute = field.setting, field.attribute

    def value(fleet: Any) -> Any:
        struct = found(fleet)
        if struct is None:
            return setting.absent
        if setting.compared is not None:
            return setting.compared(struct)
        return field.written_value(getattr(struct, attribute)) if setting.choices else getattr(struct, attribute)

    return value


def _reader_of_list_items(found: Callable[[Any], Any], field: SettingField) -> Callable[[Any], Mapping[str, Any]]:
    """Return the function that returns the items of a list by their names, or by their numbers."""
    key = field.setting.key

    def items(fleet: Any) -> Mapping[str, Any]:
        listed = getattr(found(fleet), field.attribute)
        return {str(number) if key is None else key(each): each for number, each in enumerate(listed)}

    return items


def _reader_of_value_of_each_item(
    items: Callable[[Any], Mapping[str, Any]], value: Callable[[Any], Any]
) -> Callable[[Any], Mapping[str, Any]]:
    return lambda fleet: {name: value(each) for name, each in items(fleet).items()}


SETTINGS: Mapping[str, ComparedSetting] = dict(_compared_settings_below(Fleet, "spec", lambda fleet: fleet))
"""Every field of argosy.yaml that holds a value, in the order in which they are documented."""


def compared_setting_of_field(field: str) -> ComparedSetting | None:
    """Return the row of a field, or of the list it is a part of; None where it is none that holds a value."""
    return SETTINGS.get(field) or next((row for name, row in SETTINGS.items() if field.startswith(f"{name}[]")), None)


def setting_changes(before: Fleet, after: Fleet) -> tuple[SettingChange, ...]:
    """Return the settings that are others afterwards, in the order of the table."""
    return tuple(_changes_of_settings(before, after))


def _changes_of_settings(before: Fleet, after: Fleet) -> Iterator[SettingChange]:
    members = _members_with_changed_ways(before, after)
    for field, setting in SETTINGS.items():
        old, new = setting.value(before), setting.value(after)
        if old == new:
            continue
        if not isinstance(old, dict):
            waits = _must_wait_for_acceptance(setting, old, new)
            yield SettingChange(field=field, before=old, after=new, reach=setting.reach.kind, waits=waits)
            continue
        for name in [*old, *(name for name in new if name not in old)]:
            one, other = old.get(name, _ABSENT), new.get(name, _ABSENT)
            if one == other or (not one and not other):
                continue
            waits = name in members if field.startswith(CLUSTERS) else _must_wait_for_acceptance(setting, one, other)
            place = field.replace("[]", f"[{name}]", 1)
            yield SettingChange(
                field=place, before=one, after=other, waits=waits and setting.reach.kind is not SettingReach.SOURCE
            )


def _must_wait_for_acceptance(setting: ComparedSetting, before: Any, after: Any) -> bool:
    """Say whether it takes a person to accept a value; an item of a list that goes reaches nothing any more."""
    if setting.reach.is_weaker is not None:
        return setting.reach.is_weaker(before, after)
    return setting.reach.kind is SettingReach.OUTSIDE and after is not _ABSENT


Way = tuple[str, str]
"""A kubeconfig file ("": the usual one), and a context in it."""


def _way_to_member(fleet: Fleet, member: str) -> Way | None:
    """Return the way to a member; None where nothing says one. A folder of kubeconfigs is a setting of its own."""
    found = {access.name: access for access in fleet.clusters}
    access = found.get(member) or found.get(OTHERS)
    if access is None:
        return None
    return access.kubeconfig, (access.context if access.name == member else "") or member


def _members_with_changed_ways(before: Fleet, after: Fleet) -> frozenset[str]:
    """Return the members whose way is another one, or that are reached anew and not as all others are.

    One that joins under the context named like it, in a kubeconfig that is in use, is reached as others are; and so is
    one that takes the way of a member that is listed no more, as a rename has it, unless others are meant by ``*``.
    """
    listed = [{access.name for access in fleet.clusters} for fleet in (before, after)]
    names = listed[0] | listed[1]
    left = {_way_to_member(before, name) for name in listed[0] - listed[1] if OTHERS not in names}
    in_use = {access.kubeconfig for access in before.clusters}
    waiting = set()
    for name in names:
        old, new = _way_to_member(before, name), _way_to_member(after, name)
        if new is None or new == old or (old is None and new in left):
            continue
        if old is not None or new[0] not in in_use or new[1] != name:
            waiting.add(name)
    return frozenset(waiting)


def is_recorded_at_once(change: SettingChange) -> bool:
    """Say whether a change is recorded at once: one that had to wait, or one of a limit, which counts from then on."""
    return change.waits or change.reach is SettingReach.GUARD


def fleet_with_stricter_limits_of(fleet: Fleet, other: Fleet) -> Fleet:
    """Return a fleet judged by the limits of another where its own are weaker: of what it may hold, and may do.

    The limits that decide what is rendered are left as they are: a difference shows what comes of them.
    """
    weaker = {each.field.split(".")[1] for each in setting_changes(other, fleet) if each.waits}
    return replace(
        fleet,
        source=replace(fleet.source, is_strict=fleet.source.is_strict or other.source.is_strict),
        secrets=other.secrets if "secrets" in weaker else fleet.secrets,
        validation=other.validation if "validation" in weaker else fleet.validation,
        removal_guard=other.removal_guard if "removalGuard" in weaker else fleet.removal_guard,
        movement_guard=other.movement_guard if "movementGuard" in weaker else fleet.movement_guard,
        cost_guard=other.cost_guard if "maxCostIncrease" in weaker else fleet.cost_guard,
    )


def plain_setting_change(change: SettingChange) -> Manifest:
    """Return a change of a setting as plain data."""
    return {
        "field": change.field,
        "before": None if change.before is None else _value_as_people_write_it(change.before),
        "after": None if change.after is None else _value_as_people_write_it(change.after),
        "waits": change.waits,
    }
