"""The notes in bindings about what stays in clusters although a rule of failover would have it leave."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from render.binding import Binding, Condition

EVICTED = "Evicted"
BLOCKED = "EvictionBlocked"
REPORTS = "ClusterReports"
UNSEEN = "ClusterUnseen"
PAUSES = "MovePaused"
RUN_BEGUN, RUN_OVER = "RunBegun", "RunOver"
RUN_NOTES = frozenset({RUN_BEGUN, RUN_OVER})
MOVING, MAKE_BEFORE_BREAK, MOVE_STOPPED = "Moving", "MakeBeforeBreak", "MoveStopped"
"""The type of the note about an object that moves step by step, and its reasons: the latter after its deadline."""
NOTES = frozenset({BLOCKED, REPORTS, UNSEEN, PAUSES}) | RUN_NOTES
NOTES_OF_NO_PROBLEM = RUN_NOTES | {MAKE_BEFORE_BREAK}
"""The reasons of what is as it should be, though not as it ends."""


def with_blocked_note(binding: Binding, clusters: Iterable[str], unproven: Iterable[str]) -> Binding:
    """Return a binding with the note that no other cluster takes what it would leave."""
    unknown = f" that is known to be well; not so {', '.join(sorted(unproven))}" if unproven else ""
    return _binding_with_note(
        binding, BLOCKED, f"stays in {', '.join(clusters)}: no other cluster takes it{unknown}", clusters
    )


def with_undispatched_note(binding: Binding, clusters: Sequence[str]) -> Binding:
    """Return a binding with the note that it stays in the clusters it leaves until it is dispatched to others.

    What another note says is kept beside it.
    """
    message = f"stays in {', '.join(clusters)}: its new place does not get it while dispatching is suspended"
    earlier = next((each for each in binding.conditions if each.type == EVICTED), None)
    if earlier is None:
        return _binding_with_note(binding, BLOCKED, message, clusters)
    names = tuple(dict.fromkeys((*earlier.clusters, *clusters)))
    return _binding_with_note(binding, earlier.reason, f"{earlier.message}; {message}", names)


def with_sparing_note(binding: Binding, words_by_cluster: Mapping[str, str], reason: str) -> Binding:
    """Return a binding with the note that it stays in clusters which may be well, though we get no answer."""
    return _binding_with_note(binding, reason, f"stays in {'; '.join(words_by_cluster.values())}", words_by_cluster)


def with_pause_note(binding: Binding, clusters: Iterable[str], until: str) -> Binding:
    """Return a binding with the note that it is not well in clusters, but has moved for that a short while ago."""
    names, moved = ", ".join(clusters), binding.moved
    times = f", {moved.times} times in a row" if moved and moved.times > 1 else ""
    past = f"left {', '.join(moved.clusters)} at {moved.at}{times}" if moved else "moved"
    message = f"stays in {names} until {until}, though it is not well there: it {past}, and does not go in circles"
    return _binding_with_note(binding, PAUSES, message, clusters)


def with_run_note(binding: Binding, clusters: Sequence[str], *, is_over: bool) -> Binding:
    """Return a binding with the note that it stays as it is, for it has begun or is over."""
    if is_over:
        return _binding_with_note(binding, RUN_OVER, f"is over in {', '.join(clusters)}, and moves nowhere", clusters)
    message = f"has begun in {', '.join(clusters)}, and keeps its division there: it would run a second time elsewhere"
    return _binding_with_note(binding, RUN_BEGUN, message, clusters)


def _binding_with_note(binding: Binding, reason: str, message: str, clusters: Iterable[str]) -> Binding:
    note = Condition(type=EVICTED, status="False", reason=reason, message=message, clusters=tuple(clusters))
    plain = without_note(binding)
    return replace(plain, conditions=(*plain.conditions, note))


def without_note(binding: Binding) -> Binding:
    """Return a binding without the note of an earlier pass."""
    if not any(each.type == EVICTED for each in binding.conditions):
        return binding
    return replace(binding, conditions=tuple(each for each in binding.conditions if each.type != EVICTED))
