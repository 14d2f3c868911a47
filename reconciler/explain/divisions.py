"""The interpreters that read and write the replicas of an object, and what is not divided with them."""

from collections.abc import Iterator, Mapping

from reconciler.pipeline.divisions import division_warnings_of
from reconciler.pipeline.pass_values import Built
from reconciler.source.desired import Desired
from render.divisions import DivisionWarning
from render.interpreter import Interpreter, Layer, Operation
from render.model import ObjectRef, Template
from render.scheduling.filters.unmet import Unmet

_READ, _WRITE = Operation.INTERPRET_REPLICA, Operation.REVISE_REPLICA
_WORDS = {
    Layer.CUSTOMIZATION: "a customization",
    Layer.WEBHOOK: "a webhook",
    Layer.THIRD_PARTY: "the rules that Karmada bundles for its kind",
    Layer.NATIVE: "the rules for a kind of Kubernetes",
    Layer.SCALE: "the scale subresource of its kind",
    Layer.NONE: "nothing",
}


def interpreter_layers_of_replicas(template: Template, interpreter: Interpreter) -> Mapping[str, str]:
    """Return the layers of the interpreter that read and write an object's replicas; empty where nothing reads them."""
    layers = {operation: interpreter.answering_layer(operation, template.manifest) for operation in (_READ, _WRITE)}
    if layers[_READ] is Layer.NONE:
        return {}
    return {str(operation): str(layer) for operation, layer in layers.items()}


def layers_in_words(layers: Mapping[str, str]) -> str:
    """Return a sentence about the layers that read and write replicas; empty for those that one expects."""
    if not layers:
        return ""
    read, write = (Layer(layers[operation]) for operation in (_READ, _WRITE))
    if read is write is Layer.NATIVE:
        return ""
    if read is write:
        return f"Its replicas are read and written by {_WORDS[read]}."
    return f"Its replicas are read by {_WORDS[read]}, and written by {_WORDS[write]}."


def division_warnings(ref: ObjectRef, desired: Desired, built: Built) -> Iterator[Unmet]:
    """Yield the warnings about an object, and about what stands beside it, because of a division."""
    template_by_ref = {template.ref: template for template in desired.templates}
    interpreter, scheduler = built.work_context.interpreter, built.schedule.scheduler
    found = division_warnings_of(built.bindings, template_by_ref, desired, interpreter, scheduler)
    for each in found:
        if ref in {each.ref, each.workload}:
            yield Unmet(field=_warned_field_in_words(each, ref), message=each.message, hint=each.hint)


def _warned_field_in_words(found: DivisionWarning, ref: ObjectRef) -> str:
    parts = ("" if found.ref == ref else str(found.ref), found.field)
    return ": ".join(filter(None, parts))
