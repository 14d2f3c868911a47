"""The reference as a page: commands, options, topics and documents, as the program itself knows them."""

from collections.abc import Iterable, Iterator
from typing import Any

import click

from reconciler.cli import COMMANDS, argosy
from reconciler.commands.options.global_options import GLOBAL_HINT
from reconciler.outputs.documents import DOCUMENTS
from reconciler.reference.examples import EXAMPLES
from reconciler.reference.schemas import json_schema_of_kind
from reconciler.reference.topics import TOPICS, load_topic

_HEAD = """\
# Reference

This page is made from the program: `python -m tests.docs --write` writes it, and a test compares it. \
The same texts are in the terminal: `argosy COMMAND --help`, `argosy help TOPIC`, `argosy schema KIND`.
"""


def page() -> str:
    """Return the page."""
    return "\n".join([_HEAD, *_contents(), *_commands(), *_topics(), *_documents()])


def _contents() -> Iterator[str]:
    yield "* [Commands](#commands): " + ", ".join(f"[{name}](#argosy-{name})" for name in COMMANDS)
    yield "* Topics: " + ", ".join(f"[{name}](#{_anchor(name)})" for name in TOPICS)
    yield "* [JSON documents](#json-documents): " + ", ".join(
        f"[{each.kind}](#{each.kind.lower()})" for each in DOCUMENTS
    )
    yield ""


def _anchor(title: str) -> str:
    return title.replace(".", "")


def _commands() -> Iterator[str]:
    root = click.Context(argosy, info_name="argosy")
    yield "## Commands\n"
    yield from _options(root, argosy.params)
    yield "These options may stand before the command or behind it.\n"
    for name in COMMANDS:
        command = argosy.get_command(root, name)
        assert command is not None
        yield from _command(click.Context(command, info_name=name, parent=root), "###")


def _command(context: click.Context, heading: str) -> Iterator[str]:
    command = context.command
    yield f"{heading} {context.command_path}\n"
    usage = command.collect_usage_pieces(context)
    yield f"```text\n{context.command_path} {' '.join(usage)}\n```\n"
    yield from (f"{_words(paragraph)}\n" for paragraph in (command.help or "").split("\n\n"))
    yield from _options(context, [option for option in command.params if not getattr(option, "hidden", False)])
    own = (command.epilog or "").removesuffix(GLOBAL_HINT).strip()
    if own:
        yield f"{_words(own)}\n"
    yield from _examples(context)
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from _command(click.Context(inner, info_name=name, parent=context), "####")


def _examples(context: click.Context) -> Iterator[str]:
    examples = EXAMPLES.get(context.command_path.partition(" ")[2], ())
    if examples:
        yield "```text"
        yield from (f"# {about}\n{line}" for line, about in examples)
        yield "```\n"


def _words(text: str) -> str:
    return " ".join(text.split()).replace("<", "&lt;").replace("*", "\\*")


def _options(context: click.Context, params: Iterable[click.Parameter]) -> Iterator[str]:
    given = (param for param in params if isinstance(param, click.Option))
    rows = [record for option in given if (record := option.get_help_record(context))]
    if rows:
        yield from _table(("option", "meaning"), [(f"`{name}`", _words(about)) for name, about in rows])


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> Iterator[str]:
    titles = tuple(head)
    yield f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""


def _topics() -> Iterator[str]:
    for name in TOPICS:
        found = load_topic(name)
        yield f"## {name}\n\n{found.about}\n"
        for section in found.sections:
            if section.title:
                yield f"**{section.title}**\n"
            if section.before:
                yield f"{section.before}\n"
            yield from _table(
                ("name", "meaning"), [(_name(name, entry.name), entry.about) for entry in section.entries]
            )


def _name(topic_name: str, text: str) -> str:
    """Return a name as it is typed, but for words and for what is a phrase."""
    is_phrase = topic_name == "words" or text.startswith("A ")
    return text if is_phrase else f"`{text}`"


def _documents() -> Iterator[str]:
    yield "## JSON documents\n"
    for each in DOCUMENTS:
        yield f"### {each.kind}\n\n{each.about} Printed by {_lines(each.printed_by)}.\n"
        shape = json_schema_of_kind(each.kind)
        fields = {name: each for name, each in shape["properties"].items() if name not in {"apiVersion", "kind"}}
        yield from _table(
            ("field", "type", "meaning"), [(f"`{name}`", _type(each), _about(each)) for name, each in fields.items()]
        )


def _lines(lines: Iterable[str]) -> str:
    return " and ".join(f"`argosy {line} -o json`" for line in lines)


def _about(shape: dict[str, Any]) -> str:
    inner = shape.get("items", shape.get("additionalProperties", shape))
    names = list(inner.get("properties", ())) if isinstance(inner, dict) else []
    each = f" Fields: {', '.join(f'`{name}`' for name in names)}." if names else ""
    return f"{shape.get('description', '')}{each}"


def _type(shape: dict[str, Any]) -> str:
    found = shape.get("type", "any value")
    kinds = found if isinstance(found, list) else [found]
    return " or ".join(kinds)
