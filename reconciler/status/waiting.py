"""What ``argosy wait`` does: read the branches again and again until the fleet, a cluster or an object is as wished.

It asks no cluster. What it waits for is that passes - somebody's schedule, a daemon, agents - get there and say so.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import click

from reconciler.explanation.inquiry_subjects import is_cluster_noun
from reconciler.kind_names import found_object
from reconciler.passes.one_pass import run_pass
from reconciler.passes.reading import read_evidence, read_source
from reconciler.report import Log
from reconciler.repository import open_repository
from reconciler.unknown_names import check_clusters
from render.binding import Binding
from render.errors import ConfigError
from render.model import Manifest, ObjectRef

from .binding_status import expected_clusters
from .conditions import found_condition
from .recorded import Recorded, is_well, object_of
from .status_objects import unwell
from .status_views import Telling, fetched_tips, told
from .work_status import APPLIED

POLL_SECONDS = 2.0


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
    seen: tuple[str | None, ...] = ()
    while True:
        with open_repository(log.repository) as repository:
            tips = fetched_tips(repository)
            if tips != seen:
                missing, seen = missing_of(told(repository), options, log), tips
                log.progress(f"waiting: {len(missing)} to go")
        if not missing:
            click.echo(f"{options.subject or 'the fleet'} is {options.wish}")
            return 0
        if by.now() + POLL_SECONDS > end:
            for each in missing[:20]:
                log.warning(each)
            return 1
        by.pause(POLL_SECONDS)


def missing_of(telling: Telling, options: WaitOptions, log: Log) -> list[str]:
    """Return what keeps the wish from being true; nothing when it is."""
    if not _is_rendered(telling, log):
        return [f"source {telling.fleet.head[:12]} is not rendered yet"]
    noun, _, name = options.subject.partition("/")
    if options.subject and not is_cluster_noun(noun):
        return _of_object(telling, _binding(telling, noun, name, options.namespace), options.wish)
    members = sorted(telling.fleet.members)
    check_clusters(filter(None, [name]), members)
    return [why for member in ([name] if name else members) for why in _of_cluster(telling, member, options.wish)]


def _is_rendered(telling: Telling, log: Log) -> bool:
    """Whether the rendered commit is what the newest source asks for, which a source that changes nothing also is."""
    if telling.fleet.is_current:
        return True
    repository, previous = telling.repository, telling.fleet.previous
    evidence = read_evidence(repository, previous.commit)
    source = read_source(repository, telling.fleet.head, facts=lambda _fleet: evidence.facts)
    return not run_pass(repository, source, previous, evidence, log).changed


def _binding(telling: Telling, noun: str, name: str, namespace: str) -> Binding:
    templates = read_source(telling.repository, telling.fleet.head).desired.templates
    ref = found_object(noun, name, namespace, templates)
    if ref not in telling.fleet.previous.bindings:
        raise ConfigError(f"{ref} has no binding: no policy selects it", hint=f"argosy explain {noun}/{name}")
    return telling.fleet.previous.bindings[ref]


def _of_object(telling: Telling, binding: Binding, wish: str) -> list[str]:
    clusters, recorded = expected_clusters(binding), telling.recorded
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
