"""The rules by which a candidate that passed every filter is not chosen, or a region is left out."""

from functools import cached_property

from msgspec import Struct

from render.bits import Mask, mask_of
from render.placement import SpreadConstraint, SpreadField

from .attempts import LOCALITY_SCORE, Attempt
from .decisions import Refusal
from .spread import ANY
from .state import PassState, Task

_OTHERS_HOLD = "others hold it already"


class PassedOver(Struct, frozen=True, kw_only=True, dict=True):
    """The candidates of one attempt that are not chosen; what their rules share is found once for all of them."""

    task: Task
    attempt: Attempt
    state: PassState

    def why_passed_over(self, position: int) -> str:
        """Return the rule by which a candidate is not chosen."""
        attempt, spread = self.attempt, self.task.rules.spread or {}
        if not attempt.selected:
            return f"no cluster is chosen: {attempt.outcome.message}" if isinstance(attempt.outcome, Refusal) else ""
        if SpreadField.REGION in spread and not self._clusters_of_chosen_regions >> position & 1:
            return "its region is not chosen"
        limit = f"maxGroups {spread.get(SpreadField.CLUSTER, ANY).max_groups} by cluster"
        return f"{limit}: {self._why_others_come_before(position)}"

    @cached_property
    def _clusters_of_chosen_regions(self) -> Mask:
        found = chosen = mask_of(self.attempt.selected)
        for region in self.state.index.clusters_by_spread_value(SpreadField.REGION).values():
            found |= region if region & chosen else 0
        return found

    @cached_property
    def _position_of_last_chosen(self) -> int:
        assert self.attempt.selection is not None, "what is added to others is not told apart"
        places = {position: place for place, position in enumerate(self.attempt.selection.candidates)}
        return max(self.attempt.selected, key=places.__getitem__)

    def _why_others_come_before(self, position: int) -> str:
        """Return why chosen clusters come before another: they hold the object, have more room, or a smaller name."""
        if self.attempt.selection is None:  # what is there stays, and the best are added
            return f"{_OTHERS_HOLD}, or have more room"
        available, held, last = (
            self.attempt.selection.available,
            self.task.current.replicas,
            self._position_of_last_chosen,
        )
        if position in held:
            # Only room for all replicas makes up for what a cluster holds.
            return "a roomier cluster takes its place, so that all replicas fit" if last not in held else _OTHERS_HOLD
        if last in held:
            return f"{_OTHERS_HOLD} (score {LOCALITY_SCORE})"
        return "others have more room" if available[position] < available[last] else "others come first by name"


def why_region_is_left_out(attempt: Attempt, region: SpreadConstraint) -> str:
    """Return the rule by which a region is not chosen."""
    if not attempt.selected:
        return "no region is chosen"
    least, most = region.min_groups, region.max_groups
    bounds = str(most) if least == most else f"{least} to {most}"
    return f"minGroups and maxGroups ask for {bounds} by region: others score more together"
