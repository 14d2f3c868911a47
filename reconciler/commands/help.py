"""``argosy help``: the help of a command, a topic of reference, or what the whole reference has about some words."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from reconciler.commands.options.help_pages import DocumentedCommand
from reconciler.console.printing import print_error, print_text
from reconciler.console.terminal import is_terminal

if TYPE_CHECKING:
    from reconciler.reference.search import ReferenceEntry

_MOST_SHOWN = 12
"""More entries than these are counted at a terminal; a pipe gets all of them."""


def _complete_help_words(context: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer topics and commands to a shell, and behind --search the words that names of the reference have."""
    root = context.find_root()
    if context.params.get("is_search"):
        from reconciler.reference.search import words_of_names

        names = sorted(words_of_names(_reference_entries_of_commands(root)))
    else:
        from reconciler.reference.topics import TOPICS

        names = [*TOPICS, *(root.command.list_commands(root) if isinstance(root.command, click.Group) else ())]
    return [CompletionItem(name) for name in names if name.startswith(incomplete)]


@click.command(cls=DocumentedCommand)
@click.argument("words", nargs=-1, metavar="[TOPIC | COMMAND | WORDS]", shell_complete=_complete_help_words)
@click.option(
    "--search", "is_search", is_flag=True, help="Find the entries of the whole reference that have all WORDS."
)
@click.option(
    "--man-pages",
    "folder_of_pages",
    default="",
    metavar="FOLDER",
    help="Write the manual page of every command into a folder, for man.",
)
@click.pass_context
def command(context: click.Context, /, words: tuple[str, ...], *, is_search: bool, folder_of_pages: str) -> int:
    """Show the help of a command, or a topic of reference  [default: list both].

    A topic is a table of names and what they mean, such as the exit codes or the fields of argosy.yaml.

    With --search, commands, options, topics, fields of Karmada's kinds and of JSON documents are searched. Entries that
    have the words in their names come first. Each is shown with the command that says more. In a pipe, every line is
    one entry: its name, what it means, and that command, with tabs between them. The exit code is 1 if nothing is
    found.
    """
    from reconciler.reference.topics import TOPICS, load_topic

    if folder_of_pages:
        if words or is_search:
            raise click.UsageError("--man-pages writes the pages of all commands, and goes alone")
        return _write_manual_pages(context.find_root(), folder_of_pages)
    if is_search:
        return _search_help_and_show(context.find_root(), words)
    formatter = context.find_root().make_formatter()
    if not words:
        _write_command_and_topic_lists(context.find_root(), formatter, TOPICS.items())
    elif words[0] in TOPICS and len(words) == 1:
        page = load_topic(words[0])
        formatter.write_text(page.about)
        for section in page.sections:
            _write_help_section(formatter, section.title, section.before, section.entries)
    else:
        print_text(_command_help(context.find_root(), words, TOPICS))
        return 0
    print_text(formatter.getvalue(), end="")
    return 0


def _write_manual_pages(root: click.Context, folder: str) -> int:
    from pathlib import Path

    from reconciler.commands.man_pages import write_manual_pages

    count = write_manual_pages(root, Path(folder))
    print_text(f"{count} manual pages are in {folder}; man -M reads a folder that has them in man1")
    return 0


def _write_command_and_topic_lists(
    root: click.Context, formatter: click.HelpFormatter, topics: Iterable[tuple[str, str]]
) -> None:
    if isinstance(root.command, click.Group):
        root.command.format_commands(root, formatter)
    with formatter.section("Topics"):
        formatter.write_dl(list(topics))
    formatter.write_paragraph()
    formatter.write_text("'argosy help --search WORDS' finds words in all of it.")


def _write_help_section(
    formatter: click.HelpFormatter, title: str, before: str, entries: Sequence[tuple[str, str]]
) -> None:
    formatter.write_paragraph()
    if title:
        formatter.write_heading(title)
    if before:
        formatter.write_text(_with_apostrophes_for_backquotes(before))
        formatter.write_paragraph()
    with formatter.indentation():
        formatter.write_dl(
            [
                (_with_apostrophes_for_backquotes(name), _with_apostrophes_for_backquotes(about))
                for name, about in entries
            ]
        )


def _search_help_and_show(root: click.Context, words: Sequence[str]) -> int:
    """Print the entries that have all words; say what is near where there is none."""
    from reconciler.reference.search import entries_with, hint_where_nothing_is_found

    given = [part for word in words for part in word.split()]
    if not given:
        raise click.UsageError("--search needs words, such as 'argosy help --search removal guard'.", root)
    entries = tuple(_reference_entries_of_commands(root))
    found = entries_with(given, entries) or entries_with(" ".join(given).replace("/", " ").split(), entries)
    if not found:
        hint = hint_where_nothing_is_found(given, entries)
        all_of = "all of " if len(given) > 1 else ""
        print_error(f"argosy: no entry of the reference has {all_of}{' '.join(given)!r}\n  hint: {hint}")
        return 1
    if is_terminal():
        _write_found_entries(root.make_formatter(), found)
    else:
        for entry in found:
            print_text("\t".join((entry.name, " ".join(entry.about.split()), entry.command)))
    return 0


def _write_found_entries(formatter: click.HelpFormatter, found: "Sequence[ReferenceEntry]") -> None:
    """Print the first entries for a person, and count the others."""
    for entry in found[:_MOST_SHOWN]:
        formatter.write(f"{entry.name}  ({entry.command})\n")
        with formatter.indentation():
            formatter.write_text(_with_apostrophes_for_backquotes(entry.about))
    more = len(found) - _MOST_SHOWN
    if more > 0:
        formatter.write(f"and {more} more: a further word narrows them down, and a pipe gets all\n")
    print_text(formatter.getvalue(), end="")


def _reference_entries_of_commands(root: click.Context) -> "Iterator[ReferenceEntry]":
    """Yield the entries of commands, then those of everything else."""
    from reconciler.reference.search import reference_entries

    yield from _command_entries(root)
    yield from reference_entries()


def _command_entries(context: click.Context, known: frozenset[str] = frozenset()) -> "Iterator[ReferenceEntry]":
    """Yield an entry for each paragraph of a command's help and each of its options, and those of commands below it.

    ``known`` are the options of the command above: they stand before each command, and are told of once.
    """
    from reconciler.reference.search import ReferenceEntry

    path, command = context.command_path, context.command
    shown = f"{path} --help"
    for paragraph in (command.help or "").split("\n\n"):
        yield ReferenceEntry(name=path, about=" ".join(paragraph.split()), command=shown)
    options = [each for each in command.params if isinstance(each, click.Option) and not each.hidden]
    for option in options:
        name = max(option.opts, key=len)
        if name not in known:
            yield ReferenceEntry(name=f"{path} {name}", about=option.help or "", command=shown)
    if isinstance(command, click.Group):
        own = known | {max(option.opts, key=len) for option in options}
        for word in command.list_commands(context):
            below = command.get_command(context, word)
            if below is not None:
                yield from _command_entries(click.Context(below, info_name=word, parent=context), own)


def _with_apostrophes_for_backquotes(text: str) -> str:
    return text.replace("`", "'")


def _command_help(root: click.Context, words: Sequence[str], topics: Iterable[str]) -> str:
    """Return the help of a command or of one of its own commands."""
    context = root
    for word in words:
        group = context.command
        known = group.list_commands(context) if isinstance(group, click.Group) else []
        next_command = group.get_command(context, word) if isinstance(group, click.Group) else None
        if next_command is None:
            from reconciler.names.subjects import error_of_unknown_name
            from reconciler.reference.search import advice_for

            if len(words) == 1 and (advice := advice_for(word)):
                return advice

            names = [*known, *topics] if context is root else known
            raise error_of_unknown_name(f"there is no command or topic {' '.join(words)!r}", word, names)
        context = next_command.context_class(next_command, info_name=word, parent=context)
    return context.get_help()
