"""The way that the documents of every federation are converted, by the one value that its ``front_end`` module has.

What is the same for all stands here: which documents are a federation's own, and what becomes of those of wrong shapes.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from render.model import Manifest

from .decoding import WrongShape
from .shapes import Shape
from .units import Conversion, Labels, Left, Placed, refused_remark


class Documents(NamedTuple):
    """Documents of the right shapes: a federation's own, and those that may be converted with them."""

    own: Sequence[Placed]
    plain: Sequence[Placed]


class FrontEnd(Struct, frozen=True, kw_only=True):
    """The shapes of a federation's documents, and what becomes of them.

    ``kinds`` has the shapes of its own documents by kind (of ``group`` alone, where that is given), ``other`` that of
    all other kinds. ``plain`` is the shape of documents that are not its own and may be converted with them; None where
    they are none of its business. ``takes`` says which documents are its own; None: those that its signs tell.
    ``convert`` is given the labels of members that are known beside the documents.
    """

    kinds: Mapping[str, Shape]
    other: Shape
    group: str = ""
    plain: Shape | None = None
    takes: Callable[[Placed], bool] | None = None
    convert: Callable[[Documents, Labels], Conversion]

    def shape_of(self, document: Placed) -> Shape:
        """Return the shape that one of the federation's own documents must have."""
        is_listed = not self.group or document.group == self.group
        return self.kinds.get(document.kind, self.other) if is_listed else self.other


def convert_documents(
    documents: Sequence[Placed], front_end: FrontEnd, is_its: Callable[[Manifest], bool], known_clusters: Labels
) -> Conversion:
    """Convert documents; of those with a wrong shape the federation's own are left out, others are not its business.

    ``is_its`` says of a document whether it can be of no other federation.
    """
    own: list[Placed] = []
    plain: list[Placed] = []
    left: list[Left] = []
    others = 0
    for each in documents:
        is_own = is_its(each.manifest) if front_end.takes is None else front_end.takes(each)
        shape = front_end.shape_of(each) if is_own else front_end.plain
        fault = "" if shape is None else _fault_of_shape(each, shape)
        if is_own and fault:
            left.append(each.left_unconverted(refused_remark("unreadable", fault)))
        elif shape is None or fault:
            others += 1
        else:
            (own if is_own else plain).append(each)
    found = front_end.convert(Documents(own, plain), known_clusters)
    return replace(found, left=(*left, *found.left), others=found.others + others)


def _fault_of_shape(document: Placed, shape: Shape) -> str:
    """Return what is wrong with the shape of a document; empty for nothing."""
    try:
        shape(document.manifest)
    except WrongShape as error:
        return str(error)
    return ""
