"""Manifests that share most of their parts, emitted together: what they share is written once.

Overrides copy only the mappings and lists on the way to what they change. So the manifests of a template's classes of
clusters hold mostly the very same objects, and the text of an object that was emitted before is used again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .emitting import as_emitted, metadata_keys, scalar, top_keys
from .holes import Emitted
from .texts import INLINE, KEYS, KEYS_OF_SCALARS, block


def emit_alike(values: Sequence[Mapping[str, Any]]) -> list[Emitted]:
    """Return what ``emit_spliced`` returns for each of the manifests, none of which may change meanwhile."""
    parts = _SharedParts()
    return [as_emitted(parts.document(value)) for value in values]


class _SharedParts:
    """The texts of mappings and lists by identity and indentation; whoever made it keeps them alive."""

    def __init__(self) -> None:
        self._texts: dict[tuple[int, int], str] = {}

    def document(self, manifest: Mapping[str, Any]) -> str:
        pieces: list[str] = []
        for key in top_keys(manifest):
            child = manifest[key]
            if key == "metadata" and type(child) is dict and child:
                pieces += ("\n", "metadata:")
                self._mapping(pieces, child, metadata_keys(child), "\n  ")
            else:
                self._mapping(pieces, manifest, (key,), "\n")
        pieces.append("\n")
        return "".join(pieces)

    def _text(self, container: Any, pad: str) -> str:
        place = (id(container), len(pad))
        found = self._texts.get(place)
        if found is None:
            pieces: list[str] = []
            if type(container) is dict:
                self._mapping(pieces, container, sorted(container), pad)
            else:
                self._sequence(pieces, container, pad)
            found = self._texts[place] = "".join(pieces)
        return found

    def _mapping(self, pieces: list[str], mapping: Mapping[str, Any], keys: Iterable[str], pad: str) -> None:
        append = pieces.append
        for key in keys:
            value = mapping[key]
            kind = type(value)
            append(pad)
            if kind is str:
                append(KEYS_OF_SCALARS[key])
                append(INLINE[value] or block(value, f"{pad}  "))
            elif (kind is dict or kind is list) and value:
                append(KEYS[key])
                append(self._text(value, f"{pad}  " if kind is dict else pad))
            else:
                append(KEYS_OF_SCALARS[key])
                append(scalar(value))

    def _sequence(self, pieces: list[str], items: list[Any], pad: str) -> None:
        append = pieces.append
        dash, deeper = f"{pad}- ", f"{pad}  "
        for item in items:
            kind = type(item)
            append(dash)
            if kind is str:
                append(INLINE[item] or block(item, deeper))
            elif (kind is dict or kind is list) and item:
                append(self._text(item, deeper)[len(deeper) :])
            else:
                append(scalar(item))
