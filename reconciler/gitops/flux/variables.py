"""Variables that Flux fills in after a build, ``${NAME}`` with its forms, as its own substitution reads them.

It works on the text that kustomize prints, so that a number may come of a variable. ``$$`` is one dollar. A variable
that nobody sets is refused, as Flux does since 2.9, but in the forms that give it a default.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from reconciler.gitops.wildcards import matching_lengths
from render.words import first_few

_DEEPEST = 20
_LONGEST = 16 * 1024 * 1024
_LONGEST_TRIMMED = 4096

Lookup = Callable[[str], str | None]
"""Return the value of a variable, None for one that nobody sets; one that is set may be empty."""


class BadSubstitutionError(Exception):
    """Text cannot be substituted in; the message says why, and quotes no value."""


class UnsetVariablesError(BadSubstitutionError):
    """Nobody sets some variables, and the text gives them no default; ``names`` are theirs."""

    def __init__(self, names: Sequence[str]) -> None:
        super().__init__(f"nothing sets {first_few([f'${{{name}}}' for name in names])}")
        self.names = tuple(names)


class _Values:
    """The values of variables, and the names of those without one that a text has to have."""

    def __init__(self, lookup: Lookup) -> None:
        self._lookup = lookup
        self.unset: set[str] = set()

    def required_value(self, name: str) -> str:
        """Return the value of a variable; one without is noted."""
        value = self._lookup(name)
        if value is None:
            self.unset.add(name)
        return value or ""

    def optional_value(self, name: str) -> str:
        """Return the value of a variable that the text has a default for."""
        return self._lookup(name) or ""


class _Parsed(NamedTuple):
    """A part of a text as it is filled in, and the position after it."""

    text: str
    after: int


def substitute_variables(text: str, lookup: Lookup) -> str:
    """Return a text with its variables filled in; UnsetVariablesError names all that lack a value.

    >>> substitute_variables("${A}-${B:-x} $${A} ${A^^} ${A/a/o}", {"A": "ab"}.get)
    'ab-x ${A} AB ob'
    """
    parts, position, size, values = [], 0, 0, _Values(lookup)
    while (found := text.find("$", position)) >= 0:
        parts.append(text[position:found])
        part, position = _parsed_dollar(text, found, values, 0)
        parts.append(part)
        size += len(part)
        if size > _LONGEST:
            raise BadSubstitutionError(f"what is filled in has more than {_LONGEST} characters")
    if values.unset:
        raise UnsetVariablesError(sorted(values.unset))
    return "".join((*parts, text[position:]))


def _parsed_dollar(text: str, start: int, values: _Values, depth: int) -> _Parsed:
    """Return what a dollar stands for: itself, one of two, or a variable."""
    if text.startswith("${", start):
        return _parsed_variable(text, start + 2, values, depth)
    return _Parsed("$", start + (2 if text.startswith("$$", start) else 1))


def _parsed_variable(text: str, start: int, values: _Values, depth: int) -> _Parsed:
    if depth > _DEEPEST:
        raise BadSubstitutionError("variables stand in each other too deeply")
    if text.startswith("#", start):
        name, after = _parsed_variable_name(text, start + 1)
        return _Parsed(str(len(values.required_value(name).encode())), _end_of_variable_use(text, after))
    name, after = _parsed_variable_name(text, start)
    if text.startswith("}", after):
        return _Parsed(values.required_value(name), after + 1)
    for operators, form in _FORMS:
        operator = next((each for each in operators if text.startswith(each, after)), "")
        if operator:
            return form(_Use(text, values, depth, name, operator), after + len(operator))
    raise BadSubstitutionError(f"${{{name} is not closed by a brace")


def _parsed_variable_name(text: str, start: int) -> _Parsed:
    after = start
    while after < len(text) and (text[after].isalnum() or text[after] == "_"):
        after += 1
    if after == start:
        raise BadSubstitutionError("${ is followed by no name of a variable")
    return _Parsed(text[start:after], after)


def _end_of_variable_use(text: str, at: int) -> int:
    if not text.startswith("}", at):
        raise BadSubstitutionError("a variable is not closed by a brace")
    return at + 1


class _Use(NamedTuple):
    """One use of a variable: the text it stands in, its name, and what is done with its value."""

    text: str
    values: _Values
    depth: int
    name: str
    operator: str

    @property
    def value(self) -> str:
        return self.values.required_value(self.name)

    def argument(self, start: int, ends: str, *, escapes: str = "") -> _Parsed:
        """Return an argument: a variable alone, or text up to one of these characters or a variable."""
        if self.text.startswith("${", start):
            return _parsed_variable(self.text, start + 2, self.values, self.depth + 1)
        characters, after = [], start
        while after < len(self.text) and self.text[after] not in ends and not self.text.startswith("${", after):
            if escapes and self.text.startswith(("\\/", "\\\\", "$$"), after):
                after += 1
            characters.append(self.text[after])
            after += 1
        if after == start:
            raise BadSubstitutionError(f"${{{self.name}{self.operator} lacks what follows it")
        return _Parsed("".join(characters), after)


def _parsed_default(use: _Use, start: int) -> _Parsed:
    parts, after = [], start
    while not use.text.startswith("}", after):
        part, after = use.argument(after, "}")
        parts.append(part)
    return _Parsed(use.values.optional_value(use.name) or "".join(parts), after + 1)


def _parsed_case_change(use: _Use, start: int) -> _Parsed:
    change = str.upper if use.operator[0] == "^" else str.lower
    size = 1 if len(use.operator) == 1 else len(use.value)
    return _Parsed(change(use.value[:size]) + use.value[size:], _end_of_variable_use(use.text, start))


def _parsed_substring(use: _Use, start: int) -> _Parsed:
    """Return a part of a value, by its first byte and perhaps its length; all of it where these are no numbers."""
    first, after = use.argument(start, ":}")
    length = ""
    if use.text.startswith(":", after):
        length, after = use.argument(after + 1, "}")
    after, value = _end_of_variable_use(use.text, after), use.value.encode()
    try:
        begin, size = int(first), int(length) if length else None
    except ValueError:
        return _Parsed(use.value, after)
    begin = max(len(value) + begin, 0) if begin < 0 else begin
    end = len(value) if size is None else (len(value) if size < 0 else begin) + size
    return _Parsed(value[begin : max(end, 0)].decode("utf-8", "replace"), after)


def _parsed_replacement(use: _Use, start: int) -> _Parsed:
    if use.text.startswith("/", start):
        pattern, after = "", start
    else:
        pattern, after = use.argument(start, "/", escapes="\\")
    if not use.text.startswith("/", after):
        raise BadSubstitutionError(f"${{{use.name}{use.operator} lacks the text to put in")
    new, after = "", after + 1
    if not use.text.startswith("}", after):
        new, after = use.argument(after, "}", escapes="\\")
    return _Parsed(_value_after_operator(use.value, use.operator, pattern, new), _end_of_variable_use(use.text, after))


def _value_after_operator(value: str, operator: str, pattern: str, new: str) -> str:
    if operator == "/#":
        return new + value.removeprefix(pattern) if value.startswith(pattern) else value
    if operator == "/%":
        return value.removesuffix(pattern) + new if value.endswith(pattern) else value
    many = -1 if operator == "//" else 1
    if len(value) + value.count(pattern) * len(new) > _LONGEST:
        raise BadSubstitutionError(f"what is filled in has more than {_LONGEST} characters")
    return value.replace(pattern, new, many)


def _parsed_trimmed_value(use: _Use, start: int) -> _Parsed:
    """Return a value without its shortest or longest beginning, or end, that matches a pattern."""
    pattern, after = use.argument(start, "}")
    after, value = _end_of_variable_use(use.text, after), use.value
    if len(value) > _LONGEST_TRIMMED or len(pattern) > _LONGEST_TRIMMED:
        raise BadSubstitutionError(f"${{{use.name}{use.operator} is for at most {_LONGEST_TRIMMED} characters")
    is_end = use.operator[0] == "%"
    lengths = list(matching_lengths(pattern[::-1], value[::-1]) if is_end else matching_lengths(pattern, value))
    if not lengths:
        return _Parsed(value, after)
    size = lengths[0] if len(use.operator) == 1 else lengths[-1]
    return _Parsed(value[: len(value) - size] if is_end else value[size:], after)


_FORMS: tuple[tuple[tuple[str, ...], Callable[[_Use, int], _Parsed]], ...] = (
    ((":=", ":-", ":?", ":+", "="), _parsed_default),
    ((":",), _parsed_substring),
    (("^^", ",,", "^", ","), _parsed_case_change),
    (("//", "/#", "/%", "/"), _parsed_replacement),
    (("##", "#", "%%", "%"), _parsed_trimmed_value),
)
"""The forms of a variable, each with the operators that make it; of two that fit, the first counts."""
