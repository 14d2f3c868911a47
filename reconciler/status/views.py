"""The answer of ``argosy status``: the fleet, one cluster or one object, as text, as plain data and as a name."""

from collections.abc import Iterable, Mapping
from typing import Any

from reconciler.console.text import table
from reconciler.names.subjects import check_clusters, is_cluster_noun
from reconciler.pipeline.pending import Pending, pending_of, plain_pending
from reconciler.record.binding_status import expected_clusters
from render.binding import Binding
from render.values import DiscreetStruct

from . import rendered_views
from .blind_spots import blind_spots_of
from .branches import RecordedFleet, binding_named
from .fleet import binding_problems
from .fleet_views import fleet_text, fleet_value, is_well
from .objects import cluster_text, cluster_value, object_text, object_value, objects_of_binding


class View(DiscreetStruct, frozen=True, kw_only=True):
    """A subject to be shown: as text, as plain data and as a name, and whether all is well with it."""

    UNSHOWN = ("value",)

    text: str
    value: dict[str, Any]
    name: str
    is_fine: bool


def view_of(branches: RecordedFleet, subject: str, *, namespace: str = "", is_wide: bool = False) -> View:
    """Return the view of ``cluster/NAME``, of ``KIND/NAME``, or of the fleet ("")."""
    noun, _, name = subject.partition("/")
    if not subject:
        return _fleet_view(branches, is_wide=is_wide)
    if is_cluster_noun(noun):
        return _cluster_view(branches, name, is_wide=is_wide)
    return _object_view(branches, binding_named(branches, noun, name, namespace))


def _fleet_view(branches: RecordedFleet, *, is_wide: bool) -> View:
    return View(
        text="".join(fleet_text(branches, wide=is_wide)),
        value=fleet_value(branches),
        name="\n".join(f"cluster/{name}" for name in branches.fleet.clusters),
        is_fine=is_well(branches),
    )


def _cluster_view(branches: RecordedFleet, name: str, *, is_wide: bool) -> View:
    fleet, recorded = branches.fleet, branches.recorded
    records = recorded.clusters()
    check_clusters([name], {*records, *fleet.clusters})
    if name not in records or name not in fleet.members:
        has_status = branches.is_applied_by_passes
        is_awaited = has_status and name in fleet.members and branches.progress[name].is_awaited
        is_fine = rendered_views.is_cluster_fine(name, fleet) and not is_awaited
        return View(
            text=rendered_views.cluster_text(name, fleet, has_status=has_status) + pending_text(name, fleet.bindings),
            value=rendered_views.cluster_value(name, fleet) | pending_value(name, fleet.bindings),
            name=f"cluster/{name}",
            is_fine=is_fine,
        )
    progress = branches.progress[name]
    spot = blind_spots_of(recorded, {name: fleet.members[name]}).get(name)
    value = cluster_value(name, recorded, progress) | pending_value(name, fleet.bindings)
    value |= {"observation": spot.plain()} if spot is not None else {}
    is_fine = progress.is_applied and all(map(_is_object_fine, value["objects"]))
    text = cluster_text(name, recorded, progress, now=branches.now, every=is_wide)
    text += pending_text(name, fleet.bindings)
    return View(text=text, value=value, name=f"cluster/{name}", is_fine=is_fine)


def _is_object_fine(value: Mapping[str, Any]) -> bool:
    return bool(value["applied"]) and value["health"] == "Healthy"


def _object_view(branches: RecordedFleet, binding: Binding) -> View:
    fleet, recorded = branches.fleet, branches.recorded
    name = f"{binding.ref.group_kind.lower()}/{binding.ref.name}"
    value = object_value(binding, recorded, branches.progress)
    if not recorded.files:
        late = branches.progress if branches.is_applied_by_passes else {}
        text = rendered_views.object_text(binding, fleet, late)
        is_late = any(late[name].is_awaited for name in expected_clusters(binding) if name in late)
        return View(text=text, value=value, name=name, is_fine=not (is_late or binding_problems(binding)))
    objects = objects_of_binding(binding, recorded, branches.progress)
    is_fine = bool(objects) and all(each.is_well for each in objects)
    text = object_text(binding, recorded, branches.progress, now=branches.now)
    return View(text=text, value=value, name=name, is_fine=is_fine and not binding_problems(binding))


def pending_text(cluster: str, bindings: Iterable[Binding]) -> str:
    """Return a table of what suspension holds back from a cluster; empty where that is nothing."""
    rows = [(str(each.ref), each.reason, each.message) for each in _pending_in(cluster, bindings)]
    return f"\n{table(('PENDING', 'REASON', 'MESSAGE'), rows)}" if rows else ""


def pending_value(cluster: str, bindings: Iterable[Binding]) -> dict[str, Any]:
    """Return the same as plain data."""
    return {"pending": [plain_pending(each) for each in _pending_in(cluster, bindings)]}


def _pending_in(cluster: str, bindings: Iterable[Binding]) -> list[Pending]:
    return [each for each in pending_of(bindings) if cluster in each.clusters]
