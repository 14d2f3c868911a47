"""Resilience judged: what would be left of the objects that ResiliencePolicies name, loss by loss.

1. Every loss that a policy speaks of is taken in turn, as far as an object that it names is there.
2. What counts is what the other clusters have (``AtOnce``), or what they would have once the objects that any policy
   names were placed anew, as a pass over the source without the lost clusters places them (``Rescheduled``).
3. Too little is a shortfall. An object that is in no cluster has no answer: nobody can tell what it survives.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reconciler.pipeline.decisions import Decisions
from reconciler.pipeline.pass_values import Built
from reconciler.source.desired import Desired
from render.binding import Binding
from render.model import ObjectRef
from render.resilience.losses import Loss, clusters_lost_together, losses_of_fleet
from render.resilience.policy import CountingTime, ResiliencePolicy, SurvivedLoss
from render.resilience.selection import ResilienceIndex
from render.scheduling.decisions import SCHEDULED
from render.scheduling.losses import PlacedAfterLoss, SchedulerAfterPass
from render.words import counted_noun, first_few, words_in_sentence

_LISTED = 3


class ResilienceRequirement(Struct, frozen=True, kw_only=True):
    """The loss that an object has to survive by one entry of a policy, and what the entry comes to for it.

    ``total`` are the replicas that it asks for, or the clusters that it is in (``is_copied``), ``needed`` those that
    have to be left.
    """

    policy: ResiliencePolicy
    number: int
    ref: ObjectRef
    total: int
    needed: int
    is_copied: bool

    @property
    def survived(self) -> SurvivedLoss:
        """The entry of the policy."""
        return self.policy.survive[self.number]


class Shortfall(Struct, frozen=True, kw_only=True):
    """A loss after which too little is left of an object; ``reason`` is why no more of it is placed anew ("": none)."""

    loss: Loss
    left: int
    reason: str = ""


class Judgement(Struct, frozen=True, kw_only=True):
    """The answer about one requirement: the losses that are not survived, worst first, of all that were judged.

    ``is_placed``: the object is somewhere, or asks for no replica. ``of_unknown_room`` are clusters that are counted
    with what they would get, whatever their room is, because no capacity is known of them.
    """

    requirement: ResilienceRequirement
    shortfalls: tuple[Shortfall, ...] = ()
    is_placed: bool = True
    of_unknown_room: frozenset[str] = frozenset()

    @property
    def holds(self) -> bool:
        """Say whether the object is somewhere, and survives."""
        return self.is_placed and not self.shortfalls

    @property
    def message(self) -> str:
        """The sentence about an object that does not survive: what is left after each loss, and what would have to be.

        An empty text where it does.
        """
        asked = self.requirement
        if not self.is_placed:
            return f"{asked.ref} is in no cluster, so nobody can tell what it survives"
        if not self.shortfalls:
            return ""
        noun = "copy" if asked.is_copied else "replica"
        whole = counted_noun(asked.total, noun, "copies" if asked.is_copied else "")
        first, *others = self.shortfalls
        listed = [f"{first.loss} ({first.left} of {whole} would be left)"]
        listed += [f"{each.loss} ({each.left})" for each in others[: _LISTED - 1]]
        if more := len(self.shortfalls) - len(listed):
            listed.append(counted_noun(more, "other"))
        needed = f"{asked.needed} {'is' if asked.needed == 1 else 'are'} needed"
        return f"{asked.ref} does not survive the loss of {words_in_sentence(listed, 'or')}: {needed}"

    @property
    def hint(self) -> str:
        """The reason why no more of the object is left after the worst loss, or what to do about it."""
        reason = next((each.reason for each in self.shortfalls if each.reason), "")
        if reason:
            return f"no more of it is placed anew: {reason}"
        if self.shortfalls and self.requirement.survived.when is CountingTime.AT_ONCE:
            return "have it in more places, or ask for less"
        return ""


def judgements_of_pass(
    desired: Desired, built: Built | Decisions, also: Iterable[tuple[ResiliencePolicy, ObjectRef]] = ()
) -> tuple[Judgement, ...]:
    """Judge the resilience policies of a source by what a pass over it decided; by policy, entry and object.

    ``also`` are objects that are to be judged by a policy though it does not select them.
    """
    if not desired.resilience_policies:
        return ()
    placed = {each.ref: each for each in built.bindings}
    selected = (*_objects_selected_by_policies(desired, placed), *(pair for pair in also if pair[1] in placed))
    requirements = tuple(
        _requirement(policy, number, placed[ref]) for policy, ref in selected for number in range(len(policy.survive))
    )
    judge = _Judge(built, frozenset(each.ref for each in requirements))
    found: list[Judgement] = []
    for field, count in sorted({(each.survived.field, each.survived.count) for each in requirements}):
        asked = [each for each in requirements if (each.survived.field, each.survived.count) == (field, count)]
        losses = losses_of_fleet(clusters_lost_together(desired.clusters, field), field, count)
        found += judge.judgements(asked, losses)
    return tuple(sorted(found, key=_rank_of_judgement))


def _rank_of_judgement(judgement: Judgement) -> tuple[str, int, ObjectRef]:
    asked = judgement.requirement
    return str(asked.policy), asked.number, asked.ref


def _objects_selected_by_policies(
    desired: Desired, placed: Mapping[ObjectRef, Binding]
) -> Iterator[tuple[ResiliencePolicy, ObjectRef]]:
    """Yield the policies of a source, each with the objects that it names and that are propagated."""
    index = ResilienceIndex(desired.resilience_policies)
    for template in desired.templates:
        if template.ref in placed:
            yield from ((policy, template.ref) for policy in index.policies_for_template(template))


def _requirement(policy: ResiliencePolicy, number: int, binding: Binding) -> ResilienceRequirement:
    survived, is_copied = policy.survive[number], not has_divided_replicas(binding)
    total = len(_counts_of_binding(binding)) if is_copied else binding.replicas
    limit = survived.min_copies if is_copied else survived.min_replicas
    share = -(-total * limit.amount // 100) if limit.is_percentage else limit.amount
    is_idle = not is_copied and total == 0
    return ResilienceRequirement(
        policy=policy,
        number=number,
        ref=binding.ref,
        total=total,
        needed=0 if is_idle else share,
        is_copied=is_copied,
    )


def has_divided_replicas(binding: Binding) -> bool:
    """Say whether an object has one number of replicas, which its placement divides among clusters."""
    is_one_number = binding.is_workload and len(binding.components) <= 1 and binding.undivided is None
    return is_one_number and binding.is_divided


def _counts_of_binding(binding: Binding, owners: Iterable[Binding] = ()) -> dict[str, int]:
    """Return the replicas by cluster of an object: where it goes itself, and where those that require it bring it."""
    required = (target.name for snapshot in binding.required_by for target in snapshot.clusters)
    brought = (target.name for owner in owners for target in owner.targets)
    counts = {**dict.fromkeys((*required, *brought), 0), **binding.target_replicas}
    return {name: count for name, count in counts.items() if name not in binding.undispatched_clusters}


class _Judge:
    """The objects that policies name as a pass placed them, to be asked what is left of them after a loss."""

    __slots__ = ("_after_pass", "_counts", "_decided", "_owners", "_placed", "_refs", "_targets", "_there")

    def __init__(self, built: Built | Decisions, refs: frozenset[ObjectRef]) -> None:
        schedule = built.schedule
        self._placed = {each.ref: each for each in built.bindings if each.ref in refs}
        self._counts = {ref: _counts_of_binding(each) for ref, each in self._placed.items()}
        self._there = {ref: frozenset(each) for ref, each in self._counts.items()}
        self._owners = {ref: [each.ref for each in built.following.owners.get(ref, ())] for ref in refs}
        self._refs = refs.union(*self._owners.values())
        self._decided = {each.ref: each for each in schedule.bindings if each.ref in self._refs}
        self._targets = {ref: frozenset(target.name for target in each.targets) for ref, each in self._decided.items()}
        self._after_pass = SchedulerAfterPass(schedule.scheduler, schedule.bindings, schedule.context)

    def judgements(self, asked: Sequence[ResilienceRequirement], losses: Iterable[Loss]) -> Iterator[Judgement]:
        """Yield the answer about each requirement."""
        shortfalls: list[list[Shortfall]] = [[] for _ in asked]
        unknown: list[set[str]] = [set() for _ in asked]
        for loss in losses:
            concerned = [
                number for number, each in enumerate(asked) if not loss.clusters.isdisjoint(self._there[each.ref])
            ]
            if concerned:
                for number, answer in self._answers_to_loss(loss, {each: asked[each] for each in concerned}):
                    if isinstance(answer, Shortfall):
                        shortfalls[number].append(answer)
                    else:
                        unknown[number] |= answer
        for number, each in enumerate(asked):
            worst_first = sorted(shortfalls[number], key=lambda shortfall: shortfall.left)
            yield Judgement(
                requirement=each,
                shortfalls=tuple(self._with_reason(each, worst_first)),
                is_placed=bool(self._there[each.ref]) or not each.needed,
                of_unknown_room=frozenset(unknown[number]),
            )

    def _with_reason(self, requirement: ResilienceRequirement, shortfalls: list[Shortfall]) -> Iterator[Shortfall]:
        """Yield shortfalls, the worst of them with its reason, which is decided where it was certain without."""
        is_at_once = requirement.survived.when is CountingTime.AT_ONCE
        for number, each in enumerate(shortfalls):
            if number or each.reason or is_at_once:
                yield each
            else:
                yield self._answer_when_rescheduled(requirement, each.loss, self._placed_after(each.loss))

    def _placed_after(self, loss: Loss) -> Mapping[ObjectRef, PlacedAfterLoss]:
        """Return what a loss concerns of all that policies name, placed anew."""
        placed = self._after_pass.placed_after_loss(loss.clusters, self._moving_at(loss))
        return {each.binding.ref: each for each in placed}

    def _moving_at(self, loss: Loss) -> list[Binding]:
        return [each for ref, each in self._decided.items() if not self._targets[ref].isdisjoint(loss.clusters)]

    def _answers_to_loss(
        self, loss: Loss, concerned: Mapping[int, ResilienceRequirement]
    ) -> Iterator[tuple[int, Shortfall | frozenset[str]]]:
        """Yield by requirement what a loss leaves too little of, or the clusters of which no capacity is known."""
        unsure = {}
        for number, each in concerned.items():
            left, is_at_once = self._left_at_once(each, loss), each.survived.when is CountingTime.AT_ONCE
            if left < each.needed and is_at_once:
                yield number, Shortfall(loss=loss, left=left)
            if not is_at_once and (left < each.needed or not self._can_only_gain(self._placed[each.ref])):
                unsure[number] = each
        if unsure:
            yield from self._answers_when_rescheduled(loss, unsure)

    def _answers_when_rescheduled(
        self, loss: Loss, concerned: Mapping[int, ResilienceRequirement]
    ) -> Iterator[tuple[int, Shortfall | frozenset[str]]]:
        is_plain = not any(
            self._owners[each.ref] or self._placed[each.ref].undispatched_clusters for each in concerned.values()
        )
        outcomes = self._after_pass.certain_outcomes(loss.clusters, self._moving_at(loss)) if is_plain else None
        if outcomes is not None:
            for number, each in concerned.items():
                is_whole = outcomes.get(each.ref, False) and not each.is_copied
                left = each.total if is_whole else self._left_at_once(each, loss)
                if left < each.needed:
                    yield number, Shortfall(loss=loss, left=left)
            return
        after = self._placed_after(loss)
        for number, each in concerned.items():
            answer = self._answer_when_rescheduled(each, loss, after)
            if answer.left < each.needed:
                yield number, answer
            elif (placed := after.get(each.ref)) is not None:
                yield number, placed.of_unknown_room

    def _left_at_once(self, requirement: ResilienceRequirement, loss: Loss) -> int:
        """Return how much of an object the clusters have that are left."""
        counts = self._counts[requirement.ref]
        if requirement.is_copied:
            return len(counts) - len(self._there[requirement.ref] & loss.clusters)
        return sum(counts.values()) - sum(counts.get(name, 0) for name in loss.clusters)

    def _can_only_gain(self, binding: Binding) -> bool:
        """Say whether an object keeps what other clusters have of it, whatever becomes of the rest.

        Spread constraints may choose other clusters altogether.
        """
        placement = binding.placement
        return placement is not None and not placement.spread_constraints and not self._owners[binding.ref]

    def _answer_when_rescheduled(
        self, requirement: ResilienceRequirement, loss: Loss, after: Mapping[ObjectRef, PlacedAfterLoss]
    ) -> Shortfall:
        """Return how much is left of an object once all is placed anew, and why it is no more."""
        ref = requirement.ref
        now = {**self._decided, **{each: placed.binding for each, placed in after.items()}}
        binding, placed = now.get(ref, self._placed[ref]), after.get(ref)
        owners = [now[each] for each in self._owners[ref] if each in now]
        counts = _counts_of_binding(replace(binding, required_by=(), kept=self._placed[ref].kept), owners)
        short = placed.without_room if placed is not None else {}
        if requirement.is_copied:
            counts = {name: count for name, count in counts.items() if name not in short}
        else:
            counts = {name: count - short.get(name, 0) for name, count in counts.items()}
        left = _left_of(requirement, counts, loss.clusters)
        return Shortfall(loss=loss, left=left, reason=_reason_of_placement(placed))


def _reason_of_placement(placed: PlacedAfterLoss | None) -> str:
    """Return why no more of an object is placed anew; an empty text where all of it is, or nobody asked."""
    if placed is None:
        return ""
    if placed.without_room:
        return f"there is no room for what would go to {first_few(sorted(placed.without_room))}"
    condition = next((each for each in placed.binding.conditions if each.type == SCHEDULED), None)
    return condition.message if condition is not None and condition.status != "True" else ""


def _left_of(requirement: ResilienceRequirement, counts: Mapping[str, int], lost: Collection[str]) -> int:
    """Return the replicas of an object, or the clusters that have it, without those that are lost."""
    left = {name: count for name, count in counts.items() if name not in lost}
    return len(left) if requirement.is_copied else sum(left.values())
