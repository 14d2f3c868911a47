"""All questions of a pass, asked side by side: who hangs, breaks off or answers nonsense costs only its own check.

Each question has the time that its check says, and all of them together no more than the longest of these: what has not
been answered by then is not waited for. Threads that still wait are left behind, and end with their sockets.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import assert_never

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.forge.address import Forge
from reconciler.forge.commit_statuses import state_of_commit
from reconciler.ledger.notices import CommitState
from reconciler.members.exchange import Client, Failure
from reconciler.members.visits import MemberReach
from render.admission.rollout_checks import CLUSTER_WORD
from render.errors import ConfigError, GitError
from render.rollouts.checks import (
    CheckQuestion,
    CommitStatusSource,
    HttpSource,
    JobSource,
    ObjectSource,
    PrometheusSource,
)
from render.settings.rollout_sources import RolloutSource

from .answers import CheckReply, NoAnswer, line_of_text
from .in_members import ask_job, ask_live_object, remove_job
from .prometheus import ask_prometheus
from .web import ask_http

_AT_ONCE = 8
"""The number of questions of one rollout that are asked at once."""

Ask = Callable[[CheckQuestion, float], CheckReply]
"""Ask a question by a time of the monotonic clock; NoAnswer where nobody answers."""


class Sources(Struct, frozen=True, kw_only=True):
    """All whom checks may ask: addresses, members by their clients (None: none is reached), and the forge.

    ``uids`` are those of the members, as far as they are known: a Job is begun nowhere else.
    """

    addresses: tuple[RolloutSource, ...] = ()
    reach: MemberReach | None = None
    uids: Mapping[str, str] = field(default_factory=dict)
    forge: Callable[[], Forge] | None = None

    def ask(self, question: CheckQuestion, until: float) -> CheckReply:
        """Return the reply of whoever a check names; NoAnswer where nobody answers."""
        source = question.check.source
        match source:
            case PrometheusSource():
                asked = replace(source, query=_text_about_cluster(source.query, question))
                return ask_prometheus(asked, self.addresses, until)
            case HttpSource():
                return ask_http(replace(source, url=_text_about_cluster(source.url, question)), self.addresses, until)
            case ObjectSource():
                return ask_live_object(source, self._client_of_member(question.cluster, until))
            case JobSource():
                return ask_job(question, source, self._client_of_member(question.cluster, until))
            case CommitStatusSource():
                return _ask_commit_status(source, question.commits, self.forge, until)
            case _:
                assert_never(source)

    def remove_what_has_ended(self, question: CheckQuestion, seconds: float) -> None:
        """Remove the Job of a question that is answered; one that cannot be removed has a time to live."""
        source = question.check.source
        if isinstance(source, JobSource):
            with suppress(NoAnswer):
                remove_job(question, source, self._client_of_member(question.cluster, time.monotonic() + seconds))

    def _client_of_member(self, name: str, until: float) -> Client:
        client = None if self.reach is None else self.reach.open(name, max(0.0, until - time.monotonic()))
        if client is None:
            raise NoAnswer("no pass reaches the cluster")
        if isinstance(client, Failure):
            raise NoAnswer(client.message)
        if self.uids.get(name):
            client.require_cluster_uid(self.uids[name])
        return client


def _text_about_cluster(text: str, question: CheckQuestion) -> str:
    """Return a text of a check with the name of the cluster that it is about."""
    return text.replace(CLUSTER_WORD, question.cluster)


def _ask_commit_status(
    source: CommitStatusSource, commits: Sequence[str], forge: Callable[[], Forge] | None, until: float
) -> CheckReply:
    """Return what the forge says of the newest of some commits; NoAnswer while it says nothing, or that it waits."""
    if forge is None or not commits:
        raise NoAnswer("there is no forge to ask")
    try:
        state = state_of_commit(forge(), commits[-1], source.context, seconds=max(0.0, until - time.monotonic()))
    except (GitError, ConfigError) as error:
        raise NoAnswer(error.message) from error
    if state is None:
        raise NoAnswer(f"commit {commits[-1][:12]} has no status {source.context}")
    if state is CommitState.PENDING:
        raise NoAnswer(f"the status of commit {commits[-1][:12]} is pending")
    return CheckReply(is_met=state is CommitState.SUCCESS, value=str(state))


def ask_all(questions: Iterable[CheckQuestion], ask: Ask) -> dict[str, CheckReply]:
    """Return what was said to each question, by its id."""
    asked = list(questions)
    answered: SimpleQueue[tuple[str, CheckReply]] = SimpleQueue()
    ends = time.monotonic() + max((each.check.timeout for each in asked), default=0)
    by_rollout: dict[str, list[CheckQuestion]] = {}
    for each in asked:
        by_rollout.setdefault(each.rollout, []).append(each)
    # Questions of one rollout never wait behind those of another, which may hang.
    for several in by_rollout.values():
        _begin_to_ask(several, ask, answered)
    found: dict[str, CheckReply] = {}
    while len(found) < len(asked):
        try:
            id_, said = answered.get(timeout=max(0.0, ends - time.monotonic()))
        except Empty:
            break
        found[id_] = said
    late = CheckReply(is_met=False, value="no answer in time", is_answer=False)
    return {each.id: found.get(each.id, late) for each in asked}


def _begin_to_ask(
    questions: Sequence[CheckQuestion], ask: Ask, answered: "SimpleQueue[tuple[str, CheckReply]]"
) -> None:
    """Ask the questions of one rollout in threads of their own."""
    remaining = iter(questions)

    def ask_remaining() -> None:
        for question in remaining:
            answered.put((question.id, _said_or_silence(question, ask)))

    for _ in range(min(_AT_ONCE, len(questions))):
        threading.Thread(target=ask_remaining, daemon=True).start()


def _said_or_silence(question: CheckQuestion, ask: Ask) -> CheckReply:
    """Return what was said to a question, or why nobody said anything."""
    try:
        return ask(question, time.monotonic() + question.check.timeout)
    except NoAnswer as error:
        return CheckReply(is_met=False, value=line_of_text(f"no answer: {error}"), is_answer=False)
    except Exception as error:  # noqa: BLE001 - whatever a source leads to is a matter of its own check
        return CheckReply(is_met=False, value=f"no answer: {type(error).__name__}", is_answer=False)
