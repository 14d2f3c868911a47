"""Secret values of manifests, and their removal from text and reports.

Messages of API servers and webhooks quote values. What they say about a Secret is never repeated; of anything else,
quoted values and everything the manifest keeps where people put secrets (data, environment values, arguments,
annotations) are cut out before a person sees it.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Any

from render.expressions import lazy_expression
from render.words import counted_noun

HIDDEN = "(hidden)"

_LONGEST_MESSAGE = 400
_LONGEST_VALUE = 80
_SHORTEST_SECRET = 4
_SENSITIVE_KEYS = frozenset({"data", "stringData", "binaryData", "value", "args", "command", "annotations", "caBundle"})
_QUOTED_VALUE = lazy_expression(
    r"((?:Invalid|Unsupported|Duplicate) value: )(\"(?:[^\"\\]|\\.)*\"|[^\s:,{\[]+(?=[:,]|$))"
)
_STRUCTURE = lazy_expression(
    r"(?:&?value\.|&\{|parsing time \"|map\[|&?unstructured\.|\b(?:core|v1)\.\w+\{).*", re.DOTALL
)
_MASKED_PATH = lazy_expression(r"\.env(\[[^\]]*\](\.value)?)?$|last-applied-configuration|\.caBundle$")
_OPEN_IN_SECRETS = (".metadata.labels", ".type", ".immutable")


class ConcealedManifest(dict[str, Any]):
    """A manifest of any kind whose content may not be shown, for it was encrypted."""


def is_content_secret(manifest: Any) -> bool:
    """Say whether nothing of this object's content may be shown."""
    return isinstance(manifest, ConcealedManifest) or (isinstance(manifest, dict) and manifest.get("kind") == "Secret")


def values_not_to_be_repeated(manifest: Any) -> frozenset[str]:
    """Return the texts of a manifest that a message may not repeat, nor their lines, nor either of them in base64."""
    texts: set[str] = set()
    for text in _texts_in_value(manifest, inside=False):
        texts.add(text)
        texts.update(text.splitlines())
        texts.update(_texts_decoded_from_base64(text))
        texts.add(base64.b64encode(text.encode("utf-8", "surrogateescape")).decode())
    return frozenset(text for text in texts if len(text) >= _SHORTEST_SECRET)


def _texts_in_value(value: Any, *, inside: bool) -> Iterator[str]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _texts_in_value(item, inside=inside or key in _SENSITIVE_KEYS)
    elif isinstance(value, list):
        for item in value:
            yield from _texts_in_value(item, inside=inside)
    elif inside and value is not None and not isinstance(value, bool):
        yield str(value)


def _texts_decoded_from_base64(text: str) -> Iterator[str]:
    try:
        yield base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        return


def message_without_secrets(text: str, manifest: Any) -> str:
    """Return a server's message without anything the manifest keeps secret, on one line and of bounded length."""
    if is_content_secret(manifest):
        return ""
    for value in sorted(values_not_to_be_repeated(manifest), key=len, reverse=True):
        text = text.replace(value, HIDDEN)
    text = _STRUCTURE.sub(HIDDEN, _QUOTED_VALUE.sub(rf"\1{HIDDEN}", text))
    return _shortened_text(" ".join(text.split()), _LONGEST_MESSAGE)


def value_for_report(value: Any, path: str, manifest: Any) -> str:
    """Return a field's value for a report: short, and masked where secrets live."""
    if is_content_secret(manifest) and not path.startswith(_OPEN_IN_SECRETS):
        return HIDDEN
    if _MASKED_PATH.search(path):
        return HIDDEN
    if isinstance(value, dict | list):
        return f"({counted_noun(len(value), 'field' if isinstance(value, dict) else 'item')})"
    text = "null" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    return _shortened_text(text, _LONGEST_VALUE)


def _shortened_text(text: str, longest: int) -> str:
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
