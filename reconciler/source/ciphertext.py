"""Ciphertext of SOPS that nobody would decrypt, found where documents are read: the one place that all of them pass.

An object that is delivered as it stands is decrypted right before it is applied. A list, or several documents that have
one signature, cannot be decrypted object by object; what is made of encrypted documents, and what is written without
the ``sops`` block, would hand on ciphertext as a value. What is read, and not delivered, is never decrypted.
"""

import base64
import binascii
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from render.expressions import lazy_expression
from render.model import is_encrypted_by_sops
from render.words import counted_noun

MARK = b"ENC[AES256_GCM,"
"""The beginning of each value that SOPS encrypts."""


def _base64_of_mark_behind(skipped: int) -> bytes:
    """Return what base64 makes of the mark behind some bytes, as far as it does not depend on its neighbours."""
    text = base64.b64encode(b"\0" * skipped + MARK)
    return text[(8 * skipped + 5) // 6 : 8 * (skipped + len(MARK)) // 6]


_MARKS = (MARK, *map(_base64_of_mark_behind, range(3)))
_TOKEN = lazy_expression(r"ENC\[AES256_GCM,data:[A-Za-z0-9+/=]*,iv:", re.ASCII)
_METADATA = lazy_expression(r"""(?:^|[{,])[^\S\n]*\[?["']?sops(?:_mac\s*=|["']?\s*:|\])""", re.MULTILINE)
"""The block that tells how a file is decrypted, in YAML, JSON, INI or a file of variables."""
_NAME = lazy_expression(r"[A-Za-z_][A-Za-z0-9_-]*", re.ASCII)
APART = "encrypt each object in a file of its own"
BESIDE = "encrypt a Secret as a file of its own, and refer to it by its name: only what is delivered is decrypted"


def may_hold_ciphertext(content: bytes) -> bool:
    """Say whether a file has the beginning of an encrypted value, which few files do."""
    return any(mark in content for mark in _MARKS)


class Misplaced(NamedTuple):
    """Ciphertext where nobody decrypts it: the field, what is wrong with it, and a hint."""

    field: str
    message: str
    hint: str


def first_misplaced_ciphertext(manifest: Any, *, is_made: bool) -> Misplaced | None:
    """Return the first field of a document without a ``sops`` block that holds ciphertext, None without one.

    ``is_made``: a tool made the document. A file that SOPS encrypted may stand in a document that a person wrote, for
    a program in the cluster that decrypts it; nothing that a tool makes is meant so.
    """
    fields = list(_fields_with_ciphertext(manifest, "", is_made=is_made))
    if not fields:
        return None
    more = f", and so {'does' if len(fields) == 2 else 'do'} {counted_noun(len(fields) - 1, 'more field')}"
    said = more if fields[1:] else ""
    if is_made:
        return Misplaced(fields[0], f"holds ciphertext of SOPS as a value, which nobody decrypts{said}", BESIDE)
    message = f"holds ciphertext of SOPS, and no sops block tells how to decrypt it{said}"
    return Misplaced(fields[0], message, "encrypt the file anew: sops encrypt FILE")


def _fields_with_ciphertext(value: Any, path: str, *, is_made: bool) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            step = f".{key}" if _NAME.fullmatch(str(key)) else f"[{key}]"
            yield from _fields_with_ciphertext(inner, f"{path}{step}".removeprefix("."), is_made=is_made)
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _fields_with_ciphertext(inner, f"{path}[{number}]", is_made=is_made)
    elif isinstance(value, str) and (text := ciphertext_in_text(value)) and (is_made or not _METADATA.search(text)):
        yield path


def ciphertext_in_text(text: str) -> str:
    """Return a text that has ciphertext, or what it stands for in base64; "" for any other."""
    if not may_hold_ciphertext(text.encode("utf-8", "surrogatepass")):
        return ""
    if _TOKEN.search(text):
        return text
    try:
        decoded = base64.b64decode(text.encode("utf-8", "surrogatepass"), validate=False).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return ""
    return decoded if _TOKEN.search(decoded) else ""


def fault_of_ciphertext(name: str, content: bytes) -> str:
    """Return why a file or a text cannot be read as values; "" for one that can."""
    return f"{name} holds ciphertext of SOPS, and nothing decrypts what is read" if may_hold_ciphertext(content) else ""


def places_of_jointly_signed_documents(documents: Sequence[tuple[Any, tuple[str, int]]]) -> frozenset[int]:
    """Return the places, among documents, of those that SOPS signed together: none can be decrypted without the others.

    Each comes with the file and the line, or the number, that it stands at: one that a build uses twice is one.
    """
    signed = {
        place: (origin[0], str(value["sops"].get("mac")))
        for place, (value, origin) in enumerate(documents)
        if isinstance(value, dict) and is_encrypted_by_sops(value)
    }
    places = {(signature, documents[place][1]) for place, signature in signed.items()}
    counts = Counter(signature for signature, _ in places)
    return frozenset(place for place, signature in signed.items() if counts[signature] > 1)
