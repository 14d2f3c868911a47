"""The document of ``argosy rollback``: what comes back, what stays, and what cannot go back."""

from typing import TYPE_CHECKING, Annotated

from render.timing import instant_text

from .difference import DifferenceDocument, difference_document
from .document import DocumentPart, OutputDocument, meaning_of_field

if TYPE_CHECKING:
    from reconciler.edit.rollback import RollbackPlan
    from reconciler.preview.rollback_targets import CommitOfTime
    from reconciler.preview.rollbacks import RollbackOutcome, WrittenRollback


class UnrestoredPart(DocumentPart, frozen=True, kw_only=True):
    """A copy of an object that is not as it was."""

    object: Annotated[str, meaning_of_field("The object.")]
    cluster: Annotated[str, meaning_of_field("The cluster.")]
    reason: Annotated[str, meaning_of_field("What it had there, what it has, and why.")]


class KeptPart(DocumentPart, frozen=True, kw_only=True):
    """A document that is another one than it was, and stays as it is."""

    object: Annotated[str, meaning_of_field("The object.")]
    file: Annotated[str, meaning_of_field("The file that it stands in.")]
    reason: Annotated[str, meaning_of_field("Why it stays.")]


class OneWayPart(DocumentPart, frozen=True, kw_only=True):
    """Something that does not go back with an object."""

    object: Annotated[str, meaning_of_field("The object.")]
    reason: Annotated[str, meaning_of_field("What stays as it became.")]


class RollbackDocument(OutputDocument, frozen=True, kw_only=True):
    """A rollback, before it is carried out or when it was."""

    kind = "Rollback"
    about = "A rollback: what comes back, what stays as it is, what cannot go back, and what to run next."
    printed_by = ("rollback",)

    subject: Annotated[str, meaning_of_field("What is rolled back.")]
    to: Annotated[str, meaning_of_field("The rendered commit whose outcome is to stand again.")]
    source: Annotated[str, meaning_of_field("The source commit that it was made from.")]
    files: Annotated[tuple[str, ...], meaning_of_field("The files that change; none where nothing is to be done.")]
    is_written: Annotated[bool, meaning_of_field("Whether the files were written.")]
    commit: Annotated[str | None, meaning_of_field("The commit that was made; null without `--commit` and `--branch`.")]
    branch: Annotated[str | None, meaning_of_field("The new branch that it is on; null without `--branch`.")]
    at: Annotated[str | None, meaning_of_field("The time that `--to` asks for; null where it names a commit.")]
    made: Annotated[
        str | None,
        meaning_of_field("When the commit of `to` was rendered, at the earliest; null where `--to` names no time."),
    ]
    restored: Annotated[tuple[str, ...], meaning_of_field("The objects whose documents are again what they were.")]
    copies: Annotated[int, meaning_of_field("How many copies of what is asked for were compared with those of then.")]
    unrestored: Annotated[tuple[UnrestoredPart, ...], meaning_of_field("The copies that are not as they were.")]
    kept: Annotated[tuple[KeptPart, ...], meaning_of_field("The documents that were changed since and stay.")]
    one_way: Annotated[tuple[OneWayPart, ...], meaning_of_field("All that does not go back, by object.")]
    difference: Annotated[
        DifferenceDocument | None,
        meaning_of_field("What it does to clusters, as `argosy diff` says it; null where nothing is committed yet."),
    ]
    next: Annotated[tuple[str, ...], meaning_of_field("The commands to run next, in order.")] = ()


def rollback_document(
    plan: "RollbackPlan",
    outcome: "RollbackOutcome | None",
    written: "WrittenRollback | None",
    of_time: "CommitOfTime | None" = None,
) -> RollbackDocument:
    """Return a rollback as a document; ``written`` None: it is only shown; ``of_time`` None: no time was asked for."""
    shares = outcome.shares if outcome else ()
    unequal = outcome.unequal if outcome else ()
    is_idle = outcome is not None and outcome.is_idle
    return RollbackDocument(
        subject=str(plan.subject),
        to=plan.target.commit,
        source=plan.target.source,
        files=() if is_idle else tuple(sorted(plan.change.contents)),
        is_written=written is not None,
        commit=(written.commit or None) if written else None,
        branch=(written.branch or None) if written else None,
        at=instant_text(of_time.asked) if of_time else None,
        made=instant_text(of_time.made) if of_time else None,
        restored=tuple(map(str, plan.restored.refs)),
        copies=outcome.copies if outcome else 0,
        unrestored=(
            *(UnrestoredPart(object=str(each.ref), cluster=each.cluster, reason=each.words) for each in shares),
            *(UnrestoredPart(object=str(each.ref), cluster=each.cluster, reason=each.words) for each in unequal),
        ),
        kept=tuple(KeptPart(object=str(each.ref), file=each.path, reason=each.reason) for each in plan.kept),
        one_way=tuple(OneWayPart(object=str(each.ref), reason=each.reason) for each in plan.one_way),
        difference=difference_document(outcome.edit.difference) if outcome else None,
        next=written.steps if written else (),
    )
