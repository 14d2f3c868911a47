"""The document of ``argosy blame``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from reconciler.history.blame import Blame, ChangeOrigin
from reconciler.history.text import time_of_step

from .document import DocumentPart, OutputDocument, meaning_of_field
from .history import HistoryReasonPart, StepTime
from .parts import ClusterName, ObjectName, Rendered


class OriginPart(DocumentPart, frozen=True, kw_only=True):
    """The commit that something comes from."""

    commit: Rendered
    time: StepTime
    source: Annotated[str, meaning_of_field("The source commit that it was made from.")]
    author: Annotated[str, meaning_of_field("The author of the source commit.")]
    reasons: Annotated[tuple[HistoryReasonPart, ...], meaning_of_field("The reasons, as the commits record them.")]


FromOrigin = Annotated[
    OriginPart | None, meaning_of_field("The commit that it comes from; null if a shallow clone does not tell.")
]


class BlamedClusterPart(DocumentPart, frozen=True, kw_only=True):
    """An object in a cluster."""

    cluster: ClusterName
    replicas: Annotated[int, meaning_of_field("The replicas there; absent for an object without.")] | UnsetType = UNSET
    origin: FromOrigin


class BlamedFieldsPart(DocumentPart, frozen=True, kw_only=True):
    """Fields of one commit and rule."""

    paths: Annotated[tuple[str, ...], meaning_of_field("The paths of the fields; one stands for all below it.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters in which they come from there.")]
    rule: Annotated[str, meaning_of_field("The rule that sets them: an override, `the template`, or `not known`.")]
    origin: FromOrigin


class BlameDocument(OutputDocument, frozen=True, kw_only=True):
    """The origins of an object."""

    kind = "Blame"
    about = "The commits and rules that an object's replicas and fields come from, cluster by cluster."
    printed_by = ("blame",)

    commit: Annotated[str, meaning_of_field("The rendered commit that is looked at.")]
    object: ObjectName
    policy: Annotated[str, meaning_of_field("The policy that claims the object; empty for none.")]
    clusters: Annotated[tuple[BlamedClusterPart, ...], meaning_of_field("The object in each cluster.")]
    fields: Annotated[tuple[BlamedFieldsPart, ...], meaning_of_field("The fields, by commit and rule.")]
    rule_error: Annotated[str, meaning_of_field("The reason for which rules are not known; empty where they are.")]


def blame_document(blame: Blame) -> BlameDocument:
    """Return the origins of an object as a document."""
    return BlameDocument(
        commit=blame.commit,
        object=str(blame.ref),
        policy=blame.policy,
        clusters=tuple(
            BlamedClusterPart(
                cluster=each.cluster,
                replicas=UNSET if each.replicas is None else each.replicas,
                origin=origin_part(each.origin),
            )
            for each in blame.places
        ),
        fields=tuple(
            BlamedFieldsPart(paths=each.paths, clusters=each.clusters, rule=each.rule, origin=origin_part(each.origin))
            for each in blame.fields
        ),
        rule_error=blame.rule_error,
    )


def origin_part(origin: ChangeOrigin) -> OriginPart | None:
    """Return an origin as a part; None where it is not known."""
    step = origin.step
    if step is None:
        return None
    return OriginPart(
        commit=step.id,
        time=time_of_step(step) or None,
        source=step.source,
        author=step.author,
        reasons=tuple(HistoryReasonPart(reason=each.cause, message=each.message) for each in origin.reasons),
    )
