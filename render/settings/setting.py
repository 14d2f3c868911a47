"""FleetSetting: all there is to say about a field of argosy.yaml, written at the field that holds its value.

Everything that has to know the fields of argosy.yaml is made from these: its schema and its rules, and how it is read
(``render.admission.fleets``, ``render.settings.reading``), its JSON Schema and the page of ``argosy help``, the
comparison of two fleets (``render.fleet_settings``), what a test may try, and what an export to Karmada has to say. A
setting is added by writing its field.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from math import inf
from typing import Any, NamedTuple

from msgspec import UNSET, Struct


class SettingReach(StrEnum):
    """The reach of a setting: it decides what is rendered, it names something outside, or it limits changes."""

    SOURCE = "Source"
    OUTSIDE = "Outside"
    GUARD = "Guard"


class ReachRule(NamedTuple):
    """The reach of a setting, and whether a change of its value has to wait (None: where it reaches outside)."""

    kind: SettingReach
    is_weaker: Callable[[Any, Any], bool] | None = None


INSIDE = ReachRule(SettingReach.SOURCE)
OUTSIDE = ReachRule(SettingReach.OUTSIDE)
WAY = ReachRule(SettingReach.OUTSIDE, lambda _before, after: bool(after))
"""The reach of a setting that may be taken away: without it nothing outside is reached."""
WAYS = ReachRule(SettingReach.OUTSIDE, lambda before, after: not set(after) <= set(before))
"""The reach of a list of what may be reached: a change waits that adds to it."""


def reach_of_limit(is_weaker: Callable[[Any, Any], bool]) -> ReachRule:
    """Return the reach of a limit; ``is_weaker`` says of an old and a new value whether the new one allows more."""
    return ReachRule(SettingReach.GUARD, is_weaker)


def reach_of_switch(weak: Any) -> ReachRule:
    """Return the reach of a switch of which one value is the weak one."""
    return reach_of_limit(lambda before, after: after == weak != before)


def _allows_more(before: int | None, after: int | None) -> bool:
    return (inf if after is None else after) > (inf if before is None else before)


MOST = reach_of_limit(_allows_more)
"""The reach of a number that is a limit from above; None is no limit."""
LEAST = reach_of_limit(lambda before, after: after < before)
"""The reach of a number that is a limit from below."""
ALL_OF = reach_of_limit(lambda before, after: not set(before) <= set(after))
"""The reach of a list that is a limit: a change waits that takes something out of it."""


class SettingFault(NamedTuple):
    """A mistake in a value: where in it ("": the value itself), what it is, a hint, and the kind of problem."""

    path: str
    message: str
    hint: str = ""
    kind: str = "Invalid"


Faults = Callable[[Any], Iterable[SettingFault]]
"""Return the mistakes in the value of a setting, as it stands in an admitted document."""

NOT_DECIDED_BY_IT = ""
"""There is nothing to say in an export of a setting that decides neither what goes where, nor how long it stays."""


class FleetSetting(Struct, frozen=True):
    """A field of argosy.yaml: its name there, and a sentence about it.

    ``in_karmada``: what Karmada has instead, for ``argosy export karmada``, with all that is below it (None: what the
    field above it says; ``NOT_DECIDED_BY_IT`` where there is nothing to say).
    ``karmada``: its value with ``compatibility: Karmada``, where that is not the default.
    ``reach``: whose word it takes to change it. ``is_tried``: a PolicyTest may set it.
    ``choices``: the words for it, and the value of each, where these are not its own.
    ``shown``: the default that people read, where it is not the one of the field.
    ``is_default_empty``: an empty list means the default, too, as an empty text does wherever one may be left out.
    ``absent``: the value that a comparison shows where the section is left out. ``compared``: what is compared, made of
    the struct that the field is in. ``key``: the name of an item of the list, by which two lists are compared.
    ``sentences``: what there is to say here of the fields below, by their names, where that is not as in their struct.
    ``minimum`` is the least number, ``min_length`` the least length of a text, or of each text in a list.
    """

    name: str
    about: str
    in_karmada: str | None = None
    karmada: Any = UNSET
    reach: ReachRule = INSIDE
    is_tried: bool = False
    choices: Mapping[str, Any] | None = None
    shown: Any = UNSET
    is_default_empty: bool = False
    absent: Any = None
    compared: Callable[[Any], Any] | None = None
    key: Callable[[Any], str] | None = None
    sentences: Mapping[str, str] | None = None
    minimum: int = 0
    min_length: int = 0
    faults: Faults = lambda _value: ()


def faults_of_each_value(fault_of: Callable[[str], str], hint: str) -> Faults:
    """Return the check of a list whose values are looked at one by one; ``hint`` says what to write."""
    return lambda values: (
        SettingFault(f"[{index}]", fault, hint) for index, value in enumerate(values) if (fault := fault_of(value))
    )


def faults_of_percentage(value: int) -> Iterator[SettingFault]:
    """Yield the fault of a percentage beyond 100."""
    if value > 100:
        yield SettingFault("", f"must be at most 100, not {value}", "write a percentage")


def faults_of_duplicates(*parts: str) -> Faults:
    """Return the check of a list no two items of which may have the same values in these fields."""

    def faults(entries: Iterable[Mapping[str, Any]]) -> Iterator[SettingFault]:
        seen = set()
        for index, entry in enumerate(entries):
            identity = tuple(entry.get(part, "") for part in parts)
            if identity in seen:
                yield SettingFault(
                    f"[{index}]",
                    f"{'/'.join(filter(None, identity))} stands above",
                    "keep one of them",
                    kind="Duplicate",
                )
            seen.add(identity)

    return faults
