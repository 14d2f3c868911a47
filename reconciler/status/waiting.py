"""The reasons why a fleet, a cluster or an object is not applied or healthy yet."""

from dataclasses import dataclass

from reconciler.names.kinds import named_object
from reconciler.names.subjects import check_clusters, is_cluster_noun
from reconciler.observe.conditions import found_condition
from reconciler.record.binding_status import expected_clusters
from reconciler.record.recorded import Recorded, is_well, object_of
from reconciler.record.work_status import APPLIED
from reconciler.source.desired import Desired
from render.binding import Binding
from render.model import Manifest, ObjectRef

from .branches import RecordedFleet, binding_named
from .objects import unwell


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """What to wait for (``applied`` or ``healthy``), of what, and for how many seconds."""

    subject: str = ""
    namespace: str = ""
    wish: str = "applied"
    timeout: float = 300.0


def check_subject(desired: Desired, options: WaitOptions) -> None:
    """Raise UnknownName when the source has no such cluster or object, for which one could wait for ever."""
    noun, _, name = options.subject.partition("/")
    if name and is_cluster_noun(noun):
        check_clusters([name], [cluster.name for cluster in desired.clusters])
    elif name:
        named_object(noun, name, options.namespace, desired.templates)


def missing_of(telling: RecordedFleet, options: WaitOptions) -> list[str]:
    """Return what keeps the wish from being true; nothing when it is."""
    check_subject(telling.fleet.source.desired, options)
    lag = telling.fleet.lag
    if not lag.is_pushed:
        return [f"source {lag.head[:12]} is not pushed, so no pass sees it"]
    if not lag.is_current:
        return [f"source {lag.newest[:12]} is not rendered yet"]
    if not telling.recorded.files:
        return ["no pass has recorded anything yet: the fleet is only rendered, or none has got there"]
    noun, _, name = options.subject.partition("/")
    if options.subject and not is_cluster_noun(noun):
        return _of_object(telling, binding_named(telling, noun, name, options.namespace), options.wish)
    members = [name] if name else sorted(telling.fleet.members)
    return [why for member in members for why in _of_cluster(telling, member, options.wish)]


def _of_object(telling: RecordedFleet, binding: Binding, wish: str) -> list[str]:
    clusters = tuple(name for name in expected_clusters(binding) if name in telling.fleet.members)
    recorded = telling.recorded
    if not clusters:
        return [f"{binding.ref} is placed nowhere"]
    late = [f"{name} has not got the newest commit yet" for name in clusters if not _was_applied(telling, name)]
    if late:
        return late
    if wish == "healthy":
        return [f"{binding.ref} is not healthy in {name}" for name in unwell(binding.ref, recorded, clusters)]
    return [f"{binding.ref} is not applied in {name}" for name in _unapplied(binding.ref, recorded, clusters)]


def _unapplied(ref: ObjectRef, recorded: Recorded, clusters: tuple[str, ...]) -> list[str]:
    known = recorded.binding(ref) or {}
    items = (known.get("status") or {}).get("aggregatedStatus") or ()
    applied = {item["clusterName"] for item in items if item.get("applied")}
    return [name for name in clusters if name not in applied]


def _was_applied(telling: RecordedFleet, cluster: str) -> bool:
    """Whether the last pass over a cluster got through the newest rendered commit."""
    record = telling.recorded.clusters().get(cluster)
    return record is not None and record.applied == telling.fleet.previous.commit


def _of_cluster(telling: RecordedFleet, cluster: str, wish: str) -> list[str]:
    if telling.recorded.converged(cluster) != telling.fleet.previous.commit:
        return [f"{cluster} does not hold {telling.fleet.previous.commit[:12]} yet"]
    works = [telling.recorded.manifest(path) for path in telling.recorded.below(f"works/{cluster}")]
    is_there = is_well if wish == "healthy" else _is_applied
    late = [object_of(work) for work in works if work is not None and not is_there(work)]
    return [f"{name} is not {wish} in {cluster}" for name in late]


def _is_applied(work: Manifest) -> bool:
    return found_condition(work["status"].get("conditions"), APPLIED).get("status") == "True"
