"""The results in each cluster, as the documents of ``argosy apply`` and ``argosy reconcile`` have them."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field, value_unless_empty
from .parts import EndedHoldPart, FailurePart, Held, ObjectName, Reason, ended_hold_part, failure_part, hold_part

if TYPE_CHECKING:
    from reconciler.deliver.results import ClusterReport, ObjectResult
    from reconciler.plans.model import FieldChange


class LeftFieldPart(DocumentPart, frozen=True, kw_only=True):
    """A field that is left as it is in the cluster."""

    path: str
    live: Annotated[str, meaning_of_field("The value in the cluster, hidden if it is secret.")]
    want: Annotated[str, meaning_of_field("The value in the commit, hidden if it is secret; empty if it has none.")]
    manager: Annotated[str, meaning_of_field("The field manager that owns it.")]


class ObjectResultPart(DocumentPart, frozen=True, kw_only=True):
    """An object, and what was done with it."""

    object: ObjectName
    action: Annotated[
        str, meaning_of_field("What was done, such as `created`, `configured`, `deleted`, `kept` or `conflict`.")
    ]
    reason: Reason
    message: Annotated[str, meaning_of_field("The reason in a sentence; it may be empty.")]
    hint: Annotated[str, meaning_of_field("What to do about it.")] | UnsetType = UNSET
    warnings: Annotated[tuple[str, ...], meaning_of_field("The warnings of the API server.")]
    yielded: (
        Annotated[
            tuple[LeftFieldPart, ...], meaning_of_field("The fields of the commit that are left to another manager.")
        ]
        | UnsetType
    ) = UNSET
    foreign: Annotated[tuple[LeftFieldPart, ...], meaning_of_field("The fields that people added.")] | UnsetType = UNSET


class ClusterReportPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster, and what was done in it."""

    state: Annotated[
        str, meaning_of_field("`Converged`, `Incomplete`, `Interrupted`, or the word for what stopped it.")
    ]
    seconds: Annotated[float, meaning_of_field("How long the cluster took.")]
    counts: Annotated[Mapping[str, int], meaning_of_field("How many objects there were of each action.")]
    failure: Annotated[FailurePart, meaning_of_field("The reason why the cluster was not finished.")] | UnsetType = (
        UNSET
    )
    hold: Annotated[str, meaning_of_field("The reason why nothing was deleted.")] | UnsetType = UNSET
    held: Held | UnsetType = UNSET
    ended_hold: (
        Annotated[EndedHoldPart, meaning_of_field("Present if the cluster was held until then.")] | UnsetType
    ) = UNSET
    objects: Annotated[
        tuple[ObjectResultPart, ...],
        meaning_of_field(
            "The objects with which anything was done, those that were kept, and those with fields of others."
        ),
    ]


def report_parts(reports: Iterable["ClusterReport"]) -> dict[str, ClusterReportPart]:
    """Return the reports of clusters, by name."""
    return {report.cluster: _cluster_report_part(report) for report in reports}


def _cluster_report_part(report: "ClusterReport") -> ClusterReportPart:
    from reconciler.deliver.reports import action_counts
    from reconciler.plans.model import Action

    results = report.applied.results if report.applied is not None else ()
    return ClusterReportPart(
        state=report.state,
        seconds=round(report.seconds, 3),
        counts=dict(action_counts(report)),
        failure=UNSET if report.failure is None else failure_part(report.failure),
        hold=UNSET if report.applied is None else value_unless_empty(report.applied.prune_hold),
        held=hold_part(report.hold),
        ended_hold=ended_hold_part(report.ended_hold),
        objects=tuple(
            _object_result_part(result)
            for result in results
            if result.action is not Action.UNCHANGED or result.yielded or result.foreign
        ),
    )


def _object_result_part(result: "ObjectResult") -> ObjectResultPart:
    return ObjectResultPart(
        object=str(result.ref),
        action=str(result.action),
        reason=result.reason,
        message=result.message,
        hint=value_unless_empty(result.hint),
        warnings=result.warnings,
        yielded=value_unless_empty(tuple(map(_left_field, result.yielded))),
        foreign=value_unless_empty(tuple(map(_left_field, result.foreign))),
    )


def _left_field(change: "FieldChange") -> LeftFieldPart:
    return LeftFieldPart(path=change.path, live=change.live, want=change.want, manager=change.manager)
