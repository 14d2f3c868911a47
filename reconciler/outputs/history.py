"""The document of ``argosy history``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.history.events import ObjectEvent
from reconciler.history.subjects import History
from reconciler.history.text import time_of_step

from .difference_parts import ReplicasAfter, ReplicasBefore
from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import ClusterName, Fields, Message, ObjectName, Reason, Rendered, field_part

StepTime = Annotated[
    str | None,
    meaning_of_field(
        "The time of the pass where a rule asked for it, else that of the source commit; null for a pass over the same"
        " source as before that asked for no time."
    ),
]


class HistoryReasonPart(DocumentPart, frozen=True, kw_only=True):
    """A reason for a change."""

    reason: Reason
    message: Message


class HistoryReplicasPart(DocumentPart, frozen=True, kw_only=True):
    """The replicas of an object in a cluster, before and after."""

    cluster: ClusterName
    before: ReplicasBefore
    after: ReplicasAfter


class HistoryBytesPart(DocumentPart, frozen=True, kw_only=True):
    """Other bytes of an object in clusters that had it before and have it afterwards."""

    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters in which the same fields are others.")]
    fields: Fields


class HistoryEventPart(DocumentPart, frozen=True, kw_only=True):
    """A change of an object by a rendered commit."""

    commit: Rendered
    time: StepTime
    source: Annotated[str, meaning_of_field("The source commit that it was made from.")]
    author: Annotated[str, meaning_of_field("The author of the source commit.")]
    subject: Annotated[str, meaning_of_field("The first line of the source commit's message.")]
    object: ObjectName
    policy: Annotated[str, meaning_of_field("The policy that claims the object, or did last; empty for none.")]
    reasons: Annotated[tuple[HistoryReasonPart, ...], meaning_of_field("The reasons, as the commits record them.")]
    gained: Annotated[tuple[str, ...], meaning_of_field("The clusters that the object came to.")]
    lost: Annotated[tuple[str, ...], meaning_of_field("The clusters that it left.")]
    replicas: Annotated[
        tuple[HistoryReplicasPart, ...], meaning_of_field("The clusters in which it has other replicas than before.")
    ]
    changes: Annotated[tuple[HistoryBytesPart, ...], meaning_of_field("The fields that are others, by clusters.")]


UnlistedFiles = Annotated[
    int,
    meaning_of_field("Present if that many files in clusters changed, too many to be read: what it tells is not all."),
]


class HistoryUnreadPart(DocumentPart, frozen=True, kw_only=True):
    """A rendered commit that changed more files in clusters than are looked at one by one."""

    commit: Rendered
    files: Annotated[int, meaning_of_field("How many files in clusters it changed; fields of them are in no event.")]


class HistoryDocument(OutputDocument, frozen=True, kw_only=True):
    """The history of something."""

    kind = "History"
    about = "The history of an object, a cluster, a policy, a namespace or the fleet: what changed, when and why."
    printed_by = ("history",)

    commit: Annotated[str, meaning_of_field("The rendered commit up to which it goes.")]
    events: Annotated[tuple[HistoryEventPart, ...], meaning_of_field("The changes, the newest first.")]
    unread: (
        Annotated[
            tuple[HistoryUnreadPart, ...],
            meaning_of_field("Commits of which not all is told, for they changed too much; absent if there are none."),
        ]
        | UnsetType
    ) = UNSET
    has_more: Annotated[bool, meaning_of_field("True if there are earlier ones beyond `--limit`.")]
    is_cut_off: Annotated[bool, meaning_of_field("True if earlier commits are not in this clone.")]


def history_document(history: History) -> HistoryDocument:
    """Return a history as a document."""
    return HistoryDocument(
        commit=history.commit,
        events=tuple(map(_event_part, history.events)),
        unread=tuple(
            HistoryUnreadPart(commit=each.step.id, files=each.step.unlisted)
            for each in history.steps
            if each.step.unlisted
        )
        or UNSET,
        has_more=history.has_more,
        is_cut_off=history.is_cut_off,
    )


def _event_part(event: ObjectEvent) -> HistoryEventPart:
    step = event.step
    return HistoryEventPart(
        commit=step.id,
        time=time_of_step(step) or None,
        source=step.source,
        author=step.author,
        subject=step.subject,
        object=str(event.ref),
        policy=event.policy,
        reasons=tuple(HistoryReasonPart(reason=each.cause, message=each.message) for each in event.reasons),
        gained=event.gained,
        lost=event.lost,
        replicas=tuple(
            HistoryReplicasPart(cluster=each.cluster, before=each.before, after=each.after) for each in event.replicas
        ),
        changes=tuple(
            HistoryBytesPart(clusters=each.clusters, fields=tuple(map(field_part, each.fields)))
            for each in event.changes
        ),
    )
