"""``argosy help``: the help of a command, or a topic of reference."""

from collections.abc import Iterable, Sequence

import click
from click.shell_completion import CompletionItem

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.printing import print_text


def _completed_topics(context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer topics and commands to a shell."""
    from reconciler.reference.topics import TOPICS

    root = context.find_root()
    names = [*TOPICS, *(root.command.list_commands(root) if isinstance(root.command, click.Group) else ())]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(cls=DocumentedCommand)
@click.argument("words", nargs=-1, metavar="[TOPIC | COMMAND]", shell_complete=_completed_topics)
@click.pass_context
def command(context: click.Context, /, words: tuple[str, ...]) -> int:
    """Show the help of a command, or a topic of reference  [default: list both].

    A topic is a table of names and what they mean, such as the exit codes or the fields of argosy.yaml.
    """
    from reconciler.reference.topics import TOPICS, topic

    formatter = context.find_root().make_formatter()
    if not words:
        _write_contents(context.find_root(), formatter, TOPICS.items())
    elif words[0] in TOPICS and len(words) == 1:
        page = topic(words[0])
        formatter.write_text(page.about)
        for section in page.sections:
            _write_section(formatter, section.title, section.before, section.entries)
    else:
        print_text(_command_help(context.find_root(), words, TOPICS))
        return 0
    print_text(formatter.getvalue(), end="")
    return 0


def _write_contents(root: click.Context, formatter: click.HelpFormatter, topics: Iterable[tuple[str, str]]) -> None:
    if isinstance(root.command, click.Group):
        root.command.format_commands(root, formatter)
    with formatter.section("Topics"):
        formatter.write_dl(list(topics))


def _write_section(formatter: click.HelpFormatter, title: str, before: str, entries: Sequence[tuple[str, str]]) -> None:
    formatter.write_paragraph()
    if title:
        formatter.write_heading(title)
    if before:
        formatter.write_text(_text_without_markup(before))
        formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_dl([(_text_without_markup(name), _text_without_markup(about)) for name, about in entries])


def _text_without_markup(text: str) -> str:
    return text.replace("`", "'")


def _command_help(root: click.Context, words: Sequence[str], topics: Iterable[str]) -> str:
    """Return the help of a command or of one of its own commands."""
    context = root
    for word in words:
        group = context.command
        known = group.list_commands(context) if isinstance(group, click.Group) else []
        next_command = group.get_command(context, word) if isinstance(group, click.Group) else None
        if next_command is None:
            from reconciler.names.subjects import unknown_name

            names = [*known, *topics] if context is root else known
            raise unknown_name(f"there is no command or topic {' '.join(words)!r}", word, names)
        context = click.Context(next_command, info_name=word, parent=context)
    return context.get_help()
