"""``argosy completion``: the completion script of a shell."""

from collections.abc import Sequence

import click

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.printing import print_data

_LINES = {
    "bash": 'eval "$(argosy completion bash)"  # in ~/.bashrc',
    "zsh": 'eval "$(argosy completion zsh)"  # in ~/.zshrc, after compinit',
    "fish": "argosy completion fish | source  # in ~/.config/fish/config.fish",
}


@click.command(cls=DocumentedCommand, epilog="Put it into your shell: " + "; ".join(_LINES.values()))
@click.argument("shell", type=click.Choice(sorted(_LINES)))
def command(shell: str) -> None:
    """Print the completion script of SHELL."""
    from click.shell_completion import get_completion_class

    completer = get_completion_class(shell)
    if completer is None:
        raise click.UsageError(f"no completion for {shell}")
    print_data(
        completer(click.get_current_context().find_root().command, {}, "argosy", "_ARGOSY_COMPLETE").source() + "\n"
    )


_FILES_AS_WELL, _NO_FILES = 0, 4
"""Directives of kubectl's shell completion: whether the shell offers names of files beside what is printed."""


def completions_for_kubectl(program: click.Command, words: Sequence[str]) -> str:
    """Return what may stand for the last of some words, a line each, and the line that says whether files may, too."""
    from click.shell_completion import ShellComplete

    *before, incomplete = words or [""]
    found = ShellComplete(program, {}, "argosy", "_ARGOSY_COMPLETE").get_completions(list(before), incomplete)
    names = [each for each in found if each.type == "plain"]
    lines = [f"{each.value}\t{each.help}" if each.help else each.value for each in names]
    directive = _NO_FILES if len(names) == len(found) else _FILES_AS_WELL
    return "".join(f"{line}\n" for line in (*lines, f":{directive}"))
