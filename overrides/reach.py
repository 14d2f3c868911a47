"""Which top-level fields of an object a rule can read or change: on what is beside them its edits do not depend.

So a rule that ran on an object need not run again on one that holds the very same values there. ``kind`` counts for
nothing: no rule changes it, and a template has one.
"""

from collections.abc import Iterator

from .pointer import tokens_of
from .policy import Overriders


def reach_of(overriders: Overriders) -> tuple[str, ...] | None:
    """Return the fields, sorted; None when they may be all there are.

    >>> from .policy import LabelAnnotationOverrider, PlaintextOverrider
    >>> add = PlaintextOverrider(path="/data/a", operator="add", value="1", has_value=True)
    >>> reach_of(Overriders(labels=(LabelAnnotationOverrider(operator="remove"),), plaintext=(add,)))
    ('data', 'metadata')
    """
    fields = set(_fields(overriders))
    return None if None in fields else tuple(sorted(field for field in fields if field is not None))


def _fields(overriders: Overriders) -> Iterator[str | None]:
    if overriders.labels or overriders.annotations:
        yield "metadata"
    if overriders.command or overriders.args:
        yield "spec"
    for image in overriders.image:
        if image.predicate is None:
            yield "spec"
        else:
            # Its image is read by the bare words of the path and written by the decoded ones.
            yield image.predicate.strip("/").partition("/")[0]
            yield from _first(image.predicate)
    for field in overriders.field:
        yield from _first(field.field_path)
    for operation in overriders.plaintext:
        yield from _first(operation.path)


def _first(path: str) -> Iterator[str | None]:
    tokens = tokens_of(path)
    if tokens is not None:
        yield tokens[0] if tokens else None
