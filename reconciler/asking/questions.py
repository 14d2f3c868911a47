"""All questions of a pass, asked side by side: who hangs, breaks off or answers nonsense costs only its own check.

Each question has the time that its check says, and all of them together no more than the longest of these: what has not
been answered by then is not waited for. Threads that still wait are left behind, and end with their sockets.
"""

import threading
import time
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from typing import assert_never

from msgspec.structs import replace

from render.admission.rollout_checks import CLUSTER_WORD
from render.rollouts.checks import CheckQuestion, HttpSource, PrometheusSource
from render.settings.rollout_sources import RolloutSource

from .answers import CheckReply, NoAnswer, line_of_text
from .http import ask_http
from .prometheus import ask_prometheus

_AT_ONCE = 8
"""The number of questions of one rollout that are asked at once."""

Ask = Callable[[CheckQuestion, float], CheckReply]
"""Ask a question by a time of the monotonic clock; NoAnswer where nobody answers."""


def asker_of_sources(sources: Sequence[RolloutSource]) -> Ask:
    """Return the function that asks whoever a check names, at the addresses that may be asked."""

    def ask(question: CheckQuestion, until: float) -> CheckReply:
        source = question.check.source
        match source:
            case PrometheusSource():
                asked = replace(source, query=_text_about_cluster(source.query, question))
                return ask_prometheus(asked, sources, until)
            case HttpSource():
                return ask_http(replace(source, url=_text_about_cluster(source.url, question)), sources, until)
            case _:
                assert_never(source)

    return ask


def _text_about_cluster(text: str, question: CheckQuestion) -> str:
    """Return a text of a check with the name of the cluster that it is about."""
    return text.replace(CLUSTER_WORD, question.cluster)


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
