"""The records that a pass stumbles over: it is refused with their places, and whatever was committed stays enforced.

Each object has a boundary of its own where it is claimed and built. Where bindings are scheduled together, or taken
from clusters together, there is none. If an error that nobody thought of comes up there, parts of what the pass is made
of are rendered until it is known which records lead to it.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

from msgspec.structs import replace

from reconciler.branches.reading import Source
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.stages import render_pass
from reconciler.source.culprits import items_causing_unexpected_error
from render.boundary import result_or_substitute, unexpected_problem
from render.errors import InputError
from render.words import first_few

_OF_THE_SOURCE = (
    "templates",
    "policies",
    "override_policies",
    "taint_policies",
    "clusters",
    "customizations",
    "reschedule_requests",
    "rollback_requests",
    "cron_autoscalers",
    "federated_autoscalers",
    "quotas",
    "remedies",
)


class _Record(NamedTuple):
    """A record that a pass is made of: the group it is of, its key there, and its name for people."""

    group: str
    key: Any
    name: str


def render_or_name_culprits(inputs: Inputs, source: Source) -> Rendered:
    """Compute the next rendered tree; InputError names the records over which that stumbles."""
    return result_or_substitute(partial(render_pass, inputs), partial(_refuse_culprits, inputs, source))


def _refuse_culprits(inputs: Inputs, source: Source, error: Exception) -> Rendered:
    found = items_causing_unexpected_error(
        tuple(_possible_culprits(inputs)), lambda chosen: render_pass(_inputs_with_only(inputs, chosen))
    )
    if not found:
        raise error
    first, *others = found
    record = first.key if first.group in _OF_THE_SOURCE else None
    path, document = getattr(record, "path", ""), getattr(record, "document", 0)
    beside = f" together with {first_few([each.name for each in others])}" if others else ""
    problem = unexpected_problem(path, error, what=f"{first.name}{beside} cannot be rendered")
    line = source.lines.line_of(path, document, "") if source.lines and path else 0
    raise InputError([replace(problem, line=line)], warnings=source.desired.warnings) from error


def _possible_culprits(inputs: Inputs) -> Iterator[_Record]:
    for group in _OF_THE_SOURCE:
        for each in getattr(inputs.desired, group):
            yield _Record(group, each, str(getattr(each, "ref", "") or getattr(each, "name", group)))
    yield from (_Record("facts", name, f"facts/{name}.yaml") for name in inputs.facts)
    for ref in inputs.previous.bindings if inputs.previous else ():
        yield _Record("bindings", ref, f"the binding of {ref}")


def _inputs_with_only(inputs: Inputs, records: Sequence[_Record]) -> Inputs:
    """Return the inputs with these records alone."""
    groups: dict[str, list[Any]] = {name: [] for name in (*_OF_THE_SOURCE, "facts", "bindings")}
    for each in records:
        groups[each.group].append(each.key)
    facts, bindings, previous = set(groups.pop("facts")), set(groups.pop("bindings")), inputs.previous
    kept = previous and replace(previous, bindings={ref: previous.bindings[ref] for ref in bindings})
    return replace(
        inputs,
        desired=replace(inputs.desired, **{name: tuple(chosen) for name, chosen in groups.items()}),
        facts={name: each for name, each in inputs.facts.items() if name in facts},
        previous=kept,
        scope=None,
    )
