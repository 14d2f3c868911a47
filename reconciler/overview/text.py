"""The overview of a fleet as text for people: a heading for each question, and its answer in a sentence first."""

from collections.abc import Iterator

from msgspec.structs import replace

from reconciler.branches.source_commits import UnrenderedCommit
from reconciler.console.clock import age_in_words
from reconciler.console.cluster_lists import MOST_NAMED
from reconciler.console.text import Section, section_with_table
from reconciler.status.staleness import time_since_in_words
from reconciler.survey.states import SurveyedState
from render.timing import epoch_text, instant_text
from render.words import counted_noun, first_few

from .changes import RecentChange
from .deliveries import Deliveries
from .fleet_overview import FleetOverview
from .survival import Survival
from .unwell import UnwellObject

HOW_LEAD_TIME = (
    "from the source commit to the record in which all that it touched is applied and healthy in every member"
)
HOW_FAILURES = (
    "a change fails if it is taken back within an hour, its rollout fails, or something that it touched is unwell in an"
    " hour after it is in a member"
)
_MOST_ROWS = 10
_OTHER_STATES = {
    SurveyedState.UNKNOWN: "nobody knows how {objects} {verb} everywhere",
    SurveyedState.PROGRESSING: "{objects} {verb} on the way",
    SurveyedState.WAITING: "{objects} {verb} held back or meant for no cluster",
}
_WORDS_OF_LATE = {SurveyedState.WAITING: "held"}


def sections_of_overview(overview: FleetOverview) -> Iterator[Section]:
    """Yield the answers, in the order in which people ask."""
    yield _unwell(overview)
    yield _changes(overview)
    if overview.going_out:
        yield _going_out(overview)
    yield _waiting(overview)
    yield _survival(overview)
    yield _members(overview)
    yield Section(title="DELIVERY", before=tuple(_lines_of_deliveries(overview.deliveries)))


def head_of_overview(overview: FleetOverview) -> str:
    """Return what the overview is of, in a line or two."""
    branches, fleet = overview.branches, overview.branches.fleet
    newest = fleet.lag.ending_of_sentence(is_refused=branches.refusal is not None)
    when = f"as of {instant_text(overview.now)}: " if overview.is_past else ""
    text = f"{when}{fleet.branch} {fleet.previous.commit[:12]} holds source {fleet.previous.source[:12]}{newest}\n"
    if not branches.status_commit:
        return f"{text}nothing is recorded of the members{f': {branches.fetching}' if branches.fetching else ''}\n"
    recorded = epoch_text(branches.status_time)
    return f"{text}recorded {recorded}, {time_since_in_words(recorded, branches.now)} ago\n"


def _unwell(overview: FleetOverview) -> Section:
    found, now = overview.unwell, overview.branches.now
    others = _lines_of_other_states(overview)
    if not found.count:
        known = "everything that is known is well" if overview.is_well else "no object is known to be unwell"
        return Section(title="UNWELL", before=(known, *others))
    rows = [_row_of_unwell(each, now) for each in found.first[:_MOST_ROWS]]
    more = found.reasons - len(rows)
    section = section_with_table(
        "UNWELL",
        ("OBJECT", "CLUSTERS", "REASON", "FOR", "OWNER"),
        rows,
        before=(f"{counted_noun(found.count, 'object')} unwell",),
    )
    return replace(
        section, after=(*((f"and {counted_noun(more, 'more row')}: argosy status",) if more else ()), *others)
    )


def _lines_of_other_states(overview: FleetOverview) -> tuple[str, ...]:
    """Return how many objects are neither well nor unwell, and the command that lists them."""
    found = [(state, count) for state, count in overview.states.items() if state in _OTHER_STATES]
    return tuple(
        f"{_OTHER_STATES[state].format(objects=counted_noun(count, 'object'), verb='is' if count == 1 else 'are')}:"
        f" argosy list objects --state {state}"
        for state, count in found
    )


def _row_of_unwell(each: UnwellObject, now: float) -> tuple[str, ...]:
    where = first_few(each.clusters) if len(each.clusters) <= MOST_NAMED else f"{len(each.clusters)} clusters"
    return each.object, where or "-", each.reason, time_since_in_words(each.since, now) or "-", each.owner.name or "-"


def _changes(overview: FleetOverview) -> Section:
    found, is_current = overview.changes, overview.branches.fleet.lag.is_current
    unrendered = tuple(
        f"{each.info.id[:12]}, {each.info.subject!r}: {words_of_unrendered_commit(each, is_current=is_current)}"
        for each in overview.unrendered[:_MOST_ROWS]
    )
    if len(overview.unrendered) > _MOST_ROWS:
        unrendered += (f"and {len(overview.unrendered) - _MOST_ROWS} more source commits without a rendered one",)
    if not found:
        return Section(title="CHANGED IN 24 HOURS", before=("nothing was rendered", *unrendered))
    rows = [_row_of_change(each, overview.branches.now) for each in found[:_MOST_ROWS]]
    more = len(found) - len(rows)
    section = section_with_table(
        "CHANGED IN 24 HOURS",
        ("AGO", "RENDERED", "TOUCHED", "BY", "WHAT"),
        rows,
    )
    return replace(section, after=(*([f"and {more} more: argosy history"] if more else ()), *unrendered))


def words_of_unrendered_commit(each: UnrenderedCommit, *, is_current: bool) -> str:
    """Return what became of a source commit of which no rendered commit was made for itself."""
    if each.rendered:
        return f"nothing rendered for itself; it is in {each.rendered[:12]}"
    return "it asks for the same as what is rendered" if is_current else "not rendered yet"


def _row_of_change(each: RecentChange, now: float) -> tuple[str, ...]:
    touched = f"{counted_noun(each.objects, 'object')}, {counted_noun(each.clusters, 'cluster')}"
    what = each.subject if each.is_of_new_source else "the same source: facts, time or a wave"
    return (
        time_since_in_words(instant_text(each.at), now),
        each.commit[:12],
        "the first one" if each.is_first else touched,
        each.author.partition(" <")[0],
        what,
    )


def _going_out(overview: FleetOverview) -> Section:
    rows = [
        (
            state.name,
            state.change,
            str(state.phase),
            state.wave or "-",
            f"{len(state.given)}/{len(state.seats)}",
            time_since_in_words(instant_text(state.since), overview.branches.now),
        )
        for state in overview.going_out
    ]
    lines = tuple(f"{state.name}: {state.next_step}" for state in overview.going_out if state.next_step)
    return replace(
        section_with_table("GOING OUT", ("ROLLOUT", "CHANGE", "STATE", "WAVE", "GIVEN", "FOR"), rows), after=lines
    )


def _waiting(overview: FleetOverview) -> Section:
    if not overview.waiting:
        return Section(title="WAITS FOR A PERSON", before=("nothing",))
    lines = []
    for each in overview.waiting:
        age = time_since_in_words(each.since, overview.branches.now)
        lines.append(f"{each.kind} {each.subject}{f', for {age}' if age else ''}: {each.message}")
        lines += [f"  {words}" for words in (each.answer, each.command) if words]
    return Section(title="WAITS FOR A PERSON", before=tuple(lines))


def _survival(overview: FleetOverview) -> Section:
    lines = tuple(words_of_survival(each) for each in overview.survival)
    assumed = dict.fromkeys(words for each in overview.survival for words in (*each.assumptions, *each.cordoned))
    is_answered = any(each.asked_at and not each.reason for each in overview.survival)
    ideal = "if everything was placed anew at once; what really happens: argosy simulate --without-cluster NAME"
    return Section(title="COULD WE LOSE ONE", before=(*lines, *([ideal] if is_answered else ()), *assumed))


def words_of_survival(each: Survival) -> str:
    """Return whether any one cluster or region could be lost, in a line."""
    if each.reason:
        return f"any {each.by}: {each.reason}" if each.asked_at else f"any {each.by}: not asked: {each.reason}"
    if not each.breaking:
        silent = " if silent clusters run on" if each.assumptions else ""
        return f"any {each.by}: yes{silent}, none of {counted_noun(each.losses, 'loss', 'losses')} breaks anything"
    worst = each.worst[0]
    what = counted_noun(worst.objects, "object") if worst.objects else counted_noun(worst.overdrawn, "full cluster")
    first = f", such as {worst.first[0]}" if worst.first else ""
    return (
        f"any {each.by}: no, {each.breaking} of {counted_noun(each.losses, 'loss', 'losses')} would break something:"
        f" without {worst.name} {what}{first}"
    )


def _members(overview: FleetOverview) -> Section:
    members, now = overview.members, overview.branches.now
    if not overview.branches.is_applied_by_passes:
        text = f"{counted_noun(members.count, 'member')}; passes apply to none, and nothing is recorded of them"
        return Section(title="MEMBERS", before=(text,))
    rows = [
        (
            each.cluster,
            "silent" if each.is_silent else _WORDS_OF_LATE.get(each.state, "late"),
            each.reason,
            time_since_in_words(each.since, now) or "-",
        )
        for each in members.late[:_MOST_ROWS]
    ]
    lines = [
        f"drift in {each.cluster}: {counted_noun(each.count, 'object')} {each.reason}, such as {each.first[0]}"
        for each in members.drift[:_MOST_ROWS]
    ]
    more = len(members.late) - len(rows), len(members.drift) - len(lines)
    lines += [f"and {more[0]} more members" for _ in range(more[0] > 0)]
    lines += [f"and {more[1]} more kinds of drift" for _ in range(more[1] > 0)]
    total = f"{members.applied} of {counted_noun(members.count, 'member')} known to have what they are asked for"
    if not rows:
        return Section(title="MEMBERS", before=(total, *(lines or ["no drift is recorded"])))
    header = ("CLUSTER", "STATE", "REASON", "FOR")
    return replace(section_with_table("MEMBERS", header, rows, before=(total,)), after=tuple(lines))


def _lines_of_deliveries(found: Deliveries) -> Iterator[str]:
    """Yield how long changes take and how many fail, each with over how many, and how it is counted."""
    total = counted_noun(len(found.newest), "change")
    if found.median is None or found.ninetieth is None:
        yield f"lead time: not known: none of {total} is measured"
    else:
        median, ninetieth = age_in_words(found.median), age_in_words(found.ninetieth)
        yield f"lead time: median {median}, p90 {ninetieth}, over {len(found.lead_times)} of {total}"
    judged = len(found.judged)
    if judged:
        failed = len(found.failed)
        of = f"{failed} of {counted_noun(judged, 'change')} that could be judged"
        yield f"change-failure rate: {failed * 100 / judged:.0f} %, {of}"
    else:
        yield f"change-failure rate: not known: none of {total} could be judged yet"
    yield from (f"failed: {each.commit[:12]}: {each.failure}" for each in found.failed[:MOST_NAMED])
    if found.newest:
        yield f"lead time: {HOW_LEAD_TIME}"
        yield f"change-failure rate: {HOW_FAILURES}"
    if found.is_cut_off:
        yield "this clone has no earlier changes: git fetch --unshallow brings them"
