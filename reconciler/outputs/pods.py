"""The document of ``argosy pods``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import FailurePart, ObjectName, failure_part

if TYPE_CHECKING:
    from datetime import datetime

    from reconciler.inspection.pods import ContainerNow, EventNow, LogEnd, PodNow, PodsInMember
    from reconciler.members.exchange import Failure
    from render.model import ObjectRef

Why = Annotated[str, meaning_of_field("Why, in one word.")] | UnsetType
Words = Annotated[str, meaning_of_field("What the member says of it.")] | UnsetType


class ContainerNowPart(DocumentPart, frozen=True, kw_only=True):
    """A container of a pod."""

    name: Annotated[str, meaning_of_field("Its name.")]
    state: Annotated[str, meaning_of_field("`running`, `waiting`, `terminated` or `unknown`.")]
    ready: Annotated[bool, meaning_of_field("Whether it is ready.")]
    restarts: Annotated[int, meaning_of_field("How often it was started again.")]
    reason: Why = UNSET
    message: Words = UNSET


class PodNowPart(DocumentPart, frozen=True, kw_only=True):
    """A pod as it is now."""

    name: Annotated[str, meaning_of_field("Its name.")]
    state: Annotated[str, meaning_of_field("Why a container of it does not run, or its phase.")]
    phase: Annotated[str, meaning_of_field("Its phase; `Terminating` while it is being deleted.")]
    ready: Annotated[int, meaning_of_field("How many of its containers are ready.")]
    restarts: Annotated[int, meaning_of_field("How often its containers were started again.")]
    node: Annotated[str, meaning_of_field("The node it is on.")] | UnsetType = UNSET
    created: Annotated[str, meaning_of_field("When it was made.")] | UnsetType = UNSET
    message: Words = UNSET
    containers: Annotated[tuple[ContainerNowPart, ...], meaning_of_field("Its containers.")]


class EventNowPart(DocumentPart, frozen=True, kw_only=True):
    """An event about the object or one of its pods."""

    about: Annotated[str, meaning_of_field("The kind and the name that it is about.")]
    type: Annotated[str, meaning_of_field("`Normal` or `Warning`.")]
    reason: Annotated[str, meaning_of_field("Its reason, in one word.")]
    message: Annotated[str, meaning_of_field("What it says.")]
    count: Annotated[int, meaning_of_field("How often it happened.")]
    last: Annotated[str, meaning_of_field("When it happened last.")] | UnsetType = UNSET


class LogEndPart(DocumentPart, frozen=True, kw_only=True):
    """The end of a container's log."""

    pod: Annotated[str, meaning_of_field("The pod.")]
    container: Annotated[str, meaning_of_field("The container.")]
    lines: Annotated[
        tuple[str, ...], meaning_of_field("Its last lines, without values of Secrets that the source has.")
    ]
    failure: Annotated[FailurePart, meaning_of_field("Why there is none.")] | UnsetType = UNSET


class PodsInMemberPart(DocumentPart, frozen=True, kw_only=True):
    """A member and the pods that the object has there."""

    reached: Annotated[bool, meaning_of_field("Whether it answered.")]
    failure: Annotated[FailurePart, meaning_of_field("Why it did not, or what it refused.")] | UnsetType = UNSET
    present: Annotated[bool, meaning_of_field("Whether it has the object.")] | UnsetType = UNSET
    count: Annotated[int, meaning_of_field("How many pods the object has there.")] | UnsetType = UNSET
    pods: Annotated[tuple[PodNowPart, ...], meaning_of_field("The first hundred of them, by name.")] | UnsetType = UNSET
    events: (
        Annotated[tuple[EventNowPart, ...], meaning_of_field("The newest twenty events about it and its pods.")]
        | UnsetType
    ) = UNSET
    log: Annotated[LogEndPart, meaning_of_field("The log that was asked for, where the pod is.")] | UnsetType = UNSET


class PodsDocument(OutputDocument, frozen=True, kw_only=True):
    """The pods of an object in members."""

    kind = "Pods"
    about = "The pods of an object in members as they are now, with their events, and the end of a log."
    printed_by = ("pods",)

    object: ObjectName
    asked_at: Annotated[str, meaning_of_field("The time at which the members were asked.")]
    clusters: Annotated[dict[str, PodsInMemberPart], meaning_of_field("For each member that was asked, its answer.")]


def pods_document(ref: "ObjectRef", answers: Mapping[str, "PodsInMember | Failure"], now: "datetime") -> PodsDocument:
    """Return the answers of members as a document."""
    from render.timing import instant_text

    clusters = {name: _part_of_member(answer) for name, answer in answers.items()}
    return PodsDocument(object=str(ref), asked_at=instant_text(now), clusters=clusters)


def _part_of_member(answer: "PodsInMember | Failure") -> PodsInMemberPart:
    from reconciler.members.exchange import UNREACHABLE, Failure

    if isinstance(answer, Failure):
        return PodsInMemberPart(reached=answer.kind not in UNREACHABLE, failure=failure_part(answer))
    return PodsInMemberPart(
        reached=True,
        present=not answer.is_absent,
        count=answer.count,
        pods=tuple(map(_pod_part, answer.pods)),
        events=tuple(map(_event_part, answer.events)),
        log=UNSET if answer.log is None else _log_part(answer.log),
    )


def _pod_part(each: "PodNow") -> PodNowPart:
    return PodNowPart(
        name=each.name,
        state=each.state,
        phase=each.phase,
        ready=each.ready,
        restarts=each.restarts,
        node=value_unless_empty(each.node),
        created=value_unless_empty(each.created),
        message=value_unless_empty(each.message),
        containers=tuple(map(_container_part, each.containers)),
    )


def _container_part(each: "ContainerNow") -> ContainerNowPart:
    return ContainerNowPart(
        name=each.name,
        state=each.state,
        ready=each.is_ready,
        restarts=each.restarts,
        reason=value_unless_empty(each.reason),
        message=value_unless_empty(each.message),
    )


def _event_part(each: "EventNow") -> EventNowPart:
    return EventNowPart(
        about=each.about,
        type=each.type,
        reason=each.reason,
        message=each.message,
        count=each.count,
        last=value_unless_empty(each.last),
    )


def _log_part(log: "LogEnd") -> LogEndPart:
    failure = UNSET if log.failure is None else failure_part(log.failure)
    return LogEndPart(pod=log.pod, container=log.container, lines=log.lines, failure=failure)
