r"""Every writer: control characters, marks of direction, commands to CI runners, passwords in addresses."""

import ast
import io
import json
import time
import unicodedata
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import NamedTuple

import pytest

import reconciler
from reconciler.check.reports import WRITERS
from reconciler.check.validation import Validation
from reconciler.cli import run
from reconciler.console.cleaning import (
    json_safe_for_terminal,
    safe_for_terminal,
    with_visible_control_characters,
    without_passwords,
)
from reconciler.console.json_values import as_json
from reconciler.console.junit import JUnitCase, JUnitSuite, junit_xml
from reconciler.console.log import VERBOSE, Log
from reconciler.console.printing import LogFormat
from reconciler.console.text import escape_markdown, section_with_table, sections_as_markdown
from reconciler.outputs.document import document_text
from reconciler.outputs.validation import validation_document
from render.errors import Problem
from tests.build import Repository, a_config_map, a_policy, argosy, on_clusters

ESC, CSI, RLO, LSEP, TAG = "\x1b[2K\x1b]0;x\x07", "\x9b2J", "\u202e", "\u2028", "\U000e0041"
HOSTILE = f"a{ESC}b{CSI}c{RLO}d{LSEP}e{TAG}f\x00\x7f\rg"
OBEYED = frozenset(HOSTILE) - frozenset("abcdefg[2KJ]0;x")


def obeyed(text: str) -> set[str]:
    return set(text) & OBEYED


class Cleaned(NamedTuple):
    why: str
    text: str
    want: str


CLEANED = [
    Cleaned("plain text stays", "ünïcode 日本 😀\n\tx", "ünïcode 日本 😀\n\tx"),
    Cleaned("a terminal's command is written out", "\x1b[31mred", "\\x1b[31mred"),
    Cleaned("so is one of a single character", "\x9b31m", "\\x9b31m"),
    Cleaned("a carriage return would hide the line before it", "good\rbad", "good\\x0dbad"),
    Cleaned("a mark of direction would turn a name around", "a\u202eb", "a\\u202eb"),
    Cleaned("an isolate as well", "a\u2066b", "a\\u2066b"),
    Cleaned("a line separator is a line to some", "a\u2028::error::b", "a\\u2028::error::b"),
    Cleaned("what takes no room would make two names look the same", "a\u200bb", "a\\u200bb"),
    Cleaned("half a character cannot be written", "a\ud800b", "a\\ud800b"),
    Cleaned("a runner's command at the start of a line", "x\n::set-output name=a::b", "x\n\\x3a:set-output name=a::b"),
    Cleaned("spaces before it are no protection", "  ::error::x", "  \\x3a:error::x"),
    Cleaned("the old form works anywhere in a line", "x ##[group]y", "x \\x23#[group]y"),
    Cleaned("two colons within a line are nothing", "a::b", "a::b"),
    Cleaned("a password in an address", "to https://me:pw@example.com/x.git", "to https://***@example.com/x.git"),
    Cleaned("a token as the user", "https://t0ken@example.com/x", "https://***@example.com/x"),
    Cleaned("a user of ssh is no secret", "ssh://git@example.com/x", "ssh://git@example.com/x"),
    Cleaned("a token in a query", "https://example.com/x?private_token=abc", "https://example.com/x?private_token=***"),
]


@pytest.mark.parametrize("case", CLEANED, ids=lambda case: case.why)
def test_text_is_cleaned(case: Cleaned) -> None:
    assert safe_for_terminal(case.text) == case.want
    assert safe_for_terminal(safe_for_terminal(case.text)) == case.want


# Of the format characters, those that change the direction of text, join or part it unseen, or carry hidden text.
FORMAT = (
    *(0x00AD, 0x061C, 0x180E, *range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0xFEFF),
    *(*range(0xFFF9, 0xFFFC), *range(0xE0000, 0xE0080)),
)


def test_the_characters_that_are_written_out_are_these_and_no_others() -> None:
    """All controls but tabs and line ends, all separators of lines, all halves of characters, and some of format."""
    planes = [*range(0x30000), *range(0xE0000, 0xE1000)]  # nothing is assigned between them
    unprintable = {code for code in planes if unicodedata.category(chr(code)) in {"Cc", "Cs", "Zl", "Zp"}}
    written_out = {code for code in planes if with_visible_control_characters(chr(code)) != chr(code)}
    assert sorted(written_out) == sorted((unprintable - {ord("\n"), ord("\t")}) | {*FORMAT})


def test_json_means_the_same_after_it_was_cleaned() -> None:
    value = {HOSTILE: [HOSTILE, {"a": HOSTILE}]}
    text = as_json(value)
    assert json.loads(text) == value
    assert obeyed(text) == set()
    assert json_safe_for_terminal(text) == text


PROBLEM = Problem(f"apps/{HOSTILE}.yaml", 3, f"spec.{HOSTILE}", f"{HOSTILE}\n::error::{HOSTILE}", HOSTILE)


@pytest.mark.parametrize("form", ["json", *(form for form in WRITERS if form != "text")])
def test_a_validation_in_every_form_obeys_nobody(form: str) -> None:
    validation = Validation(commit="", problems=(PROBLEM,), warnings=(PROBLEM,), desired=None)
    is_json = form == "json"
    text = document_text(validation_document(validation)) if is_json else WRITERS[form](validation, is_strict=False)
    assert obeyed(text) == set()
    if form == "github":
        assert [line.partition(" ")[0] for line in text.splitlines()] == ["::error", "::warning"]


def test_junit_and_markdown_obey_nobody() -> None:
    case = JUnitCase(name=HOSTILE, file=HOSTILE, failure=f"::error::{HOSTILE}", detail=f"\n::stop::{HOSTILE}")
    xml = junit_xml([JUnitSuite(name=HOSTILE, cases=(case,))])
    assert obeyed(xml) == set()
    assert ET.fromstring(xml).tag == "testsuites"
    assert not any(line.lstrip().startswith("::") for line in xml.splitlines())
    assert (
        obeyed(sections_as_markdown([section_with_table(HOSTILE, [HOSTILE], [[HOSTILE]], before=[HOSTILE])])) == set()
    )
    assert obeyed(escape_markdown(HOSTILE)) == set()


@pytest.mark.parametrize("form", list(LogFormat))
def test_a_log_obeys_nobody(form: LogFormat) -> None:
    stream = io.StringIO()
    log = Log(stream=stream, level=VERBOSE, format=form)
    hostile = f"::error::{HOSTILE} https://me:pw@example.com"
    for say in (log.info, log.warning, log.detail):
        say(hostile, value=hostile, key=f"\n{hostile}")
    text = stream.getvalue()
    assert obeyed(text) == set()
    assert "pw" not in text
    assert not any(line.lstrip().startswith("::") for line in text.splitlines())


def test_an_error_obeys_nobody(repository: Repository, capsys: pytest.CaptureFixture[str]) -> None:
    metadata = 'metadata: {name: x, labels: {a: ["\\e[2K\\u202e"]}}'
    repository.commit({"a.yaml": f"apiVersion: v1\nkind: ConfigMap\n{metadata}\n"})
    code, out, err = argosy(repository, capsys, "validate", "-o", "text")
    assert code in {0, 3}
    assert obeyed(out + err) == set()
    assert run(["-C", f"{repository.path}/{HOSTILE.replace(chr(0), '')}", "validate"]) == 4
    captured = capsys.readouterr()
    assert obeyed(captured.out + captured.err) == set()


PASSWORD = "s3cr3t-pw"
REMOTE = f"""apiVersion: argosy.dev/v1alpha1
kind: Fleet
spec:
  rendered:
    remote: https://me:{PASSWORD}@127.0.0.1:1/x.git
"""
COMMANDS = [
    *["render", "diff", "explain cm/a", "status", "verify", "doctor", "doctor -o json"],
    *["reconcile", "reconcile -o json", "validate", "validate -o sarif", "apply", "wait --timeout 1"],
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_password_of_the_remote_is_told_by_no_command(
    command: str, repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    policy = a_policy(placement=on_clusters("member1"))
    repository.commit({"argosy.yaml": REMOTE, "a.yaml": a_config_map("a"), "policy.yaml": policy})
    _, out, err = argosy(repository, capsys, "-v", *command.split())
    assert PASSWORD not in out + err


PRINTING = {
    "reconciler/console/printing.py": {"click.echo"},
    # Programs of their own, read through pipes: the protocol of assistants, and a proposal for it.
    "reconciler/commands/mcp.py": {"sys.stdout", "sys.stderr"},
    "reconciler/assistants/proposals.py": {"sys.stdout", "sys.stderr"},
    "reconciler/console/log.py": {"sys.stderr"},
    "reconciler/run/processes/pass_process.py": {"sys.stderr"},  # the stream of its log
    "reconciler/console/terminal.py": {"sys.stdout"},  # asked whether it is a terminal, and how wide
    "reconciler/console/live_screen.py": {"os.write", "sys.stdout"},  # cleaned text by Rich; its own pipe
    "reconciler/building/confined_start.py": {"sys.stdout", "sys.stderr"},  # a program of its own, read through pipes
    "reconciler/cli.py": {"sys.stdout"},  # flushed, and led away from a reader that is gone
}
"""The modules that reach a terminal, and by what; everything else goes through the first two."""

STREAMS = {f"sys.{name}" for name in ("stdout", "stderr", "__stdout__", "__stderr__")} | {"os.write"}
BY_CLICK = {"echo", "secho", "echo_via_pager"}


def ways_to_print(tree: ast.AST) -> set[str]:
    """The ways in which a module could print by itself: print, click's functions, the standard streams."""
    found = set()
    for node in ast.walk(tree):
        text = ast.unparse(node) if isinstance(node, ast.Attribute | ast.Name) else ""
        if text == "print" or text in STREAMS or (isinstance(node, ast.Attribute) and node.attr in BY_CLICK):
            found.add(text)
        if isinstance(node, ast.ImportFrom) and node.module in {"sys", "click", "os"}:
            names = {alias.name for alias in node.names} & {"stdout", "stderr", "write", *BY_CLICK}
            found |= {f"{node.module}.{name}" for name in names}
        is_shown = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "show"
        if is_shown and isinstance(node, ast.Call) and not node.args:
            found.add(ast.unparse(node))
    return found


def test_nothing_is_printed_around_the_writers() -> None:
    root = Path(reconciler.__file__).parent
    found = {
        f"reconciler/{path.relative_to(root)}": ways
        for path in sorted(root.rglob("*.py"))
        if (ways := ways_to_print(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert found == PRINTING


@pytest.mark.parametrize(
    "line",
    [
        *["print(x)", "say = print", "click.echo(x)", "from click import secho", "sys.stdout.write(x)"],
        *["print(x, file=sys.stderr)", "sys.__stderr__.buffer.write(x)", "from sys import stdout", "os.write(1, x)"],
        *["error.show()", "click.echo_via_pager(x)"],
    ],
)
def test_a_line_that_prints_around_the_writers_would_be_found(line: str) -> None:
    assert ways_to_print(ast.parse(line))


@pytest.mark.parametrize(
    "words",
    [
        *[[HOSTILE], ["status", HOSTILE], ["render", f"--{HOSTILE}"], ["render", "-o", HOSTILE], ["render", "--rev"]],
        *[["cluster", "label", "m1", HOSTILE], ["apply", "--timeout", HOSTILE], ["explain", f"{HOSTILE}/{HOSTILE}"]],
        *[["cluster", "taint", "m1", HOSTILE], ["render", "--now", HOSTILE], ["schema", HOSTILE], ["help", HOSTILE]],
    ],
)
def test_a_command_line_that_is_wrong_obeys_nobody(
    words: list[str], repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit({"a.yaml": a_config_map("a")})
    code, out, err = argosy(repository, capsys, *words)
    assert code in {2, 3, 4}
    assert obeyed(out + err) == set()


def test_cleaning_takes_time_in_proportion() -> None:
    for part in ("\x1b", "::", "\n", " \n", "https://", "https://a:", "?token=", "##["):
        begun = time.process_time()
        safe_for_terminal(part * 20_000)
        assert time.process_time() - begun < 2
    assert with_visible_control_characters("") == without_passwords("") == ""
