"""The document of ``argosy backtest``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.backtest.backtesting import Backtest
from reconciler.backtest.comparison import ComparedPeak, compared_objects, compared_peaks
from reconciler.backtest.measures import FleetCounts, ObjectCounts
from reconciler.backtest.text import quantity
from render.prices.amounts import exact_decimal
from render.timing import instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import ClusterName, Message, ObjectName

Moved = Annotated[int, meaning_of_field("The replicas that left one cluster and appeared in another.")]
Evictions = Annotated[int, meaning_of_field("The clusters that objects had to leave by failover, taints or a drain.")]
Flaps = Annotated[int, meaning_of_field("The times that an object came back to a cluster it had left shortly before.")]
UnscheduledMinutes = Annotated[
    float, meaning_of_field("The minutes in which no cluster took an object, or not all of it, as it asked.")
]
Time = Annotated[str, meaning_of_field("The time.")]


class BacktestCostPart(DocumentPart, frozen=True, kw_only=True):
    """The cost of a month of 730 hours, on the average of the time, by the prices of its newest source."""

    currency: Annotated[str, meaning_of_field("The currency, such as EUR.")]
    monthly: Annotated[str, meaning_of_field("The known cost, as a decimal text.")]
    unpriced: Annotated[
        tuple[str, ...],
        meaning_of_field(
            "The objects that are of unknown cost somewhere, or request nothing, and are in no sum there."
        ),
    ]


BacktestCost = Annotated[BacktestCostPart, meaning_of_field("The costs; absent: there is no PriceList.")] | UnsetType


class BacktestCountsPart(DocumentPart, frozen=True, kw_only=True):
    """The sums over all objects."""

    changes: Annotated[int, meaning_of_field("The passes that changed the outcome.")]
    moved_replicas: Moved
    evictions: Evictions
    flaps: Flaps
    unscheduled_minutes: UnscheduledMinutes
    replica_minutes_not_ready: Annotated[
        float, meaning_of_field("The minutes of replicas in clusters while these were not ready.")
    ]
    cost: BacktestCost = UNSET


class BacktestObjectCountsPart(DocumentPart, frozen=True, kw_only=True):
    """The counts of one object."""

    moved_replicas: Moved
    evictions: Evictions
    flaps: Flaps
    unscheduled_minutes: UnscheduledMinutes


class BacktestObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object that fares otherwise in the replay."""

    object: ObjectName
    really: Annotated[BacktestObjectCountsPart, meaning_of_field("What really happened to it.")]
    replayed: Annotated[BacktestObjectCountsPart, meaning_of_field("What happened to it in the replay.")]


class BacktestPeakPart(DocumentPart, frozen=True, kw_only=True):
    """The most that was requested at once of a resource of a cluster."""

    cluster: ClusterName
    resource: Annotated[str, meaning_of_field("The resource; `pods` is the number of replicas.")]
    really: Annotated[str, meaning_of_field("The amount, as a quantity of Kubernetes.")]
    replayed: Annotated[str, meaning_of_field("The amount in the replay.")]


class BacktestEnginePart(DocumentPart, frozen=True, kw_only=True):
    """A version of the engine other than this one."""

    version: Annotated[str, meaning_of_field("The version.")]
    commits: Annotated[tuple[str, ...], meaning_of_field("The rendered commits that it made, the oldest first.")]


class BacktestRefusalPart(DocumentPart, frozen=True, kw_only=True):
    """A pass of the replay that the guards would have refused."""

    time: Annotated[str, meaning_of_field("The time of the pass.")]
    message: Message


class BacktestUnreadPart(DocumentPart, frozen=True, kw_only=True):
    """A rendered commit that is not replayed, because its source is refused now."""

    commit: Annotated[str, meaning_of_field("The rendered commit.")]
    source: Annotated[str, meaning_of_field("The source commit that it was made from.")]
    message: Message


class BacktestGrainPart(DocumentPart, frozen=True, kw_only=True):
    """The grain of a backtest: what is recorded of the time, and which passes of the replay changed something."""

    rendered_commits: Annotated[int, meaning_of_field("The rendered commits of that time, each of them a pass.")]
    status_commits: Annotated[int, meaning_of_field("The commits of the status branch of that time.")]
    passes_at_status_commits: Annotated[
        int, meaning_of_field("The passes by these, between rendered commits, that changed something in the replay.")
    ]
    passes_at_flips: Annotated[
        int, meaning_of_field("The passes at which an answer of the replay flipped by itself, and changed something.")
    ]
    uncounted_passes: Annotated[
        int,
        meaning_of_field(
            "The passes that do not count, because a real one would have changed something as well, and none did."
        ),
    ]


class BacktestDocument(OutputDocument, frozen=True, kw_only=True):
    """A backtest."""

    kind = "Backtest"
    about = "What proposed policies and settings would have done in a time that is recorded, beside what happened."
    printed_by = ("backtest",)

    commit: Annotated[str, meaning_of_field("The newest rendered commit that is known here.")]
    since: Time
    until: Time
    base: Annotated[
        str | None, meaning_of_field("The rendered commit that the replay starts from; null if it has the first one.")
    ]
    proposed: Annotated[tuple[str, ...], meaning_of_field("The objects and files that are proposed.")]
    identical: Annotated[
        int, meaning_of_field("The rendered commits that came out of the replay as they really are, byte for byte.")
    ]
    same_places: Annotated[
        int, meaning_of_field("The rendered commits after which every object of the replay stood where it really did.")
    ]
    first_difference: Annotated[
        str | None, meaning_of_field("The first rendered commit that came out otherwise; null for none.")
    ]
    grain: Annotated[BacktestGrainPart, meaning_of_field("What is recorded of that time.")]
    really: Annotated[BacktestCountsPart, meaning_of_field("What really happened.")]
    replayed: Annotated[BacktestCountsPart, meaning_of_field("What happened in the replay.")]
    objects: Annotated[tuple[BacktestObjectPart, ...], meaning_of_field("The objects that fare otherwise.")]
    peaks: Annotated[tuple[BacktestPeakPart, ...], meaning_of_field("The peak use, by cluster and resource.")]
    engines: Annotated[tuple[BacktestEnginePart, ...], meaning_of_field("The other engines that made commits.")]
    refused: Annotated[tuple[BacktestRefusalPart, ...], meaning_of_field("What the guards would have refused.")]
    unread: Annotated[tuple[BacktestUnreadPart, ...], meaning_of_field("The commits that are not replayed.")]
    is_cut_off: Annotated[bool, meaning_of_field("True if earlier commits of that time are not in this clone.")]
    fetches: Annotated[tuple[str, ...], meaning_of_field("The commands that bring them.")]


def backtest_document(backtest: Backtest) -> BacktestDocument:
    """Return a backtest as a document."""
    past, done = backtest.past, backtest.replayed
    return BacktestDocument(
        commit=backtest.commit,
        since=instant_text(past.begin),
        until=instant_text(past.end),
        base=past.base.commit.id if past.base is not None else None,
        proposed=backtest.proposed,
        identical=done.identical,
        same_places=done.same_places,
        first_difference=done.first_difference or None,
        grain=_grain_part(backtest),
        really=_counts_part(done.truth),
        replayed=_counts_part(done.replay),
        objects=tuple(
            BacktestObjectPart(
                object=str(each.ref), really=_object_part(each.really), replayed=_object_part(each.replayed)
            )
            for each in compared_objects(done)
        ),
        peaks=tuple(map(_peak_part, compared_peaks(done))),
        engines=tuple(
            BacktestEnginePart(version=version, commits=commits) for version, commits in past.other_engines.items()
        ),
        refused=tuple(BacktestRefusalPart(time=instant_text(each.at), message=each.message) for each in done.refused),
        unread=tuple(
            BacktestUnreadPart(commit=each.commit, source=each.source, message=each.message) for each in done.unread
        ),
        is_cut_off=past.is_cut_off,
        fetches=backtest.fetches,
    )


def _grain_part(backtest: Backtest) -> BacktestGrainPart:
    past, done = backtest.past, backtest.replayed
    return BacktestGrainPart(
        rendered_commits=len(past.rendered),
        status_commits=past.status_commits,
        passes_at_status_commits=done.looks,
        passes_at_flips=done.flips,
        uncounted_passes=done.uncounted,
    )


def _peak_part(peak: ComparedPeak) -> BacktestPeakPart:
    return BacktestPeakPart(
        cluster=peak.cluster,
        resource=peak.resource,
        really=quantity(peak.resource, peak.really),
        replayed=quantity(peak.resource, peak.replayed),
    )


def _counts_part(counts: FleetCounts) -> BacktestCountsPart:
    total = counts.total
    return BacktestCountsPart(
        changes=counts.commits,
        moved_replicas=total.moved_replicas,
        evictions=total.evictions,
        flaps=total.flaps,
        unscheduled_minutes=_minutes(total.unscheduled),
        replica_minutes_not_ready=_minutes(counts.down),
        cost=_cost_part(counts) if counts.currency else UNSET,
    )


def _cost_part(counts: FleetCounts) -> BacktestCostPart:
    return BacktestCostPart(
        currency=counts.currency,
        monthly=exact_decimal(counts.monthly_cost),
        unpriced=tuple(map(str, sorted(counts.unpriced))),
    )


def _object_part(counts: ObjectCounts) -> BacktestObjectCountsPart:
    return BacktestObjectCountsPart(
        moved_replicas=counts.moved_replicas,
        evictions=counts.evictions,
        flaps=counts.flaps,
        unscheduled_minutes=_minutes(counts.unscheduled),
    )


def _minutes(seconds: float) -> float:
    return round(seconds / 60, 1)
