"""The part of a tool's complaint that is shown, and the calls in templates that answer otherwise each time."""

from reconciler.building.charts import calls_with_volatile_results
from reconciler.building.tools import shortened_complaint


def test_the_first_line_that_is_no_warning_is_shown() -> None:
    said = "# Warning: 'bases' is deprecated.\nWARNING: x\n\nError: no such\tfile\npassword: hidden"
    assert shortened_complaint(said) == "no such file"
    assert shortened_complaint("# only warnings\nsecond") == "second"
    assert shortened_complaint("x" * 1000) == "x" * 400 + "..."


LOGGED = "1125 23:52:07.317628   23008 run.go:72] "
FAILED = f'E{LOGGED}"command failed" err='
COMPLAINTS = {
    f'{FAILED}"no \\"a\\": \\\\x"': 'no "a": \\x',
    f"# Warning: x\n{FAILED}<\n\tno file\n\tpassword: hidden\n >": "no file",
    f'{FAILED}"cannot patch\\npassword: hidden"': "cannot patch",
    f"I{LOGGED}vars were never replaced: V\nError: no such file": "no such file",
    f"E{LOGGED}something else": "something else",
}


def test_what_kubectl_logs_is_shown_without_time_and_process() -> None:
    assert {said: shortened_complaint(said) for said in COMPLAINTS} == COMPLAINTS


LITERALS = "loading KV pairs: literal sources [a=hunter2 hunter3]: invalid literal source hunter3, expected key=value"
NO_LITERAL = "loading KV pairs: a literal is not of the form key=value"
HIDDEN = {
    f"Error: {LITERALS}": NO_LITERAL,
    f'{FAILED}"{LITERALS}"': NO_LITERAL,
    "Error: loading KV pairs: literal sources [hunter2\nhunter3]: invalid literal source hunter2": NO_LITERAL,
    "invalid literal source hunter2, expected key=value": "a literal is not of the form key=value",
    "env source files: [e.env]: line 0 has invalid utf8 bytes : hunter2": (
        "env source files: [e.env]: line 0 has invalid utf8 bytes"
    ),
}


def test_literals_that_a_tool_repeats_are_hidden() -> None:
    assert {said: shortened_complaint(said) for said in HIDDEN} == HIDDEN


def test_calls_are_found_in_actions_alone_with_their_lines() -> None:
    template = b"a: now\nb: {{ .now }} {{ $now }}\n{{/* uuidv4 */}}\nc: {{ list 1\n  | shuffle }}\nd: {{ uuidv4 }}\n"
    chart = {"templates/b.yaml": template, "templates/a.yaml": b"{{ now }}", "values.yaml": b"{{ now }}"}
    assert list(calls_with_volatile_results(chart, {"web/templates/b.yaml"}, "web", is_random=True)) == [
        "web/templates/b.yaml:5: shuffle makes up a value",
        "web/templates/b.yaml:6: uuidv4 makes up a value",
        "web/templates/a.yaml:1: now asks the clock, so that a later render may differ",
    ]
