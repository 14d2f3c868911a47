"""The part of a document that says how risky a change is."""

from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field
from .planned_rollouts import OneWayChangePart

if TYPE_CHECKING:
    from reconciler.diff.risks import Risk


class AlonePart(DocumentPart, frozen=True, kw_only=True):
    """The number of workloads with all of their replicas in one cluster, before and after a change."""

    before: int
    after: int


class FreezePart(DocumentPart, frozen=True, kw_only=True):
    """A freeze in force that is about something of a change."""

    until: Annotated[str, meaning_of_field("Its end.")]
    reason: Annotated[str, meaning_of_field("Its reason.")]


class RiskPart(DocumentPart, frozen=True, kw_only=True):
    """The risk of a change, in numbers."""

    clusters: Annotated[int, meaning_of_field("How many clusters it touches.")]
    members: Annotated[int, meaning_of_field("How many there are.")]
    moved: Annotated[int, meaning_of_field("How many replicas move or are placed anew.")]
    alone: Annotated[
        AlonePart,
        meaning_of_field("The workloads in one cluster alone: with it, all of their replicas are gone at once."),
    ]
    lost: Annotated[
        int, meaning_of_field("How many objects do not survive a loss any more that a ResiliencePolicy asks them to.")
    ]
    gained: Annotated[int, meaning_of_field("How many survive such a loss now, and did not before.")]
    one_way: Annotated[tuple[OneWayChangePart, ...], meaning_of_field("What of it would not go back.")]
    freezes: Annotated[tuple[FreezePart, ...], meaning_of_field("The freezes in force that are about something of it.")]


RiskOfChange = Annotated[RiskPart, meaning_of_field("The risk of the change.")] | UnsetType


def risk_part(risk: "Risk | None") -> RiskPart | UnsetType:
    """Return the risk of a change; nothing where it was not looked at."""
    if risk is None:
        return UNSET
    return RiskPart(
        clusters=risk.clusters,
        members=risk.members,
        moved=risk.moved,
        alone=AlonePart(before=risk.alone_before, after=risk.alone_after),
        lost=risk.lost,
        gained=risk.gained,
        one_way=tuple(OneWayChangePart(object=str(each.ref), reason=each.reason) for each in risk.one_way),
        freezes=tuple(FreezePart(until=each.until, reason=each.reason) for each in risk.freezes),
    )
