"""References to what an autoscaler scales, and names that must fit into a path."""

from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.schema import Record
from render.admission.shared_schema import TEXT
from render.admission.syntax import quoted

SCALE_TARGET = Record({"apiVersion": TEXT, "kind!": TEXT, "name!": TEXT})

_NO_SEGMENTS = (".", "..")
_NO_PARTS = ("/", "%")


def check_reference(reference: Mapping[str, Any], path: str, findings: Findings) -> None:
    """Report a kind or a name that is missing or fits into no path."""
    for part in ("kind", "name"):
        check_segment(reference[part], f"{path}.{part}", findings)


def check_segment(text: str, path: str, findings: Findings) -> None:
    """Report a text that is missing or fits into no path."""
    if not text:
        findings.required(path)
    elif text in _NO_SEGMENTS or any(part in text for part in _NO_PARTS):
        findings.problem(path, f"{quoted(text)} is no name: it must not be '.' or '..', nor contain '/' or '%'")
