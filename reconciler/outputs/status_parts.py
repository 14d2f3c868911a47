"""Parts that the documents of ``argosy status`` share: objects in clusters, deviations, and how clusters are seen."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field, value_unless_empty
from .parts import ClusterName, IsOverridden, Message, ObjectName, Reason, StateWord, hold_part

if TYPE_CHECKING:
    from reconciler.ledger.cluster import Deviation
    from reconciler.status.blind_spots import BlindSpot
    from reconciler.status.objects import ObjectIn
    from reconciler.status.staleness import MemberProgress

Applied = Annotated[
    bool,
    meaning_of_field(
        "True if the last look at it and the last run over it succeeded, that run for the newest rendered commit, and"
        " left nothing otherwise than the commit says."
    ),
]
Known = Annotated[
    bool, meaning_of_field("False if the last look or run failed, so that nobody knows how its objects are now.")
]
LateReason = Annotated[str, meaning_of_field("Why no run has got through the newest rendered commit, in a word.")]
Hint = Annotated[str, meaning_of_field("What to do about it.")]


DeviationAction = Annotated[
    str,
    meaning_of_field("`kept`; `finalizing` for an object that is deleted and still there; `failed` for a deletion."),
]
DeviatingField = Annotated[str, meaning_of_field("The field it is about; left out if it is about the whole object.")]
DeviatingManager = Annotated[str, meaning_of_field("The field manager that decides or added the field.")]


class LiveObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object in a cluster."""

    cluster: ClusterName | UnsetType = UNSET
    object: ObjectName | UnsetType = UNSET
    state: StateWord | UnsetType = UNSET
    policy: Annotated[str, meaning_of_field("The policy that claims it.")] | UnsetType = UNSET
    app: Annotated[str, meaning_of_field("The app that it belongs to, by its labels.")] | UnsetType = UNSET
    replicas: Annotated[int, meaning_of_field("How many replicas it must have there.")] | UnsetType = UNSET
    overridden: IsOverridden | UnsetType = UNSET
    live: (
        Annotated[
            int, meaning_of_field("How many replicas it asks for there; left out if that is not known, or it has none.")
        ]
        | UnsetType
    ) = UNSET
    ready: (
        Annotated[
            int,
            meaning_of_field("How many of these were ready when it was last seen; left out if that is not known."),
        ]
        | UnsetType
    ) = UNSET
    updated: (
        Annotated[
            int,
            meaning_of_field("How many replicas had its newest pods when it was last seen; left out if not known."),
        ]
        | UnsetType
    ) = UNSET
    replicas_manager: (
        Annotated[
            str, meaning_of_field("The field manager that set these, if it is not Argosy: an autoscaler or a person.")
        ]
        | UnsetType
    ) = UNSET
    applied: Annotated[bool, meaning_of_field("True if the cluster accepted it as it must be.")] | UnsetType = UNSET
    health: Annotated[str, meaning_of_field("`Healthy`, `Unhealthy` or `Unknown`.")] | UnsetType = UNSET
    reason: Reason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    since: Annotated[str, meaning_of_field("The time since when this is so.")] | UnsetType = UNSET
    observed_at: (
        Annotated[
            str, meaning_of_field("The time at which it was seen with this status, which is recorded where it changes.")
        ]
        | UnsetType
    ) = UNSET
    unsettled_since: (
        Annotated[
            str,
            meaning_of_field(
                "Present if it changes more often than it is recorded, so that its status may differ by now: since"
                " when."
            ),
        ]
        | UnsetType
    ) = UNSET
    status: Annotated[Any, meaning_of_field("The status it has there.")] | UnsetType = UNSET
    findings: (
        Annotated[
            tuple[Mapping[str, str], ...],
            meaning_of_field("What ails it there: pods, containers and events, with their reasons."),
        ]
        | UnsetType
    ) = UNSET


class DeviationPart(DocumentPart, frozen=True, kw_only=True):
    """An object that is not as the commit says."""

    object: ObjectName
    action: DeviationAction
    reason: Reason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    field: DeviatingField | UnsetType = UNSET
    manager: DeviatingManager | UnsetType = UNSET


class FleetDeviationPart(DocumentPart, frozen=True, kw_only=True):
    """An object that is not as the commit says, and its cluster."""

    cluster: ClusterName
    object: ObjectName
    action: DeviationAction
    reason: Reason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    field: DeviatingField | UnsetType = UNSET
    manager: DeviatingManager | UnsetType = UNSET


class ObservationPart(DocumentPart, frozen=True, kw_only=True):
    """The way in which a cluster is not seen."""

    state: Annotated[
        str,
        meaning_of_field(
            "The way in a word: `Unauthorized`, `Forbidden`, `NoCredentials`, `WrongCluster`, `NameNotResolved`,"
            " `ProxyFailed`, `CertificateRejected`, `NotAnApiServer`, `TooManyRequests`, `AgentSilent`, `NoAgent`,"
            " `ClockWrong`, `KindForbidden` or `NamespaceForbidden`."
        ),
    ]
    message: Message | UnsetType = UNSET
    hint: Hint | UnsetType = UNSET
    since: Annotated[str, meaning_of_field("The time since when this is so.")] | UnsetType = UNSET


Observation = Annotated[
    ObservationPart,
    meaning_of_field(
        "The way in which passes do not see how it is; left out if they do. It is no sign that the cluster is unwell."
    ),
]


def live_object_part(each: "ObjectIn") -> LiveObjectPart:
    """Return an object in a cluster, as documents have it."""
    return LiveObjectPart(
        cluster=value_unless_empty(each.cluster),
        object=value_unless_empty(each.object),
        replicas=UNSET if each.replicas is None else each.replicas,
        overridden=each.is_overridden or UNSET,
        live=UNSET if each.live is None else each.live.replicas,
        ready=_ready_replicas(each),
        updated=_updated_replicas(each),
        replicas_manager=UNSET if each.live is None else value_unless_empty(each.live.manager),
        applied=each.applied == "True",
        health=value_unless_empty(each.health),
        reason=value_unless_empty(each.reason),
        message=value_unless_empty(each.message),
        since=value_unless_empty(each.since),
        observed_at=value_unless_empty(each.observed_at),
        unsettled_since=value_unless_empty(each.unsettled),
        status=UNSET if each.status in (None, "", []) else each.status,
        findings=value_unless_empty(each.findings),
    )


def _ready_replicas(each: "ObjectIn") -> int | UnsetType:
    """Return how many replicas are ready by the status of an object; the API leaves out a number that is 0."""
    status = each.status
    if each.health == "Unknown" or not isinstance(status, Mapping):
        return UNSET
    counted = [status.get(name) for name in ("readyReplicas", "numberReady") if name in status]
    found = counted or ([0] if isinstance(status.get("replicas"), int) else [])
    return found[0] if found and type(found[0]) is int else UNSET


def _updated_replicas(each: "ObjectIn") -> int | UnsetType:
    """Return how many replicas are of the newest pods by the status of an object; a number that is 0 may be left out.

    Only a status with a number of such pods, or of pods at all, says it.
    """
    status = each.status
    if each.health == "Unknown" or not isinstance(status, Mapping):
        return UNSET
    counted = [status[name] for name in ("updatedReplicas", "updatedNumberScheduled") if name in status]
    return counted[0] if counted and type(counted[0]) is int else UNSET


def fields_of_deviation(each: "Deviation") -> dict[str, Any]:
    """Return the fields of a deviation, without what is empty."""
    words = {
        "object": str(each.ref),
        "action": each.action,
        "reason": each.reason,
        "message": each.message,
        "field": each.field,
        "manager": each.manager,
    }
    return {name: word for name, word in words.items() if word}


def observation_part(spot: "BlindSpot | None") -> ObservationPart | UnsetType:
    """Return the way in which a cluster is not seen; it is left out where it is seen."""
    if spot is None:
        return UNSET
    return ObservationPart(
        state=spot.state,
        message=value_unless_empty(spot.message),
        hint=value_unless_empty(spot.hint),
        since=value_unless_empty(spot.since),
    )


def fields_of_progress(progress: "MemberProgress | None") -> dict[str, Any]:
    """Return the fields that say how far a member is; none where no pass applies to it."""
    if progress is None:
        return {}
    words = {"reason": progress.reason, "message": progress.message, "hint": progress.hint}
    given = {name: word for name, word in words.items() if word}
    return {"applied": progress.is_applied, "known": progress.is_known, "held": hold_part(progress.hold), **given}


def as_recorded(value: Any) -> Any:
    """Return plain data that a pass recorded in the form of a part; it is printed as it was recorded."""
    return value
