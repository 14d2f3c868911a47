"""The ``Rendered`` condition of a binding: the clusters that kept older bytes, since when and why."""

from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import replace

from render.binding import Binding, Condition
from render.bits import indexes_of_mask
from render.interpreter import InterpreterError
from render.model import ObjectRef
from render.revisions import BuildFailed, WorkFailure
from render.works import Works

RENDERED = "Rendered"
OVERRIDE_FAILED = "OverrideFailed"
BUILD_FAILED = "BuildFailed"
INTERPRETER_FAILED = "InterpreterFailed"
REMOVAL_HELD = "RemovalHeld"


def with_rendered_condition(
    binding: Binding, works: Works | None, names: Sequence[str], before: Mapping[ObjectRef, Binding], source: str
) -> Binding:
    """Return the binding, with ``Rendered=False`` when its object could not be built somewhere."""
    others = tuple(each for each in binding.conditions if each.type != RENDERED)
    if works is None or not works.failures:
        return binding if len(others) == len(binding.conditions) else replace(binding, conditions=others)
    failed = Condition(
        type=RENDERED,
        status="False",
        reason=failure_reason(failure.error for failure in works.failures),
        message="; ".join(sorted(_failure_text(failure, names) for failure in works.failures)),
        clusters=tuple(
            sorted({names[index] for failure in works.failures for index in indexes_of_mask(failure.clusters)})
        ),
    )
    return with_condition(replace(binding, conditions=others), failed, before, source)


def kept_binding(ref: ObjectRef, error: InterpreterError, before: Mapping[ObjectRef, Binding], source: str) -> Binding:
    """Return the previous binding of a template that could not be interpreted; it keeps all it has."""
    kept = before[ref]
    others = tuple(each for each in kept.conditions if each.type != RENDERED)
    failed = Condition(type=RENDERED, status="False", reason=INTERPRETER_FAILED, message=str(error))
    return with_condition(replace(kept, conditions=others), failed, before, source)


def with_held_condition(
    binding: Binding, clusters: Iterable[str], message: str, before: Mapping[ObjectRef, Binding], source: str
) -> Binding:
    """Return the binding, with ``Rendered=False`` for clusters that keep what they have, beside what failed anyway."""
    others = tuple(each for each in binding.conditions if each.type != RENDERED)
    failed = next((each for each in binding.conditions if each.type == RENDERED), None)
    held_condition = Condition(
        type=RENDERED,
        status="False",
        reason=failed.reason if failed else REMOVAL_HELD,
        message=f"{failed.message}; {message}" if failed else message,
        clusters=tuple(sorted({*clusters, *(failed.clusters if failed else ())})),
    )
    return with_condition(replace(binding, conditions=others), held_condition, before, source)


def with_condition(binding: Binding, found: Condition, before: Mapping[ObjectRef, Binding], source: str) -> Binding:
    """Return the binding with a condition, which began with ``source`` unless the binding had the same one before."""
    since = source
    earlier = before.get(binding.ref)
    for condition in earlier.conditions if earlier else ():
        if (condition.type, condition.reason, condition.message) == (found.type, found.reason, found.message):
            since = condition.since
    return replace(binding, conditions=(*binding.conditions, replace(found, since=since)))


def _failure_text(failure: WorkFailure, names: Sequence[str]) -> str:
    return f"{', '.join(names[index] for index in indexes_of_mask(failure.clusters))}: {failure.error}"


def failure_reason(errors: Iterable[Exception]) -> str:
    """Return why objects could not be made: the interpreter's fault if any is, else a build's or an override's."""
    found = tuple(errors)
    if any(isinstance(error, InterpreterError) for error in found):
        return INTERPRETER_FAILED
    return BUILD_FAILED if any(isinstance(error, BuildFailed) for error in found) else OVERRIDE_FAILED
