"""The declarative schema of a kind: a node for each field with its type and bounds, as in the CRDs of Karmada.

A ``Record`` names its fields; a name ending in ``!`` is required. ``keep`` marks a number or flag behind a pointer: it
stays where other empty values of optional fields vanish, as they do when Karmada's webhooks write the object.
"""

from collections.abc import Mapping
from typing import NamedTuple

INT32 = 32
INT64 = 64


class Text(NamedTuple):
    """A string; with ``choices`` one of them. Lengths count characters. A pattern would be a rule, not schema.

    ``former`` are words of earlier versions, each with the choice that it is taken as.
    """

    choices: tuple[str, ...] = ()
    default: str | None = None
    min_length: int = 0
    max_length: int = 0
    former: tuple[tuple[str, str], ...] = ()


class Whole(NamedTuple):
    """A whole number of so many bits."""

    bits: int = INT64
    minimum: int | None = None
    default: int | None = None
    keep: bool = False
    maximum: int | None = None


class Flag(NamedTuple):
    """A boolean."""

    keep: bool = False
    default: bool | None = None


class Quantity(NamedTuple):
    """An amount such as ``500m``: a string or a number."""


class Portion(NamedTuple):
    """A number of some things, or a percentage of them such as ``25%``; neither is below ``minimum``."""

    minimum: int = 0


class DecimalNumber(NamedTuple):
    """A decimal number that is not negative, such as ``0.031``: a number, or a string where it has many digits."""


class Anything(NamedTuple):
    """A value of any type, taken as it is."""


class ListOf(NamedTuple):
    """A list."""

    items: "Node"
    min_items: int = 0


class MapOf(NamedTuple):
    """A map with keys of the author's choice."""

    values: "Node"


class Record(NamedTuple):
    """An object with the fields named."""

    fields: Mapping[str, "Node"]


Node = Text | Whole | Flag | Quantity | Portion | DecimalNumber | Anything | ListOf | MapOf | Record
