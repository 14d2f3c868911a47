"""The document of ``argosy simulate --n-minus``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.simulation.loss_outcomes import LossOutcome
from reconciler.simulation.loss_text import LossReport, name_of_loss, quantities_of_amounts
from render.prices.amounts import exact_decimal
from render.timing import instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import ObjectName
from .simulation import FactAgePart, fact_age_part

Quantities = Annotated[dict[str, str], meaning_of_field("Quantities by resource; pods count as well.")]


class BrokenObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object that a loss breaks."""

    object: ObjectName
    asked: Annotated[int, meaning_of_field("The replicas that it asks for.")]
    missing: Annotated[int, meaning_of_field("How many of them have no place because of the loss; 0: it has none.")]
    reason: Annotated[str, meaning_of_field("Why, as the scheduler says it; empty where nothing says so.")]


class LostStatePart(DocumentPart, frozen=True, kw_only=True):
    """The state that an object keeps in lost clusters."""

    object: ObjectName
    state: Annotated[str, meaning_of_field("What it keeps there, such as the volumes of its claims.")]


class LossCostPart(DocumentPart, frozen=True, kw_only=True):
    """The difference that a loss makes to the costs of a month of 730 hours, once all is placed anew."""

    currency: Annotated[str, meaning_of_field("The currency, such as EUR.")]
    difference: Annotated[
        str, meaning_of_field("By how much a month costs more, as a decimal text; what is lost costs nothing any more.")
    ]
    is_partly_unknown: Annotated[
        bool, meaning_of_field("Whether something that moves is of unknown cost, and not in it.")
    ]


LossCost = Annotated[LossCostPart, meaning_of_field("The costs; absent: the fleet has no PriceList.")] | UnsetType


class LossPart(DocumentPart, frozen=True, kw_only=True):
    """A loss, and what becomes of the fleet."""

    name: Annotated[str, meaning_of_field("The names of what is lost, joined by a plus sign.")]
    domains: Annotated[tuple[str, ...], meaning_of_field("The names of the clusters, regions, zones or providers.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters in them.")]
    survived: Annotated[bool, meaning_of_field("Whether all that had a place has one again, with room for it.")]
    objects: Annotated[int, meaning_of_field("How many objects the lost clusters hold.")]
    replicas: Annotated[int, meaning_of_field("The replicas that run in them.")]
    moved: Annotated[int, meaning_of_field("The replicas that are placed in other clusters.")]
    broken: Annotated[
        tuple[BrokenObjectPart, ...],
        meaning_of_field("The objects of which more has no place than before, or that no cluster has any more."),
    ]
    copies: Annotated[tuple[str, ...], meaning_of_field("The workloads that lose a copy and go on in other clusters.")]
    stateful: Annotated[
        tuple[LostStatePart, ...], meaning_of_field("The objects that keep something in the lost clusters.")
    ]
    missing_capacity: Annotated[
        Quantities,
        meaning_of_field("The capacity that is missing, for what has no place and where it is overdrawn."),
    ]
    overdrawn: Annotated[
        dict[str, dict[str, str]],
        meaning_of_field("By cluster, what would be placed there because of the loss beyond the room that it has."),
    ]
    cost: LossCost = UNSET


class LossesDocument(OutputDocument, frozen=True, kw_only=True):
    """The answer to every loss."""

    kind = "Losses"
    about = "What would become of a fleet at each loss of so many clusters, regions, zones or providers."
    printed_by = ("simulate --n-minus 1",)

    source: Annotated[str, meaning_of_field("The source commit; empty for the work tree, or with added files.")]
    now: Annotated[str, meaning_of_field("The time at which everything is decided.")]
    supposed: Annotated[tuple[str, ...], meaning_of_field("What is supposed beside, in words.")]
    by: Annotated[str, meaning_of_field("What is lost: cluster, region, zone or provider.")]
    count: Annotated[
        int,
        meaning_of_field("How many of them are lost at once: all there are, where these are fewer than was asked for."),
    ]
    never_lost: Annotated[
        tuple[str, ...],
        meaning_of_field("The clusters of which no such place is known, so that no loss takes what is there."),
    ]
    survived: Annotated[bool, meaning_of_field("Whether every loss is survived.")]
    losses: Annotated[tuple[LossPart, ...], meaning_of_field("The losses.")]
    facts: Annotated[tuple[FactAgePart, ...], meaning_of_field("The age of what is known of each cluster.")]
    assumptions: Annotated[tuple[str, ...], meaning_of_field("What the answer takes for granted.")]


def losses_document(report: LossReport, *, source: str) -> LossesDocument:
    """Return the answer to every loss as a document."""
    return LossesDocument(
        source=source,
        now=instant_text(report.now),
        supposed=report.supposed,
        by=str(report.by),
        count=report.lost_at_once,
        never_lost=report.never_lost,
        survived=not report.breaking,
        losses=tuple(_loss_part(each, report.currency) for each in report.outcomes),
        facts=tuple(map(fact_age_part, report.facts)),
        assumptions=report.assumptions,
    )


def _loss_part(each: LossOutcome, currency: str) -> LossPart:
    return LossPart(
        name=name_of_loss(each.loss),
        domains=each.loss.names,
        clusters=tuple(sorted(each.loss.clusters)),
        survived=each.is_survived,
        objects=each.objects,
        replicas=each.replicas,
        moved=each.moved,
        broken=tuple(
            BrokenObjectPart(object=str(one.ref), asked=one.asked, missing=one.missing, reason=one.reason)
            for one in each.broken
        ),
        copies=tuple(map(str, each.copies)),
        stateful=tuple(LostStatePart(object=str(ref), state=state) for ref, state in each.stateful.items()),
        missing_capacity=quantities_of_amounts(each.missing_capacity),
        overdrawn={name: quantities_of_amounts(amounts) for name, amounts in each.overdrawn.items()},
        cost=UNSET
        if each.cost is None
        else LossCostPart(
            currency=currency,
            difference=exact_decimal(each.cost.amount),
            is_partly_unknown=each.cost.is_unknown,
        ),
    )
