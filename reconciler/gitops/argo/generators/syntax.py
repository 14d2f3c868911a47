"""The syntax of Go's text templates, as far as ApplicationSets are written in it: text, and actions between braces.

1. A template is cut into texts and actions; ``{{-`` and ``-}}`` cut the white space beside them.
2. An action is cut into tokens. A field right behind a value is one of its fields; behind a space it is one of the dot.
3. Branches (``if``, ``with``, ``range``) hold what stands up to their ``end``.

Definitions of other templates, ``break`` and ``continue`` are refused by name.
"""

import re
from collections import deque
from collections.abc import Sequence
from itertools import islice
from typing import NamedTuple

from msgspec import Struct

from render.expressions import lazy_expression

_TOKEN = lazy_expression(
    r"""(?P<space>\s*)(?:
      (?P<string>"(?:[^"\\\n]|\\.)*"|`[^`]*`)
    | (?P<number>[+-]?[0-9][0-9A-Za-z_.]*)
    | (?P<variable>\$[A-Za-z0-9_]*)
    | (?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
    | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<mark>:=|[=|(),.])
    )""",
    re.VERBOSE | re.ASCII,
)
_CUT = lazy_expression(r"\{\{-\s")
_END = lazy_expression(r"\s*+(?P<trim>(?<=\s)-)?\}\}")
_COMMENT = lazy_expression(r"\{\{(?:- )?/\*.*?\*/(?P<trim> -)?\}\}", re.DOTALL)
_BRANCHES = frozenset({"if", "with", "range"})
_REFUSED = frozenset({"define", "template", "block", "break", "continue"})
_ESCAPE = lazy_expression(r"\\(?:([abfnrtv\\\"'])|x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8}))")
_PLAIN_ESCAPES = dict(zip("abfnrtv\\\"'", "\a\b\f\n\r\t\v\\\"'", strict=True))
_DEEPEST = 40


class TemplateError(Exception):
    """A template cannot be read or run; the message quotes no parameter."""


class Literal(NamedTuple):
    """A value that is written in the template."""

    value: object


class Variable(NamedTuple):
    """A variable: ``$name``, ``$`` for all parameters, or ``.`` for the dot."""

    name: str


class Function(NamedTuple):
    """A function by its name."""

    name: str


class Fields(NamedTuple):
    """Fields of a value, one in the other."""

    base: "Operand"
    names: tuple[str, ...]


class Pipeline(NamedTuple):
    """Commands, each handed to the next as its last argument; ``variables`` get the value (``is_new``: declared)."""

    commands: tuple[tuple["Operand", ...], ...]
    variables: tuple[str, ...] = ()
    is_new: bool = True


Operand = Literal | Variable | Function | Fields | Pipeline


class Branch(Struct, frozen=True):
    """An ``if``, ``with`` or ``range``, with what it holds for either case."""

    kind: str
    pipeline: Pipeline
    body: tuple["Node", ...]
    otherwise: tuple["Node", ...] = ()


Node = str | Pipeline | Branch


class _Token(NamedTuple):
    kind: str
    text: str
    is_joined: bool


_Action = Sequence[_Token]


def parsed_template(text: str) -> tuple[Node, ...]:
    """Return the nodes of a template; TemplateError says what is wrong with it."""
    parser = _Parser(_texts_and_actions(text))
    nodes = parser.parsed_nodes(0)
    for item in parser.items:
        raise TemplateError(f"{{{{{'' if isinstance(item, str) else _keyword_of_action(item)}}}}} ends nothing")
    return nodes


def _texts_and_actions(text: str) -> list[str | _Action]:
    """Return the texts and actions of a template."""
    items: list[str | _Action] = []
    position, is_trimmed = 0, False
    while True:
        start = text.find("{{", position)
        before = text[position:] if start < 0 else text[position:start]
        before = before.lstrip() if is_trimmed else before
        if start >= 0 and _CUT.match(text, start):
            before = before.rstrip()
        if before:
            items.append(before)
        if start < 0:
            return items
        if comment := _COMMENT.match(text, start):
            position, is_trimmed = comment.end(), bool(comment["trim"])
            continue
        tokens, position, is_trimmed = _tokens_of_action(text, start)
        items.append(tokens)


def _tokens_of_action(text: str, start: int) -> tuple[_Action, int, bool]:
    """Return the tokens of an action, the position after it, and whether the space after it is cut."""
    tokens: list[_Token] = []
    position = start + (3 if _CUT.match(text, start) else 2)
    while True:
        end = _END.match(text, position)
        if end:
            if not tokens:
                raise TemplateError("an action is empty")
            return tokens, end.end(), bool(end["trim"])
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            raise TemplateError("an action is not closed by }}, or holds what is no part of a template")
        tokens.append(_Token(found.lastgroup, found[found.lastgroup], not found["space"]))
        position = found.end()


def text_of_literal(text: str) -> str:
    """Return a string as it is written in a template."""
    if text.startswith("`"):
        return text[1:-1]

    def character(found: re.Match[str]) -> str:
        return _PLAIN_ESCAPES[found[1]] if found[1] else chr(int(found[2] or found[3] or found[4], 16))

    plain = _ESCAPE.sub("", text[1:-1])
    if "\\" in plain:
        raise TemplateError("a string has an escape that is not known")
    try:
        return _ESCAPE.sub(character, text[1:-1])
    except (ValueError, OverflowError) as error:
        raise TemplateError("a string has an escape that is no character") from error


class _Parser:
    """The nodes of a template, from its items."""

    def __init__(self, items: list[str | _Action]) -> None:
        self.items = deque(items)

    def parsed_nodes(self, depth: int) -> tuple[Node, ...]:
        """Take nodes up to an ``end`` or ``else``, which is left."""
        if depth > _DEEPEST:
            raise TemplateError("branches stand in each other too deeply")
        found: list[Node] = []
        while self.items:
            item = self.items[0]
            word = "" if isinstance(item, str) else _keyword_of_action(item)
            if word in {"end", "else"}:
                break
            self.items.popleft()
            if isinstance(item, str):
                found.append(item)
            elif word in _BRANCHES:
                found.append(self._parsed_branch(word, item[1:], depth))
            elif word in _REFUSED:
                raise TemplateError(f"{{{{{word}}}}} is not read here")
            else:
                found.append(_Operands(item).whole_pipeline())
        return tuple(found)

    def _parsed_branch(self, kind: str, tokens: _Action, depth: int) -> Branch:
        pipeline = _Operands(tokens).whole_pipeline()
        body = self.parsed_nodes(depth + 1)
        otherwise: tuple[Node, ...] = ()
        ending = self._parsed_end_of_branch(kind)
        if _keyword_of_action(ending) == "else" and len(ending) > 1:
            inner = _keyword_of_action(ending[1:])
            if inner not in {"if", "with"}:
                raise TemplateError("{{else}} is followed by something else than if or with")
            return Branch(kind, pipeline, body, (self._parsed_branch(inner, ending[2:], depth + 1),))
        if _keyword_of_action(ending) == "else":
            otherwise = self.parsed_nodes(depth + 1)
            if _keyword_of_action(self._parsed_end_of_branch(kind)) != "end":
                raise TemplateError("{{else}} stands twice")
        return Branch(kind, pipeline, body, otherwise)

    def _parsed_end_of_branch(self, kind: str) -> _Action:
        ending = self.items.popleft() if self.items else ""
        if isinstance(ending, str):
            raise TemplateError(f"{{{{{kind}}}}} lacks its {{{{end}}}}")
        return ending


def _keyword_of_action(tokens: _Action) -> str:
    return tokens[0].text if tokens and tokens[0].kind == "word" else ""


class _Operands:
    """The pipeline of an action, from its tokens."""

    def __init__(self, tokens: _Action) -> None:
        self.tokens = deque(tokens)

    def whole_pipeline(self) -> Pipeline:
        """Take all tokens as one pipeline, which may set variables."""
        variables, is_new = self._variables()
        pipeline = self._parsed_pipeline(0)._replace(variables=variables, is_new=is_new)
        if self.tokens:
            raise TemplateError(f"{self.tokens[0].text!r} stands where nothing is expected")
        return pipeline

    def _variables(self) -> tuple[tuple[str, ...], bool]:
        texts = [token.text for token in islice(self.tokens, 4)]
        kinds = [token.kind for token in islice(self.tokens, 3)]
        if kinds[:1] == ["variable"] and texts[1:2] and texts[1] in {":=", "="}:
            self._drop_tokens(2)
            return (texts[0],), texts[1] == ":="
        if kinds[::2] == ["variable", "variable"] and texts[1] == "," and texts[3:] and texts[3] in {":=", "="}:
            self._drop_tokens(4)
            return (texts[0], texts[2]), texts[3] == ":="
        return (), True

    def _drop_tokens(self, count: int) -> None:
        for _ in range(count):
            self.tokens.popleft()

    def _parsed_pipeline(self, depth: int) -> Pipeline:
        if depth > _DEEPEST:
            raise TemplateError("parentheses stand in each other too deeply")
        commands = [self._parsed_command(depth)]
        while self.tokens and self.tokens[0].text == "|":
            self.tokens.popleft()
            commands.append(self._parsed_command(depth))
        return Pipeline(tuple(commands))

    def _parsed_command(self, depth: int) -> tuple[Operand, ...]:
        operands: list[Operand] = []
        while self.tokens and not (self.tokens[0].kind == "mark" and self.tokens[0].text in {"|", ")"}):
            operands.append(self._parsed_operand(depth))
        if not operands:
            raise TemplateError("a command is missing")
        return tuple(operands)

    def _parsed_operand(self, depth: int) -> Operand:
        token = self.tokens.popleft()
        base = self._parsed_operand_without_fields(token, depth)
        names: list[str] = [token.text[1:]] if token.kind == "field" else []
        while self.tokens and self.tokens[0].kind == "field" and self.tokens[0].is_joined:
            names.append(self.tokens.popleft().text[1:])
        return Fields(base, tuple(names)) if names else base

    def _parsed_operand_without_fields(self, token: _Token, depth: int) -> Operand:
        if token.kind == "string":
            return Literal(text_of_literal(token.text))
        if token.kind == "number":
            return Literal(_parse_number(token.text))
        if token.kind == "variable":
            return Variable(token.text)
        if token.kind == "field" or token.text == ".":
            return Variable(".")
        if token.kind == "word":
            words = {"true": True, "false": False, "nil": None}
            return Literal(words[token.text]) if token.text in words else Function(token.text)
        if token.text != "(":
            raise TemplateError(f"{token.text!r} stands where a value is expected")
        inner = self._parsed_pipeline(depth + 1)
        if not self.tokens or self.tokens.popleft().text != ")":
            raise TemplateError("a parenthesis is not closed")
        return inner


def _parse_number(text: str) -> int | float:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError as error:
        raise TemplateError(f"{text!r} is no number") from error
