"""What ``argosy wait`` does: read the branches again and again until the fleet, a cluster or an object is as wished.

It asks no cluster. What it waits for is that passes - somebody's schedule, a daemon, agents - get there and say so.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import click

from reconciler.explanation.inquiry_subjects import is_cluster_noun
from reconciler.kind_names import found_object
from reconciler.passes.reading import read_source
from reconciler.report import Log
from reconciler.repository import open_repository
from reconciler.source.desired import Desired
from reconciler.unknown_names import check_clusters
from render.binding import Binding
from render.errors import GitError
from render.model import Manifest, ObjectRef

from .binding_status import expected_clusters
from .conditions import found_condition
from .recorded import Recorded, is_well, object_of
from .status_objects import unwell
from .status_views import Telling, Tips, bound, fetched_tips, told
from .work_status import APPLIED

POLL_SECONDS = 2.0
_MOST_TOLD = 20
_LOOK_AGAIN: Tips = ("",)
"""What no branch's tip is, so that the next look is made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitOptions:
    """What to wait for (``applied`` or ``healthy``), of what, and for how many seconds."""

    subject: str = ""
    namespace: str = ""
    wish: str = "applied"
    timeout: float = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watching:
    """A clock and a pause to wait by."""

    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep


def wait_and_say(log: Log, options: WaitOptions, watching: Watching | None = None) -> int:
    """Wait; return 0 once the wish came true, 1 when the time was over before, saying what is missing."""
    by = watching or Watching()
    end, missing = by.now() + options.timeout, ["nothing is known yet"]
    seen: Tips = ()
    while True:
        missing, seen = _looked(log, options, missing, seen)
        if not missing:
            click.echo(f"{options.subject or 'the fleet'} is {options.wish}")
            return 0
        if by.now() + POLL_SECONDS > end:
            _give_up(log, options, missing)
            return 1
        by.pause(POLL_SECONDS)


def _looked(log: Log, options: WaitOptions, missing: list[str], seen: Tips) -> tuple[list[str], Tips]:
    """Look what is missing where a branch moved; a look that fails, after one that did not, is made again."""
    try:
        with open_repository(log.repository) as repository:
            tips = fetched_tips(repository)
            if tips == seen:
                return missing, seen
            if tips[1] is None:
                check_subject(read_source(repository, str(tips[0])).desired, options)
                return ["nothing is rendered yet"], tips
            missing = missing_of(told(repository, log), options)
    except GitError as error:
        if not seen:
            raise
        return [error.message], _LOOK_AGAIN
    log.progress(f"waiting: {len(missing)} to go")
    return missing, tips


def _give_up(log: Log, options: WaitOptions, missing: list[str]) -> None:
    log.warning(f"after {options.timeout:g} s {options.subject or 'the fleet'} is not {options.wish}")
    for each in missing[:_MOST_TOLD]:
        log.warning(each)
    if len(missing) > _MOST_TOLD:
        log.warning(f"{len(missing) - _MOST_TOLD} more")


def check_subject(desired: Desired, options: WaitOptions) -> None:
    """Raise UnknownName when the source has no such cluster or object, for which one could wait for ever."""
    noun, _, name = options.subject.partition("/")
    if name and is_cluster_noun(noun):
        check_clusters([name], [cluster.name for cluster in desired.clusters])
    elif name:
        found_object(noun, name, options.namespace, desired.templates)


def missing_of(telling: Telling, options: WaitOptions) -> list[str]:
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
        return _of_object(telling, bound(telling, noun, name, options.namespace), options.wish)
    members = [name] if name else sorted(telling.fleet.members)
    return [why for member in members for why in _of_cluster(telling, member, options.wish)]


def _of_object(telling: Telling, binding: Binding, wish: str) -> list[str]:
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


def _was_applied(telling: Telling, cluster: str) -> bool:
    """Whether the last pass over a cluster got through the newest rendered commit."""
    record = telling.recorded.clusters().get(cluster)
    return record is not None and record.applied == telling.fleet.previous.commit


def _of_cluster(telling: Telling, cluster: str, wish: str) -> list[str]:
    if telling.recorded.converged(cluster) != telling.fleet.previous.commit:
        return [f"{cluster} does not hold {telling.fleet.previous.commit[:12]} yet"]
    works = [telling.recorded.manifest(path) for path in telling.recorded.below(f"works/{cluster}")]
    is_there = is_well if wish == "healthy" else _is_applied
    late = [object_of(work) for work in works if work is not None and not is_there(work)]
    return [f"{name} is not {wish} in {cluster}" for name in late]


def _is_applied(work: Manifest) -> bool:
    return found_condition(work["status"].get("conditions"), APPLIED).get("status") == "True"
