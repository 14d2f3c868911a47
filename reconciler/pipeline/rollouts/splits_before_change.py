"""Replicas that a rollback gives back: those which each cluster had before the change, where that moves or scales.

1. What a change asks for of replicas goes out at once, while its bytes wait for their waves. So what was there before
   is recorded with it (``ObjectRollout.before_change``), by value.
2. Once no cluster has the change any more, after failures or an abort, each has its former replicas again. What was
   decided stays beside them (``Binding.moving``), so that the scheduler goes by it, and a retry brings it again.
3. Where the source has asked for something else since, by another number or placement, that stays. What a cluster
   that is gone or evicts had goes to the others of before. Both are said.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.branch_file import plain_data
from reconciler.pipeline.moves import MovedBindings, joined_paths, moves_in_steps, paths_by_cluster
from render.binding import Binding, Moving
from render.cluster import Taint, first_untolerated_taint
from render.cluster_index import ClusterIndex
from render.documents import emit
from render.failover.taint_eviction import no_execute_taints, time_of_taint_eviction
from render.model import ObjectRef, TargetCluster
from render.object_rollout import ObjectRollout, SplitBeforeChange
from render.placement import Toleration
from render.timing import FIRST, Flip
from render.words import first_few

from .placements import replicas_in_proportion

_DIGEST_LENGTH = 16
_NOTHING = "nothing"
"""The request of a change whose split nobody gives back any more; no digest is this word."""

RestoredSplits = Mapping[ObjectRef, SplitBeforeChange]
"""The targets that clusters have again, by object."""


def digest_of_request(binding: Binding) -> str:
    """Return what names that which an object asks for: so many replicas, by a placement."""
    placement = plain_data(binding.placement) if binding.placement is not None else None
    asked = [binding.replicas, placement, binding.reschedule_triggered_at]
    return hashlib.sha256(emit({"asked": asked})).hexdigest()[:_DIGEST_LENGTH]


def is_asked_for_nothing_else(former: SplitBeforeChange, binding: Binding) -> bool:
    """Say whether the source asks of an object what it did by a change, and nobody has had it placed anew."""
    return former.asked == digest_of_request(binding) and {*binding.answered_requests} <= {*former.requests}


def split_before_change_of_version(
    rollout: ObjectRollout, goal: str, before: Binding | None, decided: Binding
) -> SplitBeforeChange | None:
    """Return what clusters had before the change to a version, from the rollout and the binding of the commit before.

    A change that takes the place of one under way goes back to where that would have gone.
    """
    known = rollout.before_change
    if known is not None and rollout.is_under_way and rollout.target == goal:
        is_placed_anew = not {*decided.answered_requests} <= {*known.requests}
        return replace(known, asked=_NOTHING if is_placed_anew else known.asked, is_restored=False)
    if rollout.is_under_way and rollout.target == goal:
        return None  # the change moved and scaled nothing when it began: whatever did so since is none of it
    if before is None or not before.targets or not moves_in_steps(decided):
        return None
    asked, requests = digest_of_request(decided), decided.answered_requests
    if known is not None and rollout.is_under_way and is_asked_for_nothing_else(known, before):
        return replace(known, asked=asked, requests=requests, is_restored=False)
    is_other = before.replicas != decided.replicas or (
        before.placement != decided.placement and before.final_targets != decided.final_targets
    )
    if not is_other or before.scaled != decided.scaled:  # what a rule scales is no change of the source
        return None
    return SplitBeforeChange(targets=before.final_targets, replicas=before.replicas, asked=asked, requests=requests)


class RestoredSplit(Struct, frozen=True, kw_only=True):
    """The targets that an object has after a rollback (None: those of now), with a sentence about what differs."""

    targets: tuple[TargetCluster, ...] | None = None
    sentence: str = ""
    flip: Flip | None = None


class SplitsBefore(Struct, frozen=True, kw_only=True):
    """The clusters that may have former replicas again: what they had in the commit before, and the time.

    ``are_evicted``: clusters with taints give up what they have; else those only get nothing new.
    """

    before: Mapping[ObjectRef, Binding]
    index: ClusterIndex
    now: datetime | None
    are_evicted: bool = False

    def restored_split(self, former: SplitBeforeChange, decided: Binding) -> RestoredSplit:
        """Return what an object has again, with what was decided of it."""
        if not is_asked_for_nothing_else(former, decided):
            words = "it was scaled or placed anew since the change began"
            return RestoredSplit(sentence=f"{decided.ref} keeps its replicas: {words}")
        lost, flips = set[str](), list[Flip]()
        for name in (each.name for each in former.targets):
            time = self._time_of_leaving(name, decided)
            if time is None:
                continue
            if time <= (self.now or FIRST):
                lost.add(name)
            else:
                flips.append(Flip(time, f"{decided.ref} leaves {name} after its rollback"))
        left = tuple(each for each in former.targets if each.name not in lost)
        flip, names = min(flips, default=None), first_few(sorted(lost))
        if not left:
            words = f"{names} cannot have any of them"
            return RestoredSplit(sentence=f"{decided.ref} cannot have its former replicas: {words}", flip=flip)
        sentence = f"{decided.ref} has its former replicas without {names}, which cannot have any" if lost else ""
        return RestoredSplit(targets=self._targets_with_all(left, former, decided), sentence=sentence, flip=flip)

    def _targets_with_all(
        self, left: tuple[TargetCluster, ...], former: SplitBeforeChange, decided: Binding
    ) -> tuple[TargetCluster, ...]:
        """Return targets that have the replicas of those beside them, too, where replicas are divided."""
        total, there = (sum(each.replicas for each in targets) for targets in (former.targets, left))
        if total == there or not decided.is_divided or decided.components:
            return left
        found = replicas_in_proportion({each.name: each.replicas for each in left}, total)
        return tuple(TargetCluster(each.name, found[each.name]) for each in left)

    def _time_of_leaving(self, name: str, decided: Binding) -> datetime | None:
        """Return when a cluster has nothing of an object any more, or gets nothing (None: at no time)."""
        place = self.index.index_by_name.get(name)
        if place is None:
            return FIRST
        tolerations = decided.placement.cluster_tolerations if decided.placement is not None else ()
        taints, before = self.index.clusters[place].taints, self.before.get(decided.ref)
        if before is None or all(each.name != name for each in before.targets):
            return FIRST if first_untolerated_taint(taints, tolerations) else None
        return self._time_of_eviction(taints, tolerations)

    def _time_of_eviction(self, taints: Iterable[Taint], tolerations: tuple[Toleration, ...]) -> datetime | None:
        evicting = no_execute_taints(taints) if self.are_evicted else ()
        return time_of_taint_eviction(evicting, tolerations) if evicting else None

    def splits_restored_before(self, decided: Iterable[Binding]) -> RestoredSplits:
        """Return what clusters were given back in the commit before, as far as it would be given back now."""
        found: dict[ObjectRef, SplitBeforeChange] = {}
        for each in decided:
            before = self.before.get(each.ref)
            former = before.rollout.before_change if before is not None and before.rollout is not None else None
            if former is not None and former.is_restored and self.restored_split(former, each).targets is not None:
                found[each.ref] = former
        return found

    def bindings_that_end_as_before(
        self, decided: Iterable[Binding], restored_splits: RestoredSplits
    ) -> tuple[Binding, ...]:
        """Return bindings that are to have their former targets, for the moves there; all others as decided."""

        def ends_as_before(binding: Binding) -> Binding:
            former = restored_splits.get(binding.ref)
            targets = None if former is None else self.restored_split(former, binding).targets
            return binding if targets is None else replace(binding, targets=targets)

        return tuple(map(ends_as_before, decided))

    def moved_beside_decision(
        self, moved: MovedBindings, decided: Iterable[Binding], restored_splits: RestoredSplits
    ) -> MovedBindings:
        """Return moves in which what has former targets, or is on its way there, has beside them what was decided."""
        if not restored_splits:
            return moved
        by_ref = {each.ref: each for each in decided if each.ref in restored_splits}
        given = {
            each.ref: {target.name for target in each.targets} for each in moved.bindings if each.ref in restored_splits
        }
        had = {ref: {target.name for target in self.before[ref].targets} for ref in given.keys() & self.before.keys()}
        left = paths_by_cluster((ref, frozenset(names - given[ref])) for ref, names in had.items())
        return replace(
            moved,
            bindings=tuple(
                _binding_beside_decision(each, by_ref[each.ref]) if each.ref in by_ref else each
                for each in moved.bindings
            ),
            ended=joined_paths(moved.ended, left),
        )


def _binding_beside_decision(binding: Binding, decided: Binding) -> Binding:
    is_there = {*binding.targets} == {*decided.targets}
    since = binding.moving.since if binding.moving is not None else ""
    return replace(binding, moving=None if is_there else Moving(asked=decided.targets, since=since))
