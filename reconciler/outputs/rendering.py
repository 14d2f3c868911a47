"""The document of ``argosy render``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import (
    Message,
    ObjectName,
    PendingObjects,
    Previous,
    Reason,
    ReleasedObjects,
    Skipped,
    Source,
    UnplacedObjects,
    pending_part,
    released_part,
    unplaced_part,
)

if TYPE_CHECKING:
    from reconciler.preview.outputs import Selection
    from reconciler.rendering.outcome import Outcome

Objects = tuple[Mapping[str, Any], ...]


class UnmatchedPart(DocumentPart, frozen=True, kw_only=True):
    """A template that goes to no cluster."""

    object: ObjectName
    namespace: str
    reason: Reason
    message: Message
    path: Annotated[str, meaning_of_field("Its file.")]


class RenderingDocument(OutputDocument, frozen=True, kw_only=True):
    """A source, rendered."""

    kind = "Rendering"
    about = "What every cluster must hold."
    printed_by = ("render",)

    source: Source
    previous: Previous
    tree: Annotated[str, meaning_of_field("The id of the Git tree that was rendered.")]
    changed: Annotated[bool, meaning_of_field("True if the tree differs from the previous one.")]
    clusters: (
        Annotated[Mapping[str, Objects], meaning_of_field("With `--as manifests`: the objects of each cluster.")]
        | UnsetType
    ) = UNSET
    works: Annotated[Objects, meaning_of_field("With `--as works`: Karmada's Work objects.")] | UnsetType = UNSET
    skipped: Skipped
    disconnected: Annotated[
        tuple[str, ...], meaning_of_field("The clusters that left the source and keep what they have.")
    ]
    bindings: Annotated[Objects, meaning_of_field("A ResourceBinding or ClusterResourceBinding for each object.")]
    decisions: Annotated[
        Mapping[str, str],
        meaning_of_field("For each object: the event that asked for a scheduling decision, or `None`."),
    ]
    released: ReleasedObjects
    pending: PendingObjects
    unmatched: Annotated[tuple[UnmatchedPart, ...], meaning_of_field("The templates that no policy propagates.")]
    problems: UnplacedObjects
    warnings: Annotated[tuple[str, ...], meaning_of_field("The warnings about the source.")]


def rendering_document(outcome: "Outcome", selection: "Selection", shape: str) -> RenderingDocument:
    """Return everything about a pass as a document, with its objects in the shape that is asked for."""
    from reconciler.preview.outputs import (
        bindings_as_karmada_objects,
        objects_by_cluster,
        unmatched_objects,
        works_as_manifests,
    )
    from reconciler.rendering.problems import problems_by_object

    schedule = outcome.rendered.built.schedule
    clusters = objects_by_cluster(outcome, selection) if shape == "manifests" else None
    return RenderingDocument(
        source=outcome.source.commit or None,
        previous=outcome.previous.commit if outcome.previous else None,
        tree=outcome.rendered.tree.root.hex(),
        changed=outcome.is_changed,
        clusters=UNSET if clusters is None else {name: tuple(each) for name, each in clusters.items()},
        works=tuple(works_as_manifests(outcome, selection)) if shape == "works" else UNSET,
        skipped=len(outcome.source.desired.without_objects),
        disconnected=outcome.rendered.tree.disconnected,
        bindings=tuple(bindings_as_karmada_objects(outcome, selection)),
        decisions={str(ref): str(decision.trigger) for ref, decision in sorted(schedule.decisions.items())},
        released=tuple(map(released_part, outcome.released)),
        pending=tuple(map(pending_part, outcome.pending)),
        unmatched=tuple(UnmatchedPart(**each) for each in unmatched_objects(outcome)),
        problems=tuple(map(unplaced_part, problems_by_object(outcome))),
        warnings=tuple(str(warning) for warning in outcome.source.desired.warnings),
    )
