"""Manual pages in roff, made of the help of every command: what man shows is what --help says."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import click

from reconciler import VERSION
from render.expressions import lazy_expression

_BLANKS = lazy_expression(r"\s+")


def manual_pages(root: click.Context) -> Mapping[str, str]:
    """Return the page of the program and of each command, by the name of its file (``argosy-cluster-join.1``)."""
    return {f"{'-'.join(context.command_path.split())}.1": _page_of_command(context) for context in _contexts(root)}


def write_manual_pages(root: click.Context, folder: Path) -> int:
    """Write all pages into a folder, which is made, and return how many they are."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = manual_pages(root)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")
    return len(pages)


def _contexts(context: click.Context) -> Iterator[click.Context]:
    yield context
    command = context.command
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            if found is not None and not found.hidden:
                yield from _contexts(command.context_class(found, info_name=name, parent=context))


def _page_of_command(context: click.Context) -> str:
    name = "-".join(context.command_path.split())
    return "\n".join(
        [
            f'.TH "{name.upper()}" "1" "" "argosy {VERSION}" "Argosy"',
            *_section("NAME", f"{_roff(name)} \\- {_roff(context.command.get_short_help_str(limit=200))}"),
            *_section("SYNOPSIS", f".B {_roff(context.command_path)}\n{_roff(_words_of_usage(context))}"),
            *_section("DESCRIPTION", _roff_of_paragraphs(context.command.help or "")),
            *_options(context),
            *_commands(context),
            *_examples(context),
            *_section("EXIT STATUS", _roff_of_paragraphs(context.command.epilog or "")),
            *_see_also(context),
            "",
        ]
    )


def _section(title: str, text: str) -> Iterator[str]:
    if text:
        yield from (f'.SH "{title}"', text)


def _words_of_usage(context: click.Context) -> str:
    return " ".join(context.command.collect_usage_pieces(context))


def _roff_of_paragraphs(text: str) -> str:
    return "\n.PP\n".join(_roff(_BLANKS.sub(" ", each).strip()) for each in text.split("\n\n") if each.strip())


def _options(context: click.Context) -> Iterator[str]:
    options = (each for each in context.command.get_params(context) if isinstance(each, click.Option))
    records = [record for each in options if (record := each.get_help_record(context))]
    yield from _section("OPTIONS", "\n".join(_term(words, about) for words, about in records))


def _commands(context: click.Context) -> Iterator[str]:
    command = context.command
    if isinstance(command, click.Group):
        found = ((name, command.get_command(context, name)) for name in command.list_commands(context))
        listed = [_term(name, each.get_short_help_str(limit=200)) for name, each in found if each and not each.hidden]
        yield from _section("COMMANDS", "\n".join(listed))


def _examples(context: click.Context) -> Iterator[str]:
    from reconciler.reference.examples import EXAMPLES

    examples = EXAMPLES.get(context.command_path.partition(" ")[2], ())
    shown = (f".PP\n{_roff(about)}:\n.PP\n.RS 4\n.nf\n{_roff(line)}\n.fi\n.RE" for line, about in examples)
    yield from _section("EXAMPLES", "\n".join(shown))


def _see_also(context: click.Context) -> Iterator[str]:
    names = ["-".join(context.parent.command_path.split())] if context.parent else []
    command = context.command
    if isinstance(command, click.Group):
        path = "-".join(context.command_path.split())
        names += [f"{path}-{name}" for name in command.list_commands(context)]
    yield from _section("SEE ALSO", ",\n".join(f".BR {_roff(name)} (1)" for name in names).replace(",\n", "\n"))


def _term(word: str, about: str) -> str:
    return f".TP\n.B {_roff(word)}\n{_roff(about)}"


def _roff(text: str) -> str:
    r"""Return text in which nothing is a request or an escape of roff.

    >>> _roff(".x a-b"), _roff("c:\\d")
    ('\\&.x a\\-b', 'c:\\ed')
    """
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", "\\\\&", escaped, flags=re.MULTILINE)
