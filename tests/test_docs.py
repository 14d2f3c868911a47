"""The documents keep their word: output, commands, exit codes, help texts."""

import click
import pytest

from reconciler.cli import COMMANDS, argosy
from reconciler.reference.exit_codes import EXIT_CODES
from tests.docs import README, made

TEXT = README.read_text(encoding="utf-8")


def test_every_run_in_the_readme_prints_what_it_says() -> None:
    """``python -m tests.docs`` writes it anew."""
    assert made(TEXT) == TEXT


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_in_the_readme(name: str) -> None:
    assert f"`argosy {name}" in TEXT


@pytest.mark.parametrize("code", EXIT_CODES)
def test_every_exit_code_is_in_the_readme(code: int) -> None:
    assert f"| {code} | {EXIT_CODES[code]} |" in TEXT


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_has_a_help_text(name: str) -> None:
    context = click.Context(argosy)
    command = argosy.get_command(context, name)
    assert command is not None
    assert command.help
    assert [option.name for option in command.params if isinstance(option, click.Option) and not option.help] == []
