"""Resilience before and after a change: what does not survive any more, what does now, and what is asked newly.

Both sides are judged by the policies after the change, and by those of before that are others or gone, so that nobody
takes resilience away and the policy that asks for it in one go. An edit that only asks for less takes nothing away.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

from reconciler.rendering.outcome import Outcome
from reconciler.simulation.resilience import Judgement, judgements_of_pass
from render.model import ObjectRef
from render.resilience.policy import ResiliencePolicy


class ResilienceEffect(StrEnum):
    """The effect of a change on an object that has to survive a loss: it did before, or it does now, or neither."""

    LOST = "Lost"
    GAINED = "Gained"
    MISSING = "Missing"


class ResilienceChange(Struct, frozen=True, kw_only=True):
    """An object that survives a loss on one side alone, or is asked to since the change and does not.

    ``judgement`` is that after the change. ``is_asked``: the policies after the change ask for it. ``is_released``: the
    object is another one now, so that the policy selects it no more.
    """

    effect: ResilienceEffect
    judgement: Judgement
    is_asked: bool = True
    is_released: bool = False

    @property
    def message(self) -> str:
        """The sentence about it, with the policy that asks."""
        asked = self.judgement.requirement
        no_more = "selects it" if self.is_released else "asks for it"
        by = f"({asked.policy}{'' if self.is_asked else f', which {no_more} no more'})"
        match self.effect:
            case ResilienceEffect.GAINED:
                return f"{asked.ref} survives the loss of {asked.survived} {by}; it did not before"
            case ResilienceEffect.LOST:
                return f"{self.judgement.message} {by}; before, it survived the loss of {asked.survived}"
            case ResilienceEffect.MISSING:
                return f"{self.judgement.message} {by}; nobody asked for it before"


_MOST = 20
_SIGNS = {ResilienceEffect.LOST: "!", ResilienceEffect.MISSING: "!", ResilienceEffect.GAINED: "+"}


def lines_of_resilience(changes: Sequence[ResilienceChange]) -> Iterator[str]:
    """Yield a line for each of the first changes, those for the worse first, and how many more there are."""
    worst_first = sorted(changes, key=lambda each: each.effect is ResilienceEffect.GAINED)
    yield from (f"{_SIGNS[each.effect]} {each.message}" for each in worst_first[:_MOST])
    if len(changes) > _MOST:
        yield f"and {len(changes) - _MOST} more"


_Key = tuple[int, int, ObjectRef]


def resilience_changes(base: Outcome, head: Outcome) -> tuple[ResilienceChange, ...]:
    """Return what a change does to resilience: by policy, entry and object."""
    asked = head.source.desired.resilience_policies
    policies = (*asked, *_policies_of_before(base.source.desired.resilience_policies, asked))
    if not policies:
        return ()
    before = _judgements_by_key(base, policies)
    after = _judgements_by_key(head, policies)
    released = {key: policies[key[0]] for key in before.keys() - after.keys()}
    # An edit of an object that takes it out of a selector takes no less away than one of the policy.
    also = tuple((policy, key[2]) for key, policy in released.items() if key[1] == 0)
    after = {**_judgements_by_key(head, policies, also), **after} if also else after
    lost = {
        _subject(after[key])
        for key in after
        if key[0] < len(asked) and key not in released and _is_lost(before.get(key), after[key])
    }
    former = _policies_without_places(base.source.desired.resilience_policies)
    sides = _Sides(
        before=before,
        after=after,
        asked=len(asked),
        new=frozenset(number for number, each in enumerate(_policies_without_places(asked)) if each not in former),
        known=frozenset(binding.ref for binding in base.rendered.built.bindings),
        released=frozenset(released),
    )
    return tuple(_changes(sides, lost))


class _Sides(Struct, frozen=True, kw_only=True):
    """The judgements before and after a change: by the first ``asked`` policies, which the source has after it.

    ``new`` are those of them that it did not have before, ``known`` the objects that it had. ``released`` are judged by
    policies that select them no more.
    """

    before: Mapping[_Key, Judgement]
    after: Mapping[_Key, Judgement]
    asked: int
    new: frozenset[int]
    known: frozenset[ObjectRef]
    released: frozenset[_Key]


def _policies_without_places(policies: Iterable[ResiliencePolicy]) -> list[ResiliencePolicy]:
    return [replace(each, path="", document=0) for each in policies]


def _policies_of_before(
    before: Iterable[ResiliencePolicy], after: Iterable[ResiliencePolicy]
) -> Iterator[ResiliencePolicy]:
    """Yield the policies of before that are gone, or ask for something else."""
    known, earlier = _policies_without_places(after), tuple(before)
    same = zip(earlier, _policies_without_places(earlier), strict=True)
    return (policy for policy, plain in same if plain not in known)


def _judgements_by_key(
    side: Outcome, policies: tuple[ResiliencePolicy, ...], also: Iterable[tuple[ResiliencePolicy, ObjectRef]] = ()
) -> Mapping[_Key, Judgement]:
    desired = replace(side.source.desired, resilience_policies=policies)
    numbers = {id(each): number for number, each in enumerate(policies)}
    judged = judgements_of_pass(desired, side.rendered.built, also)
    return {
        (numbers[id(each.requirement.policy)], each.requirement.number, each.requirement.ref): each for each in judged
    }


def _is_lost(before: Judgement | None, after: Judgement) -> bool:
    return before is not None and before.holds and not after.holds


def _subject(judgement: Judgement) -> tuple[str, object, ObjectRef]:
    """Return what a judgement is about, whatever its policy calls enough."""
    asked = judgement.requirement
    return str(asked.policy), (asked.survived.field, asked.survived.count, asked.survived.when), asked.ref


def _changes(sides: _Sides, lost: set[tuple[str, object, ObjectRef]]) -> Iterator[ResilienceChange]:
    """Yield the changes; ``lost`` is what the policies after the change say is lost, which is told once."""
    for key, judgement in sides.after.items():
        was, is_released = sides.before.get(key), key in sides.released
        is_asked = key[0] < sides.asked and not is_released
        is_new = key[0] in sides.new or judgement.requirement.ref not in sides.known
        if _is_lost(was, judgement):
            if is_asked or _subject(judgement) not in lost:
                yield ResilienceChange(
                    effect=ResilienceEffect.LOST, judgement=judgement, is_asked=is_asked, is_released=is_released
                )
        elif is_asked and was is not None and judgement.holds and not was.holds:
            yield ResilienceChange(effect=ResilienceEffect.GAINED, judgement=judgement)
        elif is_asked and is_new and not judgement.holds:
            yield ResilienceChange(effect=ResilienceEffect.MISSING, judgement=judgement)
