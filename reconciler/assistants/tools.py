"""The tools that read: each is a command with those of its options that read nothing but the repository.

What a tool takes, and what that means, is said by the options of its command, so that there is one wording.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, Protocol

import click
from msgspec import UNSET, Struct, UnsetType

from reconciler.reference.exit_codes import EXIT_CODES
from render.expressions import lazy_expression

from .arguments import (
    Argument,
    ArgumentError,
    FileText,
    OneOf,
    WholeNumber,
    Word,
    Words,
    YesOrNo,
    checked_arguments,
    schema_of_arguments,
)
from .runs import IN_FOLDER, CommandToRun

ADDED_FILE = "added.yaml"


class AskedTool(Protocol):
    """A tool as the server knows it."""

    @property
    def name(self) -> str:
        """The name it is called by."""

    @property
    def arguments(self) -> Mapping[str, Argument]:
        """The arguments it takes, by name."""

    @property
    def description(self) -> Mapping[str, Any]:
        """The description of it: title, sentences, schema of arguments, and whether it writes."""


class ToolTerms(Struct, frozen=True, kw_only=True):
    """The name that a command has as a tool, its options there, and the exit codes that are answers.

    ``takes`` are options and arguments by the names that the command knows them by. ``has_json``: it answers with a
    document, too.
    """

    name: str
    command: str
    title: str
    takes: tuple[str, ...]
    answers: frozenset[int]
    has_json: bool = True


READING_TOOLS = (
    ToolTerms(
        name="overview",
        command="overview",
        title="The first things to know of a fleet",
        takes=("at", "losses"),
        answers=frozenset({0, 1}),
    ),
    ToolTerms(
        name="status",
        command="status",
        title="What runs where, and what is not well",
        takes=("subject", "namespace", "at"),
        answers=frozenset({0, 1}),
    ),
    ToolTerms(
        name="search",
        command="search",
        title="Objects, clusters, policies, commits and problems by words",
        takes=("words", "limit", "at"),
        answers=frozenset({0, 1}),
    ),
    ToolTerms(
        name="explain",
        command="explain",
        title="Why an object is where it is",
        takes=("subject", "namespace", "rev", "worktree", "cluster", "now", "recursive"),
        answers=frozenset({0}),
    ),
    ToolTerms(
        name="history",
        command="history",
        title="What changed, when, by whom and why",
        takes=("subject", "namespace", "rev", "limit"),
        answers=frozenset({0, 1}),
    ),
    ToolTerms(
        name="blame",
        command="blame",
        title="Which commit each replica count and field comes from",
        takes=("subject", "namespace", "rev", "cluster"),
        answers=frozenset({0}),
    ),
    ToolTerms(
        name="problems",
        command="validate",
        title="Every problem and warning of the source, at file and line",
        takes=("rev", "base", "strict"),
        answers=frozenset({0, 1, 3}),
    ),
    ToolTerms(
        name="diff",
        command="diff",
        title="What a change does to every cluster",
        takes=("base", "head", "check", "stat", "now"),
        answers=frozenset({0, 1, 6}),
    ),
    ToolTerms(
        name="simulate",
        command="simulate",
        title="What would happen if, for example, a cluster was lost",
        takes=(
            *("without_clusters", "without_regions", "without_zones", "without_providers", "n_minus", "by"),
            *("cordoned", "tainted", "sized", "scaled", "added", "headroom", "explained"),
            *("namespace", "rev", "worktree", "now", "horizon"),
        ),
        answers=frozenset({0, 1, 6}),
    ),
    ToolTerms(
        name="reference",
        command="help",
        title="What a command, a field, a setting or a word means",
        takes=("words", "is_search"),
        answers=frozenset({0, 1}),
        has_json=False,
    ),
)
"""The tools that read, in the order they are listed."""

COMMON: Mapping[str, Argument] = {
    "verbose": YesOrNo(about="Name each of many things that are alike.", words=("-v",)),
    "max_characters": WholeNumber(
        about="The answer is cut after so many characters, and says so  [default: 20000]", least=1000, most=100_000
    ),
    "from_line": WholeNumber(
        about="Begin with this line of the answer: go on where one was cut  [default: 1]", least=1, most=10_000_000
    ),
}
"""The arguments of every tool that reads, beside the options of its command."""

_OPTION = lazy_expression(r"--[a-z][a-z-]*")
_SENTENCE_END = lazy_expression(r"(?<=[.:]) (?=[A-Z])")

FORMAT = OneOf(about="FileText, or the document of -o json  [default: text]", choices=("text", "json"))
_ADDED = FileText(
    about="Suppose that the source has these manifests, too: YAML, several documents divided by ---.", option="--add"
)


class ReadingTool(Struct, frozen=True, kw_only=True):
    """A command of the command line as a tool, for the repository at a place.

    ``about`` says what it does, and ``endings`` what its exit codes mean.
    """

    terms: ToolTerms
    arguments: Mapping[str, Argument]
    about: str
    endings: str = ""
    place: str = ""
    shown_place: str = ""

    @property
    def name(self) -> str:
        """The name it is called by."""
        return self.terms.name

    @property
    def description(self) -> Mapping[str, Any]:
        """The description of the tool."""
        return {
            "name": self.name,
            "title": self.terms.title,
            "description": self.about,
            "inputSchema": schema_of_arguments(self.arguments),
            "annotations": {
                "title": self.terms.title,
                "readOnlyHint": True,
                "destructiveHint": False,
                "idempotentHint": True,
                "openWorldHint": False,
            },
        }

    def command_of_call(self, given: Mapping[str, Any]) -> CommandToRun:
        """Return the command that arguments ask for; ArgumentError where they cannot be handed to it."""
        values = checked_arguments(self.arguments, given)
        before = [word for name in COMMON if name in values for word in self.arguments[name].words_of(values[name])]
        rest = {name: value for name, value in values.items() if name not in COMMON}
        is_json = rest.pop("format", "text") == "json"
        files = {}
        if "add" in rest and isinstance(self.arguments["add"], FileText):
            files[ADDED_FILE] = rest["add"]
            rest["add"] = f"{IN_FOLDER}{ADDED_FILE}"
        options = [word for name, value in rest.items() for word in self.arguments[name].words_of(value)]
        positional = tuple(self._positional_words(rest))
        ending = ("--", *positional) if positional else ()
        output = ("--output=json",) if is_json else ()
        return CommandToRun(
            words=(self.terms.command, *before, *options, *output, *ending),
            place=self.place,
            shown_place=self.shown_place,
            files=files,
        )

    def meaning_of_code(self, code: int, given: Mapping[str, Any]) -> str:
        """Return what an exit code of a call means."""
        return meaning_of_code(code, self.endings, {f"--{name}" for name, value in given.items() if value})

    def _positional_words(self, values: Mapping[str, Any]) -> Iterator[str]:
        """Yield the words that are no options, in their order; none may be left out before another."""
        missing = ""
        for name, argument in self.arguments.items():
            if not isinstance(argument, Word | Words) or argument.option:
                continue
            if name not in values:
                missing = missing or name
            elif missing:
                raise ArgumentError([f"{name}: goes only with {missing}"])
            else:
                yield from [values[name]] if isinstance(values[name], str) else values[name]


def tools_of_commands(
    commands: Mapping[str, click.Command], *, place: str, shown_place: str = ""
) -> tuple[ReadingTool, ...]:
    """Return the tools that commands are for the repository at a place; ``shown_place`` is how people name it."""
    return tuple(
        ReadingTool(
            terms=terms,
            arguments=dict(_arguments_of_command(terms, commands[terms.command])),
            about=_sentences_about_command(commands[terms.command], terms),
            endings=commands[terms.command].epilog or "",
            place=place,
            shown_place=shown_place,
        )
        for terms in READING_TOOLS
    )


def _sentences_about_command(command: click.Command, terms: ToolTerms) -> str:
    """Return the help of a command without the sentences about options that the tool does not have."""
    taken = {option for param in command.params if param.name in terms.takes for option in param.opts}
    text = " ".join(f"{command.help or ''} {command.epilog or ''}".split())
    sentences = _SENTENCE_END.split(text)
    kept = [each for each in sentences if {*_OPTION.findall(each)} <= {*taken, "--"}]
    return " ".join(kept)


def meaning_of_code(code: int, endings: str, options: Collection[str] = ()) -> str:
    """Return what an exit code means, as the last sentence of a command's help says, or as it means in general.

    >>> endings = "Exit codes: 0 no difference; 1 a difference. With --check: 0 allowed; 1 a new problem."
    >>> meaning_of_code(1, endings), meaning_of_code(1, endings, {"--check"}), meaning_of_code(2, endings)
    ('a difference', 'a new problem', 'the command line is wrong')
    """
    sentences = [each.partition(": ") for each in endings.rstrip(".").split(". ")]
    wanted = [parts for each, _, parts in sentences if {*_OPTION.findall(each)} <= {*options}]
    found = (part.partition(" ") for parts in reversed(wanted) for part in parts.split("; "))
    meanings = [meaning for number, _, meaning in found if number == str(code)]
    if meanings:
        return meanings[0]
    return "answered" if code == 0 else EXIT_CODES.get(code, f"ended by signal {-code}" if code < 0 else "unknown")


def _arguments_of_command(terms: ToolTerms, command: click.Command) -> Iterator[tuple[str, Argument]]:
    by_name = {str(param.name): param for param in command.params}
    for name in terms.takes:
        argument = _argument_of_param(by_name[name])
        yield _name_of_param(by_name[name]), argument
    yield from COMMON.items()
    if terms.has_json:
        yield "format", FORMAT


def _name_of_param(param: click.Parameter) -> str:
    if isinstance(param, click.Argument):
        return str(param.name)
    return max(param.opts, key=len).lstrip("-").replace("-", "_")


def _argument_of_param(param: click.Parameter) -> Argument:
    """Return what an option or an argument of a command is to somebody who calls it as a tool."""
    if isinstance(param, click.Argument):
        about = str(param.metavar or param.name).strip("[]")
        is_list = param.name == "words"
        return (
            Words(about=about, option="", is_required=param.required)
            if is_list
            else Word(about=about, option="", is_required=param.required)
        )
    assert isinstance(param, click.Option)
    option = max(param.opts, key=len)
    if option == "--add":
        return _ADDED
    about = _sentence_of_option(param)
    if param.is_flag:
        return YesOrNo(about=about, words=(option,))
    if isinstance(param.type, click.Choice):
        return OneOf(about=about, option=option, choices=tuple(map(str, param.type.choices)))
    if isinstance(param.type, click.IntRange):
        return WholeNumber(about=about, option=option, least=_bound(param.type.min), most=_bound(param.type.max))
    kind = Words if param.multiple else Word
    return kind(about=about, option=option)


def _bound(number: float | None) -> int | UnsetType:
    return UNSET if number is None else int(number)


def _sentence_of_option(option: click.Option) -> str:
    metavar = f" ({option.metavar})" if option.metavar else ""
    default = option.default
    shown = f"  [default: {default}]" if option.show_default and isinstance(default, str) else ""
    return f"{option.help or ''}{metavar}{shown}".replace("--", "").strip()


def names_of_tools(tools: Iterable[AskedTool]) -> str:
    """Return the names of tools in a row."""
    return ", ".join(tool.name for tool in tools)
