"""Understand any workload - replicas, needs, health, dependencies - by the first of five layers that knows its kind.

1. a ResourceInterpreterCustomization of the repository, for exactly this apiVersion and kind;
2. a ResourceInterpreterWebhookConfiguration, called only where clusters are touched;
3. the custom resources Karmada bundles rules for;
4. the kinds Kubernetes defines, and any kind's whole status;
5. the scale subresource of a custom kind, for its replicas alone.

The first layer that has the operation answers; its error is an error, never a reason to ask the next.

The last layer tells one number and where it is written. So it says nothing of a kind with several pod templates, and it
writes a share of what another layer read only where both mean the same number.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Self

from msgspec import field

from render.boundary import REPORT_IT, words_of_unexpected_error
from render.interpretation.fields import value_at
from render.interpretation.operations import (
    FUNCTION_BY_OPERATION,
    Interpretation,
    InterpreterError,
    Items,
    Layer,
    Operation,
    Replicas,
)
from render.kinds import NATIVE
from render.model import Manifest
from render.resources import Component, DependentObject
from render.values import SelectiveStruct

from .answers import missing_part_of_reference
from .scale import Scales, ScaleSubresource, interpretation_by_scale
from .thirdparty import third_party_interpretation
from .webhooks import Send, Webhook, webhook_interpretation, webhooks_of

__all__ = ["Interpreter", "InterpreterError", "Layer", "Operation", "Replicas"]

Kind = tuple[str, str]
Function = Callable[..., Any]
Found = tuple[Layer, Function | None, Interpretation | None]
"""The layer that answers for a kind, and its function."""
_NOBODY: Found = (Layer.NONE, None, None)


class Interpreter(SelectiveStruct, frozen=True, kw_only=True):
    """The five layers of one repository; every method answers neutrally for a kind without the operation.

    ``customized`` and ``webhooks`` are the repository's own; ``send`` calls a webhook (None: rendering calls nothing,
    and an object that needs a webhook is an error). ``scales`` are the scale subresources that are known.
    """

    UNSHOWN = UNCOMPARED = ("_known",)

    customized: Mapping[Kind, Interpretation] = field(default_factory=dict)
    webhooks: tuple[Webhook, ...] = ()
    send: Send | None = None
    scales: Scales = field(default_factory=dict)
    _known: dict[tuple[Operation, Kind], Found] = field(default_factory=dict)
    """The layers found so far; where there are webhooks, they are asked each time."""

    @classmethod
    def of(cls, customizations: Iterable[Manifest], *, send: Send | None = None, scales: Scales | None = None) -> Self:
        """Return the interpreter of a repository's customizations and webhook configurations, in any order."""
        manifests = sorted(customizations, key=lambda manifest: str(manifest["metadata"]["name"]))
        customized: Mapping[Kind, Interpretation] = {}
        if manifests:  # the module that runs scripts takes long to import
            from .customizations import interpretations_by_customized_kind

            customized = interpretations_by_customized_kind(manifests)
        return cls(customized=customized, webhooks=webhooks_of(manifests), send=send, scales=scales or {})

    def with_scales(self, scales: Scales) -> Self:
        """Return the interpreter with these scale subresources in place of its own."""
        return type(self)(customized=self.customized, webhooks=self.webhooks, send=self.send, scales=scales)

    def has(self, operation: Operation, manifest: Manifest) -> bool:
        """Say whether any layer has the operation for this kind."""
        return self.answering_layer(operation, manifest) is not Layer.NONE

    def answering_layer(self, operation: Operation, manifest: Manifest) -> Layer:
        """Return the layer that answers."""
        return self._layer_and_function(operation, manifest)[0]

    def replicas(self, manifest: Manifest) -> Replicas | None:
        """Return the replicas the object wants and the needs of one; None for an object without replicas."""
        answer: Replicas | None = self._answer_of_first_layer(Operation.INTERPRET_REPLICA, None, manifest)
        return answer

    def components(self, manifest: Manifest) -> tuple[Component, ...] | None:
        """Return the object's pod templates; None for a kind without several of them."""
        answer: Iterable[Component] | None = self._answer_of_first_layer(Operation.INTERPRET_COMPONENT, None, manifest)
        return None if answer is None else tuple(answer)

    def revise_replica(self, manifest: Manifest, replicas: int) -> Manifest:
        """Return the object with this number of replicas."""
        answer: Manifest = self._answer_of_first_layer(Operation.REVISE_REPLICA, manifest, manifest, replicas)
        return answer

    def replica_field(self, manifest: Manifest) -> tuple[str, ...] | None:
        """Return the path of the one integer ``revise_replica`` sets, None if it is missing or not the only change."""
        _, function, interpretation = self._layer_and_function(Operation.REVISE_REPLICA, manifest)
        path = interpretation.replica_field if function and interpretation else None
        if path is None:
            return None
        try:
            current = value_at(manifest, *path)
        except InterpreterError:
            return None
        return path if type(current) is int else None

    def retain(self, desired: Manifest, observed: Manifest) -> Manifest:
        """Return the desired object with the fields that belong to the member kept from the observed one."""
        answer: Manifest = self._answer_of_first_layer(Operation.RETAIN, desired, desired, observed)
        return answer

    def aggregate_status(self, template: Manifest, items: Items) -> Manifest:
        """Return the template with the aggregated status of its members."""
        status = self._answer_of_first_layer(Operation.AGGREGATE_STATUS, template.get("status"), template, items)
        if status is not None:
            return {**template, "status": status}
        return {key: value for key, value in template.items() if key != "status"}

    def dependencies(self, manifest: Manifest) -> tuple[DependentObject, ...]:
        """Return the objects that must be propagated with this one, sorted, each once."""
        found: Iterable[DependentObject] = self._answer_of_first_layer(Operation.INTERPRET_DEPENDENCY, (), manifest)
        distinct = sorted(
            {_sort_key_of_dependency(dependency): dependency for dependency in found}.items(),
            key=lambda entry: entry[0],
        )
        for _, dependency in distinct:
            if missing := missing_part_of_reference(dependency):
                what = f"{dependency.kind or 'an object'} it depends on has no {missing}"
                raise InterpreterError(what, where=_place_for_error(Operation.INTERPRET_DEPENDENCY, manifest))
        return tuple(dependency for _, dependency in distinct)

    def reflect_status(self, observed: Manifest) -> Any:
        """Return the part of a member object's status that is reported; None when there is none yet."""
        return self._answer_of_first_layer(Operation.INTERPRET_STATUS, None, observed)

    def is_healthy(self, observed: Manifest) -> bool:
        """Say whether a member object is healthy; an object of a kind without health is."""
        answer: bool = self._answer_of_first_layer(Operation.INTERPRET_HEALTH, True, observed)
        return answer

    def ending_of_run(self, manifest: Manifest) -> str | None:
        """Return how the run of an object ended, "" while it goes on, and None for one that runs for ever."""
        kind = (manifest.get("apiVersion", ""), manifest.get("kind", ""))
        known = third_party_interpretation(*kind) or NATIVE.get(kind)
        if known is None or known.finish is None:
            return None
        return known.finish(manifest)

    def _answer_of_first_layer(self, operation: Operation, neutral: Any, manifest: Manifest, *arguments: Any) -> Any:
        _, function, _ = self._layer_and_function(operation, manifest)
        if function is None:
            return neutral
        try:
            answer = function(manifest, *arguments)
            return tuple(answer) if hasattr(answer, "__next__") else answer
        except InterpreterError as error:
            raise InterpreterError(error.what, where=_place_for_error(operation, manifest, error.where)) from error
        except Exception as error:
            is_known = operation in _READING_MEMBERS and isinstance(error, _WRONG_TYPE)
            typed = f"a field is not of the type that the kind has ({type(error).__name__})"
            what = typed if is_known else f"{words_of_unexpected_error(error)}; {REPORT_IT}"
            raise InterpreterError(what, where=_place_for_error(operation, manifest)) from error

    def _layer_and_function(self, operation: Operation, manifest: Manifest) -> Found:
        kind = (manifest.get("apiVersion", ""), manifest.get("kind", ""))
        found = None if self.webhooks else self._known.get((operation, kind))
        if found is None:
            found = self._first_layer_with_function(operation, kind)
            if not self.webhooks:
                self._known[operation, kind] = found
        if found[0] is Layer.SCALE and not self._is_read_through_scale(operation, manifest, self.scales[kind]):
            return _NOBODY
        return found

    def _is_read_through_scale(self, operation: Operation, manifest: Manifest, scale: ScaleSubresource) -> bool:
        """Say whether the number of a scale subresource is the number that an operation is about."""
        if operation is Operation.AGGREGATE_STATUS:
            return True
        if self.has(Operation.INTERPRET_COMPONENT, manifest):
            return False
        if scale.is_ambiguous:
            return True  # whether it is that number cannot be told: its functions say so
        if (
            operation is Operation.INTERPRET_REPLICA
            or self.answering_layer(Operation.INTERPRET_REPLICA, manifest) is Layer.SCALE
        ):
            return scale.replicas(manifest) is not None
        try:
            read = self.replicas(manifest)
        except InterpreterError:
            return False
        return read is not None and read.replicas == scale.replicas(manifest)

    def _first_layer_with_function(self, operation: Operation, kind: Kind) -> Found:
        name = FUNCTION_BY_OPERATION[operation]
        for layer, known in self._layers_of_kind(operation, kind):
            function: Function | None = getattr(known, name) if known else None
            if function:
                return layer, function, known
        if operation is Operation.INTERPRET_STATUS:
            return Layer.NATIVE, _reflect_whole_status, None
        return _NOBODY

    def _layers_of_kind(self, operation: Operation, kind: Kind) -> Iterable[tuple[Layer, Interpretation | None]]:
        yield Layer.CUSTOMIZATION, self.customized.get(kind)
        if self.webhooks:
            yield Layer.WEBHOOK, webhook_interpretation(self.webhooks, operation, kind, self.send)
        yield Layer.THIRD_PARTY, third_party_interpretation(*kind)
        yield Layer.NATIVE, NATIVE.get(kind)
        if scale := self.scales.get(kind):
            yield Layer.SCALE, interpretation_by_scale(scale)


_WRONG_TYPE = (TypeError, AttributeError, LookupError, ValueError, ArithmeticError, RecursionError)
_READING_MEMBERS = frozenset(
    {Operation.INTERPRET_STATUS, Operation.INTERPRET_HEALTH, Operation.AGGREGATE_STATUS, Operation.RETAIN}
)
"""The operations that read what a member answered. Its objects were checked by no schema here, as templates are."""


def _reflect_whole_status(observed: Manifest) -> Any:
    return observed.get("status")


def _place_for_error(operation: Operation, manifest: Manifest, source: str = "") -> str:
    metadata = manifest.get("metadata") or {}
    name = "/".join(str(part) for part in (metadata.get("namespace"), metadata.get("name")) if part)
    return ": ".join(filter(None, (f"{manifest.get('kind')} {name}", operation.value, source)))


def _sort_key_of_dependency(dependency: DependentObject) -> tuple[str, ...]:
    selector = "" if dependency.label_selector is None else repr(dependency.label_selector)
    return dependency.api_version, dependency.kind, dependency.namespace, dependency.name, selector
