"""The document of ``argosy simulate --headroom``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.simulation.headroom import HeadroomReport
from render.scheduling.headroom import ClusterHeadroom
from render.timing import instant_text

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import ObjectName
from .simulation import FactAgePart, fact_age_part


class ClusterHeadroomPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that the object may go to."""

    name: Annotated[str, meaning_of_field("The cluster.")]
    replicas: Annotated[int, meaning_of_field("The replicas that it has there.")]
    fits: Annotated[int | None, meaning_of_field("How many more fit there; null: no capacity is known.")]
    resource: Annotated[
        str,
        meaning_of_field(
            "What it lacks then, such as `cpu` or `pods`; `nodes`: no node has room for one more; empty: nobody knows."
        ),
    ]


class HeadroomDocument(OutputDocument, frozen=True, kw_only=True):
    """The headroom of an object."""

    kind = "Headroom"
    about = "How many more replicas of an object fit, in each cluster and by its policy, and what gives out first."
    printed_by = ("simulate --headroom",)

    source: Annotated[str, meaning_of_field("The source commit; empty for the work tree, or with added files.")]
    now: Annotated[str, meaning_of_field("The time at which everything is decided.")]
    supposed: Annotated[tuple[str, ...], meaning_of_field("What is supposed beside, in words.")]
    object: ObjectName
    replicas: Annotated[int, meaning_of_field("The replicas that it asks for.")]
    fits: Annotated[
        int | None,
        meaning_of_field(
            "How many more a pass places, with room for each; in each copy, if it is duplicated; null: there is no end."
        ),
    ]
    copies: (
        Annotated[int, meaning_of_field("The other clusters with room for a copy; absent: its replicas are divided.")]
        | UnsetType
    ) = UNSET
    first: (
        Annotated[ClusterHeadroomPart, meaning_of_field("The cluster that gives out first; absent: none does.")]
        | UnsetType
    ) = UNSET
    unknown: Annotated[
        tuple[str, ...],
        meaning_of_field("Clusters without a known capacity that get the next one: nobody can tell how many fit then."),
    ]
    reason: Annotated[str, meaning_of_field("Why no more are placed, as the scheduler says it, or empty.")]
    clusters: Annotated[tuple[ClusterHeadroomPart, ...], meaning_of_field("The clusters that it may go to.")]
    facts: Annotated[tuple[FactAgePart, ...], meaning_of_field("The age of what is known of each cluster.")]
    assumptions: Annotated[tuple[str, ...], meaning_of_field("What the answer takes for granted.")]


def headroom_document(report: HeadroomReport, *, source: str) -> HeadroomDocument:
    """Return the headroom of an object as a document."""
    found = report.headroom
    return HeadroomDocument(
        source=source,
        now=instant_text(report.now),
        supposed=report.supposed,
        object=str(report.ref),
        replicas=found.replicas,
        fits=found.fits,
        copies=UNSET if found.copies is None else found.copies,
        first=UNSET if found.first is None else _cluster_part(found.first),
        unknown=tuple(sorted(found.unknown)),
        reason=found.reason,
        clusters=tuple(map(_cluster_part, found.clusters)),
        facts=tuple(map(fact_age_part, report.facts)),
        assumptions=report.assumptions,
    )


def _cluster_part(each: ClusterHeadroom) -> ClusterHeadroomPart:
    return ClusterHeadroomPart(name=each.cluster, replicas=each.replicas, fits=each.fits, resource=each.resource)
