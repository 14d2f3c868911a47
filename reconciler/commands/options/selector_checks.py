"""Callbacks of options by which objects of members are chosen: selectors, keys of labels, a namespace."""

import re

import click

_KEY = r"([A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?/)?[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?"
_VALUE = r"([A-Za-z0-9]([\w.-]*[A-Za-z0-9])?)?"
_LABEL_KEY = re.compile(_KEY, re.ASCII)
_REQUIREMENT = re.compile(
    rf"!?\s*{_KEY}|{_KEY}\s*(=|==|!=|<|>)\s*{_VALUE}|{_KEY}\s+(in|notin)\s*\(\s*{_VALUE}(\s*,\s*{_VALUE})*\s*\)",
    re.ASCII,
)
_FIELD = re.compile(r"[A-Za-z][\w.\[\]/-]*(=|==|!=)[^,\s]*", re.ASCII)
_COMMA = re.compile(r",(?![^()]*\))")


def checked_label_selector(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a selector of labels as kubectl writes it: ``app=web,tier in (a,b),!old``."""
    wrong = [part for part in _COMMA.split(value) if not _REQUIREMENT.fullmatch(part.strip())] if value else []
    if wrong:
        raise click.BadParameter(
            f"{wrong[0]!r} is no requirement; write key=value, key!=value, key in (a,b), key or !key"
        )
    return value


def checked_field_selector(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a selector of fields: ``status.phase=Running,metadata.name!=web``."""
    wrong = [part for part in value.split(",") if not _FIELD.fullmatch(part.strip())] if value else []
    if wrong:
        raise click.BadParameter(f"{wrong[0]!r} is no requirement; write field=value or field!=value")
    return value


def checked_label_keys(_context: click.Context, _option: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
    """Take keys of labels, several in one word with commas between them, as kubectl does."""
    keys = tuple(key for word in value for key in word.split(","))
    for key in keys:
        if not _LABEL_KEY.fullmatch(key):
            raise click.BadParameter(f"{key!r} is no key of a label")
    return keys


def checked_namespace(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Take a name that a namespace can have."""
    from render.syntax import fault_of_dns_label

    if fault := fault_of_dns_label(value):
        raise click.BadParameter(fault)
    return value
