"""PyYAML's words for broken syntax, said so that a manifest's author knows what to do, without quoting the text."""

from typing import NamedTuple


class Wording(NamedTuple):
    """A message and its hint; ``at_start`` if the start of the broken construct is the place to look at."""

    message: str
    hint: str = ""
    at_start: bool = False


_ALIGN = "align it with the keys or items it belongs to"
_QUOTE = "put text that contains ': ' or starts with a special character in quotes"
_TAB = Wording("a tab where YAML needs spaces", "indent with spaces")
_MISFIT = Wording("indentation that fits nothing above", _ALIGN)
_WORDINGS: dict[str, Wording] = {
    "found character '\\t'": _TAB,
    "found a tab character": _TAB,
    "found character": Wording("a character that no value starts with", _QUOTE),
    "mapping values are not allowed": Wording("a ':' where no key can stand", f"{_QUOTE}; check the indentation"),
    "mapping keys are not allowed": Wording("a '?' where no key can stand", _QUOTE),
    "sequence entries are not allowed": Wording("a '- ' where no list item can stand", _ALIGN),
    "could not find expected ':'": Wording("text that is neither 'key: value' nor '- item'", _ALIGN, at_start=True),
    "expected <block end>": _MISFIT,
    "did not find expected key": _MISFIT,
    "did not find expected '-' indicator": _MISFIT,
    "expected ',' or": Wording("a '[' or '{' list that is broken or not closed", "check commas, quotes and brackets"),
    "node content": Wording("no value where one must stand", "check brackets, quotes and indentation"),
    "found unexpected end of stream": Wording("a quote that is not closed", "close the quote", at_start=True),
    "found unexpected document": Wording("a quote that is not closed", "close the quote", at_start=True),
    "found unknown escape character": Wording(
        "an escape that YAML does not have", "double the backslash, or use single quotes"
    ),
    "expected escape sequence": Wording("an escape with too few digits", "write all digits, such as \\u00e4"),
    "expected hexdecimal number": Wording("an escape with too few digits", "write all digits, such as \\u00e4"),
    "expected alphabetic or numeric character": Wording("an anchor, alias or directive without a name", _QUOTE),
    "URI": Wording("a tag with a character that tags do not have", "write a space after the tag"),
    "found undefined tag handle": Wording("a tag whose handle is not declared", "drop the tag, or quote the text"),
    "expected '<document start>'": Wording(
        "a directive, which kubectl does not read", "drop the line that starts with '%'"
    ),
}
_OTHERWISE = Wording("text that is not YAML", _QUOTE)


def said_plainly(problem: str) -> Wording:
    """Return the wording for a problem of PyYAML or libyaml."""
    return next((wording for words, wording in _WORDINGS.items() if words in problem), _OTHERWISE)
