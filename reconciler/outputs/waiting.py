"""The document of ``argosy wait``."""

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType, field

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import ClusterName, Message, ObjectName, PendingObjects, Reason, pending_part

if TYPE_CHECKING:
    from reconciler.status.obstacles import Obstacle
    from reconciler.status.waiting import Waited


class ObstaclePart(DocumentPart, frozen=True, kw_only=True):
    """A reason why something has not come true yet."""

    text: Annotated[str, meaning_of_field("The reason why not yet, as it is printed.")]
    reason: Reason
    cluster: ClusterName | UnsetType = UNSET
    object: ObjectName | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    hint: Annotated[str, meaning_of_field("What to do about it.")] | UnsetType = UNSET
    since: Annotated[str, meaning_of_field("The time since when it is recorded.")] | UnsetType = UNSET


class WaitingDocument(OutputDocument, frozen=True, kw_only=True):
    """The end of waiting."""

    kind = "Waiting"
    about = "Whether what was waited for came true, and why not yet."
    printed_by = ("wait",)

    subject: Annotated[
        str | None, meaning_of_field("What was waited for: `cluster/NAME` or `KIND/NAME`; null for the fleet.")
    ]
    wish: Annotated[str, meaning_of_field("The state: `applied`, `healthy` or `rolled-out`.")] = field(name="for")
    came_true: Annotated[bool, meaning_of_field("True if it came true in time.")]
    seconds: Annotated[float, meaning_of_field("How long it took.")]
    rendered: Annotated[
        str | None, meaning_of_field("The rendered commit that was asked about; null if nothing is rendered.")
    ]
    missing: Annotated[tuple[ObstaclePart, ...], meaning_of_field("Each reason why not yet.")]
    pending: PendingObjects


def waiting_document(waited: "Waited", subject: str, wish: str) -> WaitingDocument:
    """Return the end of waiting for a wish about a subject, the empty one for the fleet, as a document."""
    return WaitingDocument(
        subject=subject or None,
        wish=wish,
        came_true=not waited.missing,
        seconds=round(waited.seconds, 3),
        rendered=waited.rendered or None,
        missing=tuple(map(_obstacle_part, waited.missing)),
        pending=tuple(map(pending_part, waited.pending)),
    )


def _obstacle_part(obstacle: "Obstacle") -> ObstaclePart:
    return ObstaclePart(
        text=obstacle.text,
        reason=obstacle.reason,
        cluster=value_unless_empty(obstacle.cluster),
        object=value_unless_empty(obstacle.object),
        message=value_unless_empty(obstacle.message),
        hint=value_unless_empty(obstacle.hint),
        since=value_unless_empty(obstacle.since),
    )
