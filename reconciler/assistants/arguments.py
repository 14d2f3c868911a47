"""The arguments of a tool: their kinds, their schemas, and the words of a command line that a value becomes.

No value can become an option. A text is one word behind ``--option=``, or stands after ``--``; it is bounded, has no
control character, and does not begin with a hyphen.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from msgspec import UNSET, Struct, UnsetType

from render.expressions import lazy_expression

MOST_CHARACTERS = 1000
"""The longest text that a word may have: no name, revision or label is longer."""
MOST_WORDS = 50
MOST_CONTENT = 1 << 20
"""The most characters of a file that is handed over."""
_CONTROL = lazy_expression(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_CONTROL_OF_FILE = lazy_expression(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


class ArgumentError(Exception):
    """Arguments that a tool does not take, with a sentence for each."""

    def __init__(self, complaints: Iterable[str]) -> None:
        self.complaints = tuple(complaints)
        super().__init__("\n".join(self.complaints))


class Argument(Struct, frozen=True, kw_only=True):
    """One argument of a tool: what it means, and the option that it is ("": a word of its own)."""

    about: str
    option: str = ""
    is_required: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of its values."""
        return {"description": self.about, **self.schema_of_value}

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """The rest of the schema, beside its meaning."""
        raise NotImplementedError

    def complaint_about(self, value: object) -> str:
        """Return why a value is none of its values; empty for one."""
        raise NotImplementedError

    def words_of(self, value: Any) -> tuple[str, ...]:
        """Return the words that a value is as an option; none for one that stands by itself."""
        return (f"{self.option}={value}",) if self.option else ()


class Word(Argument, frozen=True, kw_only=True):
    """A short text."""

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """A text of a bounded length."""
        return {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS}

    def complaint_about(self, value: object) -> str:
        """Return why a value is no word."""
        return complaint_about_word(value)


class Words(Argument, frozen=True, kw_only=True):
    """Several short texts."""

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """A list of texts."""
        item = {"type": "string", "minLength": 1, "maxLength": MOST_CHARACTERS}
        return {"type": "array", "items": item, "minItems": 1, "maxItems": MOST_WORDS}

    def complaint_about(self, value: object) -> str:
        """Return why a value is no list of words."""
        if not isinstance(value, list) or not value:
            return "is not a list of texts"
        if len(value) > MOST_WORDS:
            return f"has {len(value)} texts, and at most {MOST_WORDS} are taken"
        return next(filter(None, map(complaint_about_word, value)), "")

    def words_of(self, value: Any) -> tuple[str, ...]:
        """Return the option once for each text."""
        return tuple(f"{self.option}={each}" for each in value) if self.option else ()


class FileText(Argument, frozen=True, kw_only=True):
    """The content of a file."""

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """A text."""
        return {"type": "string", "minLength": 1, "maxLength": MOST_CONTENT}

    def complaint_about(self, value: object) -> str:
        """Return why a value is no content of a file."""
        return complaint_about_content(value)


class YesOrNo(Argument, frozen=True, kw_only=True):
    """A question of yes and no; ``words`` are what yes is."""

    words: tuple[str, ...]

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """True or false."""
        return {"type": "boolean"}

    def complaint_about(self, value: object) -> str:
        """Return why a value is neither."""
        return "" if isinstance(value, bool) else "is neither true nor false"

    def words_of(self, value: Any) -> tuple[str, ...]:
        """Return the words of a yes."""
        return self.words if value else ()


class WholeNumber(Argument, frozen=True, kw_only=True):
    """A whole number between bounds."""

    least: int | UnsetType = UNSET
    most: int | UnsetType = UNSET

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """A whole number."""
        bounds = {"minimum": self.least, "maximum": self.most}
        return {"type": "integer", **{name: bound for name, bound in bounds.items() if bound is not UNSET}}

    def complaint_about(self, value: object) -> str:
        """Return why a value is no such number."""
        if isinstance(value, bool) or not isinstance(value, int):
            return "is not a whole number"
        least = self.least if isinstance(self.least, int) else -_WIDEST
        most = self.most if isinstance(self.most, int) else _WIDEST
        return "" if least <= value <= most else f"is not between {least} and {most}"


_WIDEST = (1 << 31) - 1


class OneOf(Argument, frozen=True, kw_only=True):
    """One of some words."""

    choices: tuple[str, ...]

    @property
    def schema_of_value(self) -> dict[str, Any]:
        """The words."""
        return {"type": "string", "enum": list(self.choices)}

    def complaint_about(self, value: object) -> str:
        """Return why a value is none of them."""
        return "" if value in self.choices else f"is none of {', '.join(self.choices)}"


def complaint_about_word(value: object) -> str:
    """Return why a value cannot be a word of a command line; empty for one."""
    if not isinstance(value, str):
        return "is not a text"
    if not value or len(value) > MOST_CHARACTERS:
        return f"has {len(value)} characters, and 1 to {MOST_CHARACTERS} are taken"
    if _CONTROL.search(value):
        return "has a control character"
    return "begins with a hyphen, as no name does" if value.startswith("-") else ""


def complaint_about_content(value: object) -> str:
    """Return why a value cannot be the content of a file; empty for one."""
    if not isinstance(value, str):
        return "is not a text"
    if not value or len(value) > MOST_CONTENT:
        return f"has {len(value)} characters, and 1 to {MOST_CONTENT} are taken"
    return "has a control character" if _CONTROL_OF_FILE.search(value) else ""


def schema_of_arguments(arguments: Mapping[str, Argument]) -> dict[str, Any]:
    """Return the JSON Schema of what a tool takes."""
    required = [name for name, argument in arguments.items() if argument.is_required]
    return {
        "type": "object",
        "properties": {name: argument.schema for name, argument in arguments.items()},
        **({"required": required} if required else {}),
        "additionalProperties": False,
    }


def checked_arguments(arguments: Mapping[str, Argument], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what was given in the order of the arguments; ArgumentError says all that is wrong with it.

    What is null counts as not given, which is how many programs leave an argument out.
    """
    values = {name: value for name, value in given.items() if value is not None}
    complaints = [_complaint_about_name(name, arguments) for name in values if name not in arguments]
    complaints += [
        f"{name}: {complaint}"
        for name, argument in arguments.items()
        if name in values and (complaint := argument.complaint_about(values[name]))
    ]
    complaints += [
        f"{name}: is required: {argument.about}"
        for name, argument in arguments.items()
        if argument.is_required and name not in values
    ]
    if complaints:
        raise ArgumentError(complaints[:MOST_WORDS])
    return {name: values[name] for name in arguments if name in values}


def _complaint_about_name(name: str, arguments: Mapping[str, Argument]) -> str:
    shown = repr(name if len(name) < MOST_WORDS else f"{name[:MOST_WORDS]}...")
    near = get_close_matches(name[:MOST_WORDS], arguments, 1)
    question = f" Is it {near[0]}?" if near else ""
    return f"{shown}: no such argument.{question} There are {', '.join(arguments)}"
