"""A difference for a pull request: the summary, what needs a look, and the rest folded - never longer than allowed.

Sections come in the order in which a reviewer needs them. Each may fill half of the room that is left (the last all of
it); what does not fit is counted. What is to be said of many objects alike is said once, as on a terminal. Everything
out of the repository is escaped or fenced, so that no name or value can mention people, add links, or end a fold.
"""

from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter

from msgspec.structs import replace

from overrides.changes import ChangedField
from reconciler.console.cleaning import on_one_line
from reconciler.console.cluster_lists import shortened_cluster_list, summarized_cluster_names
from reconciler.console.text import escape_markdown
from reconciler.pipeline.movements import Movement, ReplicaChange
from reconciler.pipeline.unselected import Unselected
from reconciler.rendering.problems import ObjectProblem
from render.divisions.values import DivisionWarning
from render.fleet_settings import plain_setting_change
from render.model import ObjectRef
from render.scheduling.unknown_capacity import unknown_capacities_joined
from render.words import first_few

from .costs import CostDifference, cost_cell, lines_of_costs
from .difference import (
    ChangeAction,
    DeliveryChange,
    Difference,
    ObjectChange,
    PendingChange,
    Revert,
    StayNote,
    Takeover,
    Unplaced,
)
from .markdown_sections import LineGroups, MarkdownSection, section_that_fits
from .origins import origin_words
from .resilience import lines_of_resilience
from .risks import words_of_risk
from .rollouts import words_of_held_change, words_of_rollout
from .staying import unplaced_words
from .text import (
    SIGNS,
    is_number_change_only,
    numbers_before_and_after,
    what_is_said_of_movement,
    what_is_said_of_object,
    what_is_said_of_problem,
)
from .words import (
    PRESERVED,
    cause_words,
    delivery_words,
    field_words,
    hold_words,
    note_of_origin,
    pending_words,
    sides_of_difference,
    summary_of_difference,
    takeover_words,
    unrendered_file_words,
    value_texts,
    words_of_ended_pending,
)

_ROOM_FOR_END = 320
_MOST_CHANGES = 10
_NAMES_EACH = (
    "\nWhat is said of many objects is one line here; <code>argosy diff -v -o markdown</code> has one for each.\n"
)


def difference_markdown(difference: Difference, *, max_bytes: int, is_full: bool = False) -> str:
    """Return the difference as GitHub or GitLab markdown of at most ``max_bytes`` bytes.

    ``is_full``: each object has a line of its own.
    """
    title = escape_markdown(summary_of_difference(difference)[:1].upper() + summary_of_difference(difference)[1:])
    head = f"### {title}\n\n{inline_code(sides_of_difference(difference))}\n"
    if words := words_of_risk(difference.risk):
        head += f"**Risk**: {escape_markdown(words.removeprefix('risk: '))}\n"
    text, left_out = head, list[str]()
    groups = LineGroups(is_full=is_full)
    sections = [section for section in _sections_of_difference(difference, groups) if section.lines]
    for number, section in enumerate(sections):
        room = max_bytes - _ROOM_FOR_END - len(text.encode())
        fitted = section_that_fits(section, room if number == len(sections) - 1 else room // 2)
        if fitted:
            text += f"\n{fitted}"
        else:
            left_out.append(section.title)
    text += _NAMES_EACH if any(section.joins_objects for section in sections) else ""
    if left_out:
        text += f"\nToo long to show here: {', '.join(left_out)}.\n"
    return text


def _sections_of_difference(difference: Difference, groups: LineGroups) -> Iterator[MarkdownSection]:
    yield MarkdownSection(title="Settings", lines=_setting_rows(difference), before=_SETTING_HEADER, is_open=True)
    yield _allowance_section(difference)
    yield _hold_section(difference)
    refused = [f"{line}\n" for line in difference.refused]
    yield MarkdownSection(title="Refused", lines=refused, before="```\n", after="```\n", is_open=True)
    yield replace(_problem_section("Problems", difference, difference.problems, groups), is_open=True)
    yield _unplaced_section(difference, groups)
    yield _problem_section("Solved", difference, difference.solved, groups)
    files = [_item(unrendered_file_words(each)) for each in difference.unrendered]
    yield MarkdownSection(title="Files of the source that differ", lines=files, is_open=True)
    yield _revert_section(difference.revert)
    yield _rollout_section(difference)
    yield _pending_section(difference, groups)
    yield _unselected_section(difference, groups)
    yield _cluster_section(difference)
    yield _cost_section(difference.costs)
    lost = [_item(line) for line in lines_of_resilience(difference.resilience)]
    yield MarkdownSection(title="Resilience", lines=lost, is_open=True)
    yield _origin_section(difference)
    yield _taken_section(difference, groups)
    yield _replica_section(difference, groups)
    yield groups.section("Stay", difference.staying, lambda each: (each.reason, each.message), _staying_line)
    yield _undivided_section(difference, groups)
    yield MarkdownSection(
        title="Capacity unknown",
        lines=[_item(str(each)) for each in unknown_capacities_joined(difference.unknown_capacities)],
        is_open=True,
    )
    policies = groups.section("Policies", difference.takeovers, takeover_words, _policy_row)
    yield replace(policies, before=_POLICY_HEADER)
    yield _delivery_section(difference, groups)
    yield MarkdownSection(title="Released", lines=[_item(str(each)) for each in difference.released])
    yield _object_section(difference, groups)


def _origin_section(difference: Difference) -> MarkdownSection:
    return MarkdownSection(
        title="Origins",
        lines=[
            f"| {inline_code(each.build)} | {escape_markdown(origin_words(each))} |\n" for each in difference.builds
        ],
        before=_ORIGIN_HEADER,
        is_open=True,
    )


_SETTING_HEADER = "| setting | before | after | |\n|---|---|---|---|\n"
_ORIGIN_HEADER = "| built by | what changed |\n|---|---|\n"
_TAKEN_HEADER = "| object | taken over by |\n|---|---|\n"
_REPLICA_HEADER = "| workload | replicas | moved | clusters |\n|---|---:|---:|---|\n"
_POLICY_HEADER = "| object | claimed by | before |\n|---|---|---|\n"


def _cluster_section(difference: Difference) -> MarkdownSection:
    header = _cluster_header(difference.costs)
    return MarkdownSection(title="Clusters", lines=_cluster_rows(difference), before=header, is_open=True)


def _cluster_header(costs: CostDifference | None) -> str:
    if costs is None:
        return "| cluster | added | changed | removed | replicas |\n|---|---:|---:|---:|---:|\n"
    return (
        f"| cluster | added | changed | removed | replicas | {costs.currency} a month |\n"
        "|---|---:|---:|---:|---:|---:|\n"
    )


def _cost_section(costs: CostDifference | None) -> MarkdownSection:
    """Return what all clusters cost before and after, and what is in no sum."""
    lines = [] if costs is None or not costs.is_changed else lines_of_costs(costs, is_by_cluster=False)
    return MarkdownSection(title="Cost", lines=[_item(line.replace("->", "→")) for line in lines], is_open=True)


def _hold_section(difference: Difference) -> MarkdownSection:
    said = (
        *(hold_words(name, hold, is_ended=difference.ends_holds) for name, hold in difference.holds.items()),
        *map(words_of_held_change, difference.held_changes),
    )
    lines = [f"- {escape_markdown(on_one_line(held))}; {escape_markdown(ending)}\n" for held, ending in said]
    return MarkdownSection(title="Held", lines=lines, is_open=True)


def _names_of_objects(refs: Iterable[ObjectRef]) -> str:
    """Return the first objects, and how many more there are of which the same is said."""
    return first_few(list(map(str, refs)))


def _item(text: str) -> str:
    """Return text as an item of a list, on one line."""
    return f"- {escape_markdown(on_one_line(text))}\n"


def _unselected_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    def line(group: Sequence[Unselected]) -> str:
        names, nearest = _names_of_objects(each.ref for each in group), group[0].nearest
        return _item(str(group[0]) if len(group) == 1 else f"{names}; nearest policy: {nearest or 'none'}")

    title = "Go nowhere: no policy selects them"
    return replace(groups.section(title, difference.unselected, lambda each: each.nearest, line), is_open=True)


def _unplaced_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    def line(group: Sequence[Unplaced]) -> str:
        words = unplaced_words(group[0], "it" if len(group) == 1 else "them")
        return _item(f"{_names_of_objects(each.ref for each in group)}: {words}")

    section = groups.section("End in no cluster", difference.unplaced, lambda each: each.clusters, line)
    return replace(section, is_open=True)


def _problem_section(
    title: str, difference: Difference, problems: Iterable[ObjectProblem], groups: LineGroups
) -> MarkdownSection:
    def line(group: Sequence[ObjectProblem]) -> str:
        first = group[0]
        if len(group) == 1:
            return _item(f"{first}{note_of_origin(difference, first.ref)}")
        where = f" in {shortened_cluster_list(first.clusters, ', ')}" if first.clusters else ""
        return _item(f"{_names_of_objects(each.ref for each in group)}{where}: {first.reason}: {first.message}")

    return groups.section(title, problems, what_is_said_of_problem, line)


def _allowance_section(difference: Difference) -> MarkdownSection:
    lines = [f"- {inline_code(each.trailer)} in {inline_code(each.commit[:12])}\n" for each in difference.allowances]
    return MarkdownSection(title="Allowed by the change itself", lines=lines, is_open=True)


def _revert_section(revert: Revert | None) -> MarkdownSection:
    lines = [] if revert is None else [_item(revert.words)]
    if revert is not None and revert.command:
        lines.append(f"- {inline_code(revert.command)} puts them back as well\n")
    return MarkdownSection(title="Revert", lines=lines, is_open=True)


def _rollout_section(difference: Difference) -> MarkdownSection:
    """Return the plans by which the change goes out, wave by wave."""
    lines = [
        f"- {escape_markdown(head)}\n" + "".join(f"  - {escape_markdown(line)}\n" for line in waves)
        for head, waves in (words_of_rollout(each, difference) for each in difference.rollouts)
    ]
    return MarkdownSection(title="Rollouts", lines=lines, is_open=True)


def _pending_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    """Return what is pending, followed by what is no longer."""

    def said(change: PendingChange) -> tuple[str, ...]:
        return pending_words(change, difference.members), *map(field_words, change.fields)

    def said_of_ended(change: PendingChange) -> str:
        return words_of_ended_pending(change, difference.members)

    def line(group: Sequence[PendingChange]) -> str:
        words = pending_words(group[0], difference.members, len(group))
        return f"! {on_one_line(f'{_are(group)} {words}')}\n{_field_lines(group[0].fields)}"

    def line_of_ended(group: Sequence[PendingChange]) -> str:
        return f"  {on_one_line(f'{_are(group)} {said_of_ended(group[0])}')}\n"

    pending = groups.section("Pending", difference.pending, said, line)
    ended = groups.section("", difference.ended, said_of_ended, line_of_ended)
    return replace(
        pending,
        lines=[*pending.lines, *ended.lines],
        counts=[*pending.counts, *ended.counts],
        before="```diff\n",
        after="```\n",
        is_open=True,
    )


def _are(group: Sequence[PendingChange]) -> str:
    return f"{_names_of_objects(each.ref for each in group)} {'is' if len(group) == 1 else 'are'}"


def _taken_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    def row(group: Sequence[tuple[ObjectRef, str]]) -> str:
        return f"| {inline_code(_names_of_objects(ref for ref, _ in group))} | {inline_code(group[0][1])} |\n"

    title = "Taken over by the kustomization of another folder"
    section = groups.section(title, sorted(difference.taken.items()), itemgetter(1), row)
    return replace(section, before=_TAKEN_HEADER, is_open=True)


def _staying_line(group: Sequence[StayNote]) -> str:
    return _item(f"{_names_of_objects(each.ref for each in group)}: {group[0].reason}: {group[0].message}")


def _undivided_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    def line(group: Sequence[DivisionWarning]) -> str:
        first, names = group[0], _names_of_objects(each.ref for each in group)
        where = f"{names}: {first.field}" if first.field else names
        return _item(f"{where}: {first.message}\n  hint: {first.hint}")

    section = groups.section(
        "Not divided", difference.undivided, lambda each: (each.field, each.message, each.hint), line
    )
    return replace(section, is_open=True)


def _delivery_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    def line(group: Sequence[DeliveryChange]) -> str:
        names = inline_code(_names_of_objects(each.ref for each in group))
        return f"- {names}: {escape_markdown(on_one_line(delivery_words(group[0])))}\n"

    return replace(groups.section("Delivered by other rules", difference.delivered, delivery_words, line), is_open=True)


def _setting_rows(difference: Difference) -> list[str]:
    rows = []
    for change in difference.settings:
        plain = plain_setting_change(change)
        before, after = (inline_code(str(plain[side] or "none")) for side in ("before", "after"))
        waits = "**waits to be accepted**" if change.waits else ""
        rows.append(f"| {inline_code(change.field)} | {before} | {after} | {waits} |\n")
    return rows


def _cluster_rows(difference: Difference) -> list[str]:
    renamed = {new: f" (was {inline_code(old)})" for old, new in difference.renamed.items()}
    notes = dict.fromkeys(difference.joined, " (joins)") | renamed | dict.fromkeys(difference.left, " (disconnected)")
    rows = {
        total.name: (
            f"| {inline_code(total.name)}{notes.get(total.name, '')} | {total.added} | {total.changed}"
            f" | {total.removed}"
            f" | {numbers_before_and_after(total.replicas_before, total.replicas_after).replace('->', '→')} |"
            f"{_cost_cell(difference.costs, total.name)}\n"
        )
        for total in difference.clusters
    }
    idle = {
        name: f"| {inline_code(name)}{note} | 0 | 0 | 0 | |{_cost_cell(difference.costs, name)}\n"
        for name, note in notes.items()
    }
    return [row for _, row in sorted({**idle, **rows}.items())]


def _cost_cell(costs: CostDifference | None, cluster: str) -> str:
    return "" if costs is None else f" {cost_cell(costs, cluster).replace('->', '→')} |"


def _replica_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    def said(movement: Movement) -> tuple[object, ...]:
        return (*what_is_said_of_movement(movement), cause_words(difference, movement.ref, is_number=True))

    section = groups.section("Replicas", difference.movements, said, lambda group: _movement_row(difference, group))
    return replace(section, before=_REPLICA_HEADER)


def _movement_row(difference: Difference, group: Sequence[Movement]) -> str:
    """Return the line of a workload, or of many that move alike: the biggest changes, the others counted."""
    movement = group[0]
    biggest = sorted(movement.changes, key=lambda change: -abs(change.after - change.before))[:_MOST_CHANGES]
    changes = ", ".join(f"{inline_code(each.cluster)} {_numbers_of_change(each)}" for each in biggest)
    more = len(movement.changes) - len(biggest)
    total = numbers_before_and_after(movement.before, movement.after).replace("->", "→")
    where = f"{changes} and {more} more" if more else changes
    if words := cause_words(difference, movement.ref, is_number=True):
        where = f"{where}; {escape_markdown(words)}"
    anew = f" ({movement.replicas_placed_anew} placed anew)" if movement.replicas_placed_anew else ""
    moved = f"{movement.moved_replicas}{anew}{' each' if len(group) > 1 else ''}"
    return f"| {inline_code(_names_of_objects(each.ref for each in group))} | {total} | {moved} | {where} |\n"


def _numbers_of_change(change: ReplicaChange) -> str:
    return f"{change.before} (disconnected)" if change.is_disconnected else f"{change.before} → {change.after}"


def _policy_row(group: Sequence[Takeover]) -> str:
    before, _, after = takeover_words(group[0]).partition(" -> ")
    names = inline_code(_names_of_objects(each.ref for each in group))
    return f"| {names} | {inline_code(after)} | {inline_code(before)} |\n"


def _object_section(difference: Difference, groups: LineGroups) -> MarkdownSection:
    def said(change: ObjectChange) -> tuple[object, ...]:
        return (*what_is_said_of_object(change), cause_words(difference, change.ref))

    def line(group: Sequence[ObjectChange]) -> str:
        change, names = group[0], _names_of_objects(each.ref for each in group)
        origin = note_of_origin(difference, change.ref) if len(group) == 1 else ""
        where = on_one_line(f"{names}{origin} in {summarized_cluster_names(change.clusters, difference.members)}")
        if change.action is not ChangeAction.CHANGED:
            return f"{SIGNS[change.action]} {where}{PRESERVED if change.is_preserved else ''}\n"
        words = cause_words(difference, change.ref)
        cause = f"  {on_one_line(words)}\n" if words else ""
        return f"@@ {where} @@\n{cause}{_field_lines(change.fields)}"

    shown = (change for change in difference.objects if not is_number_change_only(change))
    return replace(groups.section("Objects", shown, said, line), before="```diff\n", after="```\n")


def _field_lines(fields: Iterable[ChangedField]) -> str:
    lines = []
    for each in fields:
        path, (before, after) = on_one_line(each.path), value_texts(each)
        lines += [f"- {path}: {before}\n"] if each.operator != "add" else []
        lines += [f"+ {path}: {after}\n"] if each.operator != "remove" else []
    return "".join(lines)


def inline_code(text: str) -> str:
    """Return text as inline code, inside a table too."""
    return f"<code>{escape_markdown(text)}</code>"
