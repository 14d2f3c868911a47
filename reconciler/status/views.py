"""The answer of ``argosy status``: the fleet, one cluster or one object, as text and as a name."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reconciler.console.tables import text_table
from reconciler.names.subjects import is_cluster_noun, refuse_unknown_clusters
from reconciler.pipeline.pending import Pending, pending_of
from reconciler.record.binding_status import expected_clusters
from render.binding import Binding

from . import rendered_views
from .branches import RecordedFleet, binding_meant_by
from .fleet import binding_problems
from .fleet_views import fleet_tables, is_fleet_well
from .objects import ObjectIn, cluster_text, object_text, objects_in_cluster, objects_of_binding
from .silent_clusters import stranded_copies


class View(Struct, frozen=True, kw_only=True):
    """A subject to be shown: as text and as a name, and whether all is well with it."""

    text: tuple[str, ...]
    name: str
    is_fine: bool


def view_of_subject(
    branches: RecordedFleet, subject: str, *, namespace: str = "", is_wide: bool = False, tells_each: bool = False
) -> View:
    """Return the view of ``cluster/NAME``, of ``KIND/NAME``, or of the fleet ("").

    ``tells_each``: what is not well for one reason has a row each; ``is_wide``: what is well, too.
    """
    noun, _, name = subject.partition("/")
    if not subject:
        return _view_of_fleet(branches, is_wide=is_wide, tells_each=tells_each)
    if is_cluster_noun(noun):
        return _view_of_cluster(branches, name, is_wide=is_wide, tells_each=tells_each)
    return _view_of_object(branches, binding_meant_by(branches, noun, name, namespace))


def _view_of_fleet(branches: RecordedFleet, *, is_wide: bool, tells_each: bool) -> View:
    return View(
        text=tuple(fleet_tables(branches, wide=is_wide, tells_each=tells_each)),
        name="\n".join(f"cluster/{name}" for name in branches.fleet.clusters),
        is_fine=is_fleet_well(branches),
    )


def _view_of_cluster(branches: RecordedFleet, name: str, *, is_wide: bool, tells_each: bool) -> View:
    fleet, recorded = branches.fleet, branches.recorded
    records = recorded.clusters()
    refuse_unknown_clusters([name], {*records, *fleet.clusters})
    if not is_cluster_recorded(branches, name):
        has_status = branches.is_applied_by_passes
        is_awaited = has_status and name in fleet.members and branches.progress[name].is_awaited
        is_fine = rendered_views.is_everything_placed_and_built(name, fleet) and not is_awaited
        return View(
            text=(
                *rendered_views.cluster_text(name, fleet, has_status=has_status),
                *table_of_pending(name, fleet.bindings),
            ),
            name=f"cluster/{name}",
            is_fine=is_fine,
        )
    progress = branches.progress[name]
    is_fine = progress.is_applied and all(map(_is_object_fine, objects_in_cluster(name, recorded, progress)))
    text = cluster_text(name, recorded, progress, now=branches.now, every=is_wide, tells_each=tells_each)
    return View(text=(*text, *table_of_pending(name, fleet.bindings)), name=f"cluster/{name}", is_fine=is_fine)


def is_cluster_recorded(branches: RecordedFleet, name: str) -> bool:
    """Say whether the status branch describes a cluster that is a member."""
    return name in branches.recorded.clusters() and name in branches.fleet.members


def _is_object_fine(each: ObjectIn) -> bool:
    return each.applied == "True" and each.health == "Healthy"


def _view_of_object(branches: RecordedFleet, binding: Binding) -> View:
    fleet, recorded = branches.fleet, branches.recorded
    name = f"{binding.ref.group_kind.lower()}/{binding.ref.name}"
    if not recorded.files:
        late = branches.progress if branches.is_applied_by_passes else {}
        text = tuple(rendered_views.object_text(binding, fleet, late))
        is_late = any(late[name].is_awaited for name in expected_clusters(binding) if name in late)
        return View(text=text, name=name, is_fine=not (is_late or binding_problems(binding)))
    objects = objects_of_binding(binding, recorded, branches.progress)
    is_fine = bool(objects) and all(each.is_well for each in objects)
    shown = object_text(binding, recorded, branches.progress, now=branches.now)
    text = (*shown, *(f"\n{each}\n" for each in stranded_copies(branches, binding)))
    return View(text=text, name=name, is_fine=is_fine and not binding_problems(binding))


def table_of_pending(cluster: str, bindings: Iterable[Binding]) -> Iterator[str]:
    """Yield a table of what suspension holds back from a cluster; nothing where that is nothing."""
    rows = [(str(each.ref), each.reason, each.message) for each in pending_objects_in_cluster(cluster, bindings)]
    if rows:
        yield "\n"
        yield text_table(("PENDING", "REASON", "MESSAGE"), rows)


def pending_objects_in_cluster(cluster: str, bindings: Iterable[Binding]) -> list[Pending]:
    """Return what suspension holds back from a cluster."""
    return [each for each in pending_of(bindings) if cluster in each.clusters]
