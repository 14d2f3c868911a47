"""Shapes of documents: one of another shape is refused before anything is made of it."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from render.model import Manifest

from .decoding import WrongShape, sequence, struct, text
from .units import Left, Placed, refused

Read = Callable[[Any, str], object]


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


class Readable(NamedTuple):
    """Documents whose shapes are right, those that are left out for theirs, and the count of others with wrong ones."""

    documents: list[Placed]
    left: list[Left]
    others: int


def select_readable(
    documents: Iterable[Placed],
    check: Callable[[Placed], None],
    is_its: Callable[[Placed], bool] = lambda _document: True,
) -> Readable:
    """Return the documents of the right shape; of those with a wrong one, the federation's own are left out."""
    readable: list[Placed] = []
    left: list[Left] = []
    others = 0
    for each in documents:
        try:
            check(each)
        except WrongShape as error:
            if is_its(each):
                left.append(each.left(refused("unreadable", str(error))))
            else:
                others += 1
        else:
            readable.append(each)
    return Readable(readable, left, others)
