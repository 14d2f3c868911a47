"""The checks of a gate: what somebody outside is asked before a wave begins, or before it is over.

A check names one source, and what that has to answer. Whoever is asked, and with which credentials, argosy.yaml says.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from render.addresses import fault_of_address
from render.expressions import lazy_expression
from render.jsonpath import fault_of_jsonpath
from render.notations import seconds_of_duration
from render.patterns import UnusablePattern, check_pattern
from render.syntax import fault_of_dns_label, fault_of_dns_subdomain, quoted_text

from .findings import Findings
from .schema import INT32, Anything, Flag, ListOf, Record, Text, Whole
from .shared_schema import TEXT

Plain = Mapping[str, Any]

CLUSTER_WORD = "$(cluster)"
"""The word that stands for the name of a cluster: a check that has it is about each cluster, and not about a wave."""

_LONGEST_TIMEOUT = 30
_THRESHOLD = lazy_expression(r"(<=|>=|==|!=|<|>) *(-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)", re.ASCII)
_CONDITION = {"equals": Text(), "matches": Text(min_length=1)}

_SOURCES: Mapping[str, Record] = {
    "prometheus": Record({"address!": Text(min_length=1), "query!": Text(min_length=1), "is!": Text(min_length=1)}),
    "http": Record({"url!": Text(min_length=1), "status": Whole(INT32), "jsonPath": TEXT, **_CONDITION}),
    "object": Record(
        {
            "apiVersion!": Text(min_length=1),
            "kind!": Text(min_length=1),
            "namespace": TEXT,
            "name!": Text(min_length=1),
            "jsonPath!": Text(min_length=1),
            **_CONDITION,
        }
    ),
    "job": Record({"namespace!": Text(min_length=1), "spec!": Anything()}),
    "commitStatus": Record({"context!": Text(min_length=1)}),
}
_OF_EACH_CLUSTER = frozenset({"object", "job"})
CHECKS = ListOf(
    Record(
        {
            "name!": Text(min_length=1),
            "for": TEXT,
            "interval": TEXT,
            "timeout": TEXT,
            "beforeWave": Flag(),
            **_SOURCES,
        }
    )
)


class Threshold(NamedTuple):
    """A comparison with a number, such as ``< 0.01``."""

    comparison: str
    number: float

    def is_met_by(self, value: float) -> bool:
        """Say whether a number compares so; no number that is none does.

        >>> Threshold("<", 0.01).is_met_by(0.001), Threshold("!=", 1.0).is_met_by(float("nan"))
        (True, False)
        """
        if value != value:  # noqa: PLR0124 - what is no number differs from itself
            return False
        return {
            "<": value < self.number,
            "<=": value <= self.number,
            ">": value > self.number,
            ">=": value >= self.number,
            "==": value == self.number,
            "!=": value != self.number,
        }[self.comparison]


def threshold_of_text(text: str) -> Threshold | None:
    """Return the comparison that a text says; None where it says none.

    >>> threshold_of_text(">= 99.5"), threshold_of_text("about 3")
    (Threshold(comparison='>=', number=99.5), None)
    """
    found = _THRESHOLD.fullmatch(text.strip())
    return None if found is None else Threshold(found[1], float(found[2]))


def check_checks(checks: Sequence[Plain], path: str, findings: Findings) -> None:
    """Report checks that cannot be told apart or asked, and answers that nobody can give."""
    seen: set[str] = set()
    for number, check in enumerate(checks):
        here, name = f"{path}[{number}]", check["name"]
        if name and (fault := fault_of_dns_label(name)):
            findings.problem(f"{here}.name", fault)
        if name in seen:
            findings.problem(f"{here}.name", f"another check is called {quoted_text(name)}", kind="Duplicate")
        seen.add(name)
        _check_times(check, here, findings)
        _check_source(check, here, findings)


def _check_times(check: Plain, path: str, findings: Findings) -> None:
    for name, least in (("for", 0), ("interval", 1), ("timeout", 1)):
        if name not in check:
            continue
        seconds = seconds_of_duration(check[name])
        if seconds is None or not seconds.is_integer():
            message = f"{quoted_text(check[name])} is no time in whole seconds"
            findings.problem(f"{path}.{name}", message, hint="write it as '90s', '10m' or '2h'")
        elif seconds < least:
            findings.problem(f"{path}.{name}", "must be at least 1s")
        elif name == "timeout" and seconds > _LONGEST_TIMEOUT:
            message = f"must be at most {_LONGEST_TIMEOUT}s: a pass waits for no source longer than that"
            findings.problem(f"{path}.timeout", message)


def _check_source(check: Plain, path: str, findings: Findings) -> None:
    """Report a check that names no source, or several, or one that cannot be asked as it is written."""
    named = [name for name in _SOURCES if check.get(name) is not None]
    if len(named) != 1:
        hint = f"write exactly one of {', '.join(_SOURCES)}"
        findings.problem(path, "says several sources" if named else "does not say who is asked", hint=hint)
        return
    source, here = check[named[0]], f"{path}.{named[0]}"
    _CHECK_BY_SOURCE[named[0]](source, here, findings)
    if check.get("beforeWave") and is_about_each_cluster(check):
        message = "means nothing for a check about each cluster by itself"
        findings.problem(f"{path}.beforeWave", message, hint="leave it out, or ask about the wave")


def is_about_each_cluster(check: Plain) -> bool:
    """Say whether a check is about each cluster by itself, and not about a whole wave."""
    if any(check.get(name) is not None for name in _OF_EACH_CLUSTER):
        return True
    texts = ((check.get(source) or {}).get(field) for source, field in (("prometheus", "query"), ("http", "url")))
    return any(CLUSTER_WORD in text for text in texts if text)


def _check_prometheus(source: Plain, path: str, findings: Findings) -> None:
    _check_address(source["address"], f"{path}.address", findings)
    if source["is"] and threshold_of_text(source["is"]) is None:
        message = f"{quoted_text(source['is'])} compares with no number"
        findings.problem(f"{path}.is", message, hint="write it as '< 0.01' or '>= 99.5'")


def _check_http(source: Plain, path: str, findings: Findings) -> None:
    _check_address(source["url"], f"{path}.url", findings)
    status = source.get("status")
    if status is not None and not 100 <= status <= 599:
        findings.problem(f"{path}.status", f"{status} is no status of HTTP", hint="write one such as 200")
    _check_condition(source, path, findings)


def _check_object(source: Plain, path: str, findings: Findings) -> None:
    if (source["apiVersion"], source["kind"]) == ("v1", "Secret"):
        findings.problem(f"{path}.kind", "a value of a Secret would be written to branches", hint="ask something else")
    for name, fault_of in (("namespace", fault_of_dns_label), ("name", fault_of_dns_subdomain)):
        if source.get(name) and (fault := fault_of(source[name])):
            findings.problem(f"{path}.{name}", fault)
    _check_condition(source, path, findings)


def _check_job(source: Plain, path: str, findings: Findings) -> None:
    if source["namespace"] and (fault := fault_of_dns_label(source["namespace"])):
        findings.problem(f"{path}.namespace", fault)
    spec = source["spec"]
    if not isinstance(spec, dict) or not isinstance(spec.get("template"), dict):
        hint = "write the spec of a Job, with the template of its pods"
        findings.problem(f"{path}.spec", "is not the spec of a Job", hint=hint)


def _check_commit_status(_source: Plain, _path: str, _findings: Findings) -> None:
    """Accept any context: whoever sets a status calls it as he likes."""


def _check_condition(source: Plain, path: str, findings: Findings) -> None:
    """Report a JSONPath that cannot be read or says nothing, and a value that is asked for without one."""
    wanted = [name for name in ("equals", "matches") if source.get(name) is not None]
    if source.get("jsonPath"):
        if fault := _fault_of_path(source["jsonPath"]):
            findings.problem(f"{path}.jsonPath", fault, hint="write it as '{.status.phase}'")
        if not wanted:
            findings.problem(path, "does not say which value is good", hint="write equals or matches")
    elif wanted:
        findings.required(f"{path}.jsonPath", hint=f"say where the value stands that {wanted[0]} is about")
    if len(wanted) > 1:
        findings.problem(f"{path}.matches", "means nothing beside equals", hint="keep one of them")
    if source.get("matches"):
        try:
            check_pattern(source["matches"])
        except UnusablePattern as error:
            message = f"{quoted_text(source['matches'])} is no regular expression: {error}"
            findings.problem(f"{path}.matches", message)


def _fault_of_path(path: str) -> str:
    """Return why a JSONPath takes no value out of an answer, or more work than a pass has time for."""
    if "{" not in path:
        return "takes nothing out of an answer without braces"
    if ".." in path:
        return "must say where the value stands: '..' looks everywhere"
    return fault_of_jsonpath(path)


def _check_address(address: str, path: str, findings: Findings) -> None:
    if address and (fault := fault_of_address(address)):
        findings.problem(path, fault, hint="write it as 'https://prometheus.example.com'")


_CHECK_BY_SOURCE = {
    "prometheus": _check_prometheus,
    "http": _check_http,
    "object": _check_object,
    "job": _check_job,
    "commitStatus": _check_commit_status,
}
