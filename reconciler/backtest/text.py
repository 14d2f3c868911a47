"""A backtest for people: sections that a terminal shows, and Markdown."""

import textwrap
from collections.abc import Iterable, Iterator
from datetime import timedelta

from reconciler.console.text import Section, section_with_table, sections_as_markdown, sections_for_terminal
from reconciler.repository.trailers import engine_version
from render.prices.amounts import shown_amount
from render.quantity import Amount, QuantityFormat, format_quantity
from render.timing import instant_text
from render.words import counted_noun, first_few

from .backtesting import Backtest
from .comparison import ComparedObject, compared_objects, compared_peaks

_SHORT = 12
_MOST_OBJECTS = 20
_MOST_PEAKS = 20
_MOST_REFUSALS = 3
_WIDTH = 78
_COMMAND = "git "
_BINARY = ("memory", "storage", "hugepages")


def backtest_text(backtest: Backtest, *, is_full: bool) -> Iterator[str]:
    """Yield a backtest as a terminal shows it; ``is_full``: every object and cluster."""
    return sections_for_terminal(_sections(backtest, is_full=is_full, width=_WIDTH))


def backtest_markdown(backtest: Backtest, *, is_full: bool) -> str:
    """Return a backtest as Markdown."""
    return sections_as_markdown(_sections(backtest, is_full=is_full, width=0))


def _sections(backtest: Backtest, *, is_full: bool, width: int) -> Iterator[Section]:
    """Yield what happened, the objects and clusters that it differs in, and how far that can be relied on."""
    yield _section_of_sums(backtest, width)
    if backtest.proposed:
        if objects := _section_of_objects(backtest, is_full=is_full):
            yield objects
        if peaks := _section_of_peaks(backtest, is_full=is_full):
            yield peaks
    sentences = list(_sentences_on_record(backtest))
    yield Section(title="How far this reaches", before=tuple(_wrapped(sentences, width)))


def _section_of_sums(backtest: Backtest, width: int) -> Section:
    really, replayed = backtest.replayed.truth, backtest.replayed.replay
    one, other = really.total, replayed.total
    within = words_of_duration(backtest.flap_within)
    rows = [
        ("replicas that moved", str(one.moved_replicas), str(other.moved_replicas)),
        ("evictions", str(one.evictions), str(other.evictions)),
        (f"flaps (back within {within})", str(one.flaps), str(other.flaps)),
        ("minutes that objects were unscheduled", minutes(one.unscheduled), minutes(other.unscheduled)),
        ("replica minutes in clusters not ready", minutes(really.down), minutes(replayed.down)),
        ("changes of the outcome", str(really.commits), str(replayed.commits)),
    ]
    if really.currency:
        costs = [f"{shown_amount(each.monthly_cost)}{'+' if each.unpriced else ''}" for each in (really, replayed)]
        rows.append((f"{really.currency} a month, on average", costs[0], costs[1]))
    begin, end = instant_text(backtest.past.begin), instant_text(backtest.past.end)
    return Section(
        title=f"Backtest from {begin} to {end}",
        before=tuple(_wrapped([_words_of_proposal(backtest)], width)),
        header=("WHAT", "REALLY", "REPLAYED"),
        rows=tuple(rows),
    )


def _words_of_proposal(backtest: Backtest) -> str:
    if backtest.proposed:
        return f"proposed: {first_few(backtest.proposed)}"
    total = len(backtest.past.rendered)
    if not total:
        return "nothing is proposed, and nothing was rendered in that time that could come out otherwise"
    if backtest.is_as_it_was:
        words = "it really was" if total == 1 else "they really were"
        return f"nothing is proposed; {counted_noun(total, 'rendered commit')} came out as {words}"
    return (
        f"nothing is proposed; {backtest.replayed.identical} of {counted_noun(total, 'rendered commit')} came out as"
        f" they really were, the first that did not is {backtest.replayed.first_difference[:_SHORT] or 'not replayed'}"
    )


def _section_of_objects(backtest: Backtest, *, is_full: bool) -> Section | None:
    found = compared_objects(backtest.replayed)
    shown = found if is_full else found[:_MOST_OBJECTS]
    if not found:
        return None
    section = section_with_table(
        "Objects that fare otherwise, as they really did and replayed",
        ("OBJECT", "MOVED", "EVICTED", "FLAPS", "UNSCHEDULED"),
        [_row_of_object(each) for each in shown],
    )
    return _with_rest(section, len(found) - len(shown))


def _row_of_object(each: ComparedObject) -> tuple[str, ...]:
    def both(of: str) -> str:
        one, other = getattr(each.really, of), getattr(each.replayed, of)
        return "" if one == other else f"{one} -> {other}"

    one, other = minutes(each.really.unscheduled), minutes(each.replayed.unscheduled)
    unscheduled = "" if one == other else f"{one} -> {other}"
    return str(each.ref), both("moved_replicas"), both("evictions"), both("flaps"), unscheduled


def _section_of_peaks(backtest: Backtest, *, is_full: bool) -> Section | None:
    found = [each for each in compared_peaks(backtest.replayed) if each.really != each.replayed]
    shown = found if is_full else found[:_MOST_PEAKS]
    if not found:
        return None
    rows = [
        (each.cluster, each.resource, quantity(each.resource, each.really), quantity(each.resource, each.replayed))
        for each in shown
    ]
    section = Section(
        title="Peak use that is another one",
        header=("CLUSTER", "REQUESTED", "REALLY", "REPLAYED"),
        rows=tuple(rows),
    )
    return _with_rest(section, len(found) - len(shown))


def _with_rest(section: Section, more: int) -> Section:
    after = (f"and {more} more; -v shows them",) if more else ()
    return Section(title=section.title, header=section.header, rows=section.rows, after=after)


def _sentences_on_record(backtest: Backtest) -> Iterator[str]:
    """Yield how far back the record goes, at which grain, who made it, and what was assumed."""
    past, replayed = backtest.past, backtest.replayed
    start = f"from {past.base.commit.id[:_SHORT]} on" if past.base else "from the first one on"
    if past.rendered:
        count = counted_noun(len(past.rendered), "rendered commit")
        yield f"{count} {start}; each of them is a pass that was done again."
    else:
        yield f"No commit was rendered {start}."
    if backtest.proposed:
        yield from _sentences_on_grain(backtest)
    yield from _sentences_on_costs(backtest)
    for version, commits in past.other_engines.items():
        yield (
            f"{counted_noun(len(commits), 'commit')} by engine {version}, the first is {commits[0][:_SHORT]}; engine"
            f" {engine_version()} replays them, and may come to something else than that one did."
        )
    for each in replayed.unread:
        yield f"{each.commit[:_SHORT]} is not replayed, for its source {each.source[:_SHORT]} is refused now."
    if past.is_cut_off:
        yield f"Earlier commits are not in this clone{'. What brings them:' if backtest.fetches else '.'}"
        yield from backtest.fetches


def _sentences_on_costs(backtest: Backtest) -> Iterator[str]:
    """Yield by which prices costs are told, and how many objects are in no sum."""
    really, replayed = backtest.replayed.truth, backtest.replayed.replay
    if not really.currency:
        return
    unpriced = len(really.unpriced | replayed.unpriced)
    rest = (
        f"; {counted_noun(unpriced, 'object')} of unknown cost, or without requests, are in no sum" if unpriced else ""
    )
    yield f"Costs are by the prices of the newest source of that time{rest}."


def _sentences_on_grain(backtest: Backtest) -> Iterator[str]:
    past, replayed = backtest.past, backtest.replayed
    if past.status_commits:
        yield (
            f"Between them {counted_noun(past.status_commits, 'commit')} of the status branch tell what was observed;"
            f" {counted_noun(replayed.looks + replayed.flips, 'pass', 'passes')} at such times, or when an answer"
            " flipped by itself, changed something in the replay."
        )
    else:
        yield (
            "The status branch has no commit of that time: what happened between two rendered commits is not known,"
            f" but for answers that flip by themselves ({counted_noun(replayed.flips, 'pass', 'passes')})."
        )
    commits = counted_noun(len(past.rendered), "rendered commit")
    places = f"After {replayed.same_places} of {commits} every object stood where it really did. Where one"
    yield (
        f"{places if past.rendered else 'Where an object'} stands elsewhere, it is taken for healthy a second after it"
        " came, while its cluster was ready; facts are those that were really observed, without what moved replicas"
        " would use."
    )
    if replayed.refused:
        times = first_few([instant_text(each.at) for each in replayed.refused], _MOST_REFUSALS)
        yield (
            f"The guards would have stopped {counted_noun(len(replayed.refused), 'pass', 'passes')} of the replay"
            f" ({times}); it goes on as if somebody had let them pass."
        )


def _wrapped(sentences: Iterable[str], width: int) -> Iterator[str]:
    """Yield sentences, each in lines of a width (0: on one line); commands keep to one line."""
    for each in sentences:
        if not width or each.startswith(_COMMAND):
            yield each
            continue
        wrapper = textwrap.TextWrapper(width=width, break_long_words=False, break_on_hyphens=False)
        yield from wrapper.wrap(each)


def minutes(seconds: float) -> str:
    """Return seconds as minutes, for people.

    >>> minutes(0), minutes(90), minutes(3600)
    ('0', '1.5', '60')
    """
    return f"{seconds / 60:.1f}".removesuffix(".0")


def words_of_duration(duration: timedelta) -> str:
    """Return a duration in its largest whole unit.

    >>> words_of_duration(timedelta(hours=1)), words_of_duration(timedelta(seconds=90))
    ('1h', '90s')
    """
    seconds = int(duration.total_seconds())
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60)):
        if seconds and seconds % size == 0:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def quantity(resource: str, amount: Amount) -> str:
    """Return an amount of a resource as Kubernetes writes it.

    >>> quantity("memory", 2**30), quantity("cpu", 2)
    ('1Gi', '2')
    """
    is_binary = resource.startswith(_BINARY)
    return format_quantity(amount, QuantityFormat.BINARY_SI if is_binary else QuantityFormat.DECIMAL_SI)
