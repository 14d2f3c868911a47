"""The printing of commands: text for people, which is cleaned, and data for programs, which has its own form.

The format of log lines is here as well: options name it before there is a log, and a log takes longer to load.
"""

from collections.abc import Iterable
from enum import StrEnum

import click

from .cleaning import safe_for_terminal


class LogFormat(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


def print_text(text: str | Iterable[str], *, end: str = "\n", mark: str = "") -> None:
    """Print text for people, whole or part by part; ``mark`` is a word of ours before it.

    A part that has styles (``StyledText``) shows them where the output has colours, and so does the mark.
    """
    from .styled_text import StyledText
    from .terminal import output_screen

    parts = (mark, *((text,) if isinstance(text, str) else text), end)
    if output_screen().is_colored and any(isinstance(each, StyledText) for each in parts):
        from .painting import painted

        click.echo(painted(parts), nl=False, color=True)
    else:
        click.echo(safe_for_terminal("".join(parts)), nl=False)


_DATA_FORMS = frozenset({"github", "json", "junit", "markdown", "sarif", "yaml"})


def print_output(text: str | Iterable[str], form: str) -> None:
    """Print a whole output in the form that ``-o`` asked for."""
    if form in _DATA_FORMS:
        print_data(text if isinstance(text, str) else "".join(text))
    else:
        print_text(text, end="")


def print_data(text: str) -> None:
    """Print JSON, YAML, XML, Markdown or annotations: their writers have made them safe in their own ways."""
    click.echo(text, nl=False)


def print_error(text: str) -> None:
    """Print on stderr why a command ends."""
    click.echo(safe_for_terminal(text), err=True)
