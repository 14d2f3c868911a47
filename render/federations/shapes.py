"""Shapes of documents: one of another shape is refused before anything is made of it."""

from collections.abc import Callable
from typing import Any

from render.model import Manifest

from .decoding import WrongShape, decode_list, decode_object, decode_text

Read = Callable[[Any, str], object]
"""Reads a value, given with the name of its field; WrongShape for a wrong one."""
Shape = Callable[[Manifest], object]
"""Reads a whole document; WrongShape for a wrong one."""


def read_texts(plain: Any, what: str) -> object:
    """Read a list of texts."""
    return decode_list(plain, what, decode_text)


def reader_of_list(read: Read) -> Read:
    """Return what reads a list without null in it."""

    def read_entry(plain: Any, what: str) -> object:
        if plain is None:
            raise WrongShape(f"{what} is null")
        return read(plain, what)

    return lambda plain, what: decode_list(plain, what, read_entry)


def reader_of_map(read: Read) -> Read:
    """Return what reads an object whose values are alike."""
    return lambda plain, what: [read(value, f"{what}[{key}]") for key, value in decode_object(plain, what).items()]


def reader_of_fields(**reads: Read) -> Read:
    """Return what reads an object with these fields; it may have others."""

    def read(plain: Any, what: str) -> object:
        found = decode_object(plain, what)
        return [each(found.get(name), f"{what}.{name}") for name, each in reads.items()]

    return read


METADATA = reader_of_fields(
    name=decode_text,
    namespace=decode_text,
    labels=reader_of_map(decode_text),
    annotations=reader_of_map(decode_text),
    finalizers=read_texts,
)


def check_metadata(manifest: Manifest) -> None:
    """Raise WrongShape for a document without a name, or whose metadata is no object of Kubernetes'."""
    decode_text(manifest.get("kind"), "kind")
    decode_text(manifest.get("apiVersion"), "apiVersion")
    METADATA(manifest.get("metadata"), "metadata")
    if not (manifest.get("metadata") or {}).get("name"):
        raise WrongShape("metadata.name is missing")


def shape_of_document(spec: Read | None = None, status: Read | None = None) -> Shape:
    """Return the shape of an object of Kubernetes' whose spec and status, where they are given, are read so."""

    def read(manifest: Manifest) -> None:
        check_metadata(manifest)
        if spec is not None:
            spec(manifest.get("spec"), "spec")
        if status is not None:
            status(manifest.get("status"), "status")

    return read
