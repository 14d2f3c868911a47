"""The document of ``argosy bisect``."""

from typing import Annotated

from reconciler.history.bisecting import Turn
from reconciler.history.blame import ChangeOrigin

from .blame import OriginPart, origin_part
from .document import OutputDocument, meaning_of_field
from .parts import ObjectName


class BisectionDocument(OutputDocument, frozen=True, kw_only=True):
    """The commit since which something is so."""

    kind = "Bisection"
    about = "The rendered commit since which something is so of an object, or the one that ended it."
    printed_by = ("bisect",)

    commit: Annotated[str, meaning_of_field("The rendered commit up to which was looked.")]
    object: ObjectName
    holds: Annotated[bool, meaning_of_field("True if it is so at that commit.")]
    since: Annotated[
        OriginPart | None,
        meaning_of_field("The commit since which that is so; null if it is so in every commit that is here."),
    ]
    is_cut_off: Annotated[bool, meaning_of_field("True if earlier commits are not in this clone.")]


def bisection_document(turn: Turn) -> BisectionDocument:
    """Return the outcome of a search as a document."""
    reasons = turn.event.reasons if turn.event is not None else ()
    return BisectionDocument(
        commit=turn.commit,
        object=str(turn.ref),
        holds=turn.holds,
        since=origin_part(ChangeOrigin(step=turn.step, reasons=reasons)),
        is_cut_off=turn.is_cut_off,
    )
