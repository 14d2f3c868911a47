"""The document of ``argosy diff``; it names objects by group, kind, namespace and name.

Fields may be added, none is renamed or removed within v1alpha1. A field's ``before`` is left out where it is added, its
``after`` where it is removed.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from render.fleet_settings import plain_setting_change

from .costs import CostOfChange, cost_part
from .difference_parts import (
    AllowancePart,
    BuildFragmentPart,
    CausePart,
    ChangedBuildPart,
    ClusterTotalPart,
    DeliveryPart,
    MisplacedPart,
    MovementPart,
    ObjectChangePart,
    PendingChangePart,
    ReleasePart,
    ReplicasPart,
    RevertPart,
    SettingPart,
    SourceFilePart,
    StayPart,
    SummaryPart,
    TakenPart,
    TakeoverPart,
    UndividedPart,
    UnselectedPart,
    WithoutClusterPart,
    movement_part,
    object_identity_part,
    revert_part,
    source_file_part,
    stay_part,
    undivided_part,
)
from .document import OutputDocument, meaning_of_field, value_unless_empty
from .parts import HoldPart, Previous, UnknownCapacityPart, field_part, hold_parts, unknown_capacity_part
from .planned_rollouts import HeldChangePart, PlannedRolloutPart, held_change_part, planned_rollout_part
from .resilience import ResilienceOfChange, resilience_parts
from .risks import RiskOfChange, risk_part

if TYPE_CHECKING:
    from reconciler.diff.difference import (
        ClusterTotal,
        DeliveryChange,
        Difference,
        ObjectChange,
        OriginChange,
        PartChange,
        PendingChange,
        Takeover,
        Unplaced,
    )
    from reconciler.pipeline.movements import Movement
    from reconciler.pipeline.released import Released
    from reconciler.pipeline.unselected import Unselected
    from reconciler.rendering.problems import ObjectProblem
    from render.model import ObjectRef


class DifferenceDocument(OutputDocument, frozen=True, kw_only=True):
    """The difference between the renderings of two sources."""

    kind = "Difference"
    about = "What a change does to every cluster."
    printed_by = ("diff",)

    base: Annotated[
        str | None, meaning_of_field("The commit on the left side; null stands for the files in the work tree.")
    ]
    head: Annotated[
        str | None, meaning_of_field("The commit on the right side; null stands for the files in the work tree.")
    ]
    previous: Previous
    different: Annotated[bool, meaning_of_field("True if there is any difference.")]
    summary: Annotated[SummaryPart, meaning_of_field("The counts.")]
    settings: Annotated[tuple[SettingPart, ...], meaning_of_field("The settings that change.")]
    allowances: Annotated[
        tuple[AllowancePart, ...], meaning_of_field("What the change allows itself beyond the guards.")
    ]
    held: (
        Annotated[
            Mapping[str, HoldPart],
            meaning_of_field("The clusters that somebody holds at an earlier commit."),
        ]
        | UnsetType
    ) = UNSET
    ends_holds: (
        Annotated[tuple[str, ...], meaning_of_field("Those of them whose hold this change ends.")] | UnsetType
    ) = UNSET
    held_changes: (
        Annotated[
            tuple[HeldChangePart, ...],
            meaning_of_field("The changes that rollouts keep out after a rollback or an abort."),
        ]
        | UnsetType
    ) = UNSET
    clusters: Annotated[
        tuple[ClusterTotalPart, ...],
        meaning_of_field("The clusters that change, with the number of their objects and replicas."),
    ]
    joined: Annotated[tuple[str, ...], meaning_of_field("The clusters that join the fleet.")]
    renamed: Annotated[
        Mapping[str, str], meaning_of_field("The new names of clusters that are renamed, by the former ones.")
    ]
    disconnected: Annotated[tuple[str, ...], meaning_of_field("The clusters that leave the source.")]
    objects: Annotated[
        tuple[ObjectChangePart, ...],
        meaning_of_field("The objects that change, cluster by cluster where they differ."),
    ]
    origins: Annotated[
        tuple[ChangedBuildPart, ...],
        meaning_of_field(
            "The builds of charts and kustomizations that made objects which differ, with what is other in them."
        ),
    ]
    taken: (
        Annotated[
            tuple[TakenPart, ...],
            meaning_of_field(
                "The objects whose file is not read by itself any more, as the kustomization of another folder builds"
                " upon it."
            ),
        ]
        | UnsetType
    ) = UNSET
    takeovers: Annotated[tuple[TakeoverPart, ...], meaning_of_field("The objects that another policy claims.")]
    delivered: (
        Annotated[
            tuple[DeliveryPart, ...],
            meaning_of_field("The objects that are delivered by another rule of their policy, and are the same."),
        ]
        | UnsetType
    ) = UNSET
    released: Annotated[
        tuple[ReleasePart, ...],
        meaning_of_field("Objects that no policy selects any more, and that clusters therefore keep as they are."),
    ]
    rollouts: (
        Annotated[
            tuple[PlannedRolloutPart, ...],
            meaning_of_field("The rollouts by which the change goes out, or that it waits for, with their waves."),
        ]
        | UnsetType
    ) = UNSET
    pending: Annotated[
        tuple[PendingChangePart, ...],
        meaning_of_field("What the change leaves pending: suspended clusters do not get it, or a lazy policy waits."),
    ]
    ended: Annotated[
        tuple[PendingChangePart, ...],
        meaning_of_field("What was pending before the change, and is not any more."),
    ]
    movements: Annotated[
        tuple[MovementPart, ...], meaning_of_field("The workloads whose replicas change, cluster by cluster.")
    ]
    cost: CostOfChange = UNSET
    resilience: ResilienceOfChange = UNSET
    risk: RiskOfChange = UNSET
    undivided: (
        Annotated[
            tuple[UndividedPart, ...],
            meaning_of_field(
                "What every cluster gets whole after the change, though a policy divides it. It is no difference."
            ),
        ]
        | UnsetType
    ) = UNSET
    source_files: (
        Annotated[
            tuple[SourceFilePart, ...],
            meaning_of_field("Present if nothing else tells of the change: the files of the source that differ."),
        ]
        | UnsetType
    ) = UNSET
    unselected: (
        Annotated[
            tuple[UnselectedPart, ...],
            meaning_of_field(
                "The templates that go nowhere since the change, because no policy selects them. It is no difference."
            ),
        ]
        | UnsetType
    ) = UNSET
    unknown_capacities: (
        Annotated[
            tuple[UnknownCapacityPart, ...],
            meaning_of_field(
                "The clusters that get no replicas by room after the change, as nobody knows how much they have."
            ),
        ]
        | UnsetType
    ) = UNSET
    unplaced: (
        Annotated[
            tuple[WithoutClusterPart, ...],
            meaning_of_field("The templates that leave their clusters, and have none then."),
        ]
        | UnsetType
    ) = UNSET
    staying: (
        Annotated[
            tuple[StayPart, ...],
            meaning_of_field(
                "The objects that stay in clusters they would leave, as others that stay need them or they began."
            ),
        ]
        | UnsetType
    ) = UNSET
    problems: Annotated[
        tuple[MisplacedPart, ...], meaning_of_field("What can no longer be placed or built after the change.")
    ]
    solved: Annotated[
        tuple[MisplacedPart, ...],
        meaning_of_field("What could not be placed or built before the change, and can be now."),
    ]
    revert: Annotated[RevertPart, meaning_of_field("The earlier source that the head is again.")] | UnsetType = UNSET
    refused: (
        Annotated[
            tuple[str, ...],
            meaning_of_field("The refusal of the guards, line by line, with a commit that allows the change."),
        ]
        | UnsetType
    ) = UNSET


def difference_document(difference: "Difference") -> DifferenceDocument:
    """Return a difference as a document."""
    return DifferenceDocument(
        **_commits_compared(difference),
        different=not difference.is_empty,
        summary=_summary_part(difference),
        settings=tuple(SettingPart(**plain_setting_change(each)) for each in difference.settings),
        allowances=tuple(AllowancePart(commit=each.commit, trailer=each.trailer) for each in difference.allowances),
        clusters=tuple(map(_cluster_total_part, difference.clusters)),
        joined=difference.joined,
        renamed=difference.renamed,
        disconnected=difference.left,
        objects=tuple(_object_change_part(difference, each) for each in difference.objects),
        origins=tuple(map(_changed_build_part, difference.builds)),
        taken=value_unless_empty(_taken_parts(difference)),
        takeovers=tuple(map(_takeover_part, difference.takeovers)),
        delivered=value_unless_empty(tuple(map(_delivery_part, difference.delivered))),
        released=tuple(map(_release_part, difference.released)),
        rollouts=value_unless_empty(tuple(map(planned_rollout_part, difference.rollouts))),
        pending=tuple(map(_pending_change_part, difference.pending)),
        ended=tuple(map(_pending_change_part, difference.ended)),
        movements=tuple(_movement_part(difference, each) for each in difference.movements),
        cost=cost_part(difference.costs),
        resilience=resilience_parts(difference.resilience),
        risk=risk_part(difference.risk),
        undivided=value_unless_empty(tuple(map(undivided_part, difference.undivided))),
        held=value_unless_empty(hold_parts(difference.holds)),
        ends_holds=value_unless_empty(difference.clusters_no_longer_held),
        held_changes=value_unless_empty(tuple(map(held_change_part, difference.held_changes))),
        source_files=value_unless_empty(tuple(map(source_file_part, difference.unrendered))),
        unselected=value_unless_empty(tuple(map(_unselected_part, difference.unselected))),
        unknown_capacities=value_unless_empty(tuple(map(unknown_capacity_part, difference.unknown_capacities))),
        unplaced=value_unless_empty(tuple(map(_part_without_cluster, difference.unplaced))),
        staying=value_unless_empty(tuple(map(stay_part, difference.staying))),
        problems=tuple(_misplaced_part(difference, each) for each in difference.problems),
        solved=tuple(_misplaced_part(difference, each) for each in difference.solved),
        revert=revert_part(difference.revert),
        refused=value_unless_empty(difference.refused),
    )


def _commits_compared(difference: "Difference") -> dict[str, str | None]:
    """Return the fields that say what is compared, and after which rendered commit."""
    return {
        "base": difference.base or None,
        "head": difference.head or None,
        "previous": difference.previous or None,
    }


def _taken_parts(difference: "Difference") -> tuple[TakenPart, ...]:
    return tuple(TakenPart(object=object_identity_part(ref), by=by) for ref, by in sorted(difference.taken.items()))


def _release_part(released: "Released") -> ReleasePart:
    return ReleasePart(
        object=object_identity_part(released.ref), clusters=released.clusters, outdated=released.is_outdated
    )


def _takeover_part(takeover: "Takeover") -> TakeoverPart:
    before, after = takeover.before or None, takeover.after or None
    return TakeoverPart(object=object_identity_part(takeover.ref), before=before, after=after)


def _delivery_part(change: "DeliveryChange") -> DeliveryPart:
    return DeliveryPart(
        object=object_identity_part(change.ref),
        rule=change.rule,
        before=change.before,
        after=change.after,
        clusters=change.clusters,
        failures=value_unless_empty(change.failures),
    )


def _part_without_cluster(unplaced: "Unplaced") -> WithoutClusterPart:
    return WithoutClusterPart(object=object_identity_part(unplaced.ref), clusters=unplaced.clusters)


def _unselected_part(template: "Unselected") -> UnselectedPart:
    return UnselectedPart(
        object=object_identity_part(template.ref), path=template.path, nearest=value_unless_empty(template.nearest)
    )


def _summary_part(difference: "Difference") -> SummaryPart:
    from reconciler.diff.difference import ChangeAction
    from reconciler.diff.words import summary_of_difference

    return SummaryPart(
        text=summary_of_difference(difference),
        settings=len(difference.settings),
        clusters=len(difference.clusters),
        added=difference.count(ChangeAction.ADDED),
        changed=difference.count(ChangeAction.CHANGED),
        removed=difference.count(ChangeAction.REMOVED),
        takeovers=len(difference.takeovers),
        replicas=difference.replicas,
        moved=difference.moved_replicas,
        placed_anew=difference.replicas_placed_anew,
        pending=len({each.ref for each in difference.pending}),
        problems=len(difference.problems),
    )


def _cluster_total_part(total: "ClusterTotal") -> ClusterTotalPart:
    return ClusterTotalPart(
        name=total.name,
        added=total.added,
        changed=total.changed,
        removed=total.removed,
        replicas=ReplicasPart(before=total.replicas_before, after=total.replicas_after),
    )


def _object_change_part(difference: "Difference", change: "ObjectChange") -> ObjectChangePart:
    return ObjectChangePart(
        object=object_identity_part(change.ref),
        action=str(change.action),
        clusters=change.clusters,
        origin=difference.origins.get(change.ref, UNSET),
        preserved=value_unless_empty(change.is_preserved),
        causes=_cause_parts(difference, change.ref, is_number=not change.fields),
        fields=tuple(map(field_part, change.fields)),
    )


def _cause_parts(difference: "Difference", ref: "ObjectRef", *, is_number: bool) -> tuple[CausePart, ...] | UnsetType:
    """Return the inputs of an object that are others; they are left out where none is known."""
    from reconciler.diff.words import causes_of

    causes = causes_of(difference, ref, is_number=is_number)
    return value_unless_empty(
        tuple(CausePart(name=each.name, path=each.path, action=str(each.action)) for each in causes)
    )


def _changed_build_part(change: "OriginChange") -> ChangedBuildPart:
    return ChangedBuildPart(
        build=change.build,
        path=change.path,
        objects=change.objects,
        parts=tuple(map(_build_fragment_part, change.parts)),
    )


def _build_fragment_part(part: "PartChange") -> BuildFragmentPart:
    return BuildFragmentPart(
        role=part.role,
        name=part.name,
        action=str(part.action),
        before=part.before or None,
        after=part.after or None,
    )


def _pending_change_part(change: "PendingChange") -> PendingChangePart:
    return PendingChangePart(
        object=object_identity_part(change.ref),
        reason=change.reason,
        message=change.message,
        clusters=change.clusters,
        action=None if change.action is None else str(change.action),
        fields=tuple(map(field_part, change.fields)),
    )


def _movement_part(difference: "Difference", movement: "Movement") -> MovementPart:
    return replace(movement_part(movement), causes=_cause_parts(difference, movement.ref, is_number=True))


def _misplaced_part(difference: "Difference", problem: "ObjectProblem") -> MisplacedPart:
    return MisplacedPart(
        object=object_identity_part(problem.ref),
        origin=difference.origins.get(problem.ref, UNSET),
        clusters=problem.clusters,
        reason=problem.reason,
        message=problem.message,
    )
