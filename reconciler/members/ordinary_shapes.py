"""The shapes of ordinary objects and lists, checked by the decoder itself as it goes over the bytes of an answer.

It is many times faster than a walk over decoded values, and only says yes: whatever it does not take for ordinary is
looked at again by those who find the fault and name its place (``shapes``).
"""

from contextlib import suppress
from typing import Annotated, Any

from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field
from msgspec.json import decode

_NonemptyText = Annotated[str, Meta(min_length=1)]


class _Anything(Struct):
    """An object of whatever fields."""


class _FieldsOfManager(Struct, rename="camel"):
    manager: str | None = None
    operation: str | None = None
    api_version: str | None = None
    subresource: str | None = None
    time: str | None = None
    fields_type: str | None = None
    fields_v1: _Anything | None = field(default=None, name="fieldsV1")


class _Metadata(Struct, rename="camel"):
    name: _NonemptyText
    namespace: str | None = None
    uid: str | None = None
    resource_version: str | None = None
    creation_timestamp: str | None = None
    deletion_timestamp: str | None = None
    generation: int | None = None
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None
    finalizers: list[str | None] | None = None
    owner_references: list[_Anything | None] | None = None
    managed_fields: list[_FieldsOfManager] | None = None


class OrdinaryObject(Struct, rename="camel"):
    """An object of the API as any kind has it."""

    metadata: _Metadata
    api_version: str | None = None
    kind: str | None = None


class _ListMetadata(Struct):
    token: str | None = field(default=None, name="continue")


class OrdinaryList(Struct):
    """A list of such objects."""

    items: list[OrdinaryObject] | None
    metadata: _ListMetadata | None = None


class _Items(Struct):
    items: list[Raw] | UnsetType = UNSET


def has_shape(content: bytes, shape: type[OrdinaryObject | OrdinaryList]) -> bool:
    """Say whether an answer has this shape; one that has not may be well all the same."""
    with suppress(ValueError, RecursionError):
        decode(content, type=shape)
        return True
    return False


def brackets_in_items(content: bytes) -> list[int]:
    """Return how many brackets are opened in each item of a list, which is nested no deeper; none for anything else."""
    with suppress(ValueError, RecursionError):
        items: Any = decode(content, type=_Items).items
        return [] if items is UNSET else [count_of_brackets(bytes(item)) for item in items]
    return []


def count_of_brackets(content: bytes) -> int:
    """Return how many brackets are opened in a text of JSON, those in its texts included."""
    return content.count(b"{") + content.count(b"[")
