"""The checks of rollouts in a pass: asked when they are due, recorded as they are answered, and rendered by.

1. The pass renders by the answers that the status branch records, and names the questions that it went by.
2. Those that nobody asked yet, or not for as long as the interval of their check, are asked side by side.
3. An answer is recorded where it says otherwise than the one before, and the pass is rendered again by it. An answer
   that says the same is no news: nothing is committed because time passes.
4. The next pass is due when the first question has to be asked again.

The times of asking are kept beside the caches of the repository: a machine that has lost them asks again.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.asking.answers import CheckReply
from reconciler.asking.questions import Sources, ask_all
from reconciler.branches.publication import Publication, remote_names
from reconciler.branches.status_branch import Files, StatusBranch, read_inventories
from reconciler.console.log import Log
from reconciler.forge.address import Forge, forge_of
from reconciler.ledger.rollout_checks import ChecksFile
from reconciler.members.visits import MemberReach
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.repository import Repository
from reconciler.repository.cache import read_privately, write_privately
from render.errors import ConfigError
from render.json_values import json_text, value_of_json_text
from render.rollouts.checks import Answers, CheckAnswer, CheckQuestion
from render.settings.fleet import Fleet
from render.timing import Flip, earliest_flip, instant_after, instant_text, parse_instant
from render.words import counted_noun

MOST_ROUNDS = 3
"""The number of times a pass asks: an answer may begin a wave, whose own checks are then asked."""
_FILE_NAME = "asked-checks.json"
_LARGEST = 8 << 20


class AskedTimes(Struct, frozen=True, kw_only=True):
    """The times at which questions were asked last, by their ids, as text."""

    times: dict[str, str] = field(default_factory=dict)

    def next_time(self, question: CheckQuestion, now: datetime) -> datetime:
        """Return when a question is to be asked again; one that was asked in the future was asked by a wrong clock."""
        asked = parse_instant(self.times.get(question.id, ""))
        return now if asked is None or asked > now else instant_after(asked, question.check.interval)

    def after(self, asked: Iterable[CheckQuestion], kept: Iterable[CheckQuestion], now: datetime) -> "AskedTimes":
        """Return the times after some questions were asked now; those of others that are no more are forgotten."""
        times = {each.id: self.times[each.id] for each in kept if each.id in self.times}
        return AskedTimes(times={**times, **{each.id: instant_text(now) for each in asked}})


def read_asked_times(repository: Repository) -> AskedTimes:
    """Return the times that this machine keeps; none where they cannot be read."""
    content = read_privately(repository.cache_dir / _FILE_NAME, _LARGEST)
    return (value_of_json_text(content, AskedTimes) if content else None) or AskedTimes()


def write_asked_times(repository: Repository, asked: AskedTimes) -> None:
    """Keep the times on this machine, if that is possible."""
    try:
        write_privately(repository.cache_dir / _FILE_NAME, json_text(asked).encode())
    except OSError:  # then the next pass asks again
        return


def pass_with_checks_asked(
    outcome: Outcome, given: RenderInputs, publication: Publication, log: Log, reach: MemberReach | None = None
) -> Outcome:
    """Return a pass rendered by the answers to its questions, after asking those that are due.

    ``given`` is what it was rendered by before, and ``reach`` leads to members (None: the pass reaches none).
    """
    recorded, now = given.observed.checks, outcome.now
    if now is None or not (outcome.rendered.built.rolled.questions or recorded):
        return outcome
    repository = outcome.repository
    asked, answers = read_asked_times(repository), recorded
    status = StatusBranch(publication=publication, branch=outcome.source.desired.fleet.status_branch)
    sources = _sources_of_pass(outcome, publication, status, reach)
    for _ in range(MOST_ROUNDS):
        questions = outcome.rendered.built.rolled.questions
        due = [each for each in questions if _is_due(each, asked, answers, now)]
        if not due:
            break
        with log.timed("ask checks"):
            said = ask_all(due, sources.ask)
        asked = asked.after(due, questions, now)
        fresh = answers_after_asking(answers, said, now)
        if fresh == answers:
            break
        answers = fresh
        observed = replace(given.observed, checks=answers, answers=outcome.rendered.built.webhooks.answers)
        outcome = run_pass(repository, outcome.source, outcome.previous, replace(given, observed=observed), log)
    questions = outcome.rendered.built.rolled.questions
    _record_answers(outcome, status, questions, answers)
    # Not before: a pass that is killed in between would have its answers asked for again only after an interval.
    write_asked_times(repository, asked)
    for each in _questions_that_have_ended(questions, recorded, answers):
        sources.remove_what_has_ended(each, each.check.timeout)
    asked_again = [each for each in questions if not each.is_final(answers.get(each.id))]
    return replace(outcome, next_question=_next_question(asked_again, asked, now))


def _questions_that_have_ended(
    questions: Iterable[CheckQuestion], before: Answers, after: Answers
) -> Iterator[CheckQuestion]:
    """Yield the questions that were answered well for good in this pass."""
    for each in questions:
        answer = after.get(each.id)
        if answer is not None and answer.is_met and each.is_final(answer) and answer != before.get(each.id):
            yield each


def _is_due(question: CheckQuestion, asked: AskedTimes, answers: Answers, now: datetime) -> bool:
    """Say whether a question is to be asked now: it has no answer, or none that is new enough."""
    answer = answers.get(question.id)
    return answer is None or (not question.is_final(answer) and asked.next_time(question, now) <= now)


def _sources_of_pass(
    outcome: Outcome, publication: Publication, status: StatusBranch, reach: MemberReach | None
) -> Sources:
    """Return all whom checks may ask in a pass."""
    fleet = outcome.source.desired.fleet
    inventories = read_inventories(status, status.tip()) if reach is not None else {}
    return Sources(
        addresses=fleet.rollouts.sources,
        reach=reach,
        uids={name: each.uid for name, each in inventories.items() if each.uid},
        forge=lambda: forge_of_remote(publication, fleet),
    )


def forge_of_remote(publication: Publication, fleet: Fleet) -> Forge:
    """Return the forge of the remote that branches are pushed to; ConfigError where there is none, or none is known."""
    remote, repository = publication.remote, publication.repository
    if not remote:
        raise ConfigError("there is no remote whose forge could be asked about commits")
    address = repository.settings.last(f"remote.{remote}.url") if remote in remote_names(repository) else ""
    return forge_of(address or repository.mirrors, fleet.rendered.forge, os.environ)


def answers_after_asking(answers: Answers, said: Mapping[str, CheckReply], now: datetime) -> Answers:
    """Return the answers after some questions were asked; one that says what it said before stays as it was."""
    found = dict(answers)
    for id_, each in said.items():
        before = answers.get(id_)
        if before is None or (before.is_met, before.is_answer) != (each.is_met, each.is_answer):
            found[id_] = CheckAnswer(
                is_met=each.is_met, since=now, value=each.value, digest=each.digest, is_answer=each.is_answer
            )
    return found


def _next_question(questions: Iterable[CheckQuestion], asked: AskedTimes, now: datetime) -> Flip | None:
    """Return when the first question is asked again, and which that is."""
    return earliest_flip(Flip(asked.next_time(each, now), f"{each} is asked again") for each in questions)


def _record_answers(
    outcome: Outcome, status: StatusBranch, questions: Sequence[CheckQuestion], answers: Answers
) -> None:
    """Record the answers on the status branch, and none to questions that are over."""
    file = ChecksFile.of_answers(questions, answers)
    if file is None and ChecksFile.NAME not in status.folders("facts", status.tip()):
        return
    files: Files = {ChecksFile.PATH: file.content() if file else None}
    assert outcome.now is not None
    answered = (
        f"Record what {counted_noun(len(file.checks), 'check')} answered" if file else "Forget checks that are over"
    )
    status.commit(lambda _tip: files, answered, time=int(outcome.now.timestamp()))
