"""The rules of a CronFederatedHPA, run from one instant to another, and exchanged for new ones.

``run_until`` fires what is due, in the order of time, then of the rules. ``with_rules`` puts the rules of a new spec in
force from an instant on: an equal rule goes on as it is, a changed one starts anew, a rule that left takes its history
with it. Karmada stops at the first rule that it cannot start; rules after it do not start, and those that left stay.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from render.timing import after, is_past

from .occurrences import next_time, time_zone
from .rules import CronRule, CronState, Execution, RuleHistory, Scale
from .schedules import parse_schedule

_STRIDES = (5 * 60, 6 * 3600, 8 * 24 * 3600)
"""The seconds by which a search begins before the time it is for, the first that finds anything."""

Scaling = Callable[[Scale], str]
"""Set the numbers of a rule; return why that failed, or an empty text."""


class Restarted(Struct, frozen=True):
    """The state after new rules were put in force, and why that ended early, if it did."""

    state: CronState
    failure: str = ""


def upcoming(rule: CronRule, start: datetime) -> datetime | None:
    """Return when a rule fires next after an instant; a ValueError or LookupError says why it cannot be started."""
    schedule = parse_schedule(rule.schedule)
    zone = time_zone(rule.zone if schedule.zone is None else schedule.zone)
    return next_time(schedule, start, zone)


def run_until(
    state: CronState, until: datetime, scale: Scaling, *, only_latest: bool = False, deadline: int | None = None
) -> CronState:
    """Fire every rule in force that is due at ``until`` or before; what was missed fires once, if only the latest may.

    The run of a missed firing is recorded as of ``until``, that of any other as of the time it was due. One that is
    found more than ``deadline`` seconds late has failed.
    """
    while (due := _first_due(state, until)) is not None:
        rule = state.in_force[due.name]
        fires, following = _firing(rule, due, until, only_latest=only_latest)
        is_late = deadline is not None and is_past(until, fires, deadline)
        failure = f"it was found more than {deadline} seconds late" if is_late else scale(rule.scale)
        ran = until if only_latest else fires
        run = Execution(due=fires, ran=ran, scale=Scale() if failure else rule.scale, failure=failure)
        state = _with_history(state, replace(_history_with(due, run, rule), upcoming=following))
    return state


def with_rules(state: CronState, rules: Sequence[CronRule], now: datetime) -> Restarted:
    """Put the rules of a spec in force from an instant on."""
    for rule in rules:
        if state.in_force.get(rule.name) == rule:
            continue
        state = replace(state, in_force={name: each for name, each in state.in_force.items() if name != rule.name})
        coming = None
        if not rule.is_suspended:
            try:
                coming = upcoming(rule, now)
            except (ValueError, LookupError) as error:
                return Restarted(state, f"{rule.name}: {error}")
            state = replace(state, in_force={**state.in_force, rule.name: rule})
        known = next((each for each in state.histories if each.name == rule.name), RuleHistory(name=rule.name))
        state = _with_history(state, replace(known, upcoming=coming))
    names = {rule.name for rule in rules}
    return Restarted(
        CronState(
            in_force={name: rule for name, rule in state.in_force.items() if name in names},
            histories=tuple(each for each in state.histories if each.name in names),
        )
    )


def _first_due(state: CronState, until: datetime) -> RuleHistory | None:
    due = [
        (each.upcoming, position, each)
        for position, each in enumerate(state.histories)
        if each.name in state.in_force and each.upcoming is not None and each.upcoming <= until
    ]
    return min(due)[2] if due else None


def _firing(
    rule: CronRule, due: RuleHistory, until: datetime, *, only_latest: bool
) -> tuple[datetime, datetime | None]:
    """Return when the rule fires now, and when it fires after that."""
    fires = due.upcoming or until.astimezone(UTC)
    if only_latest:
        fires = _time_shortly_before(rule, fires, until)
    following = upcoming(rule, fires)
    while only_latest and following is not None and following <= until:
        fires, following = following, upcoming(rule, following)
    return fires, following


def _time_shortly_before(rule: CronRule, first: datetime, until: datetime) -> datetime:
    """Return a time of a rule that is not long before an instant, so that little has to be walked through."""
    for back in _STRIDES:
        start = after(until, -back)
        found = upcoming(rule, start) if start > first else None
        if found is not None and found <= until:
            return found
    return first


def _history_with(history: RuleHistory, run: Execution, rule: CronRule) -> RuleHistory:
    if run.failure:
        return replace(history, failures=(run, *history.failures)[: rule.failures_kept])
    return replace(history, successes=(run, *history.successes)[: rule.successes_kept])


def _with_history(state: CronState, history: RuleHistory) -> CronState:
    names = [each.name for each in state.histories]
    if history.name in names:
        changed = tuple(history if each.name == history.name else each for each in state.histories)
    else:
        changed = (*state.histories, history)
    return replace(state, histories=changed)
