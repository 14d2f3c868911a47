"""The objects that time and health concern since the last pass: their rules may answer otherwise now.

1. a binding whose outcome was to change by itself at a time that has come;
2. a workload of which a cluster reports another health.

Everything else that these rules read is the same while the source is, and the conditions of clusters are.
"""

from reconciler.branches.checkpoint import PassContents
from reconciler.ledger.health import HealthFile, ObservedHealth
from reconciler.rendering.inputs import RenderInputs
from reconciler.repository import Repository
from reconciler.source.desired import Desired, is_failing_over
from render.cluster import ClusterCondition
from render.errors import GitError
from render.failover.health import is_health_unknown, is_known_to_be_ready
from render.model import ObjectRef
from render.timing import LAST, Flip, parse_instant

Conditions = tuple[ClusterCondition, ...]


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


def workloads_with_changed_health(
    desired: Desired, before: ObservedHealth, after: ObservedHealth
) -> frozenset[ObjectRef] | None:
    """Return the workloads whose health is another one; None where the conditions of clusters are."""
    names, old, new = (each.name for each in desired.clusters), before.conditions, after.conditions
    if any(_have_conditions_changed(old.get(name), new.get(name), desired) for name in names):
        return None
    refs = before.workloads.keys() | after.workloads.keys()
    return frozenset(ref for ref in refs if before.workloads.get(ref) != after.workloads.get(ref))


def _have_conditions_changed(before: Conditions | None, after: Conditions | None, desired: Desired) -> bool:
    """Say whether the conditions of a cluster are others than they were, as far as a rule asks for them."""
    if desired.fleet.feature_gates.failover:
        return before != after
    if before is None or after is None:  # not recorded, for nothing asked for it then
        return after is not None and not is_known_to_be_ready(after)
    return (is_known_to_be_ready(before), is_health_unknown(before)) != (
        is_known_to_be_ready(after),
        is_health_unknown(after),
    )


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
