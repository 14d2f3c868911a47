"""The parts of the document of ``argosy diff``: what changes, and what is to be said of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field, value_unless_empty
from .parts import ClusterName, ClustersConcerned, Fields, Message, PendingReason, Reason

if TYPE_CHECKING:
    from reconciler.diff.difference import Revert, StayNote, UnrenderedFile
    from reconciler.pipeline.movements import Movement, ReplicaChange
    from render.divisions import DivisionWarning
    from render.model import ObjectRef


class ObjectIdentityPart(DocumentPart, frozen=True, kw_only=True):
    """The identity of an object."""

    group: str
    kind: str
    namespace: str
    name: str


Identity = Annotated[ObjectIdentityPart, meaning_of_field("The object.")]
Origin = Annotated[
    str, meaning_of_field("The file and line that the object was built from; absent if it stands in a file.")
]
ReplicasBefore = Annotated[int, meaning_of_field("Replicas before.")]
ReplicasAfter = Annotated[int, meaning_of_field("Replicas afterwards.")]


class CausePart(DocumentPart, frozen=True, kw_only=True):
    """An input of an object that is another one."""

    name: Annotated[str, meaning_of_field("A policy, a customization, webhooks, a build; or `its template`.")]
    path: Annotated[str, meaning_of_field("The file that it stands in.")]
    action: Annotated[str, meaning_of_field("`added`, `changed` or `removed`.")]


Causes = Annotated[tuple[CausePart, ...], meaning_of_field("The inputs of the object that are others.")]


class SummaryPart(DocumentPart, frozen=True, kw_only=True):
    """A difference in numbers."""

    text: Annotated[str, meaning_of_field("The summary in words.")]
    settings: Annotated[int, meaning_of_field("How many settings change.")]
    clusters: Annotated[int, meaning_of_field("How many clusters change.")]
    added: Annotated[int, meaning_of_field("How many objects are added.")]
    changed: Annotated[int, meaning_of_field("How many objects change.")]
    removed: Annotated[int, meaning_of_field("How many objects are removed.")]
    takeovers: Annotated[int, meaning_of_field("How many objects another policy claims.")]
    replicas: Annotated[int, meaning_of_field("How many replicas all workloads have together.")]
    moved: Annotated[int, meaning_of_field("How many replicas leave a cluster for another.")]
    placed_anew: Annotated[
        int, meaning_of_field("How many replicas are placed again because their cluster is disconnected.")
    ]
    pending: Annotated[int, meaning_of_field("How many objects have something pending that had not.")]
    problems: Annotated[int, meaning_of_field("How many problems are new.")]


class SettingPart(DocumentPart, frozen=True, kw_only=True):
    """A setting that is another one."""

    field: Annotated[
        str,
        meaning_of_field(
            "The field of argosy.yaml; a webhook of the interpreter, or another argosy.yaml, by its name."
        ),
    ]
    before: Annotated[str | None, meaning_of_field("The value it had; null where there was none.")]
    after: Annotated[str | None, meaning_of_field("The value it has; null where there is none.")]
    waits: Annotated[bool, meaning_of_field("True if a pass refuses it until somebody accepts it.")]


class AllowancePart(DocumentPart, frozen=True, kw_only=True):
    """A trailer by which a change lets itself pass a guard."""

    commit: Annotated[str, meaning_of_field("The commit, one of the change itself.")]
    trailer: Annotated[str, meaning_of_field("Its trailer.")]


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
    action: Annotated[str, meaning_of_field("`added`, `changed` or `removed`.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters in which this happens.")]
    origin: Origin | UnsetType = UNSET
    preserved: (
        Annotated[bool, meaning_of_field("True if the clusters keep the object although it leaves their folders.")]
        | UnsetType
    ) = UNSET
    causes: Causes | UnsetType = UNSET
    fields: Fields


class BuildFragmentPart(DocumentPart, frozen=True, kw_only=True):
    """A part of a build that is another one."""

    role: Annotated[
        str, meaning_of_field("`chart`, `chart file`, `values`, `Kubernetes`, `APIs`, `release` or `file`.")
    ]
    name: Annotated[str, meaning_of_field("The part's name, such as a path; it may be empty.")]
    action: Annotated[str, meaning_of_field("`added`, `changed` or `removed`.")]
    before: Annotated[str | None, meaning_of_field("The version it had; null if it has none.")]
    after: Annotated[str | None, meaning_of_field("The version it has; null if it has none.")]


class ChangedBuildPart(DocumentPart, frozen=True, kw_only=True):
    """A build of a chart or a kustomization that is another one."""

    build: Annotated[str, meaning_of_field("The object that asks for the build, or the file of a kustomization.")]
    path: Annotated[str, meaning_of_field("The file that it stands in.")]
    objects: Annotated[int, meaning_of_field("How many of the objects that differ it made.")]
    parts: Annotated[tuple[BuildFragmentPart, ...], meaning_of_field("The parts that are others.")]


class TakenPart(DocumentPart, frozen=True, kw_only=True):
    """An object whose file is not read by itself any more."""

    object: Identity
    by: Annotated[str, meaning_of_field("The file of the kustomization that builds upon what the object came from.")]


class TakeoverPart(DocumentPart, frozen=True, kw_only=True):
    """An object that another policy claims."""

    object: Identity
    before: Annotated[str | None, meaning_of_field("The policy that claimed it before.")]
    after: Annotated[str | None, meaning_of_field("The policy that claims it afterwards.")]


class DeliveryPart(DocumentPart, frozen=True, kw_only=True):
    """An object that its clusters get by another rule of its policy, though the object is the same."""

    object: Identity
    rule: Annotated[
        str, meaning_of_field("The field of the policy: `conflictResolution` or `preserveResourcesOnDeletion`.")
    ]
    before: Annotated[str, meaning_of_field("Its value before.")]
    after: Annotated[str, meaning_of_field("Its value afterwards.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that get the object.")]
    failures: (
        Annotated[
            Mapping[str, str],
            meaning_of_field("Where others' objects are to be overwritten: why clusters did not apply it until now."),
        ]
        | UnsetType
    ) = UNSET


class ReleasePart(DocumentPart, frozen=True, kw_only=True):
    """An object that no policy selects any more."""

    object: Identity
    clusters: tuple[str, ...]
    outdated: bool


class PendingChangePart(DocumentPart, frozen=True, kw_only=True):
    """A change that is decided and not carried out."""

    object: Identity
    reason: PendingReason
    message: Annotated[str, meaning_of_field("The reason, in a sentence; empty for `SuspendDispatching`.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The suspended clusters this is about.")]
    action: Annotated[
        str | None, meaning_of_field("`added` or `changed`: what would happen there; null if nothing would.")
    ]
    fields: Fields


class ChangedPolicyPart(DocumentPart, frozen=True, kw_only=True):
    """A policy that is another one, and changes nothing that is rendered."""

    policy: Annotated[str, meaning_of_field("The policy, such as `PropagationPolicy shop/web`.")]
    action: Annotated[str, meaning_of_field("`added`, `changed` or `removed`.")]


class SourceFilePart(DocumentPart, frozen=True, kw_only=True):
    """A file of the source that differs while nothing that is rendered does."""

    path: Annotated[str, meaning_of_field("Its path in the repository.")]
    action: Annotated[str, meaning_of_field("`added`, `changed` or `removed`.")]
    policies: (
        Annotated[
            tuple[ChangedPolicyPart, ...], meaning_of_field("The policies in it that differ; absent if none does.")
        ]
        | UnsetType
    ) = UNSET


def source_file_part(each: "UnrenderedFile") -> SourceFilePart:
    """Return a file that differs as documents have it."""
    policies = tuple(ChangedPolicyPart(policy=one.name, action=str(one.action)) for one in each.policies)
    return SourceFilePart(path=each.path, action=str(each.action), policies=value_unless_empty(policies))


class UnselectedPart(DocumentPart, frozen=True, kw_only=True):
    """A template that no policy selects."""

    object: Identity
    path: Annotated[str, meaning_of_field("Its file.")]
    nearest: (
        Annotated[str, meaning_of_field("The policy that comes nearest to selecting it, and what that one asks for.")]
        | UnsetType
    ) = UNSET


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
    moved: Annotated[int, meaning_of_field("How many replicas leave a cluster for another.")]
    placed_anew: Annotated[
        int, meaning_of_field("How many replicas go on in a disconnected cluster and are placed again.")
    ]
    clusters: tuple[ReplicaChangePart, ...]


class MisplacedPart(DocumentPart, frozen=True, kw_only=True):
    """An object that cannot be placed or built."""

    object: Identity
    origin: Origin | UnsetType = UNSET
    clusters: ClustersConcerned
    reason: Reason
    message: Message


class WithoutClusterPart(DocumentPart, frozen=True, kw_only=True):
    """A template that leaves its clusters and has no cluster any more."""

    object: Identity
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that it leaves.")]


class StayPart(DocumentPart, frozen=True, kw_only=True):
    """An object that stays in clusters though it would leave them."""

    object: Identity
    clusters: ClustersConcerned
    reason: Reason
    message: Message


class UndividedPart(DocumentPart, frozen=True, kw_only=True):
    """A number that every cluster gets whole, though a policy divides its object or what that stands beside."""

    object: Identity
    field: (
        Annotated[str, meaning_of_field("The field with the number; absent where all of the object is meant.")]
        | UnsetType
    ) = UNSET
    message: Message
    hint: Annotated[str, meaning_of_field("The way out.")]


def movement_part(movement: "Movement") -> MovementPart:
    """Return the replicas of a workload that change, without what they are due to."""
    return MovementPart(
        object=object_identity_part(movement.ref),
        before=movement.before,
        after=movement.after,
        moved=movement.moved_replicas,
        placed_anew=movement.replicas_placed_anew,
        clusters=tuple(map(_replica_change_part, movement.changes)),
    )


def _replica_change_part(change: "ReplicaChange") -> ReplicaChangePart:
    return ReplicaChangePart(
        name=change.cluster,
        before=change.before,
        after=change.after,
        disconnected=value_unless_empty(change.is_disconnected),
    )


def object_identity_part(ref: "ObjectRef") -> ObjectIdentityPart:
    """Return the identity of an object as a part."""
    return ObjectIdentityPart(group=ref.group, kind=ref.kind, namespace=ref.namespace, name=ref.name)


class RevertPart(DocumentPart, frozen=True, kw_only=True):
    """An earlier source that comes back, and the replicas that do not come back with it."""

    to: Annotated[str, meaning_of_field("The rendered commit that was made from that source.")]
    source: Annotated[str, meaning_of_field("That source.")]
    whole: Annotated[bool, meaning_of_field("Whether all files are as they were; else one commit is taken back.")]
    split: Annotated[
        tuple[ObjectIdentityPart, ...], meaning_of_field("The objects whose replicas are not where they were.")
    ]
    command: Annotated[
        str | UnsetType, meaning_of_field("The command that puts the replicas back as well, where they are not.")
    ] = UNSET


def revert_part(revert: "Revert | None") -> RevertPart | UnsetType:
    """Return a revert as a part; unset where there is none."""
    if revert is None:
        return UNSET
    return RevertPart(
        to=revert.to,
        source=revert.source,
        whole=revert.is_whole,
        split=tuple(map(object_identity_part, revert.split)),
        command=revert.command or UNSET,
    )


def undivided_part(warning: "DivisionWarning") -> UndividedPart:
    """Return a warning about what is not divided as a part."""
    where = warning.field or UNSET
    return UndividedPart(
        object=object_identity_part(warning.ref), field=where, message=warning.message, hint=warning.hint
    )


def stay_part(note: "StayNote") -> StayPart:
    """Return a note about what stays as a part."""
    return StayPart(
        object=object_identity_part(note.ref), clusters=note.clusters, reason=note.reason, message=note.message
    )
