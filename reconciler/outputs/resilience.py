"""The parts of documents that are about losses of clusters, and about what these leave of objects."""

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .difference_parts import Identity, object_identity_part
from .document import DocumentPart, meaning_of_field, value_unless_empty

if TYPE_CHECKING:
    from reconciler.diff.resilience import ResilienceChange
    from reconciler.simulation.resilience import Judgement, Shortfall


class ShortfallPart(DocumentPart, frozen=True, kw_only=True):
    """A loss after which too little is left of an object."""

    names: Annotated[tuple[str, ...], meaning_of_field("The clusters, regions, zones or providers that are lost.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that are lost with them.")]
    left: Annotated[int, meaning_of_field("The replicas or copies that are left.")]
    reason: (
        Annotated[str, meaning_of_field("Why no more of it is placed anew; absent: all that could be was.")] | UnsetType
    ) = UNSET


class ResilienceChangePart(DocumentPart, frozen=True, kw_only=True):
    """An object that survives losses before or after a change alone, or is asked to since the change and does not."""

    object: Identity
    policy: Annotated[str, meaning_of_field("The policy that asks for it, such as `ResiliencePolicy shop/web`.")]
    effect: Annotated[
        str,
        meaning_of_field(
            "`Lost`: it survived before, and does not any more. `Gained`: it did not, and does now. `Missing`: nobody"
            " asked before, and it does not."
        ),
    ]
    asked: Annotated[bool, meaning_of_field("True if the policy still asks for it after the change.")]
    loss: Annotated[str, meaning_of_field("`cluster`, `region`, `zone` or `provider`.")]
    count: Annotated[int, meaning_of_field("How many of them are lost at once.")]
    when: Annotated[str, meaning_of_field("`Rescheduled` or `AtOnce`: when replicas are counted.")]
    copies: Annotated[bool, meaning_of_field("True if the clusters that have the object are counted, not replicas.")]
    total: Annotated[int, meaning_of_field("The replicas that it asks for, or the clusters that have it.")]
    needed: Annotated[int, meaning_of_field("How many of them have to be left.")]
    placed: Annotated[bool, meaning_of_field("False if the object is in no cluster, so that nobody can tell.")]
    losses: Annotated[
        tuple[ShortfallPart, ...], meaning_of_field("The losses that leave too little after the change, worst first.")
    ]


ResilienceOfChange = (
    Annotated[
        tuple[ResilienceChangePart, ...],
        meaning_of_field("What becomes of losses that objects have to survive. It is no difference in any cluster."),
    ]
    | UnsetType
)


def resilience_parts(changes: "tuple[ResilienceChange, ...]") -> tuple[ResilienceChangePart, ...] | UnsetType:
    """Return the changes of resilience as parts of a document."""
    return value_unless_empty(tuple(map(_change_part, changes)))


def _change_part(change: "ResilienceChange") -> ResilienceChangePart:
    judgement = change.judgement
    asked, survived = judgement.requirement, judgement.requirement.survived
    return ResilienceChangePart(
        object=object_identity_part(asked.ref),
        policy=str(asked.policy),
        effect=change.effect.value,
        asked=change.is_asked,
        loss=survived.field.value,
        count=survived.count,
        when=survived.when.value,
        copies=asked.is_copied,
        total=asked.total,
        needed=asked.needed,
        placed=judgement.is_placed,
        losses=shortfall_parts(judgement),
    )


def shortfall_parts(judgement: "Judgement") -> tuple[ShortfallPart, ...]:
    """Return the losses that leave too little, as parts of a document."""
    return tuple(map(_shortfall_part, judgement.shortfalls))


def _shortfall_part(shortfall: "Shortfall") -> ShortfallPart:
    return ShortfallPart(
        names=shortfall.loss.names,
        clusters=tuple(sorted(shortfall.loss.clusters)),
        left=shortfall.left,
        reason=shortfall.reason or UNSET,
    )
