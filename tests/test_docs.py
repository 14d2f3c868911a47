"""The documents keep their word: output, links, commands, options, YAML and messages are the real ones."""

import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import click
import pytest

from reconciler.check.prerequisites import OLDEST_GIT
from reconciler.cli import COMMANDS, argosy
from reconciler.console.table_layout import ANSWERS
from reconciler.members.exchange import FailureKind
from render.admission import admit_as_kind
from render.admission.kinds import render_kinds
from render.documents import parse_documents
from render.words import counted_noun
from tests.docs import EXAMPLES, README, REFERENCE, ROOT, documents, made
from tests.kubernetes import programs
from tests.peers import PEERS
from tests.tables import each_row
from tests.terminal_picture import PICTURE, picture

CHANGELOG = ROOT / "CHANGELOG.md"
GITHUB = [ROOT / ".github" / "CONTRIBUTING.md", ROOT / ".github" / "SECURITY.md"]
PAGES = [*documents(), *GITHUB, CHANGELOG]
TROUBLESHOOTING = EXAMPLES / "troubleshooting" / "README.md"
SCREEN = 25
"""The lines that a first screen shows."""
PAGE, LONGEST = 90, 500
"""The lines of a page, and the characters of the longest line that people read."""
LANGUAGES = {"console", "yaml", "text", "sh"}
LINK = re.compile(r"\]\((?!https?:)(?P<path>[^)#]*)(?:#(?P<anchor>[^)]*))?\)")
CODE = re.compile(r"`(argosy [^`]+)`")
BLOCK = re.compile(r"```(?P<language>[a-z]*)\n(?P<text>.*?)```\n", re.DOTALL)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path, language: str) -> list[str]:
    return [found["text"] for found in BLOCK.finditer(text_of(path)) if found["language"] == language]


def prose(path: Path) -> str:
    """A document without its blocks."""
    return BLOCK.sub("", text_of(path))


@pytest.mark.parametrize("path", documents(), ids=named)
def test_every_run_prints_what_the_document_says(path: Path) -> None:
    """``python -m tests.docs --write`` writes it again."""
    assert made(path) == text_of(path)


TERMINAL = 80
TITLE = re.compile(r"[A-Z]+(?: (?:[A-Z]{2,}))*")
HEADER = re.compile(r"^ *[A-Z][A-Z ]*(?: {3,}[A-Z][A-Z ]*)+$")


def tables(path: Path, text: str, titles: frozenset[str] = frozenset()) -> Iterator[tuple[str, list[str]]]:
    """Yield the tables that commands print in a document: the header, and the lines below it.

    ``titles``, each with a blank between two, make a header however far these stand apart.
    """
    listed = "\n".join(found["text"] for found in BLOCK.finditer(text) if found["language"] == "console").splitlines()
    for number, line in enumerate(listed):
        if (" ".join(line.split()) in titles if titles else HEADER.match(line)) and path != REFERENCE:
            ends = (at for at, each in enumerate(listed[number + 1 :]) if not is_row(each, line))
            yield line, listed[number + 1 :][: next(ends, None)]


def is_row(line: str, header: str) -> bool:
    """Say whether a line is a row of a table: a blank stands before each of its columns."""
    starts = [title.start() for title in TITLE.finditer(header)][1:]
    return bool(line) and not line.startswith("$ ") and all(line[start - 1 : start] in {"", " "} for start in starts)


def answers(header: str, rows: Iterable[str]) -> Iterator[str]:
    """Yield the cells of the columns that a table is asked for, but those that would need half a terminal."""
    titles = list(TITLE.finditer(header))
    for title, after in zip(titles, [*titles[1:], None], strict=True):
        if title[0] in ANSWERS:
            cells = (row[title.start() : after.start() if after else None].strip() for row in rows)
            yield from (cell for cell in cells if len(cell) <= TERMINAL // 2)


@pytest.mark.parametrize("path", [path for path in documents() if list(tables(path, text_of(path)))], ids=named)
def test_every_table_fits_a_narrow_terminal_and_keeps_its_answers_whole(path: Path) -> None:
    wide, shown = list(tables(path, text_of(path))), made(path, columns=TERMINAL)
    narrow = list(tables(path, shown, frozenset(" ".join(header.split()) for header, _ in wide)))
    assert narrow
    assert [line for header, rows in narrow for line in (header, *rows) if len(line) > TERMINAL] == []
    cells = [cell for header, rows in wide for cell in answers(header, rows)]
    assert [cell for cell in dict.fromkeys(cells) if cell not in shown] == []


def test_a_fleet_passes_its_own_policy_tests_until_a_document_changes_it() -> None:
    """A block that is written again shows whatever is printed, so that a test which fails could stand there."""

    def failures(path: Path) -> Iterator[str]:
        for fleet in text_of(path).split("<!-- fleet: ")[1:]:
            yield from re.findall(r"^FAIL  .*", fleet.partition("$ sed -i")[0], re.MULTILINE)

    assert per_page(failures) == {}


def test_the_readme_is_short_and_says_first_whom_it_is_for() -> None:
    lines = text_of(README).splitlines()
    assert len(lines) <= 200
    titles = [number for number, line in enumerate(lines) if line.startswith("## ")]
    assert lines[titles[0]] == "## Is it for me?"
    assert titles[1] < SCREEN


def test_the_picture_of_a_terminal_shows_what_commands_print() -> None:
    """``python -m tests.terminal_picture`` draws it again."""
    assert text_of(PICTURE) == picture()
    assert PICTURE.name in text_of(README)
    ET.fromstring(picture())


def per_page(found: Callable[[Path], Iterable[Any]]) -> dict[str, list[Any]]:
    """Return what is found in the pages, by page, without those in which nothing is."""
    return {named(path): listed for path in PAGES if (listed := list(found(path)))}


def test_every_block_is_of_a_kind_that_is_checked() -> None:
    def unchecked(path: Path) -> Iterator[str]:
        yield from {found["language"] for found in BLOCK.finditer(text_of(path))} - LANGUAGES
        yield from (text for text in blocks(path, "sh") if "argosy " in text.replace("install argosy", ""))

    assert per_page(unchecked) == {}


def anchors(path: Path) -> set[str]:
    """The anchors of a page's titles, as Git hosts make them."""
    titles = re.findall(r"^#+ (.*)$", prose(path), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_link_leads_somewhere() -> None:
    def broken(path: Path) -> Iterator[str]:
        for link in LINK.finditer(prose(path)):
            target = (path.parent / link["path"]).resolve() if link["path"] else path
            page = target / "README.md" if target.is_dir() else target
            if not target.exists() or (link["anchor"] and link["anchor"] not in anchors(page)):
                yield link[0]

    assert per_page(broken) == {}


def test_every_command_that_is_named_exists_with_its_options() -> None:
    def unknown(path: Path) -> Iterator[str]:
        lines = [line for code in CODE.findall(prose(path)) for line in re.split(r"&&|\|(?= )", code)]
        yield from (line for line in lines if line.strip().startswith("argosy ") and not is_command(line))

    assert per_page(unknown) == {}


def is_command(line: str) -> bool:
    """Say whether a line names a command that exists, with options that it has."""
    command: click.Command = argosy
    context = click.Context(argosy, info_name="argosy")
    words = shlex.split(line)[1:]
    if words[:1] in (["COMMAND"], ["TOPIC"]):
        return True
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(context, words.pop(0))
        if found is None:
            return False
        command = found
    options = {name for param in (*command.params, *argosy.params) for name in param.opts} | {"--help"}
    return all(word in options for word in words if re.match(r"--?[a-zA-Z]", word))


def test_every_module_of_the_tests_that_is_named_exists() -> None:
    def missing(path: Path) -> Iterator[str]:
        for module in set(re.findall(r"python -m (tests(?:\.\w+)+)", text_of(path))) - {"tests.NAME"}:
            place = ROOT.joinpath(*module.split("."))
            if not (place.is_dir() or place.with_suffix(".py").exists()):
                yield module

    assert per_page(missing) == {}


def test_every_file_that_contributors_are_sent_to_exists() -> None:
    paths = re.findall(r"`((?:render|overrides|reconciler|tests|examples)/[\w./-]*)`", text_of(GITHUB[0]))
    assert [path for path in paths if not (ROOT / path).exists()] == []


def test_every_manifest_is_one_that_argosy_takes() -> None:
    def problems(path: Path) -> Iterator[str]:
        values = [document.value for text in blocks(path, "yaml") for document in parse_documents(text.encode())]
        ours = [value for value in values if value["kind"] in render_kinds() and "." in value["apiVersion"]]
        yield from (
            str(each) for value in ours for each in admit_as_kind(value, render_kinds()[value["kind"]]).problems
        )

    assert per_page(problems) == {}


def test_every_message_of_the_troubleshooting_is_a_real_one() -> None:
    """A message's parts, between three dots, stand in the code as they are quoted."""
    code = [text_of(path) for name in ("render", "overrides", "reconciler") for path in (ROOT / name).rglob("*.py")]
    joined = re.sub(r'"\s*\n\s*f?"', "", "\n".join(code))
    rows = re.findall(r"^\| (`.*?`) \|", prose(TROUBLESHOOTING), re.MULTILINE)
    quoted = [each for row in rows for each in re.findall(r"`([^`]+)`", row)]
    parts = [part.strip() for each in quoted for part in each.split("...") if part.strip()]
    assert len(parts) > 50, counted_noun(len(parts), "part")
    assert [part for part in parts if part not in joined] == []


def test_every_section_of_the_troubleshooting_is_found_by_a_symptom() -> None:
    """The index leads to all that follows it: a section that no symptom leads to is found by nobody in a hurry."""
    index, _, sections = prose(TROUBLESHOOTING).partition("## By symptom\n")[2].partition("\n## ")
    titles = [line.removeprefix("## ") for line in f"## {sections}".splitlines() if line.startswith("## ")]
    assert len(titles) > 5
    assert [title for title in titles if f"(#{title.lower().replace(' ', '-')})" not in index] == []


def test_the_changelog_tells_its_users_of_this_version_in_one_page() -> None:
    """Nobody has had what was there before a first version, so it is told as it is."""
    versions = re.split(r"^## (.*)\n", text_of(CHANGELOG), flags=re.MULTILINE)[1:]
    titles, texts = versions[::2], versions[1::2]
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    assert titles[0] == project["version"]
    assert titles[-1] == "0.1.0"
    assert re.findall(r".*\b[Bb]efore, .*|.*\bno longer\b.*", texts[-1]) == []
    assert len(texts[-1].splitlines()) < PAGE
    assert [line for line in text_of(CHANGELOG).splitlines() if len(line) > LONGEST] == []


def test_the_versions_that_are_tested_are_named_as_they_are() -> None:
    page = text_of(EXAMPLES / "compatibility" / "README.md")
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    pythons = [each.rpartition(" ")[2] for each in project["classifiers"] if re.search(r":: 3\.\d+$", each)]
    recorded = re.search(r"Karmada (v[\w.-]+) ", text_of(ROOT / "tests" / "vectors" / "README.md"))
    schemas = (ROOT / "reconciler" / "source" / "schemas" / "kubernetes.txt").read_text(encoding="utf-8")
    minors = [int(minor) for span in re.findall(r"^(\d+)-(\d+) ", schemas, re.MULTILINE) for minor in span]
    assert recorded is not None
    said = (
        f"| {', '.join(pythons[:-1])} and {pythons[-1]} |",
        f"| {project['requires-python'].removeprefix('>=')} and newer |",
        f"| git | {'.'.join(map(str, OLDEST_GIT))} and newer |",
        f"a real API server of {programs.VERSION};",
        f"| 1.{min(minors)} to 1.{max(minors)} |",
        f"answers recorded from {recorded[1]},",
        *(peer.version for name, peer in PEERS.items() if name != "miniredis"),
    )
    assert [each for each in said if each not in page] == []
    workflow = text_of(ROOT / ".github" / "workflows" / "ci.yml")
    assert f"python: [{', '.join(f'{chr(34)}{each}{chr(34)}' for each in pythons)}]" in workflow


def test_every_word_for_a_failure_is_in_the_troubleshooting() -> None:
    text = text_of(TROUBLESHOOTING)
    assert [str(kind) for kind in FailureKind if f"`{kind}`" not in text] == []


@each_row("name", COMMANDS)
def test_every_command_and_option_has_a_help_text(name: str) -> None:
    context = click.Context(argosy)
    command = argosy.get_command(context, name)
    assert command is not None
    assert command.help
    assert [option.name for option in command.params if isinstance(option, click.Option) and not option.help] == []
