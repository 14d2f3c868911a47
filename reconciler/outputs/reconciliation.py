"""The document of ``argosy reconcile``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from .apply_reports import ClusterReportPart, report_parts
from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import (
    ClusterName,
    EndedHoldPart,
    HoldPart,
    NextChange,
    PendingObjects,
    Previous,
    RefusalPart,
    ReleasedObjects,
    Skipped,
    UnplacedObjects,
    ended_hold_parts,
    hold_parts,
    next_change_part,
    pending_part,
    refusal_part,
    released_part,
    unplaced_part,
)

if TYPE_CHECKING:
    from reconciler.passes.proposing import Proposal
    from reconciler.passes.refused_pass import RefusedPass
    from reconciler.passes.result import PassResult


class RemovalPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that objects leave."""

    cluster: ClusterName
    objects: Annotated[tuple[str, ...], meaning_of_field("The paths that leave.")]
    held: Annotated[int, meaning_of_field("How many it had before.")]


class ProposalPart(DocumentPart, frozen=True, kw_only=True):
    """A commit that a person is asked to merge."""

    commit: Annotated[str, meaning_of_field("The commit that is proposed.")]
    branch: Annotated[str, meaning_of_field("The branch that it is pushed to.")]
    state: Annotated[
        str,
        meaning_of_field(
            "The state of its pull request: `Opened`, `Renewed`, `Unchanged`, `Closed` by somebody, or `Failed`."
        ),
    ]
    url: Annotated[str, meaning_of_field("The address of the pull request; empty where there is none.")]


class HeldBackPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that keeps what it has."""

    cluster: ClusterName
    objects: Annotated[tuple[str, ...], meaning_of_field("The paths that would leave.")]
    held: Annotated[int, meaning_of_field("How many it has.")]
    reasons: Annotated[tuple[str, ...], meaning_of_field("The limits that this breaks.")]


class ReconciliationDocument(OutputDocument, frozen=True, kw_only=True):
    """A reconcile pass, or one whose source was refused."""

    kind = "Reconciliation"
    about = "What one reconcile pass did."
    printed_by = ("reconcile",)

    source: Annotated[str, meaning_of_field("The source commit that is rendered.")]
    previous: Previous
    rendered: Annotated[str | None, meaning_of_field("The rendered commit that holds the source now.")]
    branch: Annotated[str, meaning_of_field("The rendered branch.")]
    remote: Annotated[
        str | None,
        meaning_of_field("The remote that has the branch: its name, or its address; null for this repository."),
    ]
    changed: Annotated[bool, meaning_of_field("True if the source renders to something new.")]
    skipped: Skipped | UnsetType = UNSET
    removals: Annotated[tuple[RemovalPart, ...], meaning_of_field("What leaves which cluster.")]
    released: ReleasedObjects
    pending: PendingObjects
    problems: UnplacedObjects
    left_out: (
        Annotated[
            tuple[str, ...],
            meaning_of_field("The objects that are left out, and were never delivered: a server would refuse them."),
        ]
        | UnsetType
    ) = UNSET
    next: NextChange | UnsetType = UNSET
    proposal: (
        Annotated[
            ProposalPart,
            meaning_of_field("With `rendered.push: PullRequest`: the commit that a person is asked to merge."),
        ]
        | UnsetType
    ) = UNSET
    held_back: (
        Annotated[
            tuple[HeldBackPart, ...],
            meaning_of_field(
                "With `removalGuard.scope: Cluster`: the clusters that keep what they have, because too much would"
                " leave them."
            ),
        ]
        | UnsetType
    ) = UNSET
    refused: (
        Annotated[
            RefusalPart, meaning_of_field("The refusal of a newer source: the last good commit was applied again.")
        ]
        | UnsetType
    ) = UNSET
    held: (
        Annotated[
            Mapping[str, HoldPart],
            meaning_of_field("The clusters that somebody holds at an earlier commit, those that pull among them."),
        ]
        | UnsetType
    ) = UNSET
    ended_holds: (
        Annotated[
            Mapping[str, EndedHoldPart],
            meaning_of_field("The clusters that were held, and are not any more with this pass."),
        ]
        | UnsetType
    ) = UNSET
    clusters: (
        Annotated[
            Mapping[str, ClusterReportPart],
            meaning_of_field("Where the pass applied: what was done in each cluster."),
        ]
        | UnsetType
    ) = UNSET


def pass_document(result: "PassResult") -> ReconciliationDocument:
    """Return a pass as a document."""
    from reconciler.rendering.problems import problems_by_object

    outcome = result.outcome
    held = tuple(
        HeldBackPart(cluster=each.cluster, objects=each.paths, held=each.count_before, reasons=each.reasons)
        for each in outcome.rendered.held_removals
    )
    return ReconciliationDocument(
        source=outcome.source.commit,
        previous=outcome.previous.commit if outcome.previous else None,
        rendered=result.rendered,
        branch=outcome.source.desired.fleet.rendered_branch,
        remote=result.publication.place or None,
        changed=outcome.is_changed,
        skipped=len(outcome.source.desired.without_objects),
        removals=tuple(
            RemovalPart(cluster=each.cluster, objects=each.paths, held=each.count_before) for each in outcome.removals
        ),
        released=tuple(map(released_part, outcome.released)),
        pending=tuple(map(pending_part, outcome.pending)),
        problems=tuple(map(unplaced_part, problems_by_object(outcome))),
        left_out=value_unless_empty(tuple(map(str, outcome.source.objects_left_out))),
        next=next_change_part(result.flip),
        proposal=UNSET if result.proposal is None else _proposal_part(result.proposal),
        held_back=value_unless_empty(held),
        held=value_unless_empty(hold_parts(result.holds)),
        ended_holds=value_unless_empty(ended_hold_parts(result.ended_holds)),
        clusters=UNSET if result.reports is None else report_parts(result.reports),
    )


def refused_pass_document(result: "RefusedPass") -> ReconciliationDocument:
    """Return a pass whose source was refused as a document of the same kind.

    Nothing changed in it but what came of rollouts that went on from the last good source.
    """
    if result.step is not None:
        return replace(pass_document(result.step), refused=refusal_part(result.refusal))
    previous = result.good.previous
    return ReconciliationDocument(
        source=previous.source,
        previous=previous.commit,
        rendered=previous.commit,
        branch=result.good.fleet.rendered_branch,
        remote=result.good.publication.place or None,
        changed=False,
        removals=(),
        released=(),
        pending=(),
        problems=(),
        refused=refusal_part(result.refusal),
        clusters=report_parts(result.reports),
    )


def _proposal_part(proposal: "Proposal") -> ProposalPart:
    return ProposalPart(commit=proposal.commit, branch=proposal.branch, state=str(proposal.state), url=proposal.url)
