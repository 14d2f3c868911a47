"""Newer changes while one goes out: they take its place, or wait for its end in a queue.

1. ``Supersede``: a newer change takes the place of the one under way, from wherever clusters stand.
2. ``Wait``: each newer change goes out after those before it, in the order in which they came, also where a later one
   changes the same objects again.
3. ``Coalesce``: all that came meanwhile goes out together, as it is by then.
4. ``Expedite``: as ``Wait``, until an approver says that the newest of them is to go everywhere at once, and why.

A rollout that has failed, or that is held back, would be waited for forever: it makes way for the next one, once all
clusters have gone back that do so by waves.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from render.model import ObjectRef

from .policy import NewChangeAction, RolloutPolicy
from .state import RolloutPhase, RolloutReason, RolloutState, WaitingChange

_ENDED = frozenset({RolloutPhase.COMPLETED, RolloutPhase.FAILED, RolloutPhase.HELD})
"""Phases in which a newer change takes over whatever the policy says of it."""

Versions = Mapping[ObjectRef, str]
"""The version of each object."""


def newer_changes_wait(policy: RolloutPolicy | None, state: RolloutState | None) -> bool:
    """Say whether newer changes have to wait for the end of a rollout; without a policy its plan says so.

    Where clusters go back wave by wave they wait until all have: what failed would stay in the others.
    """
    if state is None or (state.phase in _ENDED and state.reason is not RolloutReason.ROLLING_BACK):
        return False
    return (policy or state.plan).on_new_change is not NewChangeAction.SUPERSEDE


def queue_with_change(
    action: NewChangeAction, queue: tuple[WaitingChange, ...], change: WaitingChange
) -> tuple[WaitingChange, ...]:
    """Return a queue with a change that has just come: behind the others, or together with them."""
    if action is not NewChangeAction.COALESCE or not queue:
        return (*queue, change)
    versions = {ref: version for each in (*queue, change) for ref, version in each.versions}
    commits = dict.fromkeys(commit for each in (*queue, change) for commit in each.commits)
    return (replace(change, commits=tuple(commits), versions=tuple(sorted(versions.items()))),)


def versions_that_wait(queue: tuple[WaitingChange, ...]) -> Mapping[ObjectRef, tuple[str, ...]]:
    """Return the versions of each object that waits, in the order in which they go out."""
    found: dict[ObjectRef, tuple[str, ...]] = {}
    for change in queue:
        for ref, version in change.versions:
            found[ref] = (*found.get(ref, ()), version)
    return found


def last_versions_of_queue(queue: tuple[WaitingChange, ...]) -> Versions:
    """Return the versions that objects have once everything that waits has gone out."""
    return {ref: version for each in queue for ref, version in each.versions}
