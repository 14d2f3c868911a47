"""A difference for a terminal: changed objects, who claims them, moved replicas; or a table of clusters.

What is to be said of many objects alike is said once for all of them.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from reconciler.console.cleaning import on_one_line
from reconciler.console.cluster_lists import MOST_NAMED, shortened_cluster_list, summarized_cluster_names
from reconciler.console.groups import counts_of_objects_by_kind, group_items
from reconciler.console.styled_text import StyledText
from reconciler.console.tables import text_table
from reconciler.pipeline.movements import Movement, moved_words, movement_words
from reconciler.pipeline.released import released_lines
from reconciler.pipeline.unselected import unselected_lines
from reconciler.rendering.problems import ObjectProblem
from render.model import ObjectRef
from render.scheduling.unknown_capacity import unknown_capacities_joined

from .costs import cost_cell, lines_of_costs, lines_of_unknown_costs, words_of_cost_change
from .difference import ChangeAction, Difference, ObjectChange, PendingChange
from .origins import origin_words
from .resilience import lines_of_resilience
from .risks import words_of_risk
from .rollouts import words_of_held_change, words_of_rollout
from .staying import unplaced_words
from .words import (
    PRESERVED,
    allowance_words,
    cause_words,
    delivery_words,
    field_words,
    hold_words,
    note_of_origin,
    pending_words,
    setting_words,
    sides_of_difference,
    summary_of_difference,
    takeover_words,
    unrendered_file_words,
    words_of_ended_pending,
)

MORE = " (-v names them)"
SIGNS = {ChangeAction.ADDED: "+", ChangeAction.CHANGED: "~", ChangeAction.REMOVED: "-"}


def difference_text(difference: Difference, *, is_full: bool = False) -> Iterator[str]:
    """Yield the difference section by section; a section without anything in it is left out.

    Where the same is said of many objects or clusters, they are told together. ``is_full``: each by itself.
    """
    yield f"{sides_of_difference(difference)}: {summary_of_difference(difference)}\n"
    yield from _risk_line(difference)
    yield from difference_sections(difference, is_full=is_full)


def _risk_line(difference: Difference) -> Iterator[str]:
    if words := words_of_risk(difference.risk):
        yield f"{words}\n"


def difference_sections(difference: Difference, *, is_full: bool = False) -> Iterator[str]:
    """Yield the same without the first line, for what says itself what is compared."""
    for title, lines in _sections_with_lines(difference, is_full=is_full):
        body = "".join(lines)
        if body:
            yield "\n"
            yield StyledText.of_title(f"{title}\n")
            yield body


def difference_table(difference: Difference) -> Iterator[str]:
    """Yield a line for every cluster that changes, and the summary."""
    costs = difference.costs
    rows = [
        (
            total.name,
            f"+{total.added}",
            f"~{total.changed}",
            f"-{total.removed}",
            numbers_before_and_after(total.replicas_before, total.replicas_after),
            *([cost_cell(costs, total.name)] if costs is not None else []),
        )
        for total in difference.clusters
    ]
    if rows:
        cost = [f"COST ({costs.currency} A MONTH)"] if costs is not None else []
        yield text_table(("CLUSTER", "ADDED", "CHANGED", "REMOVED", "REPLICAS", *cost), rows)
    yield from _risk_line(difference)
    yield f"{summary_of_difference(difference)}\n"
    if costs is not None:
        yield f"cost of all clusters: {words_of_cost_change(costs.total, costs.currency)}\n"
        yield from (f"{line}\n" for line in lines_of_unknown_costs(costs.after))


def numbers_before_and_after(before: int, after: int) -> str:
    """Return a number before and after, once when it stays."""
    return str(after) if before == after else f"{before} -> {after}"


def _sections_with_lines(difference: Difference, *, is_full: bool) -> Iterator[tuple[str, Iterable[str]]]:
    yield "SETTINGS", (f"  {setting_words(each)}\n" for each in difference.settings)
    yield "ALLOWED BY THE CHANGE ITSELF", (f"  {allowance_words(each)}\n" for each in difference.allowances)
    yield "HELD", _lines_of_holds(difference)
    yield "CLUSTERS", _lines_of_clusters(difference, is_full=is_full)
    yield "ORIGINS", (f"  {each.build}: {origin_words(each)}\n" for each in difference.builds)
    yield "TAKEN OVER", _lines_of_taken_over(difference, is_full=is_full)
    yield "OBJECTS", _lines_of_objects(difference, is_full=is_full)
    yield "SOURCE", _lines_of_unrendered_files(difference, is_full=is_full)
    yield "REVERT", _lines_of_revert(difference)
    yield "ROLLOUTS", _lines_of_rollouts(difference)
    yield "PENDING", _lines_of_pending(difference, is_full=is_full)
    yield "POLICIES", _lines_of_takeovers(difference, is_full=is_full)
    released = map(str, difference.released) if is_full else released_lines(difference.released)
    yield "RELEASED", (f"  {line}\n" for line in released)
    yield "GO NOWHERE", (f"  ! {line}\n" for line in _unselected_lines(difference, is_full=is_full))
    yield "REPLICAS", _lines_of_replicas(difference, is_full=is_full)
    yield "COST", _lines_of_costs(difference)
    yield "RESILIENCE", (f"  {line}\n" for line in lines_of_resilience(difference.resilience))
    yield "STAYS", _stays(difference, is_full=is_full)
    yield "ENDS IN NO CLUSTER", _unplaced_lines(difference, is_full=is_full)
    yield "NOT DIVIDED", _undivided_lines(difference, is_full=is_full)
    yield (
        "CAPACITY UNKNOWN",
        (
            f"  ! {each.message}\n      hint: {each.hint}\n"
            for each in unknown_capacities_joined(difference.unknown_capacities)
        ),
    )
    yield "PROBLEMS", _lines_of_problems(difference, difference.problems, is_full=is_full)
    yield "REFUSED", (f"  {line}\n" for line in difference.refused)
    yield "SOLVED", _lines_of_problems(difference, difference.solved, is_full=is_full)


def _lines_of_holds(difference: Difference) -> Iterator[str]:
    for name, hold in difference.holds.items():
        held, ending = hold_words(name, hold, is_ended=difference.ends_holds)
        yield f"  ! {held}\n      {ending}\n"
    for held, ending in map(words_of_held_change, difference.held_changes):
        yield f"  ! {held}\n      {ending}\n"


def _lines_of_unrendered_files(difference: Difference, *, is_full: bool) -> Iterator[str]:
    shown = difference.unrendered if is_full else difference.unrendered[:MOST_NAMED]
    yield from (f"  {SIGNS[each.action]} {unrendered_file_words(each)}\n" for each in shown)
    if more := len(difference.unrendered) - len(shown):
        yield f"  and {more} more{MORE}\n"


def _lines_of_revert(difference: Difference) -> Iterator[str]:
    if difference.revert is None:
        return
    yield f"  {difference.revert.words}\n"
    if difference.revert.command:
        yield f"      hint: {difference.revert.command} puts them back as well\n"


def _lines_of_rollouts(difference: Difference) -> Iterator[str]:
    for head, lines in (words_of_rollout(each, difference) for each in difference.rollouts):
        yield f"  {head}\n"
        yield from (f"      {line}\n" for line in lines)


def _lines_of_clusters(difference: Difference, *, is_full: bool) -> Iterator[str]:
    for names in _names_or_joined(difference.joined, is_full=is_full):
        yield f"  + {names}\n"
    yield from (f"  ~ {new} (was {old})\n" for old, new in sorted(difference.renamed.items()))
    alone = [name for name in difference.left if name not in difference.likely_renames]
    for names in _names_or_joined(alone, is_full=is_full):
        yield f"  - {names}: disconnected, {'keep what they hold' if ' ' in names else 'keeps what it holds'}\n"
    for name in difference.left:
        if new := difference.likely_renames.get(name):
            yield f"  - {name}: disconnected, keeps what it holds\n"
            yield f"      {new} is described alike; if it is the same cluster: argosy cluster rename {name} {new}\n"


def _names_or_joined(names: Sequence[str], *, is_full: bool) -> Iterable[str]:
    """Return names one by one, or many in one text."""
    if is_full or len(names) <= MOST_NAMED:
        return names
    return [f"{len(names)} clusters: {shortened_cluster_list(names, ', ')}"]


def _lines_of_objects(difference: Difference, *, is_full: bool) -> Iterator[str]:
    shown = (each for each in difference.objects if not is_number_change_only(each))

    def said(change: ObjectChange) -> tuple[object, ...]:
        return (*what_is_said_of_object(change), cause_words(difference, change.ref))

    for group in group_items(shown, said, is_full=is_full):
        change, refs = group[0], [each.ref for each in group]
        where = summarized_cluster_names(change.clusters, difference.members)
        preserved = PRESERVED if change.is_preserved else ""
        if len(group) == 1:
            origin = note_of_origin(difference, change.ref)
            yield f"  {SIGNS[change.action]} {change.ref}{origin} in {where}{preserved}\n"
        else:
            counts = f"{counts_of_objects_by_kind(refs)}{preserved or MORE}"
            yield f"  {SIGNS[change.action]} {len(refs)} objects in {where}: {counts}\n"
        if change.action is ChangeAction.CHANGED and (words := cause_words(difference, change.ref)):
            yield f"      {words}\n"
        yield from (f"      {field_words(field)}\n" for field in change.fields)
    scaled = {change.ref for change in difference.objects if is_number_change_only(change)}
    if scaled:
        yield f"  ~ {len(scaled)} by {'its' if len(scaled) == 1 else 'their'} replicas\n"


def _lines_of_taken_over(difference: Difference, *, is_full: bool) -> Iterator[str]:
    for group in group_items(sorted(difference.taken.items()), itemgetter(1), is_full=is_full):
        yield f"  {_object_or_counts([ref for ref, _ in group])}: taken over by {group[0][1]}\n"


def what_is_said_of_object(change: ObjectChange) -> tuple[object, ...]:
    """Return what changes of objects have in common that are told together."""
    return change.action, change.clusters, change.is_preserved, *map(field_words, change.fields)


def _lines_of_takeovers(difference: Difference, *, is_full: bool) -> Iterator[str]:
    for group in group_items(difference.takeovers, takeover_words, is_full=is_full):
        refs = [each.ref for each in group]
        yield f"  {_object_or_counts(refs)}: {takeover_words(group[0])}\n"
    for changes in group_items(difference.delivered, delivery_words, is_full=is_full):
        yield f"  {_object_or_counts([each.ref for each in changes])}: {delivery_words(changes[0])}\n"
        for name, message in changes[0].failures.items() if len(changes) == 1 else ():
            yield f"      {name}: {on_one_line(message)}\n"


def _object_or_counts(refs: Sequence[ObjectRef]) -> str:
    """Return an object, or how many there are of each kind."""
    return str(refs[0]) if len(refs) == 1 else f"{len(refs)} objects ({counts_of_objects_by_kind(refs)})"


def _lines_of_problems(difference: Difference, problems: Iterable[ObjectProblem], *, is_full: bool) -> Iterator[str]:
    for group in group_items(problems, what_is_said_of_problem, is_full=is_full):
        first, refs = group[0], [each.ref for each in group]
        if len(refs) == 1:
            yield f"  {first}{note_of_origin(difference, first.ref)}\n"
        else:
            where = f" in {shortened_cluster_list(first.clusters, ', ')}" if first.clusters else ""
            yield f"  {_object_or_counts(refs)}{where}: {first.reason}: {first.message}\n"


def what_is_said_of_problem(problem: ObjectProblem) -> tuple[object, ...]:
    """Return what problems have in common that are told together."""
    return problem.reason, problem.message, problem.clusters


def _lines_of_pending(difference: Difference, *, is_full: bool) -> Iterator[str]:
    def said(change: PendingChange) -> tuple[str, ...]:
        return pending_words(change, difference.members), *map(field_words, change.fields)

    def said_of_ended(change: PendingChange) -> str:
        return words_of_ended_pending(change, difference.members)

    for group in group_items(difference.pending, said, is_full=is_full):
        change, count = group[0], len(group)
        yield f"  ! {_is_or_are(group)} {pending_words(change, difference.members, count)}\n"
        yield from (f"      {field_words(field)}\n" for field in change.fields)
    for group in group_items(difference.ended, said_of_ended, is_full=is_full):
        yield f"    {_is_or_are(group)} {said_of_ended(group[0])}\n"


def _is_or_are(group: Sequence[PendingChange]) -> str:
    return f"{_object_or_counts([each.ref for each in group])} {'is' if len(group) == 1 else 'are'}"


def is_number_change_only(change: ObjectChange) -> bool:
    """Return whether nothing but divided numbers changes, which the movements show."""
    return change.action is ChangeAction.CHANGED and not change.fields


def _lines_of_replicas(difference: Difference, *, is_full: bool) -> Iterator[str]:
    def said(movement: Movement) -> tuple[object, ...]:
        return (*what_is_said_of_movement(movement), cause_words(difference, movement.ref, is_number=True))

    for group in group_items(difference.movements, said, is_full=is_full):
        each, refs = group[0], [movement.ref for movement in group]
        word = "replica" if each.before == each.after == 1 else "replicas"
        what, of_each = (
            (str(refs[0]), "")
            if len(refs) == 1
            else (f"{len(refs)} objects ({counts_of_objects_by_kind(refs)})", " each")
        )
        yield f"  {what}: {numbers_before_and_after(each.before, each.after)} {word}, {moved_words(each)}{of_each}\n"
        yield f"      {movement_words(each, is_full=is_full)}\n"
        if words := cause_words(difference, each.ref, is_number=True):
            yield f"      {words}\n"


def _lines_of_costs(difference: Difference) -> Iterator[str]:
    if difference.costs is not None and difference.costs.is_changed:
        yield from (f"  {line}\n" for line in lines_of_costs(difference.costs))


def _undivided_lines(difference: Difference, *, is_full: bool) -> Iterator[str]:
    for group in group_items(difference.undivided, lambda each: (each.message, each.hint), is_full=is_full):
        each, refs = group[0], [warning.ref for warning in group]
        where = f"{_object_or_counts(refs)}: {each.field}" if each.field else _object_or_counts(refs)
        yield f"  ! {where}: {each.message}\n      hint: {each.hint}\n"


def _stays(difference: Difference, *, is_full: bool) -> Iterator[str]:
    for group in group_items(difference.staying, lambda each: (each.reason, each.message), is_full=is_full):
        yield f"  {_object_or_counts([each.ref for each in group])}: {group[0].reason}: {group[0].message}\n"


def _unplaced_lines(difference: Difference, *, is_full: bool) -> Iterator[str]:
    for group in group_items(difference.unplaced, lambda each: each.clusters, is_full=is_full):
        refs = [each.ref for each in group]
        it = "it" if len(refs) == 1 else "them"
        yield f"  ! {_object_or_counts(refs)}: {unplaced_words(group[0], it)}\n"


def _unselected_lines(difference: Difference, *, is_full: bool) -> Iterable[str]:
    return map(str, difference.unselected) if is_full else unselected_lines(difference.unselected)


def what_is_said_of_movement(movement: Movement) -> tuple[object, ...]:
    """Return what movements have in common that are told together."""
    return movement.before, movement.after, moved_words(movement), movement_words(movement)
