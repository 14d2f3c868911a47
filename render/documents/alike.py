"""Manifests that share most of their parts, emitted together: what they share is written once.

Overrides copy only the mappings and lists on the way to what they change. So the manifests of a template's classes of
clusters hold mostly the very same objects, and the text of an object that was emitted before is used again.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .emitting import as_emitted, metadata_keys, scalar, top_keys
from .holes import Emitted
from .texts import KEYS, TEXTS, block_body


def emit_alike(values: Sequence[Mapping[str, Any]]) -> list[Emitted]:
    """Return what ``emit_spliced`` returns for each of the manifests, none of which may change meanwhile."""
    parts = _SharedParts()
    return [as_emitted(parts.document(value)) for value in values]


class _SharedParts:
    """The texts of mappings and lists by identity and indentation; whoever made it keeps them alive."""

    def __init__(self) -> None:
        self._texts: dict[tuple[int, int], str] = {}

    def document(self, manifest: Mapping[str, Any]) -> str:
        lines: list[str] = []
        for key in top_keys(manifest):
            child = manifest[key]
            if key == "metadata" and type(child) is dict and child:
                lines.append("metadata:\n")
                self._mapping(lines, child, metadata_keys(child), "  ")
            else:
                self._mapping(lines, manifest, (key,), "")
        return "".join(lines)

    def _text(self, container: Any, pad: str) -> str:
        place = (id(container), len(pad))
        found = self._texts.get(place)
        if found is None:
            lines: list[str] = []
            if type(container) is dict:
                self._mapping(lines, container, sorted(container), pad)
            else:
                self._sequence(lines, container, pad)
            found = self._texts[place] = "".join(lines)
        return found

    def _mapping(self, lines: list[str], mapping: Mapping[str, Any], keys: Iterable[str], pad: str) -> None:
        append = lines.append
        for key in keys:
            value = mapping[key]
            kind = type(value)
            if kind is str:
                text = TEXTS[value]
                append(f"{pad}{KEYS[key]} {text}\n")
                if text[0] == "|":
                    append(f"{block_body(value, pad + '  ')}\n")
            elif (kind is dict or kind is list) and value:
                append(f"{pad}{KEYS[key]}\n")
                append(self._text(value, f"{pad}  " if kind is dict else pad))
            else:
                append(f"{pad}{KEYS[key]} {scalar(value)}\n")

    def _sequence(self, lines: list[str], items: list[Any], pad: str) -> None:
        append = lines.append
        deeper = f"{pad}  "
        for item in items:
            kind = type(item)
            if kind is str:
                text = TEXTS[item]
                append(f"{pad}- {text}\n")
                if text[0] == "|":
                    append(f"{block_body(item, deeper)}\n")
            elif (kind is dict or kind is list) and item:
                append(f"{pad}- {self._text(item, deeper)[len(deeper) :]}")
            else:
                append(f"{pad}- {scalar(item)}\n")
