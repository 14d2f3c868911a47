"""The document of the commands that edit the source: what was changed, what that does, and what to run next."""

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .difference import DifferenceDocument, difference_document
from .document import OutputDocument, meaning_of_field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconciler.edit.cluster_files import SourceChange
    from reconciler.preview.source_edits import EditOutcome


class SourceEditDocument(OutputDocument, frozen=True, kw_only=True):
    """An edit of the source, and its outcome."""

    kind = "SourceEdit"
    about = "An edit of the source, what it does to every cluster, and what to run next."
    printed_by = (
        "cluster drain",
        "cluster unjoin",
        "cluster rename",
        "rebalance",
        "rollout pause",
        "rollout resume",
        "rollout approve",
        "rollout retry",
        "rollout abort",
    )

    subject: Annotated[str, meaning_of_field("What the edit does, as its commit says it.")]
    files: Annotated[
        tuple[str, ...], meaning_of_field("The files that were written or removed; none where nothing was to do.")
    ]
    commit: Annotated[str | None, meaning_of_field("The commit that was made; null without `--commit`.")]
    difference: Annotated[
        DifferenceDocument | None,
        meaning_of_field("What the edit does, as `argosy diff` says it; null where nothing is committed yet."),
    ]
    leaving: Annotated[
        int | UnsetType,
        meaning_of_field("How many objects leave the clusters that are drained, as the removal guard counts."),
    ] = UNSET
    staying: Annotated[int | UnsetType, meaning_of_field("How many objects stay in them.")] = UNSET
    next: Annotated[tuple[str, ...], meaning_of_field("The commands to run next, in order.")] = ()


def source_edit_document(
    change: "SourceChange", commit: str, outcome: "EditOutcome | None", steps: "Sequence[str]" = ()
) -> SourceEditDocument:
    """Return an edit as a document."""
    emptied = outcome.emptied if outcome else ()
    return SourceEditDocument(
        subject=change.subject,
        files=tuple(sorted(change.contents)),
        commit=commit or None,
        difference=difference_document(outcome.difference) if outcome else None,
        leaving=sum(len(each.leaving) for each in emptied) if emptied else UNSET,
        staying=sum(each.staying for each in emptied) if emptied else UNSET,
        next=tuple(steps),
    )
