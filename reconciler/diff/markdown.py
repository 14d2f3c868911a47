"""A difference for a pull request: the summary, what needs a look, and the rest folded - never longer than allowed.

Sections come in the order in which a reviewer needs them. Each may fill half of the room that is left (the last all of
it); what does not fit is counted. Everything out of the repository is escaped or fenced, so that no name or value can
mention people, add links, or end a fold.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from overrides.changes import ChangedField
from reconciler.console.cluster_lists import summarized_cluster_names
from reconciler.console.text import escape_markdown, on_one_line
from reconciler.pipeline.movements import Movement, ReplicaChange
from reconciler.rendering.problems import ObjectProblem
from render.fleet_settings import plain_setting_change
from render.scheduling.unknown_capacity import unknown_capacities_joined

from .difference import ChangeAction, Difference
from .origins import origin_words
from .staying import unplaced_words
from .text import SIGNS, is_number_change_only, numbers_before_and_after
from .words import (
    PRESERVED,
    cause_words,
    delivery_words,
    hold_words,
    note_of_origin,
    pending_words,
    sides_of_difference,
    summary_of_difference,
    takeover_words,
    value_texts,
    words_of_ended_pending,
)

_ROOM_FOR_END = 200
_MOST_CHANGES = 10
_FEW_LINES = 12


class MarkdownSection(Struct, frozen=True, kw_only=True):
    """A titled part of the text: its lines, and the text before and after them; an open one is not folded."""

    title: str
    lines: Sequence[str]
    before: str = ""
    after: str = ""
    is_open: bool = False


def difference_markdown(difference: Difference, *, max_bytes: int) -> str:
    """Return the difference as GitHub or GitLab markdown of at most ``max_bytes`` bytes."""
    title = escape_markdown(summary_of_difference(difference)[:1].upper() + summary_of_difference(difference)[1:])
    head = f"### {title}\n\n{inline_code(sides_of_difference(difference))}\n"
    text, left_out = head, list[str]()
    sections = [section for section in _sections_of_difference(difference) if section.lines]
    for number, section in enumerate(sections):
        room = max_bytes - _ROOM_FOR_END - len(text.encode())
        fitted = _section_that_fits(section, room if number == len(sections) - 1 else room // 2)
        if fitted:
            text += f"\n{fitted}"
        else:
            left_out.append(section.title)
    if left_out:
        text += f"\nToo long to show here: {', '.join(left_out)}.\n"
    return text


def _section_that_fits(section: MarkdownSection, room: int) -> str:
    """Return a section with as many lines as there is room for; nothing when there is room for none."""
    is_open = section.is_open and len(section.lines) <= _FEW_LINES
    title = f"{section.title} ({len(section.lines)})"
    top = f"**{title}**\n\n" if is_open else f"<details><summary>{title}</summary>\n\n"
    end = "" if is_open else "\n</details>\n"
    room -= len(f"{top}{section.before}{section.after}{end}".encode()) + 40
    fitting = 0
    for line in section.lines:
        room -= len(line.encode())
        if room < 0:
            break
        fitting += 1
    if not fitting:
        return ""
    missing = len(section.lines) - fitting
    more = f"\nand {missing} more\n" if missing else ""
    return f"{top}{section.before}{''.join(section.lines[:fitting])}{section.after}{more}{end}"


def _sections_of_difference(difference: Difference) -> Iterator[MarkdownSection]:
    yield MarkdownSection(title="Settings", lines=_setting_rows(difference), before=_SETTING_HEADER, is_open=True)
    yield MarkdownSection(
        title="Allowed by the change itself",
        lines=[f"- {inline_code(each.trailer)} in {inline_code(each.commit[:12])}\n" for each in difference.allowances],
        is_open=True,
    )
    yield _hold_section(difference)
    refused = [f"{line}\n" for line in difference.refused]
    yield MarkdownSection(title="Refused", lines=refused, before="```\n", after="```\n", is_open=True)
    yield MarkdownSection(
        title="Problems", lines=[_problem_line(difference, each) for each in difference.problems], is_open=True
    )
    yield _unplaced_section(difference)
    yield MarkdownSection(title="Solved", lines=[_problem_line(difference, each) for each in difference.solved])
    yield MarkdownSection(
        title="Pending", lines=list(_pending_lines(difference)), before="```diff\n", after="```\n", is_open=True
    )
    yield _unselected_section(difference)
    yield MarkdownSection(title="Clusters", lines=_cluster_rows(difference), before=_CLUSTER_HEADER, is_open=True)
    yield MarkdownSection(
        title="Origins",
        lines=[
            f"| {inline_code(each.build)} | {escape_markdown(origin_words(each))} |\n" for each in difference.builds
        ],
        before=_ORIGIN_HEADER,
        is_open=True,
    )
    yield _taken_section(difference)
    yield MarkdownSection(
        title="Replicas",
        lines=[_movement_row(difference, each) for each in difference.movements],
        before=_REPLICA_HEADER,
    )
    yield MarkdownSection(title="Stay", lines=[f"- {escape_markdown(str(each))}\n" for each in difference.staying])
    yield _warning_section("Not divided", difference.undivided)
    yield _warning_section("Capacity unknown", unknown_capacities_joined(difference.unknown_capacities))
    yield from _policy_sections(difference)
    yield MarkdownSection(title="Released", lines=[f"- {escape_markdown(str(each))}\n" for each in difference.released])
    yield MarkdownSection(title="Objects", lines=list(_object_lines(difference)), before="```diff\n", after="```\n")


def _policy_sections(difference: Difference) -> Iterator[MarkdownSection]:
    yield MarkdownSection(title="Policies", lines=_policy_rows(difference), before=_POLICY_HEADER)
    yield MarkdownSection(
        title="Delivered by other rules",
        lines=[
            f"- {inline_code(str(each.ref))}: {escape_markdown(on_one_line(delivery_words(each)))}\n"
            for each in difference.delivered
        ],
        is_open=True,
    )


def _taken_section(difference: Difference) -> MarkdownSection:
    return MarkdownSection(
        title="Taken over by the kustomization of another folder",
        lines=[
            f"| {inline_code(str(ref))} | {inline_code(taker)} |\n" for ref, taker in sorted(difference.taken.items())
        ],
        before=_TAKEN_HEADER,
        is_open=True,
    )


def _warning_section(title: str, warnings: Iterable[object]) -> MarkdownSection:
    """Return a section with a line for each warning and its hint."""
    return MarkdownSection(
        title=title,
        lines=[f"- {escape_markdown(on_one_line(str(each)))}\n" for each in warnings],
        is_open=True,
    )


_SETTING_HEADER = "| setting | before | after | |\n|---|---|---|---|\n"
_CLUSTER_HEADER = "| cluster | added | changed | removed | replicas |\n|---|---:|---:|---:|---:|\n"
_ORIGIN_HEADER = "| built by | what changed |\n|---|---|\n"
_TAKEN_HEADER = "| object | taken over by |\n|---|---|\n"
_REPLICA_HEADER = "| workload | replicas | moved | clusters |\n|---|---:|---:|---|\n"
_POLICY_HEADER = "| object | claimed by | before |\n|---|---|---|\n"


def _hold_section(difference: Difference) -> MarkdownSection:
    said = (hold_words(name, hold, is_ended=difference.ends_holds) for name, hold in difference.holds.items())
    lines = [f"- {escape_markdown(on_one_line(held))}; {escape_markdown(ending)}\n" for held, ending in said]
    return MarkdownSection(title="Held", lines=lines, is_open=True)


def _unselected_section(difference: Difference) -> MarkdownSection:
    lines = [f"- {escape_markdown(on_one_line(str(each)))}\n" for each in difference.unselected]
    return MarkdownSection(title="Go nowhere: no policy selects them", lines=lines, is_open=True)


def _unplaced_section(difference: Difference) -> MarkdownSection:
    lines = [f"- {escape_markdown(f'{each.ref}: {unplaced_words(each)}')}\n" for each in difference.unplaced]
    return MarkdownSection(title="End in no cluster", lines=lines, is_open=True)


def _problem_line(difference: Difference, problem: ObjectProblem) -> str:
    return f"- {escape_markdown(f'{problem}{note_of_origin(difference, problem.ref)}')}\n"


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
            f" | {numbers_before_and_after(total.replicas_before, total.replicas_after).replace('->', '→')} |\n"
        )
        for total in difference.clusters
    }
    idle = {name: f"| {inline_code(name)}{note} | 0 | 0 | 0 | |\n" for name, note in notes.items()}
    return [row for _, row in sorted({**idle, **rows}.items())]


def _movement_row(difference: Difference, movement: Movement) -> str:
    """Return a workload's line: its biggest changes, the others counted."""
    biggest = sorted(movement.changes, key=lambda change: -abs(change.after - change.before))[:_MOST_CHANGES]
    changes = ", ".join(f"{inline_code(each.cluster)} {_numbers_of_change(each)}" for each in biggest)
    more = len(movement.changes) - len(biggest)
    total = numbers_before_and_after(movement.before, movement.after).replace("->", "→")
    where = f"{changes} and {more} more" if more else changes
    if words := cause_words(difference, movement.ref, is_number=True):
        where = f"{where}; {escape_markdown(words)}"
    anew = f" ({movement.replicas_placed_anew} placed anew)" if movement.replicas_placed_anew else ""
    return f"| {inline_code(str(movement.ref))} | {total} | {movement.moved_replicas}{anew} | {where} |\n"


def _numbers_of_change(change: ReplicaChange) -> str:
    return f"{change.before} (disconnected)" if change.is_disconnected else f"{change.before} → {change.after}"


def _policy_rows(difference: Difference) -> list[str]:
    rows = []
    for takeover in difference.takeovers:
        before, _, after = takeover_words(takeover).partition(" -> ")
        rows.append(f"| {inline_code(str(takeover.ref))} | {inline_code(after)} | {inline_code(before)} |\n")
    return rows


def _object_lines(difference: Difference) -> Iterator[str]:
    for change in difference.objects:
        if is_number_change_only(change):
            continue
        origin = note_of_origin(difference, change.ref)
        where = on_one_line(f"{change.ref}{origin} in {summarized_cluster_names(change.clusters, difference.members)}")
        if change.action is not ChangeAction.CHANGED:
            yield f"{SIGNS[change.action]} {where}{PRESERVED if change.is_preserved else ''}\n"
            continue
        words = cause_words(difference, change.ref)
        cause = f"  {on_one_line(words)}\n" if words else ""
        yield f"@@ {where} @@\n{cause}{_field_lines(change.fields)}"


def _pending_lines(difference: Difference) -> Iterator[str]:
    for change in difference.pending:
        words = on_one_line(f"{change.ref} is {pending_words(change, difference.members)}")
        yield f"! {words}\n{_field_lines(change.fields)}"
    yield from (
        f"  {on_one_line(f'{each.ref} is {words_of_ended_pending(each, difference.members)}')}\n"
        for each in difference.ended
    )


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
