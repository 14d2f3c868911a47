"""The backtest of a PolicyTest: the time that it is about, and what is expected of a replay of it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from msgspec import Struct

from render.admission.policy_tests import BACKTEST_COUNTS
from render.timing import parse_duration, parse_instant


class ExpectedCount(Struct, frozen=True, kw_only=True):
    """The limits of a count of a replay, by the name of its field; None: there is no such limit."""

    name: str
    at_most: int | None = None
    at_least: int | None = None
    is_limited_by_reality: bool = False


class ExpectedBacktest(Struct, frozen=True, kw_only=True):
    """A backtest that a test asks for: ``since`` a time, or so long before ``until`` (None: the time of the run).

    ``flap_within`` is how soon coming back to a cluster is a flap (None: as soon as everywhere). ``is_as_it_was``: each
    rendered commit comes out as it really was, or not all of them do; None expects neither.
    """

    since: datetime | timedelta
    until: datetime | None = None
    flap_within: timedelta | None = None
    is_as_it_was: bool | None = None
    counts: tuple[ExpectedCount, ...] = ()


def parse_expected_backtest(spec: Mapping[str, Any] | None) -> ExpectedBacktest | None:
    """Read an admitted backtest of a test; admission has refused times that are none."""
    since = None if spec is None else parse_instant(spec["since"]) or parse_duration(spec["since"])
    if spec is None or since is None:
        return None
    expected = spec["expect"]
    return ExpectedBacktest(
        since=since,
        until=parse_instant(spec.get("until") or ""),
        flap_within=parse_duration(spec.get("flapWithin") or ""),
        is_as_it_was=expected.get("asItWas"),
        counts=tuple(
            ExpectedCount(
                name=name,
                at_most=expected[name].get("atMost"),
                at_least=expected[name].get("atLeast"),
                is_limited_by_reality=bool(expected[name].get("noMoreThanReally")),
            )
            for name in BACKTEST_COUNTS
            if name in expected
        ),
    )
