"""The document of ``argosy status KIND/NAME``."""

from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType, field

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import ConditionPart, Message, ObjectName, Reason
from .status_parts import LiveObjectPart, as_recorded, live_object_part

if TYPE_CHECKING:
    from reconciler.status.branches import RecordedFleet
    from render.binding import Binding, LastMove


class LastMovePart(DocumentPart, frozen=True, kw_only=True):
    """The last time that an object was evicted from clusters."""

    at: Annotated[str, meaning_of_field("The time of the pass that decided it.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that it left.")] = field(name="from")
    reason: Reason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    times: (
        Annotated[
            int,
            meaning_of_field("How often in a row it left a cluster because it was not well there; left out for once."),
        ]
        | UnsetType
    ) = UNSET


class ObjectStatusDocument(OutputDocument, frozen=True, kw_only=True):
    """An object, and how it is in each of its clusters."""

    kind = "ObjectStatus"
    about = "The state of an object."
    printed_by = ("status KIND/NAME",)

    object: ObjectName
    policy: Annotated[str | None, meaning_of_field("The policy that claims it.")]
    conditions: Annotated[tuple[ConditionPart, ...], meaning_of_field("The conditions of its binding.")]
    clusters: Annotated[tuple[LiveObjectPart, ...], meaning_of_field("The object in each of its clusters.")]
    disconnected: Annotated[
        tuple[str, ...], meaning_of_field("The clusters that left the source and keep it as it was.")
    ]
    template_status: Annotated[
        Any, meaning_of_field("The status the template would have in Karmada; null if none is known.")
    ]
    last_move: (
        Annotated[LastMovePart, meaning_of_field("The last time that it was evicted from clusters.")] | UnsetType
    ) = UNSET


def object_status_document(branches: "RecordedFleet", binding: "Binding") -> ObjectStatusDocument:
    """Return what is known of an object as a document."""
    from reconciler.record.binding_status import expected_clusters
    from reconciler.status.objects import conditions_of, objects_of_binding

    recorded, members = branches.recorded, branches.progress
    known = recorded.binding(binding.ref) or {}
    return ObjectStatusDocument(
        object=str(binding.ref),
        policy=binding.policy or None,
        conditions=as_recorded(conditions_of(binding, recorded, members)),
        clusters=tuple(map(live_object_part, objects_of_binding(binding, recorded, members))),
        disconnected=tuple(name for name in expected_clusters(binding) if name not in members),
        template_status=known.get("templateStatus"),
        last_move=_last_move_part(binding.moved),
    )


def _last_move_part(moved: "LastMove | None") -> LastMovePart | UnsetType:
    if moved is None:
        return UNSET
    return LastMovePart(
        at=moved.at,
        clusters=moved.clusters,
        reason=value_unless_empty(moved.reason),
        message=value_unless_empty(moved.message),
        times=moved.times if moved.times > 1 else UNSET,
    )
