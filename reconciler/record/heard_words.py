"""The words of agents as passes heard them: which commit of each agent was seen first when, and how its clock goes.

An agent's times are those of its own machine. So what a rule waits for begins when a pass first saw the agent's commit,
and is kept in ``agents.yaml`` of the status branch. Its clock is known to be wrong where its commit comes from the
future, or is older than the commit of the mirror that it says it applied.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from reconciler.ledger.agents import AgentWord
from reconciler.ledger.cluster import TIMES
from render.documents import emit, parse_documents
from render.timing import epoch_text, parse_instant

MOST_SKEW = 60
"""The seconds by which a clock may be wrong before that is said, and by which it may differ from what is recorded."""

CLOCK_HINT = "set the clock of the machine it runs on, for tokens, leases and signatures go by it"


class Said(Struct, frozen=True, kw_only=True):
    """A commit of an agent: its time by the agent's clock, and that of the mirror's commit it applied (0: none)."""

    commit: str
    time: int
    asked: int = 0


def agent_word_after(before: AgentWord | None, said: Said, now: str, recorded_at: int) -> AgentWord:
    """Return the word of an agent once a pass has seen its commit; ``recorded_at`` is when a pass recorded something.

    A commit that is new since then was made after it. So the agent's own time counts if it lies in between, and its
    clock is not known to be wrong; else the commit is as old as the look at it.
    """
    if before is not None and before.commit == said.commit:
        return before
    instant = parse_instant(now)
    today = int(instant.timestamp()) if instant else said.time
    ahead = _seconds_clock_is_ahead(before or AgentWord(), said, today)
    is_known = recorded_at <= said.time <= today and not ahead and not (before and before.ahead)
    return AgentWord(
        commit=said.commit, heard=epoch_text(said.time) if is_known else now, asked=said.asked, ahead=ahead
    )


def _seconds_clock_is_ahead(before: AgentWord, said: Said, now: int) -> int:
    """Return by how much an agent's clock is known to be ahead; a little more or less than is recorded is the same."""
    found = said.time - now if said.time > now else _seconds_commit_is_too_old(said)
    if not found:
        is_still_asked = before.ahead < 0 and said.asked == before.asked
        return before.ahead if is_still_asked else 0
    return clock_error_to_record(before.ahead, found)


def _seconds_commit_is_too_old(said: Said) -> int:
    """Return how much older, if it is by much, an agent's commit is than what it says it applied."""
    found = said.time - said.asked if said.asked else 0
    return found if found < -MOST_SKEW else 0


def clock_error_to_record(before: int, found: int) -> int:
    """Return the skew to record: what is recorded, where that is near enough and puts no time into the future.

    >>> (
    ...     clock_error_to_record(630, 600),
    ...     clock_error_to_record(600, 630),
    ...     clock_error_to_record(-600, -630),
    ...     clock_error_to_record(0, -630),
    ... )
    (630, 630, -600, -630)
    """
    is_near = abs(before - found) <= MOST_SKEW and (before >= found if found > 0 else before < 0)
    return before if is_near else found


def clock_skew_in_words(ahead: int) -> str:
    """Return a skew as the end of a sentence about a clock.

    >>> clock_skew_in_words(600), clock_skew_in_words(-90)
    ('600 s ahead of that of passes', '90 s behind that of passes')
    """
    return f"{abs(ahead)} s {'ahead of' if ahead > 0 else 'behind'} that of passes"


def file_with_corrected_times(path: str, content: bytes, ahead: int) -> bytes:
    """Return a file of an agent whose clock is ahead with its times as passes would have written them."""
    value = dict(parse_documents(content)[0].value)
    if "observedAt" in value:
        value["observedAt"] = _earlier_time(value["observedAt"], ahead)
    status = value.get("status")
    if isinstance(status, dict) and status.get("conditions"):
        conditions = [_with_earlier_times(each, ("lastTransitionTime",), ahead) for each in status["conditions"]]
        value["status"] = {**status, "conditions": conditions}
    if path.startswith("clusters/"):
        metadata = value["metadata"]
        annotations = _with_earlier_times(metadata.get("annotations") or {}, TIMES, ahead)
        value["metadata"] = {**metadata, **({"annotations": annotations} if annotations else {})}
    return emit(value)


def _with_earlier_times(value: Mapping[str, Any], names: Iterable[str], ahead: int) -> dict[str, Any]:
    return {**value, **{name: _earlier_time(str(value[name]), ahead) for name in names if name in value}}


def _earlier_time(text: str, seconds: int) -> str:
    found = parse_instant(text)
    return epoch_text(found.timestamp() - seconds) if found else text
