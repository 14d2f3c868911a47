"""The outcome of every loss for people: a table of the losses, and what breaks, as sections; and as cases of JUnit.

What is to be said of many objects or losses alike is said once. Losses that break nothing are told in a line where
there are many of them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from fractions import Fraction

from msgspec import Struct

from reconciler.console.cluster_lists import shortened_cluster_list
from reconciler.console.groups import counts_of_objects_by_kind, group_items
from reconciler.console.junit import JUnitCase, JUnitSuite
from reconciler.console.text import Section, section_with_table
from render.model import ObjectRef
from render.placement import SpreadField
from render.prices.amounts import shown_amount
from render.prices.changes import CostOfChange
from render.quantity import QuantityFormat, format_quantity
from render.resilience.losses import Loss, words_of_clusters_never_lost
from render.scheduling.requests import CPU
from render.words import counted_noun

from .loss_outcomes import Amounts, BrokenObject, LossOutcome
from .outcome import FactAge
from .text import lines_of_facts

_MANY = 20
"""The most losses that stand in the table though they break nothing."""
_MOST_LINES = 50
_BINARY = frozenset({"memory", "ephemeral-storage", "storage"})
_HEADER = ("LOSS", "CLUSTERS", "OBJECTS", "REPLICAS", "MOVED", "BROKEN", "MISSING", "COPIES", "STATEFUL")


class LossReport(Struct, frozen=True, kw_only=True):
    """Every loss of so many domains of a kind, at a time; ``is_full``: each loss and each object for itself.

    ``never_lost`` are the clusters that are in no domain of the kind, ``currency`` is that of prices ("": none are).
    """

    by: SpreadField
    count: int
    outcomes: tuple[LossOutcome, ...]
    never_lost: tuple[str, ...] = ()
    supposed: tuple[str, ...]
    facts: tuple[FactAge, ...]
    now: datetime
    assumptions: tuple[str, ...] = ()
    currency: str = ""
    is_full: bool = False

    @property
    def lost_at_once(self) -> int:
        """The number of domains that each loss takes: all there are, where these are fewer than was asked for."""
        return min((len(each.loss.names) for each in self.outcomes), default=self.count)

    @property
    def breaking(self) -> tuple[LossOutcome, ...]:
        """The losses that break something."""
        return tuple(each for each in self.outcomes if not each.is_survived)


def summary_of_losses(report: LossReport) -> str:
    """Return the answer in a line."""
    what, total = _words_of_loss(report), counted_noun(len(report.outcomes), "loss", "losses")
    known = report.lost_at_once
    few = f"; the source has {counted_noun(known, str(report.by))} in all" if known < report.count else ""
    if not report.breaking:
        return f"no loss of {what} breaks anything ({total}){few}"
    verb = "breaks" if len(report.breaking) == 1 else "break"
    return f"{len(report.breaking)} of {total} of {what} {verb} something{few}"


def _words_of_loss(report: LossReport) -> str:
    return f"one {report.by}" if report.lost_at_once == 1 else f"{report.lost_at_once} {report.by}s"


def sections_of_losses(report: LossReport) -> Iterator[Section]:
    """Yield the answer section by section; one without anything in it is left out."""
    if report.supposed:
        yield Section(title="SUPPOSED", before=report.supposed)
    yield _table_of_losses(report)
    if report.never_lost:
        yield Section(title="NEVER LOST", before=(words_of_clusters_never_lost(report.never_lost, report.by),))
    for title, lines in (
        ("WHAT BREAKS", _lines_of_broken(report)),
        ("OVERDRAWN", _lines_of_overdrawn(report)),
        ("LEFT BEHIND", _lines_of_state(report)),
        ("LOST COPIES", _lines_of_copies(report)),
        ("FACTS", lines_of_facts(report.facts, report.now)),
        ("ASSUMED", report.assumptions),
    ):
        if found := tuple(lines):
            yield Section(title=title, before=found if report.is_full else _first_lines(found))


def name_of_loss(loss: Loss) -> str:
    """Return the names of what is lost together.

    >>> name_of_loss(Loss(field=SpreadField.ZONE, names=("a", "b"), clusters=frozenset()))
    'a + b'
    """
    return " + ".join(loss.names)


def _first_lines(lines: tuple[str, ...]) -> tuple[str, ...]:
    """Return as many lines as people read, and how many there are beside these."""
    rest = len(lines) - _MOST_LINES
    return lines if rest <= 1 else (*lines[:_MOST_LINES], f"and {rest} more (-v: each of them)")


def _table_of_losses(report: LossReport) -> Section:
    harmless = [each for each in report.outcomes if each.is_survived]
    is_short = len(harmless) > _MANY and not report.is_full
    shown = report.breaking if is_short else report.outcomes
    header = (*_HEADER, f"{report.currency} A MONTH") if report.currency else _HEADER
    section = section_with_table("LOSSES", header, [_row(each, report) for each in shown])
    if not is_short:
        return section
    most = max(each.moved for each in harmless)
    others = counted_noun(len(harmless), "other loss" if shown else "loss", "other losses" if shown else "losses")
    verb = "breaks" if len(harmless) == 1 else "break"
    moved = f"; at most {counted_noun(most, 'replica')} move" if most else ""
    rest = (f"{others} {verb} nothing{moved} (-v: each of them)",)
    return Section(title=section.title, header=section.header, rows=section.rows, after=rest)


def _row(each: LossOutcome, report: LossReport) -> tuple[str, ...]:
    is_one = report.by is SpreadField.CLUSTER and report.count == 1
    numbers = (each.objects, each.replicas, each.moved, len(each.broken))
    return (
        name_of_loss(each.loss),
        "" if is_one else str(len(each.loss.clusters)),
        *map(str, numbers),
        words_of_amounts(each.missing_capacity),
        *(str(len(found) or "") for found in (each.copies, each.stateful)),
        *([words_of_cost(each.cost)] if report.currency and each.cost is not None else ()),
    )


def words_of_cost(cost: CostOfChange) -> str:
    """Return by how much a month costs more, and that something in it is unknown.

    >>> words_of_cost(CostOfChange(is_unknown=True))
    '0.00 and unknown'
    """
    return f"{shown_amount(cost.amount, is_signed=True)}{' and unknown' if cost.is_unknown else ''}"


def words_of_amounts(amounts: Amounts) -> str:
    """Return amounts by resource as Kubernetes writes them.

    >>> words_of_amounts({"cpu": 1500, "memory": 2**30, "pods": 3})
    'cpu 1500m, memory 1Gi, pods 3'
    """
    return ", ".join(f"{name} {quantity}" for name, quantity in quantities_of_amounts(amounts).items())


def quantities_of_amounts(amounts: Amounts) -> dict[str, str]:
    """Return amounts in the units that capacity is compared in as quantities."""
    return {
        name: format_quantity(
            Fraction(amount, 1000) if name == CPU else amount,
            QuantityFormat.BINARY_SI if name in _BINARY else QuantityFormat.DECIMAL_SI,
        )
        for name, amount in amounts.items()
    }


def _lines_of_broken(report: LossReport) -> Iterator[str]:
    for outcome in report.breaking:
        for group in group_items(outcome.broken, words_of_broken, is_full=report.is_full):
            yield f"{name_of_loss(outcome.loss)}: {_objects([each.ref for each in group])}: {words_of_broken(group[0])}"


def words_of_broken(each: BrokenObject) -> str:
    """Return what has no place of an object, and why."""
    what = (
        f"no place for {each.missing} of {counted_noun(each.asked, 'replica')}"
        if each.missing
        else "no cluster has it any more"
    )
    return f"{what}: {each.reason}" if each.reason else what


def _objects(refs: Sequence[ObjectRef]) -> str:
    return str(refs[0]) if len(refs) == 1 else f"{len(refs)} objects ({counts_of_objects_by_kind(refs)})"


def _lines_of_overdrawn(report: LossReport) -> Iterator[str]:
    for outcome in report.breaking:
        pairs = outcome.overdrawn.items()
        for group in group_items(pairs, lambda pair: words_of_amounts(pair[1]), is_full=report.is_full):
            names = shortened_cluster_list([name for name, _ in group], ", ")
            amounts = words_of_amounts(group[0][1])
            more = f"{amounts} more than there is{' in each' if len(group) > 1 else ''}"
            yield f"{name_of_loss(outcome.loss)}: {names}: {more}"


def _lines_of_state(report: LossReport) -> Iterator[str]:
    lost = _losses_by_object((each, each.stateful) for each in report.outcomes)
    words = {ref: state for each in report.outcomes for ref, state in each.stateful.items()}
    pairs = [(ref, words[ref], losses) for ref, losses in lost.items()]
    for group in group_items(pairs, lambda found: found[1:], is_full=report.is_full):
        refs = [ref for ref, _, _ in group]
        yield f"{_objects(refs)}: {group[0][1]} in {_named_losses(group[0][2], report)}"


def _lines_of_copies(report: LossReport) -> Iterator[str]:
    lost = _losses_by_object((each, each.copies) for each in report.outcomes)
    for group in group_items(lost.items(), lambda pair: pair[1], is_full=report.is_full):
        refs = [ref for ref, _ in group]
        verb = "loses" if len(refs) == 1 else "lose"
        yield f"{_objects(refs)}: {verb} a copy with {_named_losses(group[0][1], report)}, and others go on"


def _losses_by_object(
    found: Iterable[tuple[LossOutcome, Iterable[ObjectRef]]],
) -> Mapping[ObjectRef, tuple[str, ...]]:
    names: dict[ObjectRef, list[str]] = {}
    for outcome, refs in found:
        for ref in refs:
            names.setdefault(ref, []).append(name_of_loss(outcome.loss))
    return {ref: tuple(names[ref]) for ref in sorted(names)}


def _named_losses(names: Sequence[str], report: LossReport) -> str:
    if len(names) == len(report.outcomes) > 1:
        return f"any of {len(names)}"
    return shortened_cluster_list(names, ", ")


def suite_of_losses(report: LossReport) -> JUnitSuite:
    """Return a case for each loss, which fails where it breaks something, and one for each cluster that none takes."""
    why = f"no {report.by} is known of it, so no loss of a {report.by} takes what is there"
    lines = [*report.supposed, *lines_of_facts(report.facts, report.now), *report.assumptions]
    return JUnitSuite(
        name=f"loss of {_words_of_loss(report)}",
        cases=(
            *(_case_of_loss(each, report) for each in report.outcomes),
            *(JUnitCase(name=name, skipped=why) for name in report.never_lost),
        ),
        output="\n".join(lines),
    )


def _case_of_loss(each: LossOutcome, report: LossReport) -> JUnitCase:
    broken = [f"{one.ref}: {words_of_broken(one)}" for one in each.broken]
    overdrawn = [f"{name}: {words_of_amounts(amounts)} more than it has" for name, amounts in each.overdrawn.items()]
    parts = (
        f"{counted_noun(len(each.broken), 'object')} without a place" if each.broken else "",
        f"{counted_noun(len(each.overdrawn), 'cluster')} overdrawn" if each.overdrawn else "",
        f"missing: {words_of_amounts(each.missing_capacity)}" if each.missing_capacity else "",
    )
    return JUnitCase(
        name=name_of_loss(each.loss),
        failure=", ".join(filter(None, parts)) if not each.is_survived else "",
        detail="\n".join((*broken, *overdrawn)),
        output="\n".join(_lines_on_what_was_there(each, report)),
    )


def _lines_on_what_was_there(each: LossOutcome, report: LossReport) -> Iterator[str]:
    """Yield what becomes of all that a loss takes: how much moves, what goes on elsewhere, and what stays behind."""
    yield f"{counted_noun(each.objects, 'object')} there, {counted_noun(each.moved, 'replica')} placed elsewhere"
    yield from (f"{ref}: loses a copy, and others go on" for ref in each.copies)
    yield from (f"{ref}: {state} left behind" for ref, state in each.stateful.items())
    if report.currency and each.cost is not None:
        yield f"{words_of_cost(each.cost)} {report.currency} a month"
