"""The document of ``argosy history --commits``."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.history.text import time_of_step
from reconciler.history.timeline import Timeline, TimelineEntry

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .history import StepTime, UnlistedFiles
from .parts import Rendered

MOST_NAMED = 10
"""The number of objects and of clusters that an entry names; the numbers beside them count all."""


class TimelineEntryPart(DocumentPart, frozen=True, kw_only=True):
    """A rendered commit that changed something."""

    commit: Rendered
    time: StepTime
    source: Annotated[str, meaning_of_field("The source commit that it was made from.")]
    source_before: (
        Annotated[str, meaning_of_field("The source commit before, if it is another one that is known.")] | UnsetType
    ) = UNSET
    author: Annotated[str, meaning_of_field("The author of the source commit.")]
    subject: Annotated[str, meaning_of_field("The first line of the source commit's message.")]
    before: (
        Annotated[str, meaning_of_field("The rendered commit before it; left out if it is the first that is here.")]
        | UnsetType
    ) = UNSET
    objects: Annotated[int, meaning_of_field("How many objects it changed.")]
    clusters: Annotated[int, meaning_of_field("In how many clusters.")]
    arrivals: Annotated[int, meaning_of_field("How often an object came to a cluster.")]
    departures: Annotated[int, meaning_of_field("How often an object left a cluster.")]
    replicas_before: Annotated[
        int, meaning_of_field("The replicas, before it, of objects in clusters in which it changed their number.")
    ]
    replicas_after: Annotated[int, meaning_of_field("The same after it.")]
    moved_replicas: Annotated[
        int, meaning_of_field("How many replicas are in other clusters than before: one lost what another one got.")
    ]
    edited: Annotated[int, meaning_of_field("How many objects have other fields in clusters that they stay in.")]
    unlisted_files: UnlistedFiles | UnsetType = UNSET
    reasons: Annotated[
        Mapping[str, int], meaning_of_field("For how many objects each reason is recorded, the most frequent first.")
    ]
    first_objects: Annotated[
        tuple[str, ...], meaning_of_field(f"The objects, or the first {MOST_NAMED} of them by name.")
    ]
    first_clusters: Annotated[
        tuple[str, ...], meaning_of_field(f"The clusters, or the first {MOST_NAMED} of them by name.")
    ]


class TimelineDocument(OutputDocument, frozen=True, kw_only=True):
    """A timeline: the rendered commits that changed something, and what each moved."""

    kind = "Timeline"
    about = (
        "The rendered commits that changed an object, a cluster, a policy, a namespace or the fleet, and what moved."
    )
    printed_by = ("history --commits",)

    commit: Annotated[str, meaning_of_field("The rendered commit up to which it goes.")]
    entries: Annotated[tuple[TimelineEntryPart, ...], meaning_of_field("The commits, the newest first.")]
    following: (
        Annotated[
            str, meaning_of_field("Present if there are earlier ones beyond `--limit`: the commit to go on from.")
        ]
        | UnsetType
    ) = UNSET
    is_cut_off: Annotated[bool, meaning_of_field("True if earlier commits are not in this clone.")]


def timeline_document(timeline: Timeline) -> TimelineDocument:
    """Return a timeline as a document."""
    return TimelineDocument(
        commit=timeline.commit,
        entries=tuple(map(_entry_part, timeline.entries)),
        following=value_unless_empty(timeline.following),
        is_cut_off=timeline.is_cut_off,
    )


def _entry_part(entry: TimelineEntry) -> TimelineEntryPart:
    step, clusters = entry.step, entry.clusters
    before, after = entry.replicas_before_and_after
    return TimelineEntryPart(
        commit=step.id,
        time=time_of_step(step) or None,
        source=step.source,
        source_before=value_unless_empty(step.source_before if step.is_of_new_source else ""),
        author=step.author,
        subject=step.subject,
        before=UNSET if step.before is None else step.before.id,
        objects=len(entry.events),
        clusters=len(clusters),
        arrivals=entry.arrivals,
        departures=entry.departures,
        replicas_before=before,
        replicas_after=after,
        moved_replicas=entry.moved_replicas,
        edited=entry.other_bytes,
        unlisted_files=step.unlisted or UNSET,
        reasons={str(cause): number for cause, number in entry.causes.items()},
        first_objects=tuple(str(each.ref) for each in entry.events[:MOST_NAMED]),
        first_clusters=clusters[:MOST_NAMED],
    )
