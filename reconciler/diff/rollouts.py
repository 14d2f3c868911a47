"""The rollouts that a change begins, or that it has to wait for."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from reconciler.console.cluster_lists import summarized_cluster_names
from reconciler.console.log import Log
from reconciler.pipeline.rollouts.stage_values import RolledOut
from reconciler.pipeline.rollouts.state_files import has_rollout_states
from reconciler.rendering.events_of_pass import ChangeBesideRollout, changes_beside_rollouts
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from render.rollouts.plan import planned_waves, words_of_planned_wave
from render.rollouts.state import RolloutReason
from render.words import counted_noun

from .difference import Difference, HeldChange, PlannedRollout


def first_passes(base: Outcome, head: Outcome, inputs: RenderInputs, log: Log) -> tuple[Outcome, Outcome] | None:
    """Return the next passes over both sides of a comparison; None where nothing goes out wave by wave."""
    if not any(map(_has_rollouts, (base, head))):
        return None
    before = run_pass(base.repository, base.source, base.previous, inputs, log)
    if head.source.desired == base.source.desired:
        return before, before
    return before, run_pass(head.repository, head.source, head.previous, replace(inputs, allowed=head.allowed), log)


def _has_rollouts(side: Outcome) -> bool:
    """Say whether changes of a side may be held back, or one of before its rendered commit still is."""
    desired = side.source.desired
    is_held = desired.rollout_policies or desired.fleet.rollouts.freezes or desired.fleet.rollouts.windows
    return bool(is_held or (side.previous and has_rollout_states(side.previous.tree)))


def planned_rollouts(
    base: Outcome, head: Outcome, passes: tuple[Outcome, Outcome] | None
) -> tuple[PlannedRollout, ...]:
    """Return the rollouts of the head that the base has not, and those that objects of the head wait for.

    ``passes`` are the next ones over both, where these are what comes of them in the end.
    """
    before, after = passes or (base, head)
    beside = changes_beside_rollouts(after.rendered.built, after.source.desired.templates, after.previous)
    return tuple(_planned_rollouts(before.rendered.built.rolled, after.rendered.built.rolled, beside))


def held_changes(base: Outcome, head: Outcome, passes: tuple[Outcome, Outcome] | None) -> tuple[HeldChange, ...]:
    """Return the changes that rollouts of the base keep out, and whether the head ends that."""
    before, after = passes or (base, head)
    states = after.rendered.built.rolled.states
    return tuple(
        HeldChange(
            rollout=name,
            change=state.change,
            hold=state.hold,
            is_ended=name not in states or states[name].change != state.change,
        )
        for name, state in sorted(before.rendered.built.rolled.states.items())
        if state.is_held
    )


def words_of_held_change(held: HeldChange) -> tuple[str, str]:
    """Return what is said of a change that is held, and what becomes of the hold."""
    if held.is_ended:
        return held.hold, "this ends the hold: a newer change takes its place"
    return held.hold, "nothing here ends the hold: a newer change of its objects does, or argosy rollout retry"


def _planned_rollouts(
    before: RolledOut, after: RolledOut, beside: Iterable[ChangeBesideRollout]
) -> Iterator[PlannedRollout]:
    for name, state in sorted(after.states.items()):
        known = before.states.get(name)
        waiting = after.waiting.get(name, frozenset())
        is_new = known is None or known.change != state.change
        queues = [tuple(each.digest for each in side.queue) for side in (known or state, state)]
        is_queued = queues[0] != queues[1] or waiting != before.waiting.get(name, frozenset())
        if (is_new and not state.is_completed) or is_queued:
            is_closed = state.reason in {RolloutReason.FROZEN, RolloutReason.OUTSIDE_WINDOW}
            yield PlannedRollout(
                policy=str(state.plan),
                group=state.group,
                change=state.change,
                waves=planned_waves(state),
                waiting=len(waiting),
                held_by=state.next_step if is_closed else "",
                is_of_calendar=state.plan.is_of_fleet,
                one_way=state.one_way,
                restores=state.restores,
                beside=tuple(each for each in beside if each.rollout == name),
            )


def words_of_rollout(rollout: PlannedRollout, difference: Difference) -> tuple[str, list[str]]:
    """Return a rollout in words, and a line for each of its waves and for what waits."""
    count = counted_noun(sum(len(wave.clusters) for wave in rollout.waves), "cluster")
    if rollout.is_of_calendar:
        return f"{rollout.policy} holds change {rollout.change} back from {count}", [rollout.held_by]
    lines = [
        words_of_planned_wave(wave, summarized_cluster_names(wave.clusters, difference.members))
        for wave in rollout.waves
    ]
    lines += (f"cannot go back: {each.ref}: {each.reason}" for each in rollout.one_way)
    lines += (f"goes back to: {each}" for each in rollout.restores)
    lines += map(str, rollout.beside)
    if rollout.held_by:
        lines.append(rollout.held_by)
    if rollout.waiting:
        verb = "waits" if rollout.waiting == 1 else "wait"
        lines.append(f"{counted_noun(rollout.waiting, 'object')} of a newer change {verb} until it is over")
    return f"{rollout.name} lets change {rollout.change} out to {count}", lines
