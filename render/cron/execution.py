"""The rules of a CronFederatedHPA, run from one instant to another, and exchanged for new ones.

``state_after_due_rules`` fires what is due, in the order of time, then of the rules. ``state_with_rules_in_force`` puts
the rules of a new spec in force from an instant on: an equal rule goes on as it is, a changed one starts anew, a rule
that left takes its history with it. Karmada stops at the first rule that it cannot start; rules after it do not start,
and those that left stay.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from msgspec import Struct
from msgspec.structs import replace

from render.timing import has_passed_since, instant_after

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


def next_firing_of_rule(rule: CronRule, start: datetime) -> datetime | None:
    """Return when a rule fires next after an instant; a ValueError or LookupError says why it cannot be started."""
    schedule = parse_schedule(rule.schedule)
    zone = time_zone(rule.zone if schedule.zone is None else schedule.zone)
    return next_time(schedule, start, zone)


def state_after_due_rules(
    state: CronState, until: datetime, scale: Scaling, *, only_latest: bool = False, deadline: int | None = None
) -> CronState:
    """Fire every rule in force that is due at ``until`` or before; what was missed fires once, if only the latest may.

    The run of a missed firing is recorded as of ``until``, that of any other as of the time it was due. One that is
    found more than ``deadline`` seconds late has failed.
    """
    while (due := _history_of_first_due_rule(state, until)) is not None:
        rule = state.in_force[due.name]
        fires, following = _firing_and_the_next(rule, due, until, only_latest=only_latest)
        is_late = deadline is not None and has_passed_since(until, fires, deadline)
        failure = f"it was found more than {deadline} seconds late" if is_late else scale(rule.scale)
        ran = until if only_latest else fires
        run = Execution(due=fires, ran=ran, scale=Scale() if failure else rule.scale, failure=failure)
        state = _state_with_history(state, replace(_history_with_execution(due, run, rule), upcoming=following))
    return state


def state_with_rules_in_force(state: CronState, rules: Sequence[CronRule], now: datetime) -> Restarted:
    """Put the rules of a spec in force from an instant on."""
    for rule in rules:
        if state.in_force.get(rule.name) == rule:
            continue
        state = replace(state, in_force={name: each for name, each in state.in_force.items() if name != rule.name})
        coming = None
        if not rule.is_suspended:
            try:
                coming = next_firing_of_rule(rule, now)
            except (ValueError, LookupError) as error:
                return Restarted(state, f"{rule.name}: {error}")
            state = replace(state, in_force={**state.in_force, rule.name: rule})
        known = next((each for each in state.histories if each.name == rule.name), RuleHistory(name=rule.name))
        state = _state_with_history(state, replace(known, upcoming=coming))
    names = {rule.name for rule in rules}
    return Restarted(
        CronState(
            in_force={name: rule for name, rule in state.in_force.items() if name in names},
            histories=tuple(each for each in state.histories if each.name in names),
        )
    )


def _history_of_first_due_rule(state: CronState, until: datetime) -> RuleHistory | None:
    due = [
        (each.upcoming, position, each)
        for position, each in enumerate(state.histories)
        if each.name in state.in_force and each.upcoming is not None and each.upcoming <= until
    ]
    return min(due)[2] if due else None


def _firing_and_the_next(
    rule: CronRule, due: RuleHistory, until: datetime, *, only_latest: bool
) -> tuple[datetime, datetime | None]:
    """Return when the rule fires now, and when it fires after that."""
    fires = due.upcoming or until.astimezone(UTC)
    if only_latest:
        fires = _time_shortly_before(rule, fires, until)
    following = next_firing_of_rule(rule, fires)
    while only_latest and following is not None and following <= until:
        fires, following = following, next_firing_of_rule(rule, following)
    return fires, following


def _time_shortly_before(rule: CronRule, first: datetime, until: datetime) -> datetime:
    """Return a time of a rule that is not long before an instant, so that little has to be walked through."""
    for back in _STRIDES:
        start = instant_after(until, -back)
        found = next_firing_of_rule(rule, start) if start > first else None
        if found is not None and found <= until:
            return found
    return first


def _history_with_execution(history: RuleHistory, run: Execution, rule: CronRule) -> RuleHistory:
    if run.failure:
        return replace(history, failures=(run, *history.failures)[: rule.failures_kept])
    return replace(history, successes=(run, *history.successes)[: rule.successes_kept])


def _state_with_history(state: CronState, history: RuleHistory) -> CronState:
    names = [each.name for each in state.histories]
    if history.name in names:
        changed = tuple(history if each.name == history.name else each for each in state.histories)
    else:
        changed = (*state.histories, history)
    return replace(state, histories=changed)
