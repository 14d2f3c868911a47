"""The answers to checks of rollouts, as they were given: whether each is met, since when, and what was said.

They are recorded by value: on the status branch as somebody outside gave them, in a rendered commit as the pass used
them. An answer is written anew only when it is met no more, or is met again.
"""

from collections.abc import Iterable
from typing import ClassVar

from msgspec import Struct

from render.rollouts.checks import Answers, CheckAnswer, CheckQuestion
from render.timing import instant_text, parse_instant

from .branch_file import BranchFile


class RecordedCheck(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """An answer as it is recorded, with what its question was about."""

    question: str
    rollout: str
    change: str
    wave: str
    cluster: str = ""
    check: str
    met: bool
    since: str
    value: str = ""
    digest: str = ""
    answered: bool = True


class ChecksFile(BranchFile, frozen=True, kw_only=True):
    """The answers as they are recorded, ordered by what they are about. No cluster can be called like this file."""

    NAME: ClassVar[str] = "_checks.yaml"
    PATH: ClassVar[str] = f"facts/{NAME}"
    KIND: ClassVar[str] = "CheckAnswers"
    ABOUT: ClassVar[str] = "What was answered to the checks of rollouts that are under way, and since when."

    checks: tuple[RecordedCheck, ...]

    @classmethod
    def of_answers(cls, questions: Iterable[CheckQuestion], answers: Answers) -> "ChecksFile | None":
        """Return the answers to some questions as a file; None where there are none."""
        recorded = [_recorded_check(each, answers[each.id]) for each in questions if each.id in answers]
        if not recorded:
            return None
        return cls(checks=tuple(sorted(recorded, key=lambda each: (each.rollout, each.wave, each.cluster, each.check))))

    @property
    def answers(self) -> Answers:
        """The answers that are recorded; one without a readable time was never given."""
        times = ((each, parse_instant(each.since)) for each in self.checks)
        return {
            each.question: CheckAnswer(
                is_met=each.met, since=since, value=each.value, digest=each.digest, is_answer=each.answered
            )
            for each, since in times
            if since is not None
        }


def _recorded_check(question: CheckQuestion, answer: CheckAnswer) -> RecordedCheck:
    return RecordedCheck(
        question=question.id,
        rollout=question.rollout,
        change=question.change,
        wave=question.wave,
        cluster=question.cluster,
        check=question.check.name,
        met=answer.is_met,
        since=instant_text(answer.since),
        value=answer.value,
        digest=answer.digest,
        answered=answer.is_answer,
    )
