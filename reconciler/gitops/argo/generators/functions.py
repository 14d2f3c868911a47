"""Functions of the templates of ApplicationSets: those of Go, those of its sprig library that are pure, and Argo CD's.

What is random, asks the clock or the machine, or takes regular expressions, is not among them.
"""

import base64
import hashlib
import json
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from render.documents import emit, read_documents
from render.expressions import lazy_expression

from .syntax import TemplateError
from .values import LONGEST_TEXT, checked_text, go_value, is_true_in_template, plain_value, printed_value

_MOST_ITEMS = 10_000
_NAME_LENGTH, _SLUG_LENGTH = 253, 50
_PLACE = lazy_expression(r"%(\d{0,3})([svdq%])")


def kubernetes_name(name: str) -> str:
    """Return a text as a name of Kubernetes may be.

    >>> kubernetes_name("Team_A/Web.")
    'team-a-web'
    """
    return re.sub(r"[^-a-z0-9.]", "-", name.lower())[:_NAME_LENGTH].strip("-.")


def _slug(*arguments: Any) -> str:
    """Return a text as a slug, of at most so many characters, cut at a word where that is asked for."""
    text = checked_text(arguments[-1])
    longest = int(arguments[0]) if len(arguments) > 1 else _SLUG_LENGTH
    is_smart = bool(arguments[1]) if len(arguments) > 2 else False
    if not text.isascii():
        raise TemplateError("slugify is for ASCII alone here")
    spelled = text.replace("&", " and ").replace("@", " at ").lower()
    slug = re.sub(r"-+", "-", re.sub(r"[^a-z0-9_-]", "-", spelled.strip())).strip("-_")
    if len(slug) <= longest:
        return slug
    if not is_smart:
        return slug[:longest].strip("-_")
    kept = ""
    for word in slug.split("-"):
        if len(kept) + len(word) + bool(kept) > longest:
            break
        kept = f"{kept}-{word}" if kept else word
    return kept or slug[:longest]


def _repeat(count: Any, text: str) -> str:
    if int(count) * len(text) > LONGEST_TEXT:
        raise TemplateError(f"repeat makes more than {LONGEST_TEXT} characters")
    return checked_text(text) * int(count)


def _indent(count: Any, text: str) -> str:
    if int(count) * (checked_text(text).count("\n") + 1) > LONGEST_TEXT:
        raise TemplateError(f"indent makes more than {LONGEST_TEXT} characters")
    return " " * int(count) + text.replace("\n", "\n" + " " * int(count))


def _format_values(pattern: str, *values: Any) -> str:
    """Return values in the places of a pattern: ``%s``, ``%v``, ``%d``, ``%q`` and ``%%``, with a width."""
    rest = list(values)

    def place(found: re.Match[str]) -> str:
        if found[2] == "%":
            return "%"
        if not rest:
            raise TemplateError("printf lacks a value")
        value = rest.pop(0)
        text = json.dumps(printed_value(value)) if found[2] == "q" else printed_value(plain_value(value))
        width, fill = int(found[1] or 0), "0" if (found[1] or "").startswith("0") else " "
        return text.rjust(width, fill)

    text = _PLACE.sub(place, checked_text(pattern))
    if rest or "%" in _PLACE.sub("", pattern):
        raise TemplateError("printf is for %s, %v, %d, %q and %% alone here")
    return text


def _read_yaml(text: Any) -> Any:
    documents, errors = read_documents(checked_text(text).encode("utf-8", "surrogatepass"))
    if errors or len(documents) > 1:
        raise TemplateError("a text is no YAML document")
    return go_value(documents[0].value) if documents else {}


def _read_json(text: Any) -> Any:
    try:
        return go_value(json.loads(checked_text(text)))
    except RecursionError as error:
        raise TemplateError("a text is no JSON document") from error


def _yaml_of_value(value: Any) -> str:
    return emit(plain_value(value)).decode().removesuffix("\n")


def _json_of_value(value: Any) -> str:
    text = json.dumps(plain_value(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _value_at_keys(value: Any, *keys: Any) -> Any:
    for key in keys:
        if isinstance(value, Mapping):
            value = value.get(key)
        elif isinstance(value, list | tuple | str) and 0 <= int(key) < len(value):
            value = value[int(key)]
        else:
            raise TemplateError("index is out of range, or is of what has no items")
    return value


def _slice_of_value(value: Any, *bounds: Any) -> Any:
    first, last = (int(bounds[0]) if bounds else 0), (int(bounds[1]) if bounds[1:] else len(value))
    if not 0 <= first <= last <= len(value):
        raise TemplateError("slice is out of range")
    return value[first:last]


def _value_dug_out(*arguments: Any) -> Any:
    *keys, default, value = arguments
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return default
        value = value[key]
    return value


def _merge_into_first(first: Any, *others: Any) -> Any:
    """Return objects merged into the first; what it has counts."""
    merged = dict(first)
    for other in others:
        for key, value in other.items():
            own = merged.get(key)
            if isinstance(own, Mapping) and isinstance(value, Mapping):
                merged[key] = _merge_into_first(own, value)
            elif not is_true_in_template(own):
                merged[key] = value
    return merged


def _dict_of_pairs(*parts: Any) -> dict[str, Any]:
    padded = [*parts, ""] if len(parts) % 2 else list(parts)
    return {printed_value(key): value for key, value in zip(padded[::2], padded[1::2], strict=True)}


def _dict_with_key(value: Any, key: str, item: Any) -> dict[str, Any]:
    return {**value, key: item}


def _numbers_until(*bounds: Any) -> list[int]:
    found = range(*map(int, bounds))
    if len(found) > _MOST_ITEMS:
        raise TemplateError(f"a list has more than {_MOST_ITEMS} items")
    return list(found)


def _whole_number(value: Any) -> int:
    """Return a value as a whole number of 64 bits; what is none counts as 0."""
    if isinstance(value, str):
        value = int(value) if re.fullmatch(r"[+-]?[0-9]{1,18}", value, re.ASCII) else 0
    return _wrapped_to_int64(int(value or 0))


def _wrapped_to_int64(number: int) -> int:
    if not -(1 << 63) <= number < 1 << 63:
        raise TemplateError("a number does not fit into 64 bits")
    return number


def _quotient(one: Any, other: Any) -> int:
    """Return a quotient without its fraction, as Go divides."""
    first, second = _whole_number(one), _whole_number(other)
    size = abs(first) // abs(second)
    return size if (first < 0) == (second < 0) else -size


def _replace(old: str, new: str, text: str) -> str:
    if (checked_text(text).count(old) + 1) * len(new) > LONGEST_TEXT:
        raise TemplateError(f"replace makes more than {LONGEST_TEXT} characters")
    return text.replace(old, new)


def _split_text(separator: str, text: str) -> list[str]:
    return checked_text(text).split(separator) if separator else list(text)


def _join(separator: str, values: Any) -> str:
    if len(separator) * len(values) > LONGEST_TEXT:
        raise TemplateError(f"join makes more than {LONGEST_TEXT} characters")
    return separator.join(printed_value(each) for each in values if each is not None)


def _equals_any(first: Any, *others: Any) -> bool:
    return any(first == other for other in others)


def _fail_with_message(message: Any) -> str:
    raise TemplateError(f"it fails by itself: {checked_text(message)[:200]}")


def _choice_of_two(one: Any, other: Any, is_so: Any) -> Any:
    return one if is_so else other


def _distinct_values(values: Any) -> list[Any]:
    return [value for number, value in enumerate(values) if value not in values[:number]]


def _go_kind_of(value: Any) -> str:
    names = {str: "string", bool: "bool", int: "int", float: "float64", dict: "map", list: "slice"}
    return names.get(type(value), "invalid")


def _substring(start: Any, end: Any, text: str) -> str:
    return checked_text(text)[max(int(start), 0) : int(end) if int(end) >= 0 else None]


def _truncated_text(count: Any, text: str) -> str:
    return checked_text(text)[int(count) :] if int(count) < 0 else checked_text(text)[: int(count)]


_GO: Mapping[str, Callable[..., Any]] = {
    "not": lambda value: not is_true_in_template(value),
    "eq": _equals_any,
    "ne": lambda one, other: one != other,
    "lt": lambda one, other: one < other,
    "le": lambda one, other: one <= other,
    "gt": lambda one, other: one > other,
    "ge": lambda one, other: one >= other,
    "len": len,
    "index": _value_at_keys,
    "slice": _slice_of_value,
    "print": lambda *values: "".join(map(printed_value, values)),
    "println": lambda *values: " ".join(map(printed_value, values)) + "\n",
    "printf": _format_values,
}
_TEXTS: Mapping[str, Callable[..., Any]] = {
    "lower": lambda text: checked_text(text).lower(),
    "upper": lambda text: checked_text(text).upper(),
    "title": lambda text: re.sub(r"(^|(?<=[\s]))\S", lambda found: found[0].upper(), checked_text(text)),
    "untitle": lambda text: re.sub(r"(^|(?<=[\s]))\S", lambda found: found[0].lower(), checked_text(text)),
    "trim": lambda text: checked_text(text).strip(),
    "trimAll": lambda cut, text: checked_text(text).strip(cut),
    "trimPrefix": lambda prefix, text: checked_text(text).removeprefix(prefix),
    "trimSuffix": lambda suffix, text: checked_text(text).removesuffix(suffix),
    "nospace": lambda text: "".join(checked_text(text).split()),
    "replace": _replace,
    "contains": lambda part, text: part in checked_text(text),
    "hasPrefix": lambda prefix, text: checked_text(text).startswith(prefix),
    "hasSuffix": lambda suffix, text: checked_text(text).endswith(suffix),
    "quote": lambda *values: " ".join(json.dumps(printed_value(each), ensure_ascii=False) for each in values),
    "squote": lambda *values: " ".join(f"'{printed_value(each)}'" for each in values),
    "cat": lambda *values: " ".join(map(printed_value, values)),
    "repeat": _repeat,
    "indent": _indent,
    "nindent": lambda count, text: "\n" + _indent(count, text),
    "substr": _substring,
    "trunc": _truncated_text,
    "toString": printed_value,
    "splitList": _split_text,
    "split": lambda separator, text: {f"_{number}": part for number, part in enumerate(_split_text(separator, text))},
    "join": _join,
    "b64enc": lambda text: base64.b64encode(checked_text(text).encode()).decode(),
    "b64dec": lambda text: base64.b64decode(checked_text(text), validate=True).decode(),
    "sha1sum": lambda text: hashlib.sha1(checked_text(text).encode(), usedforsecurity=False).hexdigest(),
    "sha256sum": lambda text: hashlib.sha256(checked_text(text).encode()).hexdigest(),
    "dedent": textwrap.dedent,
    "toYaml": _yaml_of_value,
    "fromYaml": _read_yaml,
    "fromYamlArray": _read_yaml,
    "toJson": _json_of_value,
    "toRawJson": lambda value: json.dumps(
        plain_value(value), ensure_ascii=False, separators=(",", ":"), sort_keys=True
    ),
    "toPrettyJson": lambda value: json.dumps(plain_value(value), ensure_ascii=False, indent=2, sort_keys=True),
    "fromJson": _read_json,
    "normalize": lambda text: kubernetes_name(checked_text(text)),
    "slugify": _slug,
}
_VALUES: Mapping[str, Callable[..., Any]] = {
    "default": lambda default, value=None: value if is_true_in_template(value) else default,
    "empty": lambda value: not is_true_in_template(value),
    "coalesce": lambda *values: next((each for each in values if is_true_in_template(each)), None),
    "ternary": _choice_of_two,
    "fail": _fail_with_message,
    "list": lambda *values: list(values),
    "first": lambda values: values[0] if values else None,
    "last": lambda values: values[-1] if values else None,
    "rest": lambda values: list(values[1:]),
    "initial": lambda values: list(values[:-1]),
    "append": lambda values, value: [*values, value],
    "prepend": lambda values, value: [value, *values],
    "concat": lambda *lists: [value for values in lists for value in values],
    "reverse": lambda values: list(values)[::-1],
    "uniq": _distinct_values,
    "compact": lambda values: [each for each in values if is_true_in_template(each)],
    "without": lambda values, *others: [each for each in values if each not in others],
    "has": lambda value, values: value in values,
    "sortAlpha": lambda values: sorted(map(printed_value, values)),
    "dict": _dict_of_pairs,
    "get": lambda value, key: value.get(key, ""),
    "set": _dict_with_key,
    "hasKey": lambda value, key: key in value,
    "keys": lambda *values: sorted({key for value in values for key in value}),
    "values": lambda value: [value[key] for key in sorted(value)],
    "pick": lambda value, *keys: {key: value[key] for key in keys if key in value},
    "omit": lambda value, *keys: {key: item for key, item in value.items() if key not in keys},
    "pluck": lambda key, *values: [value[key] for value in values if key in value],
    "merge": _merge_into_first,
    "mergeOverwrite": lambda *values: _merge_into_first(*reversed(values)),
    "dig": _value_dug_out,
    "kindOf": _go_kind_of,
    "kindIs": lambda name, value: _go_kind_of(value) == name,
    "int": _whole_number,
    "int64": _whole_number,
    "atoi": _whole_number,
    "float64": float,
    "add": lambda *values: _wrapped_to_int64(sum(map(_whole_number, values))),
    "add1": lambda value: _whole_number(value) + 1,
    "sub": lambda one, other: _whole_number(one) - _whole_number(other),
    "mul": lambda one, other: _wrapped_to_int64(_whole_number(one) * _whole_number(other)),
    "div": _quotient,
    "mod": lambda one, other: _whole_number(one) - _quotient(one, other) * _whole_number(other),
    "max": lambda *values: max(map(_whole_number, values)),
    "min": lambda *values: min(map(_whole_number, values)),
    "until": _numbers_until,
    "untilStep": _numbers_until,
}
FUNCTIONS: Mapping[str, Callable[..., Any]] = {**_GO, **_TEXTS, **_VALUES}
"""Functions by name; an argument that a template lacks is None."""
