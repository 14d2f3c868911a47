"""Callbacks of options by which objects of members are chosen: selectors, keys of labels, a namespace."""

import re
from collections.abc import Iterator

import click

from render.expressions import lazy_expression

_SIGNS = ("!=", "==", "=", "<", ">")
_SETS = frozenset({"in", "notin"})
_FIELD = lazy_expression(r"[A-Za-z][\w.\[\]/-]*(=|==|!=)[^,\s]*", re.ASCII)


def checked_label_selector(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a selector of labels as kubectl writes it: ``app=web,tier in (a,b),!old``."""
    wrong = [part for part in _requirements(value) if not _is_requirement(part.strip())] if value else []
    if wrong:
        raise click.BadParameter(
            f"{wrong[0]!r} is no requirement; write key=value, key!=value, key in (a,b), key or !key"
        )
    return value


def _requirements(selector: str) -> Iterator[str]:
    """Yield the parts of a selector between commas that stand in no brackets.

    >>> list(_requirements("a=b,c in (d,e)"))
    ['a=b', 'c in (d,e)']
    """
    begin, is_inside = 0, False
    for at, character in enumerate(selector):
        if character in "()":
            is_inside = character == "("
        elif character == "," and not is_inside:
            yield selector[begin:at]
            begin = at + 1
    yield selector[begin:]


def _is_requirement(text: str) -> bool:
    before, bracket, inside = text.partition("(")
    if bracket:
        key, _, word = before.strip().rpartition(" ")
        values, closing, rest = inside.partition(")")
        is_set = word in _SETS and closing and not rest
        return bool(is_set and _is_key(key) and all(map(_is_value, values.split(","))))
    for sign in _SIGNS:
        key, found, value = text.partition(sign)
        if found and key.strip():
            return _is_key(key) and _is_value(value)
    return _is_key(text.removeprefix("!"))


def _is_key(text: str) -> bool:
    from render.syntax import fault_of_label_key

    return not fault_of_label_key(text.strip())


def _is_value(text: str) -> bool:
    from render.syntax import fault_of_label_value

    return not fault_of_label_value(text.strip())


def checked_field_selector(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a selector of fields: ``status.phase=Running,metadata.name!=web``."""
    wrong = [part for part in value.split(",") if not _FIELD.fullmatch(part.strip())] if value else []
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is no requirement; write field=value or field!=value")
    return value


def checked_label_keys(_context: click.Context, _option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Take keys of labels, several in one word with commas between them, as kubectl does."""
    from render.syntax import fault_of_label_key

    keys = tuple(key for word in value for key in word.split(","))
    for key in keys:
        if fault := fault_of_label_key(key):
            raise click.BadParameter(fault)
    return keys


def checked_namespace(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a name that a namespace can have."""
    from render.syntax import fault_of_dns_label

    if fault := fault_of_dns_label(value):
        raise click.BadParameter(fault)
    return value
