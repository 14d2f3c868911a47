"""The commands as a shell meets them: help and completion are there at once, before anything heavy is loaded."""

import subprocess
import sys
from collections.abc import Iterator

import click

from reconciler.cli import COMMANDS, argosy
from render import federations

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
    *("render.errors", "render.notations", "render.words"),
)
FLOORS = ("branches", "guards", "members", "names", "passes", "reference")
PACKAGES = {f"reconciler.{floor}" for floor in FLOORS}
FEDERATIONS = {
    *("render.model", "render.values", "render.federations"),
    *(f"render.federations.{each.name.replace('-', '_')}" for each in federations.FEDERATIONS),
    *("render.federations.federation", "render.federations.kubeadmiral.labels"),
}
"""The federations' names and signs, which the help of ``argosy import`` is made of: nothing that converts."""


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


def test_the_list_of_commands_loads_no_log_and_no_names() -> None:
    """People who ask what there is wait for Python and click, and for nothing of ours that takes a while."""
    program = (
        "import sys; from reconciler.cli import run\nassert run(['--help']) == 0\nprint('\\0', *sorted(sys.modules))"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    loaded = finished.stdout.partition("\0")[2].split()
    assert "reconciler.cli" in loaded
    unused = ("reconciler.console.log", "reconciler.console.text", "reconciler.names.", "render.model")
    assert [name for name in loaded if name.startswith(unused)] == []


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


def helps(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    """Yield the help of a command, and of those below it."""
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from helps(below, click.Context(below, info_name=name, parent=context))


def test_help_is_printed_as_it_is_meant() -> None:
    """No sentence about a command is cut off, and no character for the formatter is shown."""
    shown = dict(helps(argosy, click.Context(argosy, info_name="argosy")))
    assert len(shown) > len(COMMANDS)
    assert [name for name, text in shown.items() if "\\b" in text or "...\n" in text.partition("Commands:")[2]] == []
