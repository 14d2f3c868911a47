"""JSONPath as kubectl reads it, to take text out of a status.

Text outside of braces stands for itself. Within them: ``.name``, ``['name']``, ``[0]``, ``[-1]``, ``[0:3]``, ``[*]``,
``.*``, ``..name``, unions such as ``[0,2]``, filters such as ``[?(@.type=="Ready")]``, text in quotes, and ``{range
.items[*]}`` to ``{end}``, within which paths begin at each item and ``$`` at the whole. A key that is missing is an
error, as kubectl has it without ``--allow-missing-template-keys``, or nothing where that is asked for.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from msgspec import Struct

from .expressions import lazy_expression

_ESCAPE = lazy_expression(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
Step = Callable[[list[Any]], list[Any]]

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {"==": eq, "!=": ne, "<=": le, ">=": ge, "<": lt, ">": gt}
_OPERATOR = lazy_expression("[=!<>]=|[<>]")
_SLICE = lazy_expression(r"(-?\d*):(-?\d*)(?::(-?\d*))?")
_UNION = lazy_expression(r"(?:'[^']*'|\"[^\"]*\"|[^,])+")
_TOKEN = lazy_expression(
    r"(?P<recursive>\.(?=\.))|\.?\[(?P<bracket>(?:[^\[\]'\"]|'[^']*'|\"[^\"]*\"|\[[^\]]*\])*)\]"
    r"|[$@]|\.?(?P<field>(?:\\.|[^\s.\\\[\]{}'\"$@])+)"
)


class JsonPathError(Exception):
    """A JSONPath that cannot be read, or that finds nothing where it must."""


class MissingKey(JsonPathError):
    """A path leads to a key that is not there."""


class _Literal(Struct, frozen=True):
    """Text that stands for itself."""

    text: str


class _RangeOfValues(Struct, frozen=True):
    """Parts that are written once for each value at a path."""

    path: str
    parts: "list[_Part]"


_Part = _Literal | _RangeOfValues | str


class _ValueInWhole(Struct, frozen=True):
    """The value that paths begin at, and the whole that it is of."""

    value: Any
    root: Any


def jsonpath_text(template: str, value: Any, *, allows_missing: bool = False) -> str:
    r"""Return the text that a template makes of a value; ``allows_missing``: a key that is missing is no error.

    >>> jsonpath_text('{.conditions[?(@.type=="Ready")].status}', {"conditions": [{"type": "Ready", "status": "True"}]})
    'True'
    >>> jsonpath_text(
    ...     '{range .items[*]}{.name}{"\t"}{end}', {"items": [{"name": "a"}, {"name": "b"}, {}]}, allows_missing=True
    ... )
    'a\tb\t\t'
    """
    parts = _nested_parts(template)
    return "".join(_texts_of_parts(parts, _ValueInWhole(value, value), template, allows_missing=allows_missing))


def jsonpath_values(path: str, value: Any) -> list[Any]:
    """Return what a path without braces finds in a value, nothing for a key that is missing."""
    return _values_at_path(path, _ValueInWhole(value, value), path, allows_missing=True)


def fault_of_jsonpath(template: str) -> str:
    """Return what is wrong with a template; "" where nothing is."""
    try:
        _check_paths(_nested_parts(template))
    except JsonPathError as error:
        return str(error)
    return ""


def _check_paths(parts: Iterable[_Part]) -> None:
    for part in parts:
        if isinstance(part, _RangeOfValues):
            list(_path_steps(part.path))
            _check_paths(part.parts)
        elif isinstance(part, str):
            list(_path_steps(part))


def _texts_of_parts(parts: Iterable[_Part], at: _ValueInWhole, template: str, *, allows_missing: bool) -> Iterator[str]:
    for part in parts:
        if isinstance(part, _Literal):
            yield part.text
        elif isinstance(part, _RangeOfValues):
            for each in _values_at_path(part.path, at, template, allows_missing=allows_missing):
                inside = _ValueInWhole(each, at.root)
                yield from _texts_of_parts(part.parts, inside, template, allows_missing=allows_missing)
        else:
            yield " ".join(map(_printed_value, _values_at_path(part, at, template, allows_missing=allows_missing)))


def _nested_parts(template: str) -> list[_Part]:
    """Return the parts of a template, those of a range within it."""
    outer: list[list[_Part]] = [[]]
    paths: list[str] = []
    for part in _template_parts(template):
        word, _, path = part.partition(" ") if isinstance(part, str) else ("", "", "")
        if word == "range":
            paths.append(path.strip())
            outer.append([])
        elif part == "end":
            if not paths:
                raise JsonPathError("not in range, nothing to end")
            parts = outer.pop()
            outer[-1].append(_RangeOfValues(paths.pop(), parts))
        else:
            outer[-1].append(part)
    if paths:
        raise JsonPathError("unterminated range")
    return outer[0]


def _template_parts(template: str) -> Iterator[_Literal | str]:
    """Yield the text between braces, and the paths within them."""
    at = 0
    while at < len(template):
        begin = template.find("{", at)
        if begin < 0:
            yield _Literal(template[at:])
            return
        if begin > at:
            yield _Literal(template[at:begin])
        end = _position_of_closing_brace(template, begin)
        yield from _parts_of_action(template[begin + 1 : end].strip())
        at = end + 1


def _position_of_closing_brace(template: str, begin: int) -> int:
    quote = ""
    for at in range(begin + 1, len(template)):
        char = template[at]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "}":
            return at
    raise JsonPathError("unclosed action")


def _parts_of_action(text: str) -> Iterator[_Literal | str]:
    yield _Literal(_ESCAPE.sub(_unescaped_text, text[1:-1])) if _is_quoted(text) else text


def _unescaped_text(found: re.Match[str]) -> str:
    return _ESCAPES.get(found[1], found[1])


def _values_at_path(path: str, at: _ValueInWhole, template: str, *, allows_missing: bool) -> list[Any]:
    values = [at.root if path.startswith("$") else at.value]
    try:
        for step in _path_steps(path):
            values = step(values)
    except MissingKey as error:
        if allows_missing:
            return []
        raise JsonPathError(f'failed to execute jsonpath "{template}": {error}') from error
    except JsonPathError as error:
        raise JsonPathError(f'failed to execute jsonpath "{template}": {error}') from error
    return values


def _path_steps(path: str) -> Iterator[Step]:
    at = 0
    while at < len(path):
        token = _TOKEN.match(path, at)
        if token is None:
            raise JsonPathError(f"unrecognized character in action: {path[at:]!r}")
        at = token.end()
        if token["recursive"]:
            yield lambda values: [each for value in values for each in _containers_within(value)]
        elif token["bracket"] is not None:
            yield _step_in_brackets(token["bracket"].strip())
        elif token["field"]:
            yield _step_to_field(re.sub(r"\\(.)", r"\1", token["field"]))


def _step_to_field(name: str) -> Step:
    if name == "*":
        return lambda values: [each for value in values for each in _children_of_value(value)]

    def step(values: list[Any]) -> list[Any]:
        found = [value[name] for value in values if isinstance(value, dict) and name in value]
        if not found:
            raise MissingKey(f"{name} is not found")
        return found

    return step


def _step_in_brackets(text: str) -> Step:
    if text == "*":
        return _step_to_field("*")
    if filtered := _comparison_of_filter(text):
        return _step_of_filter(*filtered)
    if sliced := _SLICE.fullmatch(text):
        return _step_of_slice(slice(*(int(each) if each else None for each in sliced.groups())))
    members = [_step_to_quoted_member(each.strip()) for each in _UNION.findall(text) or [""]]
    return lambda values: [each for member in members for each in member(values)]


def _comparison_of_filter(text: str) -> tuple[str, str | None, str | None] | None:
    """Return the two sides of a filter and what compares them, if anything does; None for a text that is no filter.

    >>> _comparison_of_filter('?( @.a == "b" )'), _comparison_of_filter("?(@.a)"), _comparison_of_filter("0")
    (('@.a', '==', '"b"'), ('@.a', None, None), None)
    """
    inner = text[2:-1].strip()
    if not (text.startswith("?(") and text.endswith(")") and inner) or "\n" in inner:
        return None
    found = _OPERATOR.search(inner, 1)
    if found is None or found.end() == len(inner):
        return inner, None, None
    return inner[: found.start()].rstrip(), found[0], inner[found.end() :].lstrip()


def _step_to_quoted_member(text: str) -> Step:
    if re.fullmatch(r"-?\d+", text):
        return lambda values: [_item_at_index(value, int(text)) for value in values]
    if _is_quoted(text):
        return _step_to_field(text[1:-1])
    raise JsonPathError(f"invalid array index {text}")


def _is_quoted(text: str) -> bool:
    return len(text) > 1 and text[0] == text[-1] and text[0] in "'\""


def _item_at_index(value: Any, index: int) -> Any:
    items = _items_of_list(value)
    if not -len(items) <= index < len(items):
        raise JsonPathError(f"array index out of bounds: index {index}, length {len(items)}")
    return items[index]


def _items_of_list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise JsonPathError(f"{_printed_value(value)} is not array or slice")
    return value


def _step_of_slice(part: slice) -> Step:
    return lambda values: [each for value in values for each in _items_of_list(value)[part]]


def _step_of_filter(left: str, operator: str | None, right: str | None) -> Step:
    def is_kept(item: Any) -> bool:
        if operator is None or right is None:
            return _has_value_at(left, item)
        found, wanted = _values_of_operand(left, item), _values_of_operand(right, item)
        if len(found) > 1 or len(wanted) > 1:
            raise JsonPathError("can only compare one element at a time")
        return bool(found and wanted) and _holds_comparison(operator, found[0], wanted[0])

    return lambda values: [item for value in values for item in _items_of_list(value) if is_kept(item)]


def _has_value_at(path: str, item: Any) -> bool:
    try:
        return bool(_values_of_operand(path, item))
    except JsonPathError:
        return False


def _values_of_operand(text: str, item: Any) -> list[Any]:
    """Return the values that one side of a comparison stands for."""
    if _is_quoted(text):
        return [text[1:-1]]
    if text[:1] not in {"@", "."}:
        try:
            return [json.loads(text)]
        except ValueError as error:
            raise JsonPathError(f"unrecognized character in action: {text!r}") from error
    values = [item]
    for step in _path_steps(text):
        values = step(values)
    return values


def _holds_comparison(operator: str, left: Any, right: Any) -> bool:
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (left, right))
    if not numbers and type(left) is not type(right):
        raise JsonPathError("incompatible types for comparison")
    return _COMPARISONS[operator](left, right)


def _children_of_value(value: Any) -> Sequence[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return value if isinstance(value, list) else []


def _containers_within(value: Any) -> Iterator[Any]:
    """Yield a value that holds others, and all such below it, each before what it holds."""
    if children := _children_of_value(value):
        yield value
    for child in children:
        yield from _containers_within(child)


def _printed_value(value: Any) -> str:
    """Return a value as kubectl prints it: numbers as Go prints a float64, the rest as compact JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "<nil>"}[value]
    if isinstance(value, int | float):
        return _printed_number(float(value))
    return json.dumps(value, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def _printed_number(value: float) -> str:
    """Return a number as Go prints a float64 with ``%v``.

    >>> _printed_number(999999.0), _printed_number(12345678.0), _printed_number(0.25), _printed_number(0.00001)
    ('999999', '1.2345678e+07', '0.25', '1e-05')
    """
    exact = Decimal(repr(value)).normalize()
    exponent = exact.adjusted()
    if not exact or -5 < exponent < 6:
        return f"{exact:f}"
    mantissa = exact.scaleb(-exponent)
    return f"{mantissa:f}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"
