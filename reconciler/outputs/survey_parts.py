"""Parts that the documents of ``argosy list``, ``matrix`` and ``search`` share: states, and which part it is."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field, value_unless_empty
from .parts import Message, ObjectName, Reason, StateWord

if TYPE_CHECKING:
    from reconciler.status.branches import RecordedFleet
    from reconciler.survey.clusters import RoomOfResource
    from reconciler.survey.objects import SurveyedObject
    from reconciler.survey.states import StateReason, SurveyedState

States = Annotated[Mapping[str, int], meaning_of_field("How many are in which state, the worst first.")]
PolicyName = Annotated[str, meaning_of_field("The policy, such as `PropagationPolicy shop/web`.")]
Since = Annotated[str, meaning_of_field("The time since when this is so.")]
Total = Annotated[int, meaning_of_field("How many there are that were asked for, on all pages.")]
Offset = Annotated[int, meaning_of_field("How many of them come before those that are listed.")]
SourceOfRendered = Annotated[str, meaning_of_field("The source commit that is rendered.")]
RecordedAt = Annotated[
    str, meaning_of_field("The time of the newest commit of the status branch; left out if nothing is recorded.")
]


class SurveyedObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object of the fleet, and its state all in all; where clusters are asked for, in these alone."""

    object: ObjectName
    state: StateWord
    reason: Reason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    since: Since | UnsetType = UNSET
    app: (
        Annotated[
            str,
            meaning_of_field(
                "The app that it belongs to, by its labels `app.kubernetes.io/part-of`, `app.kubernetes.io/instance`,"
                " `app.kubernetes.io/name` or `app`, the first that it has."
            ),
        ]
        | UnsetType
    ) = UNSET
    policy: Annotated[str, meaning_of_field("The policy that claims it.")] | UnsetType = UNSET
    path: Annotated[str, meaning_of_field("The file that its template stands in.")] | UnsetType = UNSET
    clusters: Annotated[int, meaning_of_field("In how many clusters it is or should be.")]
    replicas: Annotated[int, meaning_of_field("How many replicas it has in all of them; 0 if it has none to count.")]
    ready: (
        Annotated[int, meaning_of_field("How many of these are ready; left out unless that is known of each cluster.")]
        | UnsetType
    ) = UNSET
    states: Annotated[
        Mapping[str, int], meaning_of_field("In how many clusters it is in which state, the worst first.")
    ]


class ClusterRoomPart(DocumentPart, frozen=True, kw_only=True):
    """One resource of a cluster, in Kubernetes' notation."""

    resource: str
    allocatable: str
    allocated: Annotated[str, meaning_of_field("What pods that run have requested of it.")] | UnsetType = UNSET
    allocating: Annotated[str, meaning_of_field("What pods that wait for a node request.")] | UnsetType = UNSET
    share: (
        Annotated[float, meaning_of_field("The share of it that both take, 1 being all; left out if nobody knows.")]
        | UnsetType
    ) = UNSET


def surveyed_object_part(each: "SurveyedObject") -> SurveyedObjectPart:
    """Return an object as documents have it."""
    ready = each.total_ready
    return SurveyedObjectPart(
        object=str(each.ref),
        **state_fields(each.worst),
        app=value_unless_empty(each.app),
        policy=value_unless_empty(each.policy),
        path=value_unless_empty(each.path),
        clusters=len(each.replicas),
        replicas=each.total_replicas,
        ready=UNSET if ready is None else ready,
        states=words_of_states(each.counts),
    )


def state_fields(why: "StateReason") -> dict[str, Any]:
    """Return the fields that tell the state of something, without what is empty."""
    words = {"reason": why.reason, "message": why.message, "since": why.since}
    return {"state": str(why.state), **{name: word for name, word in words.items() if word}}


def words_of_states(counts: "Mapping[SurveyedState, int]") -> dict[str, int]:
    """Return how many are in which state, by words."""
    return {str(state): number for state, number in counts.items()}


def room_part(each: "RoomOfResource") -> ClusterRoomPart:
    """Return the room of a resource as documents have it."""
    return ClusterRoomPart(
        resource=each.resource,
        allocatable=each.allocatable,
        allocated=value_unless_empty(each.allocated),
        allocating=value_unless_empty(each.allocating),
        share=UNSET if each.share is None else each.share,
    )


def commit_fields(branches: "RecordedFleet") -> dict[str, Any]:
    """Return the fields that say which commits a document is about."""
    from render.timing import epoch_text

    fleet = branches.fleet
    recorded = epoch_text(branches.status_time) if branches.recorded.files else UNSET
    return {"rendered": fleet.previous.commit, "source": fleet.previous.source, "recorded_at": recorded}
