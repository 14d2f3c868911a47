"""The emergency lane: a change that goes out whatever windows and freezes say, and that a second person confirms.

Whoever has to hurry writes a RolloutControl with a reason, and windows and freezes hold that change up no longer; its
waves, gates and limits stay. A second person confirms it afterwards, by a control that somebody else has signed. An
emergency is kept until then, also where its control is taken out of the source.
"""

from collections.abc import Collection, Iterable
from datetime import datetime

from msgspec import Struct
from msgspec.structs import replace

from render.notations import seconds_of_duration
from render.settings.rollouts import RolloutSettings
from render.timing import Flip, instant_after, instant_text
from render.words import first_few

from .commands import rollout_command
from .policy import RolloutControl, RolloutVerb

Subject = tuple[str, str, str]
"""A change: its rollout policy as text, the group of objects, and its digest."""


class Emergency(Struct, frozen=True, kw_only=True):
    """A change that went out in an emergency, and that nobody has confirmed yet.

    ``name`` is the control by which it did, ``signer`` the person who signed that ("": nobody knows), ``people`` those
    whom the forge names as its author and its reviewers, and ``since`` when a pass first went by it.
    """

    rollout: str
    group: str = ""
    change: str
    name: str
    reason: str
    by: str = ""
    signer: str = ""
    people: tuple[str, ...] = ()
    since: datetime

    @property
    def subject(self) -> Subject:
        """The change that it is about."""
        return self.rollout, self.group, self.change

    def ends(self, seconds: int) -> datetime:
        """Return when somebody has to have confirmed it."""
        return instant_after(self.since, seconds)

    def words(self, seconds: int, now: datetime) -> str:
        """Return it in words, with what it waits for."""
        ends = self.ends(seconds)
        who = self.signer or first_few(self.people) or f"{self.by or 'somebody'}, unverified"
        begin = f"{self.rollout}: emergency {self.name} lets change {self.change} out ({self.reason}), by {who}"
        confirm = rollout_command("confirm", self.rollout, self.group)
        if now >= ends:
            return f"{begin}: NOBODY HAS CONFIRMED IT since {instant_text(ends)}: {confirm}"
        if not (self.signer or self.people):
            return f"{begin}: nobody can confirm it as a second person, as nobody knows the first"
        return f"{begin}: a second person confirms it until {instant_text(ends)}: {confirm}"


def seconds_to_confirm(settings: RolloutSettings) -> int:
    """Return how many seconds a second person has to confirm an emergency."""
    return int(seconds_of_duration(settings.confirm_within) or 0)


def subject_of_control(control: RolloutControl) -> Subject:
    """Return the change that a control is about."""
    return control.rollout, control.group, control.change


def has_emergency(subject: Subject, controls: Iterable[RolloutControl]) -> bool:
    """Say whether a change goes out in an emergency."""
    return any(each.verb is RolloutVerb.EMERGENCY and subject_of_control(each) == subject for each in controls)


def unconfirmed_emergencies(
    before: Iterable[Emergency], controls: Collection[RolloutControl], known: Collection[Subject], now: datetime
) -> tuple[Emergency, ...]:
    """Return the emergencies that nobody has confirmed: those of before, and new ones of changes that are ``known``."""
    found = {(each.subject, each.name): each for each in before}
    for each in controls:
        subject = subject_of_control(each)
        if each.verb is RolloutVerb.EMERGENCY and (subject in known or (subject, each.name) in found):
            new = _new_emergency(each, now)
            old = found.get((subject, each.name), new)
            found[subject, each.name] = replace(old, signer=old.signer or new.signer, people=old.people or new.people)
    left = (each for each in found.values() if not _is_confirmed(each, controls))
    return tuple(sorted(left, key=lambda each: (each.since, each.subject, each.name)))


def _new_emergency(control: RolloutControl, now: datetime) -> Emergency:
    return Emergency(
        rollout=control.rollout,
        group=control.group,
        change=control.change,
        name=control.name,
        reason=control.reason,
        by=control.by,
        signer=control.verified_by,
        people=tuple(sorted({control.proposed_by, *control.reviewed_by} - {""})),
        since=now,
    )


def _is_confirmed(emergency: Emergency, controls: Iterable[RolloutControl]) -> bool:
    """Say whether a person has confirmed it who is known to be another one: of two signers, or of two on the forge."""
    heard = [
        each for each in controls if each.verb is RolloutVerb.CONFIRM and subject_of_control(each) == emergency.subject
    ]
    signers = {each.verified_by for each in heard} - {"", emergency.signer}
    reviewers = {person for each in heard for person in each.reviewed_by} - {*emergency.people}
    return bool((emergency.signer and signers) or (emergency.people and reviewers))


def flips_of_emergencies(emergencies: Iterable[Emergency], seconds: int, now: datetime) -> tuple[Flip, ...]:
    """Return when the time of each is over, if somebody still has some."""
    return tuple(
        Flip(each.ends(seconds), f"nobody has confirmed emergency {each.name}")
        for each in emergencies
        if each.ends(seconds) > now
    )
