"""Parts that several documents share, and fields that mean the same in each."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field, value_unless_empty

if TYPE_CHECKING:
    from overrides.changes import ChangedField
    from reconciler.ledger.holds import ClusterHold, ClusterHolds, EndedHold
    from reconciler.ledger.refusal import SourceRefusal
    from reconciler.members.exchange import Failure
    from reconciler.pipeline.pending import Pending
    from reconciler.pipeline.released import Released
    from reconciler.rendering.problems import ObjectProblem
    from render.scheduling.unknown_capacity import UnknownCapacity
    from render.timing import Flip

Source = Annotated[str | None, meaning_of_field("The source commit; null stands for the files in the work tree.")]
Previous = Annotated[
    str | None, meaning_of_field("The rendered commit that decided what stays where it is; null if there was none.")
]
Rendered = Annotated[str, meaning_of_field("The rendered commit.")]
ObjectName = Annotated[str, meaning_of_field("The object, such as `Deployment.apps shop/web`.")]
Skipped = Annotated[int, meaning_of_field("How many files were skipped because they hold no Kubernetes object.")]
ClusterName = Annotated[str, meaning_of_field("The name of the cluster.")]
Reason = Annotated[str, meaning_of_field("The reason, in one word.")]
Message = Annotated[str, meaning_of_field("The reason, in a sentence.")]
StateWord = Annotated[
    str,
    meaning_of_field(
        "Its state: `Unwell`, `Unknown` (nobody knows how it is now), `Waiting` (for a person, a wave or the end of"
        " a hold), `Progressing` or `Well`."
    ),
]
IsOverridden = Annotated[
    bool, meaning_of_field("Present if the policy assigns others: an override sets these, or nothing writes a share.")
]


class FieldPart(DocumentPart, frozen=True, kw_only=True):
    """A field that is another one."""

    path: Annotated[str, meaning_of_field("The JSON pointer of the field.")]
    operator: Annotated[str, meaning_of_field("`add`, `replace` or `remove`.")]
    before: Annotated[Any, meaning_of_field("The value before; absent if the field is added.")] | UnsetType = UNSET
    after: Annotated[Any, meaning_of_field("The value afterwards; absent if the field is removed.")] | UnsetType = UNSET


Fields = Annotated[
    tuple[FieldPart, ...], meaning_of_field("The fields that change; none if only the divided replicas do.")
]


PendingReason = Annotated[
    str, meaning_of_field("`SuspendDispatching`, `LazyActivation`, `SuspendScheduling` or `OtherScheduler`.")
]


class PendingPart(DocumentPart, frozen=True, kw_only=True):
    """An object for which something is decided and not carried out."""

    object: ObjectName
    clusters: Annotated[
        tuple[str, ...],
        meaning_of_field("The suspended clusters that miss it or a change of it; none for other reasons."),
    ]
    reason: PendingReason
    message: Message


PendingObjects = Annotated[
    tuple[PendingPart, ...],
    meaning_of_field("What is decided and not carried out, because somebody suspended that, or a lazy policy waits."),
]


class ReleasedPart(DocumentPart, frozen=True, kw_only=True):
    """An object that no policy selects any more."""

    object: ObjectName
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that keep it.")]
    outdated: Annotated[bool, meaning_of_field("True if its template or its overrides would change it by now.")]


ReleasedObjects = Annotated[
    tuple[ReleasedPart, ...],
    meaning_of_field("Objects that no policy selects any more, and that clusters therefore keep as they are."),
]


ClustersConcerned = Annotated[
    tuple[str, ...], meaning_of_field("The clusters this is about; none if it is about the object as a whole.")
]


class UnplacedPart(DocumentPart, frozen=True, kw_only=True):
    """An object that could not be placed or built."""

    object: ObjectName
    clusters: ClustersConcerned
    reason: Reason
    message: Message


UnplacedObjects = Annotated[tuple[UnplacedPart, ...], meaning_of_field("What could not be placed or built, and why.")]


class ConditionPart(DocumentPart, frozen=True, kw_only=True):
    """A condition, as in the API."""

    type: str
    status: str
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET
    last_transition_time: str | UnsetType = UNSET
    observed_generation: int | UnsetType = UNSET


class FailurePart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that could not be asked, or not to the end."""

    reason: Reason
    message: Message


class NextChangePart(DocumentPart, frozen=True, kw_only=True):
    """A change that happens by itself."""

    at: Annotated[str, meaning_of_field("The time, as RFC 3339.")]
    what: Annotated[str, meaning_of_field("The change, such as `web leaves paris`.")]


NextChange = Annotated[
    NextChangePart, meaning_of_field("The next change that happens by itself while nothing else changes.")
]


class RefusalPart(DocumentPart, frozen=True, kw_only=True):
    """A source commit that passes refuse."""

    source: Annotated[str, meaning_of_field("The source commit that is refused.")]
    since: Annotated[
        str | None, meaning_of_field("The time of the first pass that refused it; null if no pass has recorded that.")
    ]
    code: Annotated[int, meaning_of_field("The exit code of passes that refuse it: 3 or 6.")]
    message: Annotated[str, meaning_of_field("The reason, in a sentence.")]
    details: Annotated[tuple[str, ...], meaning_of_field("The files and lines of problems, or what a guard counted.")]
    hint: Annotated[str, meaning_of_field("What to do about it; it may be empty.")]


class HoldPart(DocumentPart, frozen=True, kw_only=True):
    """A hold on a cluster: it stays at a rendered commit, and passes give it no newer one."""

    at: Annotated[str, meaning_of_field("The rendered commit that it stays at.")]
    by: Annotated[str, meaning_of_field("The person who wanted that, as Git names people.")]
    since: Annotated[str, meaning_of_field("The time when the hold began, as RFC 3339.")]
    because: Annotated[str, meaning_of_field("The reason that was given for it.")] | UnsetType = UNSET
    until: (
        Annotated[
            str,
            meaning_of_field(
                "The time when it ends, as RFC 3339, or `released`; left out where a newer source ends it."
            ),
        ]
        | UnsetType
    ) = UNSET


class EndedHoldPart(HoldPart, frozen=True, kw_only=True):
    """A hold that is over."""

    ended_by: Annotated[str, meaning_of_field("What ended it: a source, its time, or a commit applied by hand.")]


Held = Annotated[
    HoldPart, meaning_of_field("Present if somebody holds the cluster at a commit that is not the newest.")
]


def hold_parts(holds: "ClusterHolds") -> dict[str, HoldPart]:
    """Return holds by cluster, as documents have them."""
    return {name: _hold_part(hold) for name, hold in sorted(holds.items())}


def hold_part(hold: "ClusterHold | None") -> HoldPart | UnsetType:
    """Return a hold, as documents have it; it is left out where there is none."""
    return UNSET if hold is None else _hold_part(hold)


def _hold_part(hold: "ClusterHold") -> HoldPart:
    return HoldPart(
        at=hold.commit,
        by=hold.by,
        since=hold.since,
        because=value_unless_empty(hold.reason),
        until=value_unless_empty(hold.until),
    )


def ended_hold_parts(ended: Mapping[str, "EndedHold"]) -> dict[str, EndedHoldPart]:
    """Return holds that are over by cluster, as documents have them."""
    return {name: _ended_hold_part(each) for name, each in sorted(ended.items())}


def ended_hold_part(ended: "EndedHold | None") -> EndedHoldPart | UnsetType:
    """Return a hold that is over, as documents have it; it is left out where there is none."""
    return UNSET if ended is None else _ended_hold_part(ended)


def _ended_hold_part(ended: "EndedHold") -> EndedHoldPart:
    hold = ended.hold
    return EndedHoldPart(
        at=hold.commit,
        by=hold.by,
        since=hold.since,
        because=value_unless_empty(hold.reason),
        until=value_unless_empty(hold.until),
        ended_by=ended.ended_by,
    )


def failure_part(failure: "Failure") -> FailurePart:
    """Return a failure, as documents have it."""
    return FailurePart(reason=str(failure.kind), message=failure.message)


def field_part(field: "ChangedField") -> FieldPart:
    """Return a field that is another one, as documents have it."""
    return FieldPart(
        path=field.path,
        operator=field.operator,
        before=UNSET if field.operator == "add" else field.before,
        after=UNSET if field.operator == "remove" else field.after,
    )


def pending_part(pending: "Pending") -> PendingPart:
    """Return a pending object, as documents have it."""
    return PendingPart(
        object=str(pending.ref), clusters=pending.clusters, reason=pending.reason, message=pending.message
    )


def released_part(released: "Released") -> ReleasedPart:
    """Return a released object, as documents have it."""
    return ReleasedPart(object=str(released.ref), clusters=released.clusters, outdated=released.is_outdated)


def unplaced_part(problem: "ObjectProblem") -> UnplacedPart:
    """Return an object with a problem, as documents have it."""
    return UnplacedPart(
        object=str(problem.ref), clusters=problem.clusters, reason=problem.reason, message=problem.message
    )


def refusal_part(refusal: "SourceRefusal") -> RefusalPart:
    """Return the refusal of a source, as documents have it."""
    return RefusalPart(
        source=refusal.source,
        since=refusal.since or None,
        code=refusal.code,
        message=refusal.message,
        details=refusal.details,
        hint=refusal.hint,
    )


def next_change_part(flip: "Flip | None") -> NextChangePart | UnsetType:
    """Return what happens next by itself; it is left out where nothing does."""
    from render.timing import instant_text

    return UNSET if flip is None else NextChangePart(at=instant_text(flip.at), what=flip.what)


class UnknownCapacityPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster of which no capacity is known, where something is divided by room."""

    cluster: ClusterName
    divided: Annotated[
        tuple[str, ...], meaning_of_field("The objects that are divided by room, and of which it gets none.")
    ]
    hint: Annotated[str, meaning_of_field("The way out.")]


def unknown_capacity_part(found: "UnknownCapacity") -> UnknownCapacityPart:
    """Return a cluster of unknown capacity, as documents have it."""
    return UnknownCapacityPart(cluster=found.cluster, divided=found.divided, hint=found.hint)
