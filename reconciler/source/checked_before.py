"""Manifests that earlier runs checked, known by their blobs and places there, so that none is checked again."""

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from .built_files import BuiltFile
from .manifests import LocatedManifest


class CheckedManifests(Protocol):
    """Results of checks without any problem or warning: of a template that it is right, of others what is admitted."""

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, Any]:
        """Return what is known."""

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        """Remember what was found."""


class NothingChecked:
    """The results of no earlier run."""

    def get_many(self, keys: Iterable[bytes]) -> Mapping[bytes, Any]:  # noqa: ARG002 - none of these is known
        """Return nothing."""
        return {}

    def put_many(self, values: Mapping[bytes, Any]) -> None:
        """Remember nothing."""


NOTHING_CHECKED = NothingChecked()


def memory_key_of_manifest(place: LocatedManifest, by: str = "") -> bytes:
    """Return what a manifest is known by, and ``by`` whatever else decides; nothing for one that was built."""
    if isinstance(place.file, BuiltFile):
        return b""
    return place.file.id + place.number.to_bytes(4, "big") + by.encode()
