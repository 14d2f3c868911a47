"""The problems and warnings of a document under admission, in one style: message, allowed values or nearest, hint."""

from collections.abc import Iterable, Sequence
from typing import Any

from render.errors import Problem
from render.syntax import quoted_text
from render.words import most_similar_word

NAME_BY_TYPE = {
    dict: "an object",
    list: "a list",
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    type(None): "null",
}


def type_name(value: Any, expected: str) -> str:
    """Return what a value is that is not what was expected, and never the expected word itself.

    >>> type_name(1.5, "a whole number"), type_name(1e30, "a whole number or a string"), type_name(1.5, "a string")
    ('a number with a fraction', 'a number beyond 64 bits', 'a number')
    """
    if isinstance(value, float) and "number" in expected:
        return "a number beyond 64 bits" if value.is_integer() else "a number with a fraction"
    return NAME_BY_TYPE.get(type(value), "something else")


class Findings:
    """Problems and warnings of one document, in the order found.

    ``type_kind`` is the kind of a wrong type: ``TypeInvalid`` where a schema finds it, ``Decode`` where reading does.
    ``is_sound`` says that the types found so far are right, so that rules may trust them.
    """

    __slots__ = ("is_sound", "problems", "type_kind", "warnings")

    def __init__(self, type_kind: str = "TypeInvalid") -> None:
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.type_kind = type_kind
        self.is_sound = True

    def problem(self, field: str, message: str, *, hint: str = "", kind: str = "Invalid") -> None:
        """Add a problem."""
        self.problems.append(Problem("", 0, field, message, hint, kind))

    def warning(self, field: str, message: str, *, hint: str = "") -> None:
        """Add something that Karmada accepts although it does not do what its author expects."""
        self.warnings.append(Problem("", 0, field, message, hint))

    def required(self, field: str, *, hint: str = "") -> None:
        """Add a field that is missing."""
        self.problem(field, "required, but missing", hint=hint, kind="Required")

    def unusable(self, field: str, message: str, *, hint: str = "", kind: str = "") -> None:
        """Add a value no rule can look at."""
        self.is_sound = False
        self.problem(field, message, hint=hint, kind=kind or self.type_kind)

    def wrong_type(self, field: str, value: Any, expected: str, *, hint: str = "") -> None:
        """Add a value of the wrong type; ``expected`` is such as "a list"."""
        self.unusable(field, f"must be {expected}, not {type_name(value, expected)}", hint=hint)

    def not_supported(self, field: str, value: str, choices: Sequence[str]) -> None:
        """Add a word that is none of the choices."""
        self.problem(
            field, f"unknown value {quoted_text(value)}", hint=f"write {alternatives(choices)}", kind="NotSupported"
        )

    def unknown(self, field: str, name: str, known: Iterable[str]) -> None:
        """Add a field that does not exist. Karmada drops such fields silently; a typo would go unseen."""
        near = most_similar_word(name, known)
        hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(sorted(known)) or 'nothing'}"
        self.problem(field, "unknown field", hint=hint, kind="Unknown")


def alternatives(choices: Sequence[str]) -> str:
    """Return quoted choices in a sentence.

    >>> alternatives(["In", "NotIn"]), alternatives(["a", "b", "c"])
    ("'In' or 'NotIn'", "'a', 'b' or 'c'")
    """
    *others, last = map(repr, choices)
    return f"{', '.join(others)} or {last}" if others else last
