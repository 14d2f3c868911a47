"""The printing of commands: text for people, which is cleaned, and data for programs, which has its own form.

The format of log lines is here as well: options name it before there is a log, and a log takes longer to load.
"""

from enum import StrEnum

import click

from .cleaning import safe_for_terminal


class LogFormat(StrEnum):
    """The format of log lines."""

    TEXT = "text"
    JSON = "json"


def print_text(text: str, *, end: str = "\n", mark: str = "", color: bool | None = None) -> None:
    """Print text for people; ``mark`` is a word of ours before it, in color where that is wanted."""
    click.echo(f"{mark}{safe_for_terminal(text)}{end}", nl=False, color=color)


_DATA_FORMS = frozenset({"github", "json", "junit", "markdown", "sarif", "yaml"})


def print_output(text: str, form: str) -> None:
    """Print a whole output in the form that ``-o`` asked for."""
    if form in _DATA_FORMS:
        print_data(text)
    else:
        print_text(text, end="")


def print_data(text: str) -> None:
    """Print JSON, YAML, XML, Markdown or annotations: their writers have made them safe in their own ways."""
    click.echo(text, nl=False)


def print_error(text: str) -> None:
    """Print on stderr why a command ends."""
    click.echo(safe_for_terminal(text), err=True)
