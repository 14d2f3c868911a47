"""The conditions of rollouts that people are told of: a change that goes out, and what keeps it from going on."""

from collections.abc import Iterator, Mapping

from reconciler.ledger.notices import Notice
from reconciler.run.pass_job import RolloutEnd

ROLLOUT, STOP = "rollout", "stop-of-rollout"
_GOES_ON, _COMPLETED = "Progressing", "Completed"


def conditions_of_rollouts(rollouts: Mapping[str, RolloutEnd]) -> Iterator[tuple[str, str]]:
    """Yield the conditions of all rollouts under way, each with its key.

    What keeps one from going on is the same condition for as long as its reason is, whatever clusters it names.
    """
    for name, end in sorted(rollouts.items()):
        if end.phase == _COMPLETED:
            continue
        words = f"holds change {end.change} back" if end.is_of_calendar else f"lets change {end.change} out"
        yield f"{ROLLOUT}/{name}: {end.change}", f"{name} {words}"
        if end.phase != _GOES_ON:
            yield f"{STOP}/{name}: {end.change}: {end.reason}", f"{name} is {end.phase}: {end.next_step}"


def is_about_rollout(key: str) -> bool:
    """Say whether a condition is one of a rollout."""
    return key.partition("/")[0] in {ROLLOUT, STOP}


def notices_of_ended_rollouts(
    known: Mapping[str, str], now: Mapping[str, str], rollouts: Mapping[str, RolloutEnd]
) -> Iterator[Notice]:
    """Yield what to tell of conditions of rollouts that are over: a change that is no longer under way is told as such.

    What kept it from going on is solved, unless it is over with the change.
    """
    for key, text in sorted(known.items()):
        kind, _, rest = key.partition("/")
        if key in now or kind not in {ROLLOUT, STOP}:
            continue
        if kind == ROLLOUT:
            yield _notice_of_ended_rollout(*rest.rpartition(": ")[::2], rollouts)
        elif f"{ROLLOUT}/{rest.rpartition(': ')[0]}" in now:
            yield Notice(text=text, is_solved=True)


def _notice_of_ended_rollout(name: str, change: str, rollouts: Mapping[str, RolloutEnd]) -> Notice:
    end = rollouts.get(name)
    if end is not None and end.change == change and end.phase == _COMPLETED:
        words = "is held back no more" if end.is_of_calendar else "has come through all waves"
        return Notice(text=f"{name}: change {change} {words}")
    return Notice(text=f"{name}: change {change} goes out no more")
