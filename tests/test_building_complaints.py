"""The part of a tool's complaint that is shown, and the calls in templates that answer otherwise each time."""

from reconciler.building.charts import volatile_calls
from reconciler.building.tools import shortened


def test_the_first_line_that_is_no_warning_is_shown() -> None:
    said = "# Warning: 'bases' is deprecated.\nWARNING: x\n\nError: no such\tfile\npassword: hidden"
    assert shortened(said) == "no such file"
    assert shortened("# only warnings\nsecond") == "second"
    assert shortened("x" * 1000) == "x" * 400 + "..."


def test_calls_are_found_in_actions_alone_with_their_lines() -> None:
    template = b"a: now\nb: {{ .now }} {{ $now }}\n{{/* uuidv4 */}}\nc: {{ list 1\n  | shuffle }}\nd: {{ uuidv4 }}\n"
    chart = {"templates/b.yaml": template, "templates/a.yaml": b"{{ now }}", "values.yaml": b"{{ now }}"}
    assert list(volatile_calls(chart, {"web/templates/b.yaml"}, "web", is_random=True)) == [
        "web/templates/b.yaml:5: shuffle makes up a value",
        "web/templates/b.yaml:6: uuidv4 makes up a value",
        "web/templates/a.yaml:1: now asks the clock, so that a later render may differ",
    ]
