"""The rules by which a candidate that passed every filter is not chosen, or a region is left out."""

from render.bits import Mask
from render.placement import SpreadConstraint, SpreadField

from .attempts import LOCALITY_SCORE, Attempt
from .decisions import Refusal
from .spread import ANY
from .state import PassState, Task

_OTHERS_HOLD = "others hold it already"


def why_not_chosen(task: Task, attempt: Attempt, position: int, state: PassState) -> str:
    """Return the rule by which a candidate is not chosen."""
    if not attempt.selected:
        return f"no cluster is chosen: {attempt.outcome.message}" if isinstance(attempt.outcome, Refusal) else ""
    spread = task.rules.spread or {}
    if SpreadField.REGION in spread and _is_outside_of_regions(attempt, position, state):
        return "its region is not chosen"
    limit = f"maxGroups {spread.get(SpreadField.CLUSTER, ANY).max_groups} by cluster"
    return f"{limit}: {_why_others(task, attempt, position)}"


def why_region_is_left_out(attempt: Attempt, region: SpreadConstraint) -> str:
    """Return the rule by which a region is not chosen."""
    if not attempt.selected:
        return "no region is chosen"
    least, most = region.min_groups, region.max_groups
    bounds = str(most) if least == most else f"{least} to {most}"
    return f"minGroups and maxGroups ask for {bounds} by region: others score more together"


def _is_outside_of_regions(attempt: Attempt, position: int, state: PassState) -> bool:
    chosen: Mask = sum(1 << each for each in set(attempt.selected))
    region = next(
        (mask for mask in state.index.in_groups(SpreadField.REGION).values() if mask >> position & 1), 1 << position
    )
    return not region & chosen


def _why_others(task: Task, attempt: Attempt, position: int) -> str:
    """Return why the chosen clusters come before another: they hold the object, have more room, or a smaller name."""
    if attempt.selection is None:  # what is there stays, and the best are added
        return f"{_OTHERS_HOLD}, or have more room"
    available, held = attempt.selection.available, task.current.replicas
    last = max(attempt.selected, key=attempt.selection.candidates.index)
    if position in held:
        # Only room for all replicas makes up for what a cluster holds.
        return "a roomier cluster takes its place, so that all replicas fit" if last not in held else _OTHERS_HOLD
    if last in held:
        return f"{_OTHERS_HOLD} (score {LOCALITY_SCORE})"
    return "others have more room" if available[position] < available[last] else "others come first by name"
