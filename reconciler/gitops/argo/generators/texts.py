"""Parameters filled into the texts of a value: by their names in braces, or by Go's templates."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from .evaluation import Evaluation
from .syntax import Node, TemplateError, parsed_template
from .values import LONGEST_TEXT, Budget

_OPEN, _CLOSE = "{{", "}}"
_STRICT = "missingkey=error"
_OPTIONS = frozenset({_STRICT, "missingkey=default", "missingkey=invalid", "missingkey=zero"})


class TemplateTexts(Struct):
    """The way in which one ApplicationSet has its texts filled; ``is_go``: they are templates of Go."""

    is_go: bool = False
    is_strict: bool = False
    budget: Budget = field(default_factory=Budget)
    _parsed: dict[str, tuple[Node, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "TemplateTexts":
        """Return the way that an ApplicationSet asks for; TemplateError names an option that is not known."""
        options = spec.get("goTemplateOptions")
        wanted = list(map(str, options)) if isinstance(options, list) else []
        for option in wanted:
            if option not in _OPTIONS:
                raise TemplateError(f"the option {option!r} is not known")
        return cls(is_go=bool(spec.get("goTemplate")), is_strict=_STRICT in wanted)

    def fill_text(self, text: str, parameters: Mapping[str, Any]) -> str:
        """Return a text with parameters filled in."""
        self.budget.spend(text)
        if _OPEN not in text:
            return text
        if not self.is_go:
            return self._fill_names(text, parameters)
        if text not in self._parsed:
            self._parsed[text] = parsed_template(text)
        return Evaluation(parameters, self.budget, self.is_strict).text(self._parsed[text])

    def _fill_names(self, text: str, parameters: Mapping[str, Any]) -> str:
        """Return a text with the parameters whose names stand in braces; others stay as they stand."""
        parts, position, size = list[str](), 0, 0
        while (start := text.find(_OPEN, position)) >= 0:
            end = text.find(_CLOSE, start)
            if end < 0:
                raise TemplateError("a parameter is not closed by }}")
            value = parameters.get(text[start + len(_OPEN) : end].strip())
            whole = text[start : end + len(_CLOSE)]
            parts += [text[position:start], value if isinstance(value, str) else whole]
            position, size = end + len(_CLOSE), size + len(parts[-1])
            if size > LONGEST_TEXT:
                raise TemplateError(f"a text has more than {LONGEST_TEXT} characters")
        filled = "".join((*parts, text[position:]))
        self.budget.spend(filled)
        return filled

    def filled_value(self, value: Any, parameters: Mapping[str, Any]) -> Any:
        """Return a value with parameters filled into all its texts, keys too."""
        if isinstance(value, str):
            return self.fill_text(value, parameters)
        if isinstance(value, Mapping):
            return {
                self.fill_text(str(key), parameters): self.filled_value(each, parameters) for key, each in value.items()
            }
        return [self.filled_value(each, parameters) for each in value] if isinstance(value, list) else value
