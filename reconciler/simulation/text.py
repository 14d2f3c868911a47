"""A simulation for a terminal: what is supposed, what would move, and what is missing from when to when.

What is to be said of many objects alike is said once.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from textwrap import wrap

from reconciler.console.clock import age_in_words
from reconciler.console.cluster_lists import shortened_cluster_list
from reconciler.console.groups import counts_of_objects_by_kind, group_items
from reconciler.pipeline.decisions import clusters_of_pass
from reconciler.pipeline.movements import Movement, moved_words, movement_words
from render.model import ObjectRef
from render.timing import instant_text
from render.words import counted_noun, first_few

from .alterations import (
    Alteration,
    ChangedCapacity,
    CordonedClusters,
    LostClusters,
    ScaledObject,
    TaintedCluster,
    altered_clusters,
    lost_clusters,
)
from .assumptions import (
    words_of_clusters_supposed_as_they_are,
    words_of_cordoned_clusters,
    words_of_pass_before,
    words_of_silent_clusters,
    words_of_unseen_clusters,
)
from .costs import lines_of_simulated_costs
from .objects import Downtime, LostCopies, SimulatedObject
from .outcome import FactAge, SimulationOutcome
from .simulated_pass import SimulatedPass

_WIDTH = 80
_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


def simulation_text(outcome: SimulationOutcome, added: Sequence[str] = (), *, is_full: bool = False) -> Iterator[str]:
    """Yield the answer section by section; one without anything in it is left out. ``is_full``: each object alone.

    ``added`` are the files that are supposed to be in the source.
    """
    yield f"{summary_of_simulation(outcome)}\n"
    for title, lines in _sections(outcome, added, is_full=is_full):
        body = "".join(f"{part}\n" for line in lines for part in _lines_within_width(line))
        if body:
            yield f"\n{title}\n{body}"


def _lines_within_width(line: str) -> Iterator[str]:
    """Yield a line of a section, and what of it does not fit into its width on further ones, which are indented."""
    indent = " " * (2 + len(line) - len(line.lstrip()))
    yield from wrap(
        line.strip(),
        _WIDTH,
        initial_indent=indent,
        subsequent_indent=f"{indent}    ",
        break_long_words=False,
        break_on_hyphens=False,
    )


def summary_of_simulation(outcome: SimulationOutcome) -> str:
    """Return the answer in a line: what moves, what is missing and for how long, and what stops it."""
    moved = sum(movement.displaced_replicas for step in outcome.steps for movement in step.movements)
    down = [each for each in outcome.objects if each.down]
    lasting = [each for each in down if each.down[-1].until is None]
    unplaced = [each for each in outcome.objects if each.is_unplaced_ideally]
    gone = sum(each.has_no_copy_left for each in outcome.objects)
    parts = [
        f"{counted_noun(moved, 'replica')} {'moves' if moved == 1 else 'move'}" if moved else "nothing moves by itself",
        _words_of_shortage(len(down), len(lasting)),
        f"{counted_noun(gone, 'object')} {'has' if gone == 1 else 'have'} no copy left" if gone else "",
        f"{counted_noun(len(unplaced), 'object')} {'finds' if len(unplaced) == 1 else 'find'} no place"
        if unplaced
        else "",
        "a guard refuses" if outcome.refusal else "",
    ]
    return ", ".join(filter(None, parts))


def _words_of_shortage(count: int, lasting: int) -> str:
    """Return how many objects are short of replicas, and how many of them to the end."""
    if not count:
        return ""
    of_them = " to the end" if lasting == count else f", {lasting} of them to the end" if lasting else " for a while"
    return f"{counted_noun(count, 'object')} {'is' if count == 1 else 'are'} short of replicas{of_them}"


def _sections(
    outcome: SimulationOutcome, added: Sequence[str], *, is_full: bool
) -> Iterator[tuple[str, Iterable[str]]]:
    simulation = outcome.simulation
    yield "SUPPOSED", supposed_words(simulation.alterations, added)
    yield "PLACED ANEW", _movement_lines(outcome.ideal, is_full=is_full)
    yield "BY ITSELF", _lines_of_steps(outcome, is_full=is_full)
    yield "SHORT OF REPLICAS", _lines_of_downtimes(outcome, is_full=is_full)
    yield "NO COPY LEFT", _lines_of_lost_objects(outcome, is_full=is_full)
    yield "LOST COPIES", _lines_of_lost_copies(outcome, is_full=is_full)
    yield "NO PLACE", _lines_of_unplaced(outcome, is_full=is_full)
    yield "QUOTAS", _lines_of_quotas(outcome, is_full=is_full)
    yield "COST", lines_of_simulated_costs(simulation)
    yield "REFUSED", _lines_of_refusal(outcome)
    yield "FACTS", lines_of_facts(outcome.facts, outcome.simulation.base.at)
    yield "ASSUMED", assumptions_of_simulation(outcome)


def supposed_words(alterations: Iterable[Alteration], added: Iterable[str]) -> tuple[str, ...]:
    """Return what is supposed, with the files that are supposed to be in the source, in words."""
    return (*map(alteration_words, alterations), *(f"{path} is in the source" for path in added))


def alteration_words(alteration: Alteration) -> str:
    """Return what is supposed, in words."""
    match alteration:
        case LostClusters(names=names):
            listed = shortened_cluster_list(sorted(names), ", ")
            return f"{listed} {'does' if len(names) == 1 else 'do'} not answer"
        case CordonedClusters(names=names):
            return f"{shortened_cluster_list(sorted(names), ', ')} {'is' if len(names) == 1 else 'are'} cordoned"
        case TaintedCluster(name=name, taint=taint):
            return f"{name} has the taint {taint}"
        case ChangedCapacity(name=name, resources=resources):
            return (
                f"{name} has {', '.join(f'{resource} {amount}' for resource, amount in resources.items())} to allocate"
            )
        case ScaledObject(ref=ref, replicas=replicas):
            return f"{ref} has {counted_noun(replicas, 'replica')}"


def _movement_lines(movements: Iterable[Movement], *, is_full: bool) -> Iterator[str]:
    def said(movement: Movement) -> tuple[object, ...]:
        return movement.before, movement.after, moved_words(movement), movement_words(movement)

    for group in group_items(movements, said, is_full=is_full):
        each, refs = group[0], [movement.ref for movement in group]
        word = "replica" if each.before == each.after == 1 else "replicas"
        counts = str(each.after) if each.before == each.after else f"{each.before} -> {each.after}"
        yield f"{_objects(refs)}: {counts} {word}, {moved_words(each)}{' each' if len(refs) > 1 else ''}"
        yield f"    {movement_words(each, is_full=is_full)}"


def _objects(refs: Sequence[ObjectRef]) -> str:
    return str(refs[0]) if len(refs) == 1 else f"{len(refs)} objects ({counts_of_objects_by_kind(refs)})"


def _lines_of_steps(outcome: SimulationOutcome, *, is_full: bool) -> Iterator[str]:
    start = outcome.simulation.base.at
    for step in outcome.steps:
        yield f"after {duration_in_words(start, step.at)}, at {instant_text(step.at)}"
        yield from (f"  {line}" for line in _movement_lines(step.movements, is_full=is_full))
    yield from (f"! {note}" for note in outcome.notes)
    if (flip := outcome.next_flip) is not None:
        later = duration_in_words(start, flip.at)
        yield f"later than is looked ahead, after {later}: {flip.what}"


def duration_in_words(since: datetime, until: datetime) -> str:
    """Return how long it is from one time to another, in its two largest units.

    >>> from datetime import UTC, timedelta
    >>> start = datetime(2026, 3, 1, tzinfo=UTC)
    >>> duration_in_words(start, start), duration_in_words(start, start + timedelta(minutes=5, seconds=1))
    ('0s', '5m1s')
    """
    rest, parts = max(0, int((until - since).total_seconds())), []
    for size, unit in _UNITS:
        count, rest = divmod(rest, size)
        if count:
            parts.append(f"{count}{unit}")
    return "".join(parts[:2]) or "0s"


def _lines_of_downtimes(outcome: SimulationOutcome, *, is_full: bool) -> Iterator[str]:
    def said(each: SimulatedObject) -> tuple[object, ...]:
        return each.asked, each.down

    concerned = (each for each in outcome.objects if each.down)
    for group in group_items(concerned, said, is_full=is_full):
        each = group[0]
        mark = "! " if each.down[-1].until is None else ""
        yield f"{mark}{_objects([one.ref for one in group])}{' each' if len(group) > 1 else ''}:"
        yield from (f"    {_downtime_words(down, each.asked, outcome)}" for down in each.down)


def _downtime_words(down: Downtime, asked: int, outcome: SimulationOutcome) -> str:
    what = f"{down.replicas} of {counted_noun(max(asked, down.replicas), 'replica')}"
    since = instant_text(down.since)
    if down.until is None:
        is_open = outcome.next_flip is not None
        end = instant_text(outcome.simulation.horizon)
        return f"{what} from {since} {f'to {end} at least' if is_open else 'until somebody acts'}"
    return f"{what} from {since} to {instant_text(down.until)} ({duration_in_words(down.since, down.until)})"


def _lines_of_lost_objects(outcome: SimulationOutcome, *, is_full: bool) -> Iterator[str]:
    concerned = ((each.ref, _words_of_lost_object(each)) for each in outcome.objects if each.has_no_copy_left)
    for group in group_items(concerned, lambda pair: pair[1], is_full=is_full):
        yield f"! {_objects([ref for ref, _ in group])}: {group[0][1]}"


def _words_of_lost_object(each: SimulatedObject) -> str:
    names = shortened_cluster_list(sorted(each.after), ", ")
    place = f"is nowhere but in {names}" if each.after else "is in no cluster"
    return f"{place}: {each.reason}" if each.reason else place


def _lines_of_lost_copies(outcome: SimulationOutcome, *, is_full: bool) -> Iterator[str]:
    concerned = ((each.ref, each.lost) for each in outcome.objects if each.lost is not None)
    for group in group_items(concerned, lambda pair: lost_words(pair[1]), is_full=is_full):
        yield f"{_objects([ref for ref, _ in group])}: {lost_words(group[0][1])}"


def lost_words(lost: LostCopies) -> str:
    """Return what is lost of an object, and where it goes on."""
    copies = [f"{name} ({counted_noun(count, 'replica')})" if count else name for name, count in lost.clusters.items()]
    state = f", with {lost.state}" if lost.state else ""
    goes_on = f"goes on in {shortened_cluster_list(lost.remaining, ', ')}" if lost.remaining else "is nowhere else"
    return f"lost in {first_few(copies)}{state}; {goes_on}"


def _lines_of_unplaced(outcome: SimulationOutcome, *, is_full: bool) -> Iterator[str]:
    concerned = (each for each in outcome.objects if each.is_unplaced_ideally)
    for group in group_items(concerned, _unplaced_words, is_full=is_full):
        yield f"! {_objects([each.ref for each in group])}: {_unplaced_words(group[0])}"


def _unplaced_words(each: SimulatedObject) -> str:
    what = (
        f"no place for {each.missing_ideally} of {counted_noun(each.asked, 'replica')}"
        if each.missing_ideally and each.asked
        else "no cluster takes it"
    )
    return f"{what}: {each.reason_ideally}" if each.reason_ideally else what


def _lines_of_quotas(outcome: SimulationOutcome, *, is_full: bool) -> Iterator[str]:
    concerned = (each for each in outcome.objects if each.is_stopped_by_quota)
    for group in group_items(concerned, lambda each: each.reason or each.reason_ideally, is_full=is_full):
        why = group[0].reason or group[0].reason_ideally
        yield f"! {_objects([each.ref for each in group])}: {why or 'a quota does not let it grow'}"


def _lines_of_refusal(outcome: SimulationOutcome) -> Iterator[str]:
    error, at = outcome.refusal, outcome.refused_at
    if error is None or at is None:
        return
    yield f"at {instant_text(at)}, and nothing goes on until it is allowed:"
    yield from (f"  {line}" for line in error.message.split("\n"))
    if error.hint:
        yield from f"  hint: {error.hint}".split("\n")


def lines_of_facts(facts: Iterable[FactAge], now: datetime) -> Iterator[str]:
    """Yield how old the facts are, which clusters share the age of, the oldest first."""
    groups: dict[tuple[str, bool], list[FactAge]] = {}
    for each in sorted(facts, key=lambda each: (each.observed_at, each.cluster)):
        groups.setdefault((each.observed_at, each.has_capacity), []).append(each)
    for (observed_at, has_capacity), found in groups.items():
        seconds = found[0].seconds
        seen = (
            f"seen at {observed_at}, {age_in_words(seconds)} before"
            if seconds is not None
            else "nobody says when it was seen"
        )
        capacity = "" if has_capacity else ", and its capacity is unknown"
        if len(found) > 1:
            capacity = capacity.replace("its", "their")
            seen = seen.replace("it was", "they were")
        yield f"{shortened_cluster_list([each.cluster for each in found], ', ')}: {seen}{capacity}"
    yield f"as of {instant_text(now)}"


def assumptions_of_simulation(outcome: SimulationOutcome) -> tuple[str, ...]:
    """Return what the answer takes for granted, because no pass can know it."""
    lost, said = lost_clusters(outcome.simulation.alterations), list[str]()
    base = outcome.simulation.base
    inputs = base.inputs
    said += words_of_pass_before(inputs.previous, inputs.source)
    if lost:
        said += words_of_unseen_clusters(outcome.facts, inputs.facts, lost)
        is_one = len(lost) == 1
        said.append(
            f"{'it is' if is_one else 'they are'} known not to be ready from the beginning on, as after 30 s of silence"
        )
    said += _words_of_unwell_clusters(base, outcome.simulation.alterations)
    if outcome.steps or outcome.ideal:
        said.append("clusters apply at once what they are given, and it is healthy a second later")
    return tuple(said)


def _words_of_unwell_clusters(base: SimulatedPass, alterations: Sequence[Alteration]) -> Iterator[str]:
    """Yield how clusters count that are silent or cordoned before anything is supposed."""
    lost, facts = lost_clusters(alterations), base.inputs.facts
    cordoned = altered_clusters(each for each in alterations if isinstance(each, CordonedClusters))
    clusters, placed = clusters_of_pass(base.inputs)[0].clusters, base.bindings.values()
    yield from words_of_clusters_supposed_as_they_are(clusters, lost, cordoned, facts)
    left = [each for each in clusters if each.name not in lost]
    yield from words_of_silent_clusters(left, placed, facts)
    yield from words_of_cordoned_clusters([each for each in left if each.name not in cordoned], placed)
