"""The objects that time and health concern since the last pass: their rules may answer otherwise now.

1. a binding whose outcome was to change by itself at a time that has come;
2. a workload of which a cluster reports another health.

Everything else that these rules read is the same while the source is, and the conditions of clusters are.
"""

from reconciler.branches.checkpoint import PassContents
from reconciler.ledger.health import HealthFile, ObservedHealth
from reconciler.pipeline.health import workloads_with_changed_health
from reconciler.rendering.inputs import RenderInputs
from reconciler.repository import Repository
from reconciler.source.desired import Desired, is_failing_over
from render.errors import GitError
from render.model import ObjectRef
from render.timing import LAST, Flip, parse_instant


def next_flip_of_each_object(contents: PassContents) -> dict[ObjectRef, Flip]:
    """Return when each object that a pass saw changes by itself."""
    return {ObjectRef(*words): Flip(parse_instant(at) or LAST, what) for *words, at, what in contents.waits}


def objects_concerned(
    repository: Repository, desired: Desired, contents: PassContents, given: RenderInputs
) -> frozenset[ObjectRef] | None:
    """Return the objects that time and health concern since a pass that saw these contents; None for all of them."""
    unwell = _unwell_workloads(repository, desired, contents, given.observed.health)
    if unwell is None:
        return None
    now = given.now
    due = (ref for ref, flip in next_flip_of_each_object(contents).items() if now is None or flip.at <= now)
    return unwell.union(due)


def _unwell_workloads(
    repository: Repository, desired: Desired, contents: PassContents, health: ObservedHealth
) -> frozenset[ObjectRef] | None:
    if not is_failing_over(desired):
        return frozenset()
    try:
        return workloads_with_changed_health(desired, _recorded_health(repository, contents.facts), health)
    except GitError:  # the status branch may have been squashed since
        return None


def _recorded_health(repository: Repository, folder: str) -> ObservedHealth:
    """Return the health that a folder of facts records ("": there is no such folder)."""
    entries = repository.read_trees([bytes.fromhex(folder)])[bytes.fromhex(folder)] if folder else ()
    found = next((entry.id for entry in entries if entry.text == HealthFile.NAME), None)
    if found is None:
        return ObservedHealth()
    return HealthFile.read(HealthFile.PATH, repository.read_blobs([found])[found]).health
