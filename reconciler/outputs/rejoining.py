"""The document of ``argosy cluster rejoin``."""

from typing import TYPE_CHECKING, Annotated

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import Message, ObjectName, Reason

if TYPE_CHECKING:
    from reconciler.passes.rejoining import Rejoining


class ForeseenObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object in a cluster that was built anew, and what the next apply does with it."""

    object: ObjectName
    action: Annotated[
        str, meaning_of_field("What the next apply does, such as `to create`, `to adopt` or `in conflict`.")
    ]
    reason: Reason
    message: Message


class RejoiningDocument(OutputDocument, frozen=True, kw_only=True):
    """A member whose cluster was built anew."""

    kind = "Rejoining"
    about = "What the next apply does in a cluster that was built anew, and what to run next."
    printed_by = ("cluster rejoin",)

    cluster: Annotated[str, meaning_of_field("The member.")]
    uid: Annotated[str, meaning_of_field("The UID of the cluster that answers.")]
    recorded: Annotated[str | None, meaning_of_field("The UID that was recorded; null where none was.")]
    needed: Annotated[bool, meaning_of_field("True if another cluster was recorded than the one that answers.")]
    accepted: Annotated[bool, meaning_of_field("True if the cluster that answers is recorded by now.")]
    objects: Annotated[
        tuple[ForeseenObjectPart, ...], meaning_of_field("The objects of the newest commit, and what is left.")
    ]
    next: Annotated[tuple[str, ...], meaning_of_field("The commands to run next, in order.")]


def rejoining_document(found: "Rejoining", *, is_accepted: bool, steps: tuple[str, ...]) -> RejoiningDocument:
    """Return what was found in a member as a document."""
    objects = (
        ForeseenObjectPart(object=str(each.ref), action=words, reason=each.reason, message=each.message)
        for each, words in found.foreseen_objects()
    )
    return RejoiningDocument(
        cluster=found.cluster,
        uid=found.uid,
        recorded=found.recorded or None,
        needed=found.is_needed,
        accepted=is_accepted if found.is_needed else bool(found.recorded),
        objects=tuple(objects) if found.is_needed else (),
        next=steps,
    )
