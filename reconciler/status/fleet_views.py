"""The fleet at a glance: which source is rendered, a line per cluster, how bindings are, and what is not well."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from reconciler.console.cluster_lists import MOST_NAMED, cluster_with_replica_count
from reconciler.console.grouping import lines_grouped_by_wording
from reconciler.console.tables import text_table
from reconciler.console.terminal import screen_width
from reconciler.ledger.holds import release_hint
from reconciler.pipeline.eviction_notes import MAKE_BEFORE_BREAK, MOVE_STOPPED
from reconciler.pipeline.need_notes import is_needed
from reconciler.pipeline.pending import is_pending
from reconciler.pipeline.readme import ATTACHED, binding_state
from reconciler.pipeline.unselected import unselected_words
from reconciler.record.binding_status import expected_clusters
from reconciler.record.cluster_files import DISCONNECTED, ClusterLine, ObjectReason
from reconciler.record.recorded_status import line_by_cluster, unhealthy_objects
from render.binding import Binding
from render.cluster import CORDON, DRAIN
from render.rollouts.state import RolloutReason
from render.scheduling.unknown_capacity import unknown_capacities_joined
from render.timing import epoch_text
from render.words import first_few

from .blind_spots import lines_of_partly_seen_members
from .branches import RecordedFleet
from .fleet import FleetStatus, binding_problems
from .in_no_cluster import objects_in_no_cluster
from .live_replicas import (
    UNKNOWN,
    LiveShare,
    LiveTotal,
    field_manager_in_words,
    live_shares_of_bindings,
    live_total_by_cluster,
    shares_asking_for_other_replicas,
)
from .rollouts import lines_of_held_changes, lines_of_rollouts
from .rule_views import rule_tables
from .silent_clusters import lines_of_stranded_copies
from .staleness import HELD, time_since_in_words
from .state_tables import deviations_of_members, table_of_bindings, table_of_deviations, table_of_unwell_objects

_OBSERVED = ("READY", "VERSION", "OBJECTS", "UNHEALTHY", "REPLICAS", "LIVE", "CONVERGED")
_UNKNOWN = "<unknown>"
_WIDE, _COMMIT_IN_NARROW_TABLE = 100, 7
_TAINTS = {CORDON.key: "cordoned", DRAIN[0].key: "drained"}
"""The words for the taints that commands set, by their keys."""


def fleet_tables(branches: RecordedFleet, *, wide: bool, tells_each: bool = False) -> Iterator[str]:
    """Yield the tables of a fleet; without a status branch, those of what is rendered alone.

    ``wide``: all bindings are shown. ``tells_each``: each has a row of its own, also where many are for one reason.
    """
    tells_each = wide or tells_each
    fleet, recorded = branches.fleet, branches.recorded
    refusal = branches.refusal
    newest = fleet.lag.ending_of_sentence(is_refused=refusal is not None)
    yield f"{fleet.branch} {fleet.previous.commit[:12]} holds source {fleet.previous.source[:12]}{newest}\n"
    flip = branches.flip
    yield f"next: {flip.at:%Y-%m-%d %H:%M:%S} UTC, {flip.what}\n" if flip else ""
    yield "".join(f"{line}\n" for line in refusal.lines) if refusal is not None else ""
    shares = tuple(live_shares_of_bindings(branches, fleet.bindings)) if recorded.files else ()
    yield from _cluster_table(branches, shares, wide=wide)
    if branches.is_applied_by_passes:
        late = _lines_of_clusters_not_applied(branches)
        yield from late if tells_each else lines_grouped_by_wording(late)
        yield from _lines_of_clusters_held_at_newest(branches)
    yield from lines_of_held_changes(branches)
    yield from lines_of_stranded_copies(branches)
    yield from (*lines_of_partly_seen_members(recorded, fleet.members), *_lines_of_unknown_capacity(fleet))
    yield from _binding_count_lines(fleet)
    yield from lines_of_rollouts(branches)
    shown = [binding for binding in fleet.bindings if wide or _is_binding_notable(binding)]
    yield from table_of_bindings(map(_row_of_binding, shown), tells_each=tells_each)
    yield from rule_tables(branches)
    yield from table_of_unwell_objects(objects_not_healthy(branches), tells_each=tells_each)
    yield from table_of_deviations(deviations_of_members(recorded, fleet.members), tells_each=tells_each)
    yield from _lines_of_shares_scaled_otherwise(shares_asking_for_other_replicas(branches, shares), is_wide=wide)


def _cluster_table(branches: RecordedFleet, shares: Sequence[LiveShare], *, wide: bool) -> Iterator[str]:
    """Yield the table of clusters: what was seen of them, or what is rendered where nothing was seen of any."""
    fleet = branches.fleet
    lines = line_by_cluster(branches.recorded, fleet.members)
    if lines:
        yield f"{line_about_record(branches)}\n\n"
        seen = _ObservedClusters(lines=lines, live=live_total_by_cluster(shares))
        header = ("CLUSTER", *_OBSERVED, *(("SINCE",) if wide else ()), "AGE", "NOTE")
        yield text_table(header, [_row_of_observed(name, branches, seen, wide=wide) for name in fleet.clusters])
        yield from _ages_of_live(branches, seen)
    else:
        rows = [_row_of_rendered(name, branches) for name in fleet.clusters]
        yield "\n"
        yield text_table(("CLUSTER", "OBJECTS", "REPLICAS", "NOTE"), rows)


def _lines_of_shares_scaled_otherwise(shares: Sequence[LiveShare], *, is_wide: bool) -> Iterator[str]:
    """Yield the objects that ask for other replicas than their trees say, and who set them; of many, the first."""
    rows = [
        (
            str(each.ref),
            each.cluster,
            str(each.replicas),
            str(each.live.replicas),
            field_manager_in_words(each.live.manager),
        )
        for each in (shares if is_wide else shares[:MOST_NAMED])
        if each.live is not None
    ]
    if rows:
        yield "\n"
        yield text_table(("SCALED OTHERWISE", "CLUSTER", "REPLICAS", "LIVE", "OWNER"), rows)
    if len(rows) < len(shares):
        yield f"and {len(shares) - len(rows)} more: argosy status -o wide\n"


def _binding_count_lines(fleet: FleetStatus) -> Iterator[str]:
    """Yield how many bindings there are of each state, and which templates have none."""
    states = Counter(map(binding_state, fleet.bindings))
    yield "\nbindings: " + (", ".join(f"{number} {state}" for state, number in sorted(states.items())) or "none") + "\n"
    if refs := fleet.templates_of_no_cluster:
        names, them = first_few(tuple(map(str, refs))), "it" if len(refs) == 1 else "them"
        yield f"{unselected_words(len(refs))}, as no policy selects {them}: {names} (argosy validate says more)\n"


def _lines_of_unknown_capacity(fleet: FleetStatus) -> Iterator[str]:
    """Yield the clusters that get no replicas by room, because nobody knows how much they have."""
    yield from (
        f"\n{each.names}: UnknownCapacity: {each}\n" for each in unknown_capacities_joined(fleet.unknown_capacities)
    )


def _is_binding_notable(binding: Binding) -> bool:
    """Return whether a binding is not as its policy asks: a problem, released, pending, moving or kept for others."""
    is_asked_for = binding_state(binding) == "NoPolicy" or is_pending(binding) or is_needed(binding)
    return bool(binding_problems(binding)) or is_asked_for or binding.moving is not None


def line_about_record(branches: RecordedFleet) -> str:
    """Return the commit and the time of what is recorded, which is that of the last change."""
    recorded_at = epoch_text(branches.status_time)
    ago = time_since_in_words(recorded_at, branches.now)
    return f"recorded {recorded_at}, {ago} ago"


def _lines_of_clusters_not_applied(branches: RecordedFleet) -> Iterator[str]:
    """Yield a line for each cluster whose objects nobody knows, or that a run has not got to, with what to do."""
    progress = sorted(branches.progress.items(), key=itemgetter(0))
    late = [(name, each) for name, each in progress if each.is_awaited and not each.is_reached]
    if late:
        yield "\n"
    yield from (f"{name}: not applied: {progress.message}{progress.hint_line}\n" for name, progress in late)


def _lines_of_clusters_held_at_newest(branches: RecordedFleet) -> Iterator[str]:
    """Yield a line for each cluster that has the newest commit and is held, so that it gets no newer one."""
    progress = sorted(branches.progress.items(), key=itemgetter(0))
    held = [(name, each.hold) for name, each in progress if each.is_reached and each.hold is not None]
    if held:
        yield "\n"
    yield from (f"{name}: {hold}\n  hint: {release_hint(hold, name)}\n" for name, hold in held)


def objects_not_healthy(branches: RecordedFleet) -> tuple[ObjectReason, ...]:
    """Return every object that is in no cluster, or not as it should be in members that were looked at."""
    known = {name for name, progress in branches.progress.items() if progress.is_known}
    return (*objects_in_no_cluster(branches), *unhealthy_objects(branches.recorded, known))


def is_fleet_well(branches: RecordedFleet) -> bool:
    """Return whether everything is placed, built, applied to every member that passes apply to, and healthy.

    A newest source that is refused is not.
    """
    if branches.refusal is not None:
        return False
    awaited = [progress for progress in branches.progress.values() if progress.is_awaited]
    if branches.is_applied_by_passes and not all(progress.is_applied for progress in awaited):
        return False
    return not (any(map(binding_problems, branches.fleet.bindings)) or objects_not_healthy(branches))


def _row_of_rendered(name: str, branches: RecordedFleet) -> tuple[str, ...]:
    fleet = branches.fleet
    outcome = _word_of_apply_outcome(name, branches, ClusterLine()) if branches.is_applied_by_passes else ""
    return name, str(fleet.objects.get(name, 0)), _replicas_cell(name, branches), _note_on_cluster(name, fleet, outcome)


def _ages_of_live(branches: RecordedFleet, observed: "_ObservedClusters") -> Iterator[str]:
    """Yield the age of the live replicas that change more often than they are recorded, a line for each cluster."""
    for name, total in sorted(observed.live.items()):
        if total.seen and branches.progress[name].is_known:
            ago = time_since_in_words(total.seen, branches.now)
            yield f"{name}: LIVE counts an object as it was {ago} ago; it changes often, and may differ by now\n"


class _ObservedClusters(NamedTuple):
    """The lines of clusters that were observed, and the replicas that their objects ask for."""

    lines: Mapping[str, ClusterLine]
    live: Mapping[str, LiveTotal]


def _row_of_observed(name: str, branches: RecordedFleet, seen: _ObservedClusters, *, wide: bool) -> tuple[str, ...]:
    fleet, line = branches.fleet, seen.lines.get(name)
    observed = line or ClusterLine()
    is_member = line is not None and name in fleet.members
    is_known = is_member and branches.progress[name].is_known
    since = observed.since if is_member else ""
    return (
        name,
        observed.ready if is_member else "",
        observed.version if is_member else "",
        str(fleet.objects.get(name, 0)),
        (str(observed.unhealthy) if is_known else _UNKNOWN) if is_member else "",
        _replicas_cell(name, branches),
        (str(seen.live.get(name, LiveTotal())) if is_known else UNKNOWN) if name in fleet.members else "",
        observed.converged[: _COMMIT_IN_NARROW_TABLE if 0 < screen_width() < _WIDE else 12],
        *((since,) if wide else ()),
        time_since_in_words(since, branches.now),
        _note_on_cluster(name, fleet, _word_of_apply_outcome(name, branches, observed), observed.remedies),
    )


def _word_of_apply_outcome(name: str, branches: RecordedFleet, line: ClusterLine) -> str:
    """Return the word of what keeps a cluster from being applied: how the last run over it ended, or its reason."""
    progress = branches.progress.get(name)
    if progress is None or progress.is_reached:
        is_held = progress is not None and progress.hold is not None and line.outcome == "Converged"
        return HELD if is_held else line.outcome
    return progress.reason


def _replicas_cell(name: str, branches: RecordedFleet) -> str:
    return str(branches.replicas.get(name, 0)) if name in branches.fleet.members else ""


def _note_on_cluster(name: str, fleet: FleetStatus, outcome: str, remedies: Sequence[str] = ()) -> str:
    member = fleet.members.get(name)
    if member is None:
        return DISCONNECTED
    reasons = Counter(map(binding_state, fleet.unbuilt_bindings_by_cluster.get(name, ())))
    parts = ["" if outcome == "Converged" else outcome]
    parts += dict.fromkeys(_TAINTS.get(taint.key, f"taint {taint}") for taint in member.taints)
    parts += [f"remedy: {action}" for action in remedies]
    parts += [f"{number} not built: {reason}" for reason, number in sorted(reasons.items())]
    return ", ".join(filter(None, parts))


_PLACEMENT_GOES_OUT = "PlacementGoesOut"


def _final_targets_in_words(binding: Binding) -> str:
    """Return where an object ends, with its replicas where each cluster has a number of its own."""
    is_divided, targets = binding.is_divided, binding.final_targets
    return first_few([f"{each.name}={each.replicas}" if is_divided else each.name for each in targets])


def _row_of_binding(binding: Binding) -> tuple[str, str, str]:
    rollout = binding.rollout
    if binding.moving is not None and rollout is not None and rollout.is_split_restored:
        asked = _final_targets_in_words(binding)
        return str(binding.ref), str(RolloutReason.ROLLED_BACK), f"{rollout.name} went back; asked for is {asked}"
    if binding.moving is not None and rollout is not None and rollout.splits:
        verb = "lets its placement out" if rollout.has_gates else "holds its placement back"
        message = f"{rollout.name} {verb}; it ends in {_final_targets_in_words(binding)}"
        return str(binding.ref), _PLACEMENT_GOES_OUT, message
    state = binding_state(binding)
    if binding.moving is not None and state != MOVE_STOPPED:
        state = MAKE_BEFORE_BREAK
    messages = [each.message for each in binding.conditions if each.status == "False" and each.reason == state]
    placed = placement_outcome_in_words(binding)
    if not messages:
        return str(binding.ref), state, placed
    is_released = not binding.policy  # a reason of its own, and clusters in which it stays
    return str(binding.ref), state, f"{messages[0]}; it stays in {placed}" if is_released and placed else messages[0]


def placement_outcome_in_words(binding: Binding) -> str:
    """Return where an object is, with its replicas where it has some, and what it follows there."""
    replicas, overridden = binding.placed_replicas, binding.overridden_replicas
    there = [name for name in expected_clusters(binding) if name not in binding.undispatched_clusters]
    names = " ".join(
        cluster_with_replica_count(name, replicas.get(name, 0), is_overridden=name in overridden) for name in there
    )
    owners = ", ".join(f"{each.namespace}/{each.name}" for each in binding.required_by)
    return f"{names} (required by {owners})" if owners and binding_state(binding) == ATTACHED else names
