"""A cluster or an object as the rendered branch alone describes it: where nothing is recorded, or nothing yet.

A fleet that is only rendered - another tool applies its folders - has no status branch, and is not unwell for that.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from reconciler.console.cluster_lists import OVERRIDDEN, OVERRIDDEN_NOTE
from reconciler.console.tables import text_table
from reconciler.pipeline.karmada_works import is_suspended
from reconciler.pipeline.need_notes import needed_notes
from reconciler.pipeline.pending import SUSPENDED, pending_of
from reconciler.pipeline.readme import binding_state
from reconciler.record.binding_status import expected_clusters
from reconciler.record.cluster_files import DISCONNECTED
from render.binding import Binding
from render.matching.match import NoPolicyReason
from render.model import ObjectRef

from .fleet import FleetStatus, binding_problems, clusters_with_unbuilt_object
from .objects import lines_about_policy_and_needs
from .staleness import NO_AGENT, NOT_REACHED, NOT_READ_YET, MemberProgress

NOT_RECORDED = "no pass has recorded what is in it: whoever applies the folder knows"
NOT_YET = "nothing is recorded of it yet: run argosy apply, or let a pass reach it"


class RenderedObject(NamedTuple):
    """An object that a cluster must hold: its replicas, and the reason worth showing ("": there is none)."""

    ref: ObjectRef
    replicas: int
    reason: str


def cluster_text(cluster: str, fleet: FleetStatus, *, has_status: bool) -> Iterator[str]:
    """Yield what a cluster must hold, and why nothing more is known of it."""
    rendered = fleet.previous
    lines = [
        f"cluster {cluster}",
        f"folder: {fleet.branch}:clusters/{cluster} at {rendered.commit[:12]}, source {rendered.source[:12]}",
        f"objects: {fleet.objects.get(cluster, 0)}",
        _reason_nothing_is_known(cluster, fleet, has_status=has_status),
    ]
    rows = [
        (str(each.ref), _replicas_cell(each, cluster), _reason_for_object_state(each, cluster))
        for each in _bindings_in_cluster(cluster, fleet)
    ]
    yield "\n".join(lines) + "\n"
    if rows:
        yield "\n"
        yield text_table(("OBJECT", "REPLICAS", "STATE"), rows)


def _reason_nothing_is_known(cluster: str, fleet: FleetStatus, *, has_status: bool) -> str:
    member = fleet.members.get(cluster)
    if member is None:
        return DISCONNECTED
    if member.sync_mode == "Pull":
        return NO_AGENT
    reached = fleet.source.desired.fleet.reachable_members
    if fleet.source.desired.fleet.is_reported_by_tools and reached is not None and cluster not in reached:
        return NOT_READ_YET
    if has_status and reached and cluster not in reached:
        return NOT_REACHED
    return NOT_YET if has_status else NOT_RECORDED


def rendered_objects(cluster: str, bindings: Iterable[Binding]) -> Iterator[RenderedObject]:
    """Yield the objects that a cluster must hold, of those that go to it."""
    for binding in bindings:
        if cluster not in binding.undispatched_clusters:
            replicas = binding.placed_replicas.get(cluster) or 0
            yield RenderedObject(binding.ref, replicas, _reason_for_object_state(binding, cluster))


def is_everything_placed_and_built(cluster: str, fleet: FleetStatus) -> bool:
    """Return whether everything a cluster must hold could be placed and built."""
    return not any(_problem_of_object(binding, cluster) for binding in _bindings_in_cluster(cluster, fleet))


def object_text(binding: Binding, fleet: FleetStatus, late: Mapping[str, MemberProgress]) -> Iterator[str]:
    """Yield where an object must be, with how many replicas, and what stands in the way.

    ``late`` are the members that no run has reached, where passes apply to members.
    """

    def state_in_cluster(name: str) -> str:
        if name not in fleet.members:
            return DISCONNECTED
        return _reason_for_object_state(binding, name) or (late[name].reason if name in late else "")

    pending = [f"{each.reason}: {each.message}" for each in pending_of([binding])]
    needed = [f"{each.reason}: {each.message}" for each in needed_notes(binding)]
    lines = [str(binding.ref), *lines_about_policy_and_needs(binding), *binding_problems(binding), *pending, *needed]
    rows = [(name, _replicas_cell(binding, name), state_in_cluster(name)) for name in expected_clusters(binding)]
    yield "\n".join(lines) + "\n"
    if rows:
        yield "\n"
        yield text_table(("CLUSTER", "REPLICAS", "STATE"), rows)
        yield f"\n{OVERRIDDEN_NOTE}\n" if binding.overridden_replicas else ""


def _bindings_in_cluster(cluster: str, fleet: FleetStatus) -> list[Binding]:
    placed = (binding for binding in fleet.bindings if cluster in expected_clusters(binding))
    return [binding for binding in placed if cluster not in binding.undispatched_clusters]


def _replicas_cell(binding: Binding, cluster: str) -> str:
    mark = OVERRIDDEN if cluster in binding.overridden_replicas else ""
    return f"{binding.placed_replicas.get(cluster) or (0 if mark else '')}{mark}"


def _reason_for_object_state(binding: Binding, cluster: str) -> str:
    """Return the reason worth showing for an object in a cluster: its problem, its suspension, or no policy."""
    state = binding_state(binding)
    if state == NoPolicyReason.NO_POLICY:
        return state
    return _problem_of_object(binding, cluster) or (SUSPENDED if is_suspended(binding, cluster) else "")


def _problem_of_object(binding: Binding, cluster: str) -> str:
    """Return why an object is not in a cluster as it was asked for: it found no place, or could not be built."""
    has_problems = binding_problems(binding)
    is_here = cluster in clusters_with_unbuilt_object(binding) or any(
        each.type == "Scheduled" and each.reason == binding_state(binding) for each in binding.conditions
    )
    return binding_state(binding) if has_problems and is_here else ""
