"""What a binding says about its own rendering: which clusters kept older bytes, since when and why."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace

from render.binding import Binding, Condition
from render.bits import members
from render.interpreter import InterpreterError
from render.model import ObjectRef
from render.works import WorkFailure, Works

RENDERED = "Rendered"
OVERRIDE_FAILED = "OverrideFailed"
INTERPRETER_FAILED = "InterpreterFailed"


def with_rendered_condition(
    binding: Binding, works: Works | None, names: Sequence[str], before: Mapping[ObjectRef, Binding], source: str
) -> Binding:
    """Return the binding, with ``Rendered=False`` when its object could not be built somewhere."""
    others = tuple(each for each in binding.conditions if each.type != RENDERED)
    if works is None or not works.failures:
        return binding if len(others) == len(binding.conditions) else replace(binding, conditions=others)
    message = "; ".join(sorted(_described(failure, names) for failure in works.failures))
    reason = failure_reason(failure.error for failure in works.failures)
    return _with_condition(replace(binding, conditions=others), reason, message, before, source)


def kept_binding(ref: ObjectRef, error: InterpreterError, before: Mapping[ObjectRef, Binding], source: str) -> Binding:
    """Return the previous binding of a template that could not be interpreted; it keeps all it has."""
    kept = before[ref]
    others = tuple(each for each in kept.conditions if each.type != RENDERED)
    return _with_condition(replace(kept, conditions=others), INTERPRETER_FAILED, str(error), before, source)


def _with_condition(
    binding: Binding, reason: str, message: str, before: Mapping[ObjectRef, Binding], source: str
) -> Binding:
    since = source
    earlier = before.get(binding.ref)
    for condition in earlier.conditions if earlier else ():
        if (condition.type, condition.reason, condition.message) == (RENDERED, reason, message):
            since = condition.since
    failed = Condition(type=RENDERED, status="False", reason=reason, message=message, since=since)
    return replace(binding, conditions=(*binding.conditions, failed))


def _described(failure: WorkFailure, names: Sequence[str]) -> str:
    return f"{', '.join(names[index] for index in members(failure.clusters))}: {failure.error}"


def failed_clusters(message: str, among: Collection[str]) -> tuple[str, ...]:
    """Return the clusters a ``Rendered`` condition's message names, out of those a binding is in.

    >>> failed_clusters("eu, us: no such path: /a; b; paris: not that either", ["eu", "us", "paris", "oslo"])
    ('eu', 'paris', 'us')
    """
    heads = (part.partition(": ")[0].split(", ") for part in message.split("; "))
    named = {name for head in heads if all(name in among for name in head) for name in head}
    return tuple(sorted(named))


def failure_reason(errors: Iterable[Exception]) -> str:
    """Return why objects could not be built: the interpreter's fault if any error is, else an override's."""
    is_interpreter = any(isinstance(error, InterpreterError) for error in errors)
    return INTERPRETER_FAILED if is_interpreter else OVERRIDE_FAILED
