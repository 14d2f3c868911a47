"""Approvals of waves: who has approved, and what a wave still waits for.

A wave asks for some approval, for so many persons (``approvals``), or for the word of some (``approvers``). Where it
matters who somebody is, a control counts only if a signature or the forge says so: what it says of itself is text.
Nobody knows which signer is which user of the forge, so that persons of both kinds are never added up.
"""

from collections.abc import Iterable

from msgspec import Struct

from render.words import first_few

from .policy import RolloutControl, RolloutPolicy, RolloutVerb, Wave


class WaveApproval(Struct, frozen=True, kw_only=True):
    """The approvals of one wave: the persons who count, and the controls of whom nobody knows, or who may not.

    ``signers`` have signed their controls, and ``reviewers`` approved of theirs on the forge.
    """

    signers: frozenset[str] = frozenset()
    reviewers: frozenset[str] = frozenset()
    needed: int = 0
    is_anybody_enough: bool = False
    unverified: tuple[RolloutControl, ...] = ()
    others: tuple[RolloutControl, ...] = ()

    @property
    def persons(self) -> frozenset[str]:
        """The persons who are certainly different ones: signers or reviewers, whoever are more."""
        return max(self.signers, self.reviewers, key=len)

    @property
    def is_given(self) -> bool:
        """Say whether the wave may begin."""
        given = bool(self.unverified or self.persons) if self.is_anybody_enough else len(self.persons) >= self.needed
        return given or not self.needed


def approval_of_wave(wave: Wave, plan: RolloutPolicy, controls: Iterable[RolloutControl]) -> WaveApproval:
    """Return the approvals of a wave; a person counts once, whatever the number of controls."""
    mine = [each for each in controls if each.verb is RolloutVerb.APPROVE and each.wave == wave.name]
    signers = _allowed_persons(plan, (person for each in mine for person in each.approving_signers))
    reviewers = _allowed_persons(plan, (person for each in mine for person in each.approving_reviewers))
    return WaveApproval(
        signers=signers,
        reviewers=reviewers,
        needed=max(wave.approvals, int(wave.is_approval_required)),
        is_anybody_enough=not wave.approvals and not plan.approvers,
        unverified=tuple(each for each in mine if not each.is_verified),
        others=tuple(
            each
            for each in mine
            if each.is_verified
            and signers.isdisjoint(each.approving_signers)
            and reviewers.isdisjoint(each.approving_reviewers)
        ),
    )


def _allowed_persons(plan: RolloutPolicy, persons: Iterable[str]) -> frozenset[str]:
    found = frozenset(persons)
    return found.intersection(plan.approvers) if plan.approvers else found


def words_of_missing_approval(name: str, approval: WaveApproval, command: str) -> str:
    """Return what a wave waits for that is not approved, and the command that approves of it."""
    if approval.is_anybody_enough:
        return f"waits for an approval of wave {name}: {command}"
    left = approval.needed - len(approval.persons)
    more = "another person" if left == 1 and approval.persons else "one person" if left == 1 else f"{left} persons"
    words = f"waits for an approval of wave {name} by {more} whose commit is signed or whose review counts: {command}"
    notes = (
        *(f"{each.name} is unverified" for each in approval.unverified),
        *(f"{each.name} is {words_of_uncounted_persons(each)}" for each in approval.others),
    )
    return f"{words}; {', '.join(notes)}" if notes else words


def words_of_uncounted_persons(control: RolloutControl) -> str:
    """Return by whom a control is, and why that does not count.

    >>> from msgspec.structs import replace
    >>> own = RolloutControl(name="a", rollout="", change="", verb=RolloutVerb.APPROVE, verified_by="ann")
    >>> words_of_uncounted_persons(own), words_of_uncounted_persons(replace(own, changed_by=("ann",)))
    ('by ann, who is none of the approvers', 'by ann, who made the change')
    """
    persons = sorted({control.verified_by, *control.reviewed_by} - {""})
    if control.approving_signers or control.approving_reviewers:
        return f"by {first_few(persons)}, who {'is' if len(persons) == 1 else 'are'} none of the approvers"
    return f"by {first_few(persons)}, who made the change"
