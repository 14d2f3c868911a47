"""The reasons why a fleet, a cluster or an object is not applied or healthy yet."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from reconciler.console.log import Log
from reconciler.names.kinds import named_object
from reconciler.names.subjects import check_clusters, is_cluster_noun
from reconciler.observe.conditions import condition_of_type
from reconciler.publish.reading import read_source
from reconciler.record.binding_status import expected_clusters
from reconciler.record.recorded_status import RecordedStatus, is_applied_and_healthy, object_of, path_in_cluster
from reconciler.record.work_status import APPLIED, HEALTHY
from reconciler.repository import open_repository
from reconciler.source.desired import Desired
from render.binding import Binding
from render.errors import GitError
from render.model import Manifest, ObjectRef

from .branches import RecordedFleet, Tips, binding_named, fetched_tips, read_recorded_fleet
from .objects import unwell

POLL_SECONDS = 2.0
_NO_TIPS: Tips = ("",)
"""Tips that no branch has, so that the branches are read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    """A clock and a pause to wait by."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A state to wait for (``applied`` or ``healthy``), of a cluster, an object or the fleet ("")."""

    subject: str = ""
    namespace: str = ""
    state: str = "applied"


def missing_at_the_end(wish: Wish, log: Log, *, timeout: float, pacing: Pacing) -> list[str]:
    """Wait until the wish came true or the time is over; return what is missing then."""
    end, missing = pacing.now() + timeout, ["nothing is known yet"]
    known: Tips = ()
    while True:
        missing, known = _observed(wish, log, missing, known)
        if not missing or pacing.now() + POLL_SECONDS > end:
            return missing
        pacing.pause(POLL_SECONDS)


def _observed(wish: Wish, log: Log, missing: list[str], known: Tips) -> tuple[list[str], Tips]:
    """Return what is missing now, and the tips it was read from; nothing is read where no branch moved.

    A fetch that fails ends the first observation; later ones are repeated, for the remote may come back in time.
    """
    try:
        with open_repository(log.repository) as repository:
            tips = fetched_tips(repository)
            if tips == known:
                return missing, known
            if tips[1] is None:
                check_subject(read_source(repository, str(tips[0])).desired, wish)
                return ["nothing is rendered yet"], tips
            missing = missing_of(read_recorded_fleet(repository, log), wish)
    except GitError as error:
        if not known:
            raise
        return [error.message], _NO_TIPS
    log.progress(f"waiting: {len(missing)} to go")
    return missing, tips


def check_subject(desired: Desired, wish: Wish) -> None:
    """Raise UnknownName when the source has no such cluster or object, for which one could wait for ever."""
    noun, _, name = wish.subject.partition("/")
    if name and is_cluster_noun(noun):
        check_clusters([name], [cluster.name for cluster in desired.clusters])
    elif name:
        named_object(noun, name, wish.namespace, desired.templates)


def missing_of(branches: RecordedFleet, wish: Wish) -> list[str]:
    """Return the reasons why the wish is not true; none when it is."""
    check_subject(branches.fleet.source.desired, wish)
    lag = branches.fleet.lag
    if not lag.is_pushed:
        return [f"source {lag.head[:12]} is not pushed, so no pass sees it"]
    if not lag.is_current:
        return [f"source {lag.newest[:12]} is not rendered yet"]
    if not branches.recorded.files:
        return ["no pass has recorded anything yet: the fleet is only rendered, or none has got there"]
    noun, _, name = wish.subject.partition("/")
    if wish.subject and not is_cluster_noun(noun):
        return _of_object(branches, binding_named(branches, noun, name, wish.namespace), wish.state)
    members = [name] if name else sorted(branches.fleet.members)
    return [why for member in members for why in _of_cluster(branches, member, wish.state)]


def _of_object(branches: RecordedFleet, binding: Binding, state: str) -> list[str]:
    clusters = tuple(name for name in expected_clusters(binding) if name in branches.fleet.members)
    recorded = branches.recorded
    if not clusters:
        return [f"{binding.ref} is placed nowhere"]
    late = [
        f"{name} has not got the newest commit yet{_last_pass(branches, name)}"
        for name in clusters
        if not _was_applied(branches, name)
    ]
    if late:
        return late
    if state == "healthy":
        late = unwell(binding.ref, recorded, clusters)
    else:
        late = _unapplied(binding.ref, recorded, clusters)
    works = {name: recorded.manifest(f"works/{name}/{path_in_cluster(binding.ref)}") for name in late}
    return [f"{binding.ref} is not {state} in {name}{_why(works[name])}" for name in late]


def _unapplied(ref: ObjectRef, recorded: RecordedStatus, clusters: tuple[str, ...]) -> list[str]:
    known = recorded.binding(ref) or {}
    items = (known.get("status") or {}).get("aggregatedStatus") or ()
    applied = {item["clusterName"] for item in items if item.get("applied")}
    return [name for name in clusters if name not in applied]


def _was_applied(branches: RecordedFleet, cluster: str) -> bool:
    """Return whether the last pass over a cluster got through the newest rendered commit."""
    record = branches.recorded.clusters().get(cluster)
    return record is not None and record.applied == branches.fleet.previous.commit


def _of_cluster(branches: RecordedFleet, cluster: str, state: str) -> list[str]:
    if branches.recorded.converged(cluster) != branches.fleet.previous.commit:
        missing = f"{cluster} does not hold {branches.fleet.previous.commit[:12]} yet{_last_pass(branches, cluster)}"
        return [missing, *_reasons(branches, cluster)]
    works = [branches.recorded.manifest(path) for path in branches.recorded.below(f"works/{cluster}")]
    is_so = is_applied_and_healthy if state == "healthy" else _is_applied
    late = [work for work in works if work is not None and not is_so(work)]
    return [f"{object_of(work)} is not {state} in {cluster}{_why(work)}" for work in late]


def _reasons(branches: RecordedFleet, cluster: str) -> list[str]:
    """Return the objects that kept the last pass over a cluster from converging on the newest commit, with reasons."""
    if not _was_applied(branches, cluster):
        return []
    works = [branches.recorded.manifest(path) for path in branches.recorded.below(f"works/{cluster}")]
    late = [work for work in works if work is not None and not _is_applied(work)]
    held = branches.recorded.clusters()[cluster].deviations
    return [
        *(f"{object_of(work)} is not applied in {cluster}{_why(work)}" for work in late),
        *(
            f"{each.ref} is {each.action} in {cluster}: {each.reason}: {each.message}"
            for each in held
            if not each.field
        ),
    ]


def _last_pass(branches: RecordedFleet, cluster: str) -> str:
    """Return how the last pass over a cluster ended, where that is why it is late."""
    record = branches.recorded.clusters().get(cluster)
    if record is None or record.outcome in {"", "Converged"}:
        return ": no pass has got there"
    return f": passes over it end {record.outcome} since {record.since}"


def _why(work: Manifest | None) -> str:
    """Return the reason a Work gives, and its message where it has one."""
    conditions = (work or {"status": {}})["status"].get("conditions")
    found = (condition_of_type(conditions, kind) for kind in (APPLIED, HEALTHY))
    worst = next((each for each in found if each.get("status") != "True"), {})
    words = [str(worst.get(key) or "") for key in ("reason", "message")]
    return "".join(f": {word}" for word in words if word)


def _is_applied(work: Manifest) -> bool:
    return condition_of_type(work["status"].get("conditions"), APPLIED).get("status") == "True"
