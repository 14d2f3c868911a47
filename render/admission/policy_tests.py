"""PolicyTest of argosy.dev/v1alpha1: its schema, and the rules for the fields it expects."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from render.patterns import UnusablePattern, check_pattern, pattern_of_partial_match
from render.syntax import quoted_text
from render.timing import parse_duration, parse_instant

from .findings import Findings
from .resilience import SURVIVED_LOSS
from .rollouts import CONTROL_SPEC
from .schema import INT32, Anything, Flag, ListOf, MapOf, Record, Text, Whole
from .shared_schema import TEXT, TEXTS

BACKTEST_COUNTS = ("movedReplicas", "evictions", "flaps", "unscheduledMinutes", "replicaMinutesNotReady")
"""The counts of a backtest that a test may limit."""
_COUNT = Record(
    {
        "atMost": Whole(INT32, minimum=0, keep=True),
        "atLeast": Whole(INT32, minimum=0, keep=True),
        "noMoreThanReally": Flag(),
    }
)

POLICY_TEST_SPEC = Record(
    {
        "given": Record(
            {
                "clusters": ListOf(Anything()),
                "templates": ListOf(Anything()),
                "withoutClusters": TEXTS,
                "argosy": Anything(),
                "now": TEXT,
                "since": TEXT,
                "changes": ListOf(
                    Record(
                        {
                            "at!": TEXT,
                            "clusters": ListOf(Anything()),
                            "templates": ListOf(Anything()),
                            "withoutClusters": TEXTS,
                        }
                    )
                ),
                "controls": ListOf(
                    Record(
                        {
                            "at!": TEXT,
                            "verb!": CONTROL_SPEC.fields["verb!"],
                            "policy!": TEXT,
                            "wave": TEXT,
                            "by": TEXT,
                        }
                    )
                ),
                "notReady": MapOf(TEXT),
                "reporting": TEXTS,
                "unhealthy": MapOf(TEXT),
                "notMet": MapOf(TEXT),
                "notLookedAt": MapOf(TEXT),
                "unschedulable": ListOf(
                    Record({"cluster!": TEXT, "since!": TEXT, "ready": Whole(INT32, minimum=0, keep=True)})
                ),
            }
        ),
        "backtest": Record(
            {
                "since!": TEXT,
                "until": TEXT,
                "flapWithin": TEXT,
                "expect!": Record({"asItWas": Flag(keep=True), **dict.fromkeys(BACKTEST_COUNTS, _COUNT)}),
            }
        ),
        "expect": ListOf(
            Record(
                {
                    "kind!": Text(min_length=1),
                    "group": TEXT,
                    "namespace": TEXT,
                    "name!": Text(min_length=1),
                    "at": TEXT,
                    "policy": TEXT,
                    "absent": Flag(),
                    "clusters": TEXTS,
                    "notIn": TEXTS,
                    "replicas": MapOf(Whole(INT32, minimum=0, keep=True)),
                    "refused": MapOf(TEXT),
                    "reason": TEXT,
                    "message": TEXT,
                    "messageMatches": TEXT,
                    "survives": ListOf(SURVIVED_LOSS),
                    "doesNotSurvive": ListOf(SURVIVED_LOSS),
                    "fields": ListOf(
                        Record({"cluster!": TEXT, "path!": TEXT, "value": Anything(), "absent": Flag(keep=True)})
                    ),
                }
            ),
            min_items=1,
        ),
    }
)


_SINCE_WHEN = ("notReady", "unhealthy", "notMet", "notLookedAt")
"""Names with the time since when something is so."""
_SOMEWHERE = ("clusters", "notIn", "replicas", "fields", "survives", "doesNotSurvive")
"""Expectations of an object that goes somewhere."""


def check_policy_test(test: dict[str, Any], findings: Findings) -> None:
    """Report paths that are no JSON pointers, patterns that are none, and expectations that exclude each other."""
    spec = test["spec"]
    given = spec.get("given") or {}
    _check_times_of_test(given, findings)
    if spec.get("backtest") is not None:
        _check_backtest(spec["backtest"], findings)
    _check_that_something_is_expected(spec, given, findings)
    for number, expectation in enumerate(spec.get("expect") or ()):
        here = f"spec.expect[{number}]"
        _check_time_of_expectation(expectation.get("at") or "", given, f"{here}.at", findings)
        if expectation.get("absent") and (others := [each for each in _SOMEWHERE if expectation.get(each)]):
            hint = "an object that is absent goes nowhere: keep one of them"
            findings.problem(f"{here}.absent", f"is expected beside {', '.join(others)}", hint=hint)
        _check_regular_expression(expectation.get("messageMatches"), f"{here}.messageMatches", findings)
        _check_expected_fields(expectation.get("fields") or (), f"{here}.fields", findings)


def _check_that_something_is_expected(spec: Mapping[str, Any], given: Mapping[str, Any], findings: Findings) -> None:
    """Report a test without expectations, and what it is given for none."""
    if spec.get("expect"):
        return
    if spec.get("backtest") is None:
        findings.required("spec.expect", hint="or expect something of the past, in spec.backtest")
        return
    for name in sorted(given.keys() - {"argosy"}):
        hint = "a backtest has the clusters and the templates of each time: spec.given.argosy alone counts in it"
        findings.problem(f"spec.given.{name}", "means nothing without spec.expect", hint=hint)


def _check_backtest(backtest: Mapping[str, Any], findings: Findings) -> None:
    """Report times and durations of a backtest that are none, and counts of which nothing can be expected."""
    here, since, until = "spec.backtest", backtest["since"], backtest.get("until") or ""
    begin, end = parse_instant(since), parse_instant(until)
    if begin is None and parse_duration(since) is None:
        hint = "write it as '30d' or '2026-03-01T14:05:00Z'"
        findings.problem(f"{here}.since", f"{quoted_text(since)} is neither a duration nor a time", hint=hint)
    if until and end is None:
        findings.problem(f"{here}.until", f"{quoted_text(until)} is no time", hint="write it as '2026-03-01T14:05:00Z'")
    if begin and end and begin > end:
        findings.problem(f"{here}.since", "must not be after until")
    within = backtest.get("flapWithin") or ""
    if within and parse_duration(within) is None:
        findings.problem(
            f"{here}.flapWithin", f"{quoted_text(within)} is no duration", hint="write it as '30m' or '1h'"
        )
    _check_expected_counts(backtest["expect"], f"{here}.expect", findings)


def _check_expected_counts(expected: Mapping[str, Any], path: str, findings: Findings) -> None:
    """Report a backtest or a count of which nothing is expected, and limits that exclude each other."""
    if not expected and not any(each.field.startswith(path) for each in findings.problems):
        findings.problem(path, "expects nothing", hint=f"name asItWas, {', '.join(BACKTEST_COUNTS)}")
    for name in (each for each in BACKTEST_COUNTS if each in expected):
        least, most = (expected[name].get(each) for each in ("atLeast", "atMost"))
        if least is None and most is None and not expected[name].get("noMoreThanReally"):
            findings.problem(f"{path}.{name}", "expects nothing", hint="name atMost, atLeast or noMoreThanReally")
        if least is not None and most is not None and least > most:
            findings.problem(f"{path}.{name}.atLeast", "must not be more than atMost")


def _check_times_of_test(given: Mapping[str, Any], findings: Findings) -> None:
    """Report what is no time, and what means nothing without the time that is asked about."""
    for name in ("since", "changes", "controls", "reporting", *_SINCE_WHEN, "unschedulable"):
        if given.get(name) and not given.get("now"):
            findings.problem(f"spec.given.{name}", "means nothing without spec.given.now")
    for path, text in _times_by_path(given):
        if parse_instant(text) is None:
            findings.problem(path, f"{quoted_text(text)} is no time", hint="write it as '2026-03-01T14:05:00Z'")
    since, now = (parse_instant(given.get(name) or "") for name in ("since", "now"))
    if since and now and since > now:
        findings.problem("spec.given.since", "must not be after now")


def _times_by_path(given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield every time that a test is given, with its path."""
    yield from ((f"spec.given.{name}", given[name]) for name in ("now", "since") if given.get(name))
    for name in _SINCE_WHEN:
        yield from ((f"spec.given.{name}.{each}", text) for each, text in (given.get(name) or {}).items())
    for key, time in (("unschedulable", "since"), ("changes", "at"), ("controls", "at")):
        found = enumerate(given.get(key) or ())
        yield from ((f"spec.given.{key}[{number}].{time}", each[time]) for number, each in found)


def _check_time_of_expectation(text: str, given: Mapping[str, Any], path: str, findings: Findings) -> None:
    """Report the time of an expectation that is none, or that no pass of the test is at."""
    at, now = parse_instant(text), parse_instant(given.get("now") or "")
    if text and not given.get("now"):
        findings.problem(path, "means nothing without spec.given.now")
    elif text and at is None:
        findings.problem(path, f"{quoted_text(text)} is no time", hint="write it as '2026-03-01T14:05:00Z'")
    elif at and now and at > now:
        findings.problem(path, "must not be after spec.given.now")


def _check_regular_expression(pattern: str | None, path: str, findings: Findings) -> None:
    try:
        check_pattern(pattern_of_partial_match(pattern or ""))
    except UnusablePattern as error:
        findings.problem(path, f"is no pattern that can be used: {error}")


def _check_expected_fields(fields: Sequence[Mapping[str, Any]], path: str, findings: Findings) -> None:
    """Report paths that are no JSON pointers, and fields of which nothing, or two things, are expected."""
    for position, field in enumerate(fields):
        if field["path"] and not field["path"].startswith("/"):
            findings.problem(f"{path}[{position}].path", "is no JSON pointer", hint="write it as '/spec/replicas'")
        if ("value" in field) == bool(field.get("absent")):
            findings.problem(f"{path}[{position}]", "expect either a value or 'absent: true'")
