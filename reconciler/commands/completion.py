"""``argosy completion``: the completion script of a shell."""

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
