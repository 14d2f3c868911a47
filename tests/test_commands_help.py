"""The commands as a shell meets them: help and completion are there at once, before anything heavy is loaded."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory

import click
import pytest

from reconciler.cli import COMMAND_GROUPS, COMMANDS, argosy, run
from reconciler.commands.completion import completions_for_kubectl
from reconciler.commands.man_pages import manual_pages
from reconciler.reference.examples import EXAMPLES
from render import federations
from tests.tables import each_row

HEAVY = (
    *(
        "git",
        "httptools",
        "jsonpatch",
        "kubernetes",
        "lupa",
        "prometheus_client",
        "urllib3",
        "waitress",
        "watchfiles",
        "yaml",
    ),
    *("overrides.", "render.", "reconciler."),
)
LIGHT = (
    *("reconciler.cli", "reconciler.commands", "reconciler.console", "reconciler.reference.exit_codes"),
    # The values that options become, and what names an error and counts it.
    *("reconciler.members.options", "reconciler.passes.options"),
    "reconciler.guards.allowances",
    "reconciler.reference.examples",
    *("render.errors", "render.expressions", "render.notations", "render.words"),
)
FLOORS = ("branches", "guards", "members", "names", "passes", "reference")
PACKAGES = {f"reconciler.{floor}" for floor in FLOORS}
FEDERATIONS = {
    *("render.model", "render.values", "render.federations"),
    *(f"render.federations.{each.name.replace('-', '_')}" for each in federations.FEDERATIONS),
    *("render.federations.federation", "render.federations.kubeadmiral.labels"),
}
"""The federations' names and signs, which the help of ``argosy import`` is made of: nothing that converts."""

PLACED = """
{apiVersion: cluster.karmada.io/v1alpha1, kind: Cluster, metadata: {name: berlin}, spec: {syncMode: Push}}
---
apiVersion: policy.karmada.io/v1alpha1
kind: PropagationPolicy
metadata: {name: settings, namespace: default}
spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}], placement: {clusterAffinity: {clusterNames: [berlin]}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings, namespace: default}}
"""


def test_the_help_of_no_command_loads_what_carries_it_out() -> None:
    """Every command imports what it needs inside its handler: help and completion must not wait for that."""
    program = (
        "import sys; from reconciler.cli import run\n"
        f"codes = [run([*words.split(), '--help']) for words in {[*COMMANDS, 'cluster join']}]\n"
        "assert not any(codes), codes\n"
        "print('\\0', *sorted(sys.modules))"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = finished.stdout.partition("\0")[2].split()
    assert "reconciler.commands.render" in loaded
    heavy = [name for name in loaded if name.startswith(HEAVY) and not name.startswith(LIGHT)]
    assert [name for name in heavy if name not in PACKAGES | FEDERATIONS] == []


def test_the_list_of_commands_loads_what_shows_it_and_nothing_more() -> None:
    """People who ask what there is wait for Python, click and these; whoever adds one here makes everybody wait."""
    program = (
        "import sys; from reconciler.cli import run\nassert run(['--help']) == 0\nprint('\\0', *sorted(sys.modules))"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = finished.stdout.partition("\0")[2].split()
    assert [name for name in loaded if name.startswith(("overrides.", "reconciler.", "render."))] == [
        "reconciler.cli",
        "reconciler.commands",
        "reconciler.commands.options",
        *("reconciler.commands.options.completion", "reconciler.commands.options.global_options"),
        *("reconciler.commands.options.help_pages", "reconciler.commands.options.place_check"),
        *("reconciler.console", "reconciler.console.cleaning", "reconciler.console.meant_commands"),
        *("reconciler.console.printing", "reconciler.reference", "reconciler.reference.exit_codes"),
        *("render.errors", "render.expressions", "render.words"),
    ]
    assert {"difflib", "git", "json", "subprocess"} & set(loaded) == set()


def test_the_pass_over_a_fleet_at_rest_loads_nothing_that_reads_a_source_or_renders() -> None:
    """Most passes find nothing to do; what only others need would be most of what such a pass costs."""
    program = "import sys, reconciler.passes.idle_pass; print(*sorted(sys.modules))"
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    unused = (
        *("overrides.policy", "render.scheduling", "render.matching", "render.schemas", "reconciler.pipeline.stages"),
        *("reconciler.source.loading", "reconciler.gitops", "reconciler.rendering.outcome", "urllib3"),
    )
    loaded = finished.stdout.split()
    assert "reconciler.passes.observation" in loaded
    assert [name for name in loaded if name.startswith(unused)] == []


def test_a_render_of_plain_files_loads_nothing_that_reads_or_builds_what_other_tools_deploy(tmp_path: Path) -> None:
    """A fleet without kustomizations, charts and objects of other tools need not wait for what knows them."""
    (tmp_path / "fleet.yaml").write_text(PLACED)
    table, loaded = output_and_modules_of(["render"], tmp_path)
    assert "ConfigMap/settings" in table
    unused = ("reconciler.gitops.", "reconciler.building", "overrides.yamltext")
    assert [name for name in loaded if name.startswith(unused)] == ["reconciler.gitops.tools"]


def test_a_pass_that_reaches_no_member_loads_nothing_that_speaks_to_one(tmp_path: Path) -> None:
    """Fleets delivered by other tools, and agents that pull, need not wait for what applies and asks."""
    (tmp_path / "fleet.yaml").write_text(PLACED)
    told, loaded = output_and_modules_of(["reconcile", "--bootstrap"], tmp_path)
    assert told.startswith("committed ")
    speaking = (
        "reconciler.asking",
        "reconciler.deliver.reports",
        "reconciler.forge",
        "reconciler.observe",
        "ssl",
        "tarfile",
    )
    assert [name for name in loaded if name.startswith(speaking)] == []


def output_and_modules_of(words: list[str], folder: Path) -> tuple[str, list[str]]:
    """Run a command over the files of a folder, committed first; return its output and the modules it loaded."""
    program = (
        "import sys; from reconciler.cli import run\n"
        f"assert run(['-C', {str(folder)!r}, *{words!r}]) == 0\nprint('\\0', *sorted(sys.modules))"
    )
    a_person = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
    for step in (["init", "--quiet"], ["add", "."], [*a_person, "commit", "--quiet", "--message", "A fleet"]):
        subprocess.run(["git", "-C", str(folder), *step], check=True, timeout=60)
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    output, _, loaded = finished.stdout.partition("\0")
    return output, loaded.split()


def helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the help of a command, and of those below it."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from helps(below, click.Context(below, info_name=name, parent=context))


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Context]]:
    """Yield a command by the words behind argosy, and those below it."""
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        inner = click.Context(below, info_name=name, parent=context)
        yield inner.command_path.partition(" ")[2], inner
        yield from commands(below, inner)


READABLE = 10
"""The options that people read in a row."""
ROOT = click.Context(argosy, info_name="argosy")
EVERY = dict(commands(argosy, ROOT))


def test_commands_are_listed_by_what_people_do() -> None:
    titles = [
        "Begin",
        "See what is there",
        "Look into members",
        "Change the source",
        "Deliver",
        "The fleet",
        "Other tools",
    ]
    assert list(COMMAND_GROUPS) == titles
    shown, width = argosy.get_help(ROOT), max(map(len, COMMANDS))
    places = [shown.index(f"\n{title}:\n") for title in titles]
    assert places == sorted(places)
    assert [name for name in COMMANDS if shown.count(f"\n  {name:{width}}  ") != 1] == []


def test_every_command_has_two_examples_and_there_are_none_of_others() -> None:
    assert [name for name in EVERY if len(EXAMPLES.get(name, ())) < 2] == []
    assert [name for name in EXAMPLES if name not in EVERY] == []


@each_row(("name", "line"), [(name, line) for name, examples in EXAMPLES.items() for line, _ in examples])
def test_an_example_is_shown_whole_and_its_options_are_there(name: str, line: str) -> None:
    assert f"\n  {line}\n" in EVERY[name].get_help()
    assert len(line) <= 78
    words = shlex.split(re.split(r" [|>] ", line)[0])
    assert words[: 1 + len(name.split())] == ["argosy", *name.split()]
    context, left = ROOT, words[1:]
    while isinstance(context.command, click.Group):
        word, below, left = context.command.resolve_command(context, left)
        assert below is not None
        context = click.Context(below, info_name=word, parent=context)
    with TemporaryDirectory() as folder, chdir(folder):
        Path("manifests").mkdir()
        for file in ("hosts", "rules.yaml", "web.yaml"):
            Path(file).touch()
        context.command.make_context(words[1], left, parent=context.parent)


def titles_and_lines(text: str) -> dict[str, list[str]]:
    """Return the options below each title of a help text."""
    parts = re.split(r"\n([A-Z][\w ]+):\n", text)
    found = {
        title: re.findall(r"^  (?:-\w, )?(--[\w-]+)", body, re.MULTILINE)
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    }
    return {title: options for title, options in found.items() if options and title != "Examples"}


@each_row("name", EVERY)
def test_no_list_of_options_is_longer_than_people_read(name: str) -> None:
    command = EVERY[name].command
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    groups = titles_and_lines(EVERY[name].get_help())
    shown = [option for group in groups.values() for option in group if option != "--help"]
    assert sorted(shown) == sorted(max(each.opts, key=len) for each in options)
    assert max((len(group) for group in groups.values()), default=0) <= READABLE + len(["--help"])
    assert (len(groups) > 1) == (len(options) > READABLE)


def test_help_is_printed_as_it_is_meant() -> None:
    """No sentence about a command is cut off, and no character for the formatter is shown."""
    shown = dict(helps(argosy, click.Context(argosy, info_name="argosy")))
    assert len(shown) > len(COMMANDS)
    assert [name for name, text in shown.items() if "\\b" in text or "...\n" in text.partition("Commands:")[2]] == []


@each_row("width", [40, 60, 78])
def test_no_line_of_help_ends_within_a_word(width: int) -> None:
    """Half an option can be neither copied nor searched for; click breaks lines at hyphens by itself."""

    def contexts(command: click.Command, name: str, parent: click.Context | None) -> Iterator[click.Context]:
        context = command.context_class(command, info_name=name, parent=parent, terminal_width=width)
        yield context
        if isinstance(command, click.Group):
            for below in command.list_commands(context):
                inner = command.get_command(context, below)
                assert inner is not None
                yield from contexts(inner, below, context)

    texts = {each.command_path: each.get_help() for each in contexts(argosy, "argosy", None)}
    assert "--allow-removal" in texts["argosy reconcile"]
    broken = [
        (path, line)
        for path, text in texts.items()
        for line in text.splitlines()
        if re.search(r"\w-$", line) and not line.startswith("  argosy ")  # an example may take away a taint
    ]
    assert (broken, [path for path, text in texts.items() if "\u2011" in text]) == ([], [])


def test_every_command_has_a_manual_page_of_its_help(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "man1"
    assert run(["help", "--man-pages", str(folder)]) == 0
    assert {path.name for path in folder.iterdir()} >= {f"argosy-{name.replace(' ', '-')}.1" for name in EVERY}
    page = (folder / "argosy-history.1").read_text()
    assert page.startswith('.TH "ARGOSY-HISTORY" "1" ')
    assert ".TP\n.B \\-\\-limit N\n" in page
    assert "argosy history deploy/web \\-n shop" in page
    assert run(["help", "--man-pages", str(folder), "history"]) == 2
    capsys.readouterr()


def test_no_line_of_a_manual_page_is_a_request_by_mistake() -> None:
    requests = {".TH", ".SH", ".B", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi", ".BR"}
    for name, page in manual_pages(ROOT).items():
        begun = {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))}
        assert begun <= requests, name


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["histo"], ["history", ":4"]),
        (["cluster", "cordo"], ["cordon", ":4"]),
        (["history", "--out"], ["--output", ":4"]),
        (["history", "-o", "js"], ["json", ":4"]),
    ],
)
def test_kubectl_completes_the_words_of_the_plug_in(words: list[str], lines: list[str]) -> None:
    assert [line.partition("\t")[0] for line in completions_for_kubectl(argosy, words).splitlines()] == lines
