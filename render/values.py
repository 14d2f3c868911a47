"""Immutable values of which some fields are for nobody's eyes, or say nothing of what the value is."""

from typing import ClassVar

from msgspec import Struct


class DiscreetStruct(Struct, frozen=True):
    """An immutable value whose repr leaves fields out.

    A repr ends in logs and in the message of a failed test: credentials and whole manifests do not belong there.
    """

    UNSHOWN: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in self.UNSHOWN)
        return f"{type(self).__name__}({', '.join(shown)})"


class SelectiveStruct(DiscreetStruct, frozen=True):
    """An immutable value that is equal to another whatever some of their fields hold.

    A field that only says where a value came from, or how more of it is read, does not make two values different.
    """

    UNCOMPARED: ClassVar[tuple[str, ...]] = ()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SelectiveStruct) or type(other) is not type(self):
            return NotImplemented
        return self._compared_values() == other._compared_values()

    def __hash__(self) -> int:
        return hash(self._compared_values())

    def _compared_values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__struct_fields__ if name not in self.UNCOMPARED)
