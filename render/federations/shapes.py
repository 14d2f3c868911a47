"""Shapes of documents: one of another shape is refused before anything is made of it."""

from collections.abc import Callable
from typing import Any

from render.model import Manifest

from .decoding import WrongShape, sequence, struct, text

Read = Callable[[Any, str], object]
"""Reads a value, given with the name of its field; WrongShape for a wrong one."""
Shape = Callable[[Manifest], object]
"""Reads a whole document; WrongShape for a wrong one."""


def texts(plain: Any, what: str) -> object:
    """Read a list of texts."""
    return sequence(plain, what, text)


def list_of(read: Read) -> Read:
    """Return what reads a list without null in it."""

    def read_entry(plain: Any, what: str) -> object:
        if plain is None:
            raise WrongShape(f"{what} is null")
        return read(plain, what)

    return lambda plain, what: sequence(plain, what, read_entry)


def map_of(read: Read) -> Read:
    """Return what reads an object whose values are alike."""
    return lambda plain, what: [read(value, f"{what}[{key}]") for key, value in struct(plain, what).items()]


def fields(**reads: Read) -> Read:
    """Return what reads an object with these fields; it may have others."""

    def read(plain: Any, what: str) -> object:
        found = struct(plain, what)
        return [each(found.get(name), f"{what}.{name}") for name, each in reads.items()]

    return read


METADATA = fields(name=text, namespace=text, labels=map_of(text), annotations=map_of(text), finalizers=texts)


def check_metadata(manifest: Manifest) -> None:
    """Raise WrongShape for a document without a name, or whose metadata is no object of Kubernetes'."""
    text(manifest.get("kind"), "kind")
    text(manifest.get("apiVersion"), "apiVersion")
    METADATA(manifest.get("metadata"), "metadata")
    if not (manifest.get("metadata") or {}).get("name"):
        raise WrongShape("metadata.name is missing")


def document(spec: Read | None = None, status: Read | None = None) -> Shape:
    """Return the shape of an object of Kubernetes' whose spec and status, where they are given, are read so."""

    def read(manifest: Manifest) -> None:
        check_metadata(manifest)
        if spec is not None:
            spec(manifest.get("spec"), "spec")
        if status is not None:
            status(manifest.get("status"), "status")

    return read
