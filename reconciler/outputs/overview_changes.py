"""The changes of late in the document of ``argosy overview``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.branches.source_commits import UnrenderedCommit
from reconciler.overview.changes import RecentChange
from render.timing import epoch_text, instant_text

from .document import DocumentPart, meaning_of_field, value_unless_empty
from .parts import Rendered


class RecentChangePart(DocumentPart, frozen=True, kw_only=True):
    """A rendered commit of the last 24 hours."""

    commit: Rendered
    time: Annotated[str, meaning_of_field("When it was made, or the earliest time at which it can have been.")]
    source: Annotated[str, meaning_of_field("The source commit that it was made from.")]
    author: Annotated[
        str, meaning_of_field("Who wrote it: the newest commit of that source that is about the fleet's own folder.")
    ]
    subject: Annotated[str, meaning_of_field("The first line of the message of the same commit.")]
    new_source: Annotated[
        bool, meaning_of_field("False if the fleet's folder is the same as before: facts, time or a wave led to it.")
    ]
    first: Annotated[bool, meaning_of_field("Present if it is the first of the fleet.")] | UnsetType = UNSET
    clusters: (
        Annotated[int, meaning_of_field("In how many clusters it changed something; absent for the first one.")]
        | UnsetType
    ) = UNSET
    objects: (
        Annotated[int, meaning_of_field("How many objects it changed there; absent for the first one.")] | UnsetType
    ) = UNSET
    waits: (
        Annotated[str, meaning_of_field("Present while a rollout of its source is not over: what that waits for.")]
        | UnsetType
    ) = UNSET


class UnrenderedCommitPart(DocumentPart, frozen=True, kw_only=True):
    """A source commit of which no rendered commit was made for itself."""

    commit: Annotated[str, meaning_of_field("The source commit.")]
    time: Annotated[str, meaning_of_field("Its time.")]
    author: Annotated[str, meaning_of_field("Its author.")]
    subject: Annotated[str, meaning_of_field("The first line of its message.")]
    rendered: (
        Annotated[str, meaning_of_field("The rendered commit that was made of a later source, which contains it.")]
        | UnsetType
    ) = UNSET


def unrendered_part(each: UnrenderedCommit) -> UnrenderedCommitPart:
    """Return a source commit of which no rendered commit was made for itself as a part."""
    return UnrenderedCommitPart(
        commit=each.info.id,
        time=epoch_text(each.info.time),
        author=each.info.author,
        subject=each.info.subject,
        rendered=value_unless_empty(each.rendered),
    )


def change_part(each: RecentChange, waits: str) -> RecentChangePart:
    """Return a rendered commit of late as a part; ``waits`` says what rollouts of its source wait for."""
    return RecentChangePart(
        commit=each.commit,
        time=instant_text(each.at),
        source=each.source,
        author=each.author,
        subject=each.subject,
        new_source=each.is_of_new_source,
        first=value_unless_empty(each.is_first),
        clusters=UNSET if each.is_first else each.clusters,
        objects=UNSET if each.is_first else each.objects,
        waits=value_unless_empty(waits),
    )
