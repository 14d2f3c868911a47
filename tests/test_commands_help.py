"""The commands as a shell meets them: help and completion are there at once, before anything heavy is loaded."""

import subprocess
import sys

from reconciler.cli import COMMANDS

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
    *("reconciler.deliver.options", "reconciler.members.options", "reconciler.reconcile.options"),
    "reconciler.publish.allowances",
    *("reconciler.names.quick_scan", "render.errors", "render.notations", "render.words"),
)
PACKAGES = {f"reconciler.{floor}" for floor in ("deliver", "members", "names", "publish", "reconcile", "reference")}


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
    assert [name for name in heavy if name not in PACKAGES] == []
