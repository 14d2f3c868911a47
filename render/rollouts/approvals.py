"""Approvals of waves: who has approved, and what a wave still waits for.

A wave asks for some approval, for so many persons (``approvals``), or for the word of some (``approvers``). Where it
matters who somebody is, a control counts only if a signature says so: what it says of itself is text.
"""

from collections.abc import Iterable

from msgspec import Struct

from .policy import RolloutControl, RolloutPolicy, RolloutVerb, Wave


class WaveApproval(Struct, frozen=True, kw_only=True):
    """The approvals of one wave: the persons who count, and the controls of whom nobody knows, or who may not."""

    persons: frozenset[str] = frozenset()
    needed: int = 0
    is_anybody_enough: bool = False
    unverified: tuple[RolloutControl, ...] = ()
    others: tuple[RolloutControl, ...] = ()

    @property
    def is_given(self) -> bool:
        """Say whether the wave may begin."""
        given = bool(self.unverified or self.persons) if self.is_anybody_enough else len(self.persons) >= self.needed
        return given or not self.needed


def approval_of_wave(wave: Wave, plan: RolloutPolicy, controls: Iterable[RolloutControl]) -> WaveApproval:
    """Return the approvals of a wave; a person counts once, whatever the number of controls."""
    mine = [each for each in controls if each.verb is RolloutVerb.APPROVE and each.wave == wave.name]
    allowed = [each for each in mine if not plan.approvers or each.verified_by in plan.approvers]
    return WaveApproval(
        persons=frozenset(each.verified_by for each in allowed if each.verified_by),
        needed=max(wave.approvals, int(wave.is_approval_required)),
        is_anybody_enough=not wave.approvals and not plan.approvers,
        unverified=tuple(each for each in mine if not each.verified_by),
        others=tuple(each for each in mine if each.verified_by and each not in allowed),
    )


def words_of_missing_approval(name: str, approval: WaveApproval) -> str:
    """Return what a wave waits for that is not approved."""
    command = "argosy rollout approve"
    if approval.is_anybody_enough:
        return f"waits for an approval of wave {name}: {command}"
    left = approval.needed - len(approval.persons)
    more = "another person" if left == 1 and approval.persons else "one person" if left == 1 else f"{left} persons"
    words = f"waits for an approval of wave {name} by {more} whose commit is signed: {command}"
    notes = (
        *(f"{each.name} is unverified" for each in approval.unverified),
        *(f"{each.name} is by {each.verified_by}, who is none of the approvers" for each in approval.others),
    )
    return f"{words}; {', '.join(notes)}" if notes else words
