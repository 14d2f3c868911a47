"""A backtest that a PolicyTest asks for, compared with what it expects; who replays the past is handed in."""

import math
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct, field

from reconciler.source.desired import Desired
from reconciler.source.expected_backtests import ExpectedBacktest, ExpectedCount
from reconciler.source.policy_tests import PolicyTest
from render.timing import instant_text
from render.words import counted_noun

from .fields import WITHHELD, Mismatch

_SHORT = 12
_PATH = "spec.backtest"
_WORDS: Mapping[str, str] = {
    "movedReplicas": "replicas that moved",
    "evictions": "evictions",
    "flaps": "flaps",
    "unscheduledMinutes": "minutes unscheduled",
    "replicaMinutesNotReady": "replica minutes in clusters not ready",
}


class BacktestFindings(Struct, frozen=True, kw_only=True):
    """The findings of a backtest: its time, its rendered commits, and the sums over all objects by name.

    ``identical`` of the rendered commits came out as they really were. ``faults`` are the reasons why not all of the
    time that was asked about is replayed: then nothing is said of it. Nothing was replayed where ``since`` is None.
    """

    since: datetime | None = None
    until: datetime | None = None
    rendered: int = 0
    identical: int = 0
    first_difference: str = ""
    really: Mapping[str, float] = field(default_factory=dict)
    replayed: Mapping[str, float] = field(default_factory=dict)
    faults: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """The time, the rendered commits and the sums that are not zero, on one line."""
        if self.since is None or self.until is None:
            return "backtest: nothing is replayed"
        pairs = ((words, self.really[name], self.replayed[name]) for name, words in _WORDS.items())
        sums = [f"{words} {_number(one)} -> {_number(other)}" for words, one, other in pairs if one or other]
        return (
            f"backtest from {instant_text(self.since)} to {instant_text(self.until)}: {self.identical} of"
            f" {counted_noun(self.rendered, 'rendered commit')} as really; {', '.join(sums) or 'nothing moved'}"
        )


BacktestOfTest = Callable[[PolicyTest, Desired], BacktestFindings]
"""A function that replays the past that a test is about, with the policies and settings of a source."""


def findings_without_a_past(_test: PolicyTest, _desired: Desired) -> BacktestFindings:
    """Return the findings where there is no repository whose past could be replayed."""
    return BacktestFindings(faults=("there is no past here that could be replayed",))


def mismatches_of_backtest(expected: ExpectedBacktest, found: BacktestFindings) -> Iterator[Mismatch]:
    """Yield what a backtest found otherwise than expected; where not all is replayed, only the reasons."""
    for fault in found.faults:
        yield Mismatch(field=f"{_PATH}.since", message=fault, got=WITHHELD)
    if found.faults:
        return
    if expected.is_as_it_was is not None:
        yield from _mismatches_of_likeness(found, is_expected=expected.is_as_it_was)
    for count in expected.counts:
        yield from _mismatches_of_count(count, found)


def _mismatches_of_likeness(found: BacktestFindings, *, is_expected: bool) -> Iterator[Mismatch]:
    path = f"{_PATH}.expect.asItWas"
    if not found.rendered:
        message = "nothing was rendered in that time that could come out as it was"
        yield Mismatch(field=path, message=message, got=WITHHELD)
        return
    is_so = found.identical == found.rendered
    if is_so == is_expected:
        return
    of = f"{found.identical} of {counted_noun(found.rendered, 'rendered commit')}"
    message = f"want one that comes out otherwise, got {of} as really"
    if is_expected:
        first = f"; the first that is not is {found.first_difference[:_SHORT]}" if found.first_difference else ""
        message = f"want all as they really were, got {of}{first}"
    yield Mismatch(field=path, message=message, got=is_so)


def _mismatches_of_count(count: ExpectedCount, found: BacktestFindings) -> Iterator[Mismatch]:
    path = f"{_PATH}.expect.{count.name}"
    got, really = found.replayed[count.name], found.really[count.name]
    words = f"got {_number(got)}, really {_number(really)}"
    if count.at_most is not None and got > count.at_most:
        yield Mismatch(field=f"{path}.atMost", message=f"want at most {count.at_most}, {words}", got=math.ceil(got))
    if count.at_least is not None and got < count.at_least:
        yield Mismatch(field=f"{path}.atLeast", message=f"want at least {count.at_least}, {words}", got=math.floor(got))
    if count.is_limited_by_reality and got > really:
        message = f"want no more than there really were, {words}"
        yield Mismatch(field=f"{path}.noMoreThanReally", message=message, got=WITHHELD)


def _number(value: float) -> str:
    """Return a count without a fraction that says nothing.

    >>> _number(3.0), _number(1.5)
    ('3', '1.5')
    """
    return f"{value:.1f}".removesuffix(".0")
