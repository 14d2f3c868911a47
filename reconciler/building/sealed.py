"""Documents that SOPS encrypted, as a build leaves them: what SOPS signed has to stay as it was signed.

kustomize writes every document anew, with its fields sorted, and the signature covers values in their order. So a
document that is otherwise unchanged gets its own text back. One of which SOPS signed the ciphertext alone is written in
the order of its file, with what the kustomization changed. Any other could not be decrypted any more: it is left out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from reconciler.source.built_files import Origin
from reconciler.source.ciphertext import APART, MARK, ciphertext_in_text, places_of_jointly_signed_documents
from render.documents import Document, document_texts, read_documents
from render.model import ciphertext_of_sops_document, is_encrypted_by_sops, is_signed_whole_by_sops
from render.words import first_few

_SIGNED = "write into the file what the kustomization changes, or encrypt it with mac_only_encrypted: true"
_GENERATED = "encrypt a manifest instead, and list it under resources"


class LeftOutOfBuild(NamedTuple):
    """An object of a build that cannot be delivered: its origin, the fault and a hint."""

    origin: Origin
    message: str
    hint: str


class SealedDocument(NamedTuple):
    """A document that SOPS encrypted, as it stands in a file; ``is_shared``: others there have the same signature."""

    value: Mapping[str, Any]
    text: bytes
    origin: Origin
    is_shared: bool = False


class Unsealed(NamedTuple):
    """Documents of a build with the texts that SOPS signed, and those that are left out."""

    texts: tuple[bytes, ...]
    origins: tuple[Origin, ...]
    left_out: tuple[LeftOutOfBuild, ...]


def sealed_documents(files: Mapping[str, bytes]) -> dict[str, SealedDocument]:
    """Return the documents of files that SOPS encrypted, by their signature."""
    found = {}
    for path, content in files.items():
        if MARK not in content:
            continue
        documents = read_documents(content)[0]
        shared = places_of_jointly_signed_documents([(each.value, (path, each.line)) for each in documents])
        for place, (document, text) in enumerate(zip(documents, document_texts(content), strict=True)):
            if isinstance(document.value, dict) and is_encrypted_by_sops(document.value):
                mac = str(document.value["sops"].get("mac"))
                origin = Origin(path, document.line)
                found[mac] = SealedDocument(document.value, text, origin, place in shared)
    return found


def documents_with_signed_texts(
    output: bytes, documents: Iterable[Document], origins: Iterable[Origin], sealed: Mapping[str, SealedDocument]
) -> Unsealed:
    """Return the documents of a build, those that SOPS encrypted with the text that it signed."""
    texts, kept, left_out = [], [], []
    for document, written, origin in zip(documents, document_texts(output), origins, strict=False):
        text, fault = _text_of_document(document, written, sealed)
        if fault is None:
            texts.append(text)
            kept.append(origin)
        else:
            left_out.append(LeftOutOfBuild(origin, *fault))
    return Unsealed(tuple(texts), tuple(kept), tuple(left_out))


def _text_of_document(
    document: Document, text: bytes, sealed: Mapping[str, SealedDocument]
) -> tuple[bytes, tuple[str, str] | None]:
    """Return the text of a document, or why it is left out."""
    value = document.value
    if not isinstance(value, dict) or not is_encrypted_by_sops(value):
        keys = list(_keys_of_encrypted_files(value))
        if keys:
            return b"", (
                f"{_name_of_object(value)} has a file that SOPS encrypted, and nobody decrypts: {first_few(keys)}",
                _GENERATED,
            )
        return text, None
    found = sealed.get(str(value["sops"].get("mac")))
    if found is None:
        return text, None
    return _signed_text_or_refusal(value, found)


def _signed_text_or_refusal(value: Mapping[str, Any], found: SealedDocument) -> tuple[bytes, tuple[str, str] | None]:
    """Return the text of a document that SOPS encrypted and signed, or why it is left out."""
    if found.is_shared:
        message = f"{_name_of_object(value)} is signed by SOPS together with other documents of {found.origin.path}"
        return b"", (f"{message}, and cannot be decrypted without them", APART)
    if found.value == value:
        return found.text, None
    ordered = _value_with_keys_in_order_of(value, found.value)
    if not is_signed_whole_by_sops(value) and ciphertext_of_sops_document(ordered) == ciphertext_of_sops_document(
        found.value
    ):
        return json.dumps(ordered, ensure_ascii=False).encode(), None
    changed = first_few(sorted(_changed_paths(found.value, value, "")))
    return b"", (f"{_name_of_object(value)} is signed by SOPS, and the build changes {changed}", _SIGNED)


def _value_with_keys_in_order_of(value: Any, like: Any) -> Any:
    """Return a value with its keys in the order that another one has; further keys come last."""
    if isinstance(value, dict) and isinstance(like, dict):
        keys = [key for key in like if key in value]
        return {
            key: _value_with_keys_in_order_of(value[key], like.get(key))
            for key in (*keys, *(key for key in value if key not in like))
        }
    if isinstance(value, list) and isinstance(like, list):
        others = [*like, *([None] * max(0, len(value) - len(like)))]
        return [_value_with_keys_in_order_of(inner, other) for inner, other in zip(value, others, strict=False)]
    return value


def _changed_paths(before: Any, after: Any, path: str) -> Iterator[str]:
    """Yield the paths of the fields that differ, and no value."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in before.keys() | after.keys():
            if before.get(key) != after.get(key) or (key in before) != (key in after):
                yield from _changed_paths(before.get(key), after.get(key), f"{path}.{key}".removeprefix("."))
    elif before != after:
        yield path


def _keys_of_encrypted_files(value: Any) -> Iterator[str]:
    """Yield the keys of a Secret or ConfigMap whose values are files that SOPS encrypted as a whole."""
    if not isinstance(value, dict) or value.get("kind") not in ("Secret", "ConfigMap"):
        return
    for key in ("data", "stringData", "binaryData"):
        part = value.get(key)
        for name, text in part.items() if isinstance(part, dict) else ():
            if isinstance(text, str) and ciphertext_in_text(text):
                yield f"{key}.{name}"


def _name_of_object(value: Mapping[str, Any]) -> str:
    metadata = value.get("metadata")
    return f"{value.get('kind')} {metadata.get('name') if isinstance(metadata, dict) else ''}"
