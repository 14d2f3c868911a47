"""The document of ``argosy diff``; it names objects by group, kind, namespace and name.

Fields may be added, none is renamed or removed within v1alpha1. A field's ``before`` is left out where it is added, its
``after`` where it is removed.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from render.fleet_settings import plain_setting_change

from .document import DocumentPart, OutputDocument, meaning, unless_empty
from .parts import ClusterName, Fields, Message, Previous, Reason, field_part

if TYPE_CHECKING:
    from reconciler.diff.difference import (
        ClusterTotal,
        Difference,
        ObjectChange,
        OriginChange,
        PartChange,
        PendingChange,
    )
    from reconciler.pipeline.movements import Movement, ReplicaChange
    from reconciler.rendering.problems import ObjectProblem
    from render.model import ObjectRef


class ObjectIdentityPart(DocumentPart, frozen=True, kw_only=True):
    """The identity of an object."""

    group: str
    kind: str
    namespace: str
    name: str


Identity = Annotated[ObjectIdentityPart, meaning("The object.")]
Origin = Annotated[str, meaning("The file and line that the object was built from; absent if it stands in a file.")]
ReplicasBefore = Annotated[int, meaning("Replicas before.")]
ReplicasAfter = Annotated[int, meaning("Replicas afterwards.")]


class CausePart(DocumentPart, frozen=True, kw_only=True):
    """An input of an object that is another one."""

    name: Annotated[str, meaning("A policy, a customization, webhooks, a build; or `its template`.")]
    path: Annotated[str, meaning("The file that it stands in.")]
    action: Annotated[str, meaning("`added`, `changed` or `removed`.")]


Causes = Annotated[tuple[CausePart, ...], meaning("The inputs of the object that are others.")]


class SummaryPart(DocumentPart, frozen=True, kw_only=True):
    """A difference in numbers."""

    text: Annotated[str, meaning("The summary in words.")]
    settings: Annotated[int, meaning("How many settings change.")]
    clusters: Annotated[int, meaning("How many clusters change.")]
    added: Annotated[int, meaning("How many objects are added.")]
    changed: Annotated[int, meaning("How many objects change.")]
    removed: Annotated[int, meaning("How many objects are removed.")]
    takeovers: Annotated[int, meaning("How many objects another policy claims.")]
    replicas: Annotated[int, meaning("How many replicas all workloads have together.")]
    moved: Annotated[int, meaning("How many replicas leave a cluster for another.")]
    placed_anew: Annotated[int, meaning("How many replicas are placed again because their cluster is disconnected.")]
    pending: Annotated[int, meaning("How many objects have something pending that had not.")]
    problems: Annotated[int, meaning("How many problems are new.")]


class SettingPart(DocumentPart, frozen=True, kw_only=True):
    """A setting that is another one."""

    field: Annotated[
        str,
        meaning("The field of argosy.yaml; a webhook of the interpreter, or another argosy.yaml, by its name."),
    ]
    before: Annotated[str | None, meaning("The value it had; null where there was none.")]
    after: Annotated[str | None, meaning("The value it has; null where there is none.")]
    waits: Annotated[bool, meaning("True if a pass refuses it until somebody accepts it.")]


class AllowancePart(DocumentPart, frozen=True, kw_only=True):
    """A trailer by which a change lets itself pass a guard."""

    commit: Annotated[str, meaning("The commit, one of the change itself.")]
    trailer: Annotated[str, meaning("Its trailer.")]


class ReplicasPart(DocumentPart, frozen=True, kw_only=True):
    """A number of replicas, before and afterwards."""

    before: ReplicasBefore
    after: ReplicasAfter


class ClusterTotalPart(DocumentPart, frozen=True, kw_only=True):
    """The difference in a cluster, in numbers."""

    name: ClusterName
    added: int
    changed: int
    removed: int
    replicas: ReplicasPart


class ObjectChangePart(DocumentPart, frozen=True, kw_only=True):
    """A change of an object, the same in some clusters."""

    object: Identity
    action: Annotated[str, meaning("`added`, `changed` or `removed`.")]
    clusters: Annotated[tuple[str, ...], meaning("The clusters in which this happens.")]
    origin: Origin | UnsetType = UNSET
    preserved: (
        Annotated[bool, meaning("True if the clusters keep the object although it leaves their folders.")] | UnsetType
    ) = UNSET
    causes: Causes | UnsetType = UNSET
    fields: Fields


class BuildFragmentPart(DocumentPart, frozen=True, kw_only=True):
    """A part of a build that is another one."""

    role: Annotated[str, meaning("`chart`, `chart file`, `values`, `Kubernetes`, `APIs`, `release` or `file`.")]
    name: Annotated[str, meaning("The part's name, such as a path; it may be empty.")]
    action: Annotated[str, meaning("`added`, `changed` or `removed`.")]
    before: Annotated[str | None, meaning("The version it had; null if it has none.")]
    after: Annotated[str | None, meaning("The version it has; null if it has none.")]


class ChangedBuildPart(DocumentPart, frozen=True, kw_only=True):
    """A build of a chart or a kustomization that is another one."""

    build: Annotated[str, meaning("The object that asks for the build, or the file of a kustomization.")]
    path: Annotated[str, meaning("The file that it stands in.")]
    objects: Annotated[int, meaning("How many of the objects that differ it made.")]
    parts: Annotated[tuple[BuildFragmentPart, ...], meaning("The parts that are others.")]


class TakenPart(DocumentPart, frozen=True, kw_only=True):
    """An object whose file is not read by itself any more."""

    object: Identity
    by: Annotated[str, meaning("The file of the kustomization that builds upon what the object came from.")]


class TakeoverPart(DocumentPart, frozen=True, kw_only=True):
    """An object that another policy claims."""

    object: Identity
    before: Annotated[str | None, meaning("The policy that claimed it before.")]
    after: Annotated[str | None, meaning("The policy that claims it afterwards.")]


class ReleasePart(DocumentPart, frozen=True, kw_only=True):
    """An object that no policy selects any more."""

    object: Identity
    clusters: tuple[str, ...]
    outdated: bool


class PendingChangePart(DocumentPart, frozen=True, kw_only=True):
    """A change that is decided and not carried out."""

    object: Identity
    reason: Annotated[str, meaning("`SuspendDispatching`, `LazyActivation`, `SuspendScheduling` or `OtherScheduler`.")]
    message: Annotated[str, meaning("The reason, in a sentence; empty for `SuspendDispatching`.")]
    clusters: Annotated[tuple[str, ...], meaning("The suspended clusters this is about.")]
    action: Annotated[str | None, meaning("`added` or `changed`: what would happen there; null if nothing would.")]
    fields: Fields


class ReplicaChangePart(DocumentPart, frozen=True, kw_only=True):
    """A cluster whose share of replicas is another one."""

    name: ClusterName
    before: ReplicasBefore
    after: ReplicasAfter
    disconnected: bool | UnsetType = UNSET


class MovementPart(DocumentPart, frozen=True, kw_only=True):
    """A workload whose replicas change."""

    object: Identity
    causes: Causes | UnsetType = UNSET
    before: ReplicasBefore
    after: ReplicasAfter
    moved: Annotated[int, meaning("How many replicas leave a cluster for another.")]
    placed_anew: Annotated[int, meaning("How many replicas go on in a disconnected cluster and are placed again.")]
    clusters: tuple[ReplicaChangePart, ...]


class MisplacedPart(DocumentPart, frozen=True, kw_only=True):
    """An object that cannot be placed or built."""

    object: Identity
    origin: Origin | UnsetType = UNSET
    clusters: Annotated[
        tuple[str, ...], meaning("The clusters this is about; none if it is about the object as a whole.")
    ]
    reason: Reason
    message: Message


class DifferenceDocument(OutputDocument, frozen=True, kw_only=True):
    """The difference between the renderings of two sources."""

    kind = "Difference"
    about = "What a change does to every cluster."
    printed_by = ("diff",)

    base: Annotated[str | None, meaning("The commit on the left side; null stands for the files in the work tree.")]
    head: Annotated[str | None, meaning("The commit on the right side; null stands for the files in the work tree.")]
    previous: Previous
    different: Annotated[bool, meaning("True if there is any difference.")]
    summary: Annotated[SummaryPart, meaning("The counts.")]
    settings: Annotated[tuple[SettingPart, ...], meaning("The settings that change.")]
    allowances: Annotated[tuple[AllowancePart, ...], meaning("What the change allows itself beyond the guards.")]
    clusters: Annotated[
        tuple[ClusterTotalPart, ...],
        meaning("The clusters that change, with the number of their objects and replicas."),
    ]
    joined: Annotated[tuple[str, ...], meaning("The clusters that join the fleet.")]
    renamed: Annotated[Mapping[str, str], meaning("The new names of clusters that are renamed, by the former ones.")]
    disconnected: Annotated[tuple[str, ...], meaning("The clusters that leave the source.")]
    objects: Annotated[
        tuple[ObjectChangePart, ...],
        meaning("The objects that change, cluster by cluster where they differ."),
    ]
    origins: Annotated[
        tuple[ChangedBuildPart, ...],
        meaning("The builds of charts and kustomizations that made objects which differ, with what is other in them."),
    ]
    taken: (
        Annotated[
            tuple[TakenPart, ...],
            meaning(
                "The objects whose file is not read by itself any more, as the kustomization of another folder builds"
                " upon it."
            ),
        ]
        | UnsetType
    ) = UNSET
    takeovers: Annotated[tuple[TakeoverPart, ...], meaning("The objects that another policy claims.")]
    released: Annotated[
        tuple[ReleasePart, ...],
        meaning("Objects that no policy selects any more, and that clusters therefore keep as they are."),
    ]
    pending: Annotated[
        tuple[PendingChangePart, ...],
        meaning("What the change leaves pending: suspended clusters do not get it, or a lazy policy waits."),
    ]
    ended: Annotated[
        tuple[PendingChangePart, ...],
        meaning("What was pending before the change, and is not any more."),
    ]
    movements: Annotated[tuple[MovementPart, ...], meaning("The workloads whose replicas change, cluster by cluster.")]
    problems: Annotated[tuple[MisplacedPart, ...], meaning("What can no longer be placed or built after the change.")]
    solved: Annotated[
        tuple[MisplacedPart, ...],
        meaning("What could not be placed or built before the change, and can be now."),
    ]


def difference_document(difference: "Difference") -> DifferenceDocument:
    """Return a difference as a document."""
    taken = tuple(TakenPart(object=_identity(ref), by=taker) for ref, taker in sorted(difference.taken.items()))
    return DifferenceDocument(
        base=difference.base or None,
        head=difference.head or None,
        previous=difference.previous or None,
        different=not difference.is_empty,
        summary=_summary(difference),
        settings=tuple(SettingPart(**plain_setting_change(each)) for each in difference.settings),
        allowances=tuple(AllowancePart(commit=each.commit, trailer=each.trailer) for each in difference.allowances),
        clusters=tuple(map(_total, difference.clusters)),
        joined=difference.joined,
        renamed=difference.renamed,
        disconnected=difference.left,
        objects=tuple(_object(difference, each) for each in difference.objects),
        origins=tuple(map(_build, difference.builds)),
        taken=unless_empty(taken),
        takeovers=tuple(
            TakeoverPart(object=_identity(each.ref), before=each.before or None, after=each.after or None)
            for each in difference.takeovers
        ),
        released=tuple(
            ReleasePart(object=_identity(each.ref), clusters=each.clusters, outdated=each.is_outdated)
            for each in difference.released
        ),
        pending=tuple(map(_pending, difference.pending)),
        ended=tuple(map(_pending, difference.ended)),
        movements=tuple(_movement(difference, each) for each in difference.movements),
        problems=tuple(_misplaced_part(difference, each) for each in difference.problems),
        solved=tuple(_misplaced_part(difference, each) for each in difference.solved),
    )


def _summary(difference: "Difference") -> SummaryPart:
    from reconciler.diff.difference import ChangeAction
    from reconciler.diff.words import summary

    return SummaryPart(
        text=summary(difference),
        settings=len(difference.settings),
        clusters=len(difference.clusters),
        added=difference.count(ChangeAction.ADDED),
        changed=difference.count(ChangeAction.CHANGED),
        removed=difference.count(ChangeAction.REMOVED),
        takeovers=len(difference.takeovers),
        replicas=difference.replicas,
        moved=difference.moved,
        placed_anew=difference.placed_anew,
        pending=len({each.ref for each in difference.pending}),
        problems=len(difference.problems),
    )


def _total(total: "ClusterTotal") -> ClusterTotalPart:
    return ClusterTotalPart(
        name=total.name,
        added=total.added,
        changed=total.changed,
        removed=total.removed,
        replicas=ReplicasPart(before=total.replicas_before, after=total.replicas_after),
    )


def _object(difference: "Difference", change: "ObjectChange") -> ObjectChangePart:
    return ObjectChangePart(
        object=_identity(change.ref),
        action=str(change.action),
        clusters=change.clusters,
        origin=difference.origins.get(change.ref, UNSET),
        preserved=unless_empty(change.is_preserved),
        causes=_causes(difference, change.ref, is_number=not change.fields),
        fields=tuple(map(field_part, change.fields)),
    )


def _causes(difference: "Difference", ref: "ObjectRef", *, is_number: bool) -> tuple[CausePart, ...] | UnsetType:
    """Return the inputs of an object that are others; they are left out where none is known."""
    from reconciler.diff.words import causes_of

    causes = causes_of(difference, ref, is_number=is_number)
    return unless_empty(tuple(CausePart(name=each.name, path=each.path, action=str(each.action)) for each in causes))


def _build(change: "OriginChange") -> ChangedBuildPart:
    return ChangedBuildPart(
        build=change.build, path=change.path, objects=change.objects, parts=tuple(map(_fragment, change.parts))
    )


def _fragment(part: "PartChange") -> BuildFragmentPart:
    return BuildFragmentPart(
        role=part.role,
        name=part.name,
        action=str(part.action),
        before=part.before or None,
        after=part.after or None,
    )


def _pending(change: "PendingChange") -> PendingChangePart:
    return PendingChangePart(
        object=_identity(change.ref),
        reason=change.reason,
        message=change.message,
        clusters=change.clusters,
        action=None if change.action is None else str(change.action),
        fields=tuple(map(field_part, change.fields)),
    )


def _movement(difference: "Difference", movement: "Movement") -> MovementPart:
    return MovementPart(
        object=_identity(movement.ref),
        causes=_causes(difference, movement.ref, is_number=True),
        before=movement.before,
        after=movement.after,
        moved=movement.moved,
        placed_anew=movement.placed_anew,
        clusters=tuple(map(_share, movement.changes)),
    )


def _share(change: "ReplicaChange") -> ReplicaChangePart:
    return ReplicaChangePart(
        name=change.cluster,
        before=change.before,
        after=change.after,
        disconnected=unless_empty(change.is_disconnected),
    )


def _misplaced_part(difference: "Difference", problem: "ObjectProblem") -> MisplacedPart:
    return MisplacedPart(
        object=_identity(problem.ref),
        origin=difference.origins.get(problem.ref, UNSET),
        clusters=problem.clusters,
        reason=problem.reason,
        message=problem.message,
    )


def _identity(ref: "ObjectRef") -> ObjectIdentityPart:
    return ObjectIdentityPart(group=ref.group, kind=ref.kind, namespace=ref.namespace, name=ref.name)
