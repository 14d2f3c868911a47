"""The document of ``argosy diff --live`` and ``argosy apply --dry-run server``."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from reconciler.console.json_values import fields_set_in_struct

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import FailurePart, Held, ObjectName, Reason, Rendered, failure_part, hold_part

if TYPE_CHECKING:
    from reconciler.deliver.results import ClusterReport
    from reconciler.plans.model import FieldChange, ObjectOutcome


class LiveFieldPart(DocumentPart, frozen=True, kw_only=True):
    """A field that is in a cluster otherwise than in the commit."""

    path: str
    change: Annotated[str, meaning_of_field("`Lost`, `Dropped`, `Modified`, `Foreign` or `Rewritten`.")]
    live: Annotated[str, meaning_of_field("The value in the cluster, hidden if it is secret.")]
    want: Annotated[str, meaning_of_field("The value in the commit, hidden if it is secret.")]
    manager: Annotated[str, meaning_of_field("The field manager that owns it now.")]
    time: Annotated[str, meaning_of_field("The time when that manager wrote it.")]


class LiveChangePart(DocumentPart, frozen=True, kw_only=True):
    """An object that is in a cluster otherwise than in the commit."""

    object: ObjectName
    action: Annotated[str, meaning_of_field("What applying would do, such as `created`, `configured` or `conflict`.")]
    reason: Reason
    message: Annotated[str, meaning_of_field("The reason in a sentence; it may be empty.")]
    fields: Annotated[tuple[LiveFieldPart, ...], meaning_of_field("The fields that differ.")]
    yielded: (
        Annotated[
            tuple[Mapping[str, str], ...], meaning_of_field("The fields of the commit that others decide, alike.")
        ]
        | UnsetType
    ) = UNSET
    foreign: (
        Annotated[tuple[Mapping[str, str], ...], meaning_of_field("The fields that people added, alike.")] | UnsetType
    ) = UNSET
    expected: (
        Annotated[
            tuple[Mapping[str, str], ...],
            meaning_of_field("The fields beyond the commit that rules of retention leave to the cluster, alike."),
        ]
        | UnsetType
    ) = UNSET


class LiveClusterPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster, and the objects in it that are not as the commit says."""

    state: Annotated[str, meaning_of_field("`Planned`, or the word for what stopped it.")]
    failure: Annotated[FailurePart, meaning_of_field("The reason why the cluster was not finished.")] | UnsetType = (
        UNSET
    )
    held: Held | UnsetType = UNSET
    objects: tuple[LiveChangePart, ...]


class LiveDifferenceDocument(OutputDocument, frozen=True, kw_only=True):
    """A rendered commit, compared with clusters."""

    kind = "LiveDifference"
    about = "What applying a commit would change in clusters."
    printed_by = ("diff --live", "apply --dry-run server")

    rendered: Rendered
    clusters: Annotated[
        Mapping[str, LiveClusterPart],
        meaning_of_field("For each cluster: the objects that are not as the commit says."),
    ]


def live_difference_document(commit: str, reports: Iterable["ClusterReport"]) -> LiveDifferenceDocument:
    """Return what a commit would change in clusters as a document."""
    return LiveDifferenceDocument(
        rendered=commit, clusters={report.cluster: _live_cluster_part(report) for report in reports}
    )


def live_change_part(change: "ObjectOutcome") -> LiveChangePart:
    """Return an object with its fields, as documents have it."""
    return LiveChangePart(
        object=str(change.ref),
        action=str(change.action),
        reason=change.reason,
        message=change.message,
        fields=tuple(map(_live_field_part, change.changes)),
        yielded=value_unless_empty(tuple(fields_set_in_struct(_live_field_part(each)) for each in change.yielded)),
        foreign=value_unless_empty(tuple(fields_set_in_struct(_live_field_part(each)) for each in change.foreign)),
        expected=value_unless_empty(tuple(fields_set_in_struct(_live_field_part(each)) for each in change.expected)),
    )


def _live_cluster_part(report: "ClusterReport") -> LiveClusterPart:
    from reconciler.diff.live import live_changes

    return LiveClusterPart(
        state=report.state,
        failure=UNSET if report.failure is None else failure_part(report.failure),
        held=hold_part(report.hold),
        objects=tuple(map(live_change_part, live_changes(report))),
    )


def _live_field_part(change: "FieldChange") -> LiveFieldPart:
    return LiveFieldPart(
        path=change.path,
        change=str(change.change),
        live=change.live,
        want=change.want,
        manager=change.manager,
        time=change.time,
    )
