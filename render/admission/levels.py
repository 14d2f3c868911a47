"""The level at which a field belongs, for a field that stands at another one."""

from collections.abc import Iterator
from itertools import takewhile
from typing import NamedTuple

from msgspec.structs import replace

from render.errors import Problem

from .schema import ListOf, Node, Record

_METADATA = ("annotations", "labels", "name", "namespace")
_INDEX = "[]"


class Level(NamedTuple):
    """A level of a document at which a field is known: the steps to it, lists as ``[]``."""

    field: str
    steps: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join(self.steps).replace(f".{_INDEX}", _INDEX)


def at_their_levels(problems: list[Problem], spec: Node) -> list[Problem]:
    """Return problems of which those about a field that belongs elsewhere say where; ``spec`` is the kind's schema."""
    if not any(problem.kind == "Unknown" for problem in problems):
        return problems
    levels = (
        *(Level(name, ("metadata",)) for name in _METADATA),
        *_levels(spec, ("spec",)),
    )
    return [_with_level(problem, levels) if problem.kind == "Unknown" else problem for problem in problems]


def _with_level(problem: Problem, levels: tuple[Level, ...]) -> Problem:
    """Return a problem with the level that is nearest to where its field stands, if there is one."""
    steps = tuple(problem.field.replace("[", f".{_INDEX[0]}").split("."))
    here, name = tuple(_INDEX if step.startswith(_INDEX[0]) else step for step in steps[:-1]), steps[-1]
    found = [level for level in levels if level.field == name]
    if not found:
        return problem
    best = max(found, key=lambda level: (_shared(level.steps, here), -len(level.steps)))
    return replace(problem, hint=f"it belongs under {best}")


def _shared(first: tuple[str, ...], second: tuple[str, ...]) -> int:
    """Count the steps that two levels begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def _levels(node: Node, steps: tuple[str, ...]) -> Iterator[Level]:
    """Yield the fields below a node, each with the level it belongs to, in the schema's order."""
    if isinstance(node, ListOf):
        yield from _levels(node.items, (*steps, _INDEX))
    elif isinstance(node, Record):
        for marked, child in node.fields.items():
            name = marked.rstrip("!")
            yield Level(name, steps)
            yield from _levels(child, (*steps, name))
