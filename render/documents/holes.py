"""Integers that are filled in later: a manifest is emitted once, and its replicas are spliced into the bytes."""

from typing import Any, NamedTuple, Self


class Hole(int):
    """An integer of a manifest that is not known yet; two holes are equal if their names are."""

    name: str

    def __new__(cls, name: str) -> Self:
        """Return the hole of that name."""
        hole = super().__new__(cls)
        hole.name = name
        return hole

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hole) and self.name == other.name

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((Hole, self.name))

    def __repr__(self) -> str:
        return f"Hole({self.name!r})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.name,)


class Emitted(NamedTuple):
    """The bytes around the holes of a value: ``segments[0] + b"%d" % first + segments[1] + ...``."""

    segments: tuple[bytes, ...]
    holes: tuple[str, ...]


def copy_value(value: Any) -> Any:
    """Return a deep copy of plain data that the caller may change. Scalars and holes are shared."""
    kind = type(value)
    if kind is dict:
        return {key: child if type(child) in _SCALARS else copy_value(child) for key, child in value.items()}
    if kind is list:
        return [child if type(child) in _SCALARS else copy_value(child) for child in value]
    return value


def with_number(value: Any, number: int) -> Any:
    """Return a deep copy of plain data with a number in place of every hole."""
    kind = type(value)
    if kind is dict:
        return {key: with_number(child, number) for key, child in value.items()}
    if kind is list:
        return [with_number(child, number) for child in value]
    return number if kind is Hole else value


_SCALARS = frozenset((str, int, bool, float, type(None), Hole))
