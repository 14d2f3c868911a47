"""JUnit's XML, as CI systems read it: suites of cases that passed or failed."""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from msgspec import Struct

from render.expressions import lazy_expression

from .cleaning import safe_for_terminal

_FORBIDDEN = lazy_expression("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class JUnitCase(Struct, frozen=True, kw_only=True):
    """A case; it failed if there is a ``failure``, in one line, with its ``detail``, and did not run if ``skipped``."""

    name: str
    file: str = ""
    line: int = 0
    failure: str = ""
    detail: str = ""
    output: str = ""
    skipped: str = ""


class JUnitSuite(Struct, frozen=True, kw_only=True):
    """Cases under one name, and an ``output`` about all of them."""

    name: str
    cases: tuple[JUnitCase, ...]
    output: str = ""


def junit_xml(suites: Sequence[JUnitSuite]) -> str:
    """Return suites as one document."""
    root = Element("testsuites", _counts_of_cases([case for suite in suites for case in suite.cases]))
    for suite in suites:
        parent = SubElement(root, "testsuite", {"name": _text_safe_in_xml(suite.name), **_counts_of_cases(suite.cases)})
        for case in suite.cases:
            _add_test_case(parent, suite, case)
        if suite.output:
            SubElement(parent, "system-out").text = _text_safe_in_xml(suite.output)
    indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}\n'


def _add_test_case(parent: Element, suite: JUnitSuite, case: JUnitCase) -> None:
    attributes = {"classname": _text_safe_in_xml(suite.name), "name": _text_safe_in_xml(case.name)}
    if case.file:
        attributes["file"] = _text_safe_in_xml(case.file)
    if case.line:
        attributes["line"] = str(case.line)
    element = SubElement(parent, "testcase", attributes)
    if case.failure:
        SubElement(element, "failure", {"message": _text_safe_in_xml(case.failure)}).text = _text_safe_in_xml(
            case.detail
        )
    if case.skipped:
        SubElement(element, "skipped", {"message": _text_safe_in_xml(case.skipped)})
    if case.output:
        SubElement(element, "system-out").text = _text_safe_in_xml(case.output)


def _counts_of_cases(cases: Iterable[JUnitCase]) -> dict[str, str]:
    listed = list(cases)
    counts = {"tests": len(listed), "failures": sum(bool(case.failure) for case in listed)}
    if skipped := sum(bool(case.skipped) for case in listed):
        counts["skipped"] = skipped
    return {name: str(count) for name, count in counts.items()}


def _text_safe_in_xml(text: str) -> str:
    """Return text without the characters that XML cannot hold or a reader must not obey."""
    return _FORBIDDEN.sub("\ufffd", safe_for_terminal(text))
