"""The document of ``argosy status cluster/NAME``."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .lists import SurveyedClusterPart, surveyed_cluster_part
from .parts import ClusterName, Held, Message, PendingObjects, PendingPart, pending_part
from .status_parts import (
    Applied,
    DeviationPart,
    Hint,
    Known,
    LateReason,
    LiveObjectPart,
    Observation,
    fields_of_deviation,
    fields_of_progress,
    live_object_part,
    observation_part,
)
from .survey_parts import words_of_states

if TYPE_CHECKING:
    from reconciler.record.recorded_status import RecordedStatus
    from reconciler.status.branches import RecordedFleet
    from reconciler.status.staleness import MemberProgress
    from reconciler.survey.objects import SurveyedObject
    from reconciler.survey.surveying import Survey


class ClusterAppPart(DocumentPart, frozen=True, kw_only=True):
    """An app in a cluster; all objects whose labels name none are one, too."""

    app: Annotated[str, meaning_of_field("The app; empty for objects whose labels name none.")]
    objects: Annotated[int, meaning_of_field("How many objects of it are in the cluster.")]
    replicas: Annotated[int, meaning_of_field("How many replicas they have there.")]
    states: Annotated[Mapping[str, int], meaning_of_field("How many of them are in which state, the worst first.")]


class ClusterStatusDocument(OutputDocument, frozen=True, kw_only=True):
    """A cluster, and the objects in it; much is left out where nothing is recorded of it."""

    kind = "ClusterStatus"
    about = "The state of a cluster."
    printed_by = ("status cluster/NAME",)

    cluster: ClusterName
    connected: Annotated[bool, meaning_of_field("False if it left the source.")]
    converged: Annotated[str | None, meaning_of_field("The rendered commit it converged to.")]
    outcome: Annotated[str | None, meaning_of_field("How the last pass over it ended.")] | UnsetType = UNSET
    since: Annotated[str | None, meaning_of_field("The time since when the outcome is so.")] | UnsetType = UNSET
    failing_since: Annotated[str | None, meaning_of_field("The time since when it does not answer.")] | UnsetType = (
        UNSET
    )
    deployer: (
        Annotated[
            str,
            meaning_of_field(
                "The tool that applies its folder, `Flux` or `ArgoCD`; absent where passes or an agent do."
            ),
        ]
        | UnsetType
    ) = UNSET
    applied: Applied | UnsetType = UNSET
    known: Known | UnsetType = UNSET
    reason: LateReason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    hint: Hint | UnsetType = UNSET
    held: Held | UnsetType = UNSET
    status: Annotated[Mapping[str, Any], meaning_of_field("Karmada's Cluster status.")] | UnsetType = UNSET
    capacity_recorded_at: (
        Annotated[
            str,
            meaning_of_field(
                "The time of its `resourceSummary`: moves of free room by less than a tenth are recorded after ten"
                " minutes."
            ),
        ]
        | UnsetType
    ) = UNSET
    summary: (
        Annotated[
            SurveyedClusterPart, meaning_of_field("Its state, its place and its room, as `argosy list` has them.")
        ]
        | UnsetType
    ) = UNSET
    apps: (
        Annotated[tuple[ClusterAppPart, ...], meaning_of_field("The apps that its objects belong to.")] | UnsetType
    ) = UNSET
    objects: Annotated[tuple[LiveObjectPart, ...], meaning_of_field("Its objects.")]
    deviations: (
        Annotated[
            tuple[DeviationPart, ...], meaning_of_field("What the last pass kept, left in finalizers or yielded.")
        ]
        | UnsetType
    ) = UNSET
    pending: PendingObjects
    observation: Observation | UnsetType = UNSET


def cluster_status_document(
    branches: "RecordedFleet", name: str, survey: "Survey | None" = None
) -> ClusterStatusDocument:
    """Return what is known of a cluster as a document; ``survey`` is one of these branches, if there is one already."""
    from reconciler.status.blind_spots import reasons_members_are_unseen
    from reconciler.status.views import is_cluster_recorded, pending_objects_in_cluster
    from reconciler.survey.surveying import Survey

    fleet, recorded, surveyed = branches.fleet, branches.recorded, survey or Survey(branches)
    pending = tuple(map(pending_part, pending_objects_in_cluster(name, fleet.bindings)))
    if not is_cluster_recorded(branches, name):
        return _document_of_rendered(branches, name, pending, surveyed)
    spot = reasons_members_are_unseen(recorded, {name: fleet.members[name]}).get(name)
    found = recorded_cluster(name, recorded, branches.progress[name], pending, observation_part(spot))
    return replace(found, **_surveyed_fields(name, found.objects, surveyed))


def _document_of_rendered(
    branches: "RecordedFleet", name: str, pending: tuple[PendingPart, ...], survey: "Survey"
) -> ClusterStatusDocument:
    from reconciler.status.rendered_views import rendered_objects

    fleet = branches.fleet
    here = [fleet.previous.bindings[each.ref] for each in survey.objects if name in each.replicas]
    objects = tuple(
        LiveObjectPart(object=str(each.ref), replicas=each.replicas, reason=each.reason)
        for each in rendered_objects(name, here)
    )
    return ClusterStatusDocument(
        cluster=name,
        connected=name in fleet.members,
        converged=None,
        pending=pending,
        **_surveyed_fields(name, objects, survey),
    )


def _surveyed_fields(name: str, objects: tuple[LiveObjectPart, ...], survey: "Survey") -> dict[str, Any]:
    """Return the fields that the survey of the fleet tells of a cluster, and its objects with theirs."""
    from reconciler.survey.apps import apps_in_cluster

    known = {str(each.ref): each for each in survey.objects if name in each.replicas}
    others = _states_without_binding(name, {str(each.object) for each in objects} - known.keys(), survey)
    return {
        "summary": next((surveyed_cluster_part(each) for each in survey.clusters if each.name == name), UNSET),
        "apps": tuple(
            ClusterAppPart(
                app=each.app, objects=each.objects, replicas=each.replicas, states=words_of_states(each.counts)
            )
            for each in apps_in_cluster(name, known.values())
        ),
        "objects": tuple(
            _object_with_survey(each, known[str(each.object)], name)
            if str(each.object) in known
            else replace(each, state=others.get(str(each.object), "Unknown"))
            for each in objects
        ),
    }


def _states_without_binding(cluster: str, names: Collection[str], survey: "Survey") -> dict[str, str]:
    """Return the states of objects in a cluster that have no binding: Namespaces that go along with what is in them."""
    from reconciler.survey.objects import state_of_object_without_binding
    from render.layout import ref_of_object_path

    branches, found = survey.branches, {}
    for path in branches.recorded.paths_below(f"works/{cluster}") if names else ():
        name = str(ref_of_object_path(path.split("/", 2)[2]))
        if name in names:
            state = state_of_object_without_binding(path, cluster, branches, survey.usual).state
            found[name] = str(state)
    return found


def _object_with_survey(part: LiveObjectPart, known: "SurveyedObject", cluster: str) -> LiveObjectPart:
    return replace(
        part,
        state=str(known.in_cluster(cluster).state),
        policy=value_unless_empty(known.policy),
        app=value_unless_empty(known.app),
        replicas=known.replicas[cluster] or UNSET if part.replicas is UNSET else part.replicas,
    )


def recorded_cluster(
    name: str,
    recorded: "RecordedStatus",
    progress: "MemberProgress",
    pending: tuple[PendingPart, ...] = (),
    observation: Any = UNSET,
) -> ClusterStatusDocument:
    """Return a cluster as the status branch describes it."""
    from reconciler.status.objects import objects_in_cluster, time_of_recorded_capacity

    record = recorded.clusters()[name]
    return ClusterStatusDocument(
        cluster=name,
        connected=True,
        converged=recorded.converged_commit(name) or None,
        outcome=record.outcome or None,
        since=record.since or None,
        failing_since=record.state.failing_since or None,
        deployer=value_unless_empty(record.deployer),
        **fields_of_progress(progress),
        status=record.state.status,
        capacity_recorded_at=value_unless_empty(time_of_recorded_capacity(name, recorded)),
        objects=tuple(map(live_object_part, objects_in_cluster(name, recorded, progress))),
        deviations=tuple(DeviationPart(**fields_of_deviation(each)) for each in record.deviations),
        pending=pending,
        observation=observation,
    )
