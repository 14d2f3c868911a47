"""The bindings in the document of ``argosy status``: where objects are, and how many replicas they have there."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, meaning_of_field, value_unless_empty
from .parts import ObjectName, Reason

if TYPE_CHECKING:
    from reconciler.status.live_replicas import LiveShare
    from render.binding import Binding
    from render.model import ObjectRef


class BindingPart(DocumentPart, frozen=True, kw_only=True):
    """A binding: where an object is."""

    object: ObjectName
    policy: Annotated[str | None, meaning_of_field("The policy that claims it.")]
    reason: Reason
    clusters: Annotated[
        Mapping[str, int], meaning_of_field("Its clusters with their replicas; 0 if it has none to count.")
    ]
    overridden: (
        Annotated[
            tuple[str, ...],
            meaning_of_field(
                "The clusters with other replicas than the policy assigns, by an override or as nothing writes shares."
            ),
        ]
        | UnsetType
    ) = UNSET
    live: (
        Annotated[
            Mapping[str, int],
            meaning_of_field("The clusters in which it is known how many replicas it asks for, with that number."),
        ]
        | UnsetType
    ) = UNSET
    replicas_managers: (
        Annotated[
            Mapping[str, str],
            meaning_of_field("The clusters in which others than Argosy own that number, with their field managers."),
        ]
        | UnsetType
    ) = UNSET
    required_by: Annotated[tuple[str, ...], meaning_of_field("The objects it follows.")] | UnsetType = UNSET
    problems: Annotated[tuple[str, ...], meaning_of_field("What is wrong with it.")]


def binding_parts(bindings: Iterable["Binding"], shares: Iterable["LiveShare"]) -> tuple[BindingPart, ...]:
    """Return bindings as the document has them, with the replicas that are known of their objects."""
    shares_by_ref: dict[ObjectRef, list[LiveShare]] = defaultdict(list)
    for each in shares:
        shares_by_ref[each.ref].append(each)
    return tuple(_binding_part(binding, shares_by_ref[binding.ref]) for binding in bindings)


def _binding_part(binding: "Binding", shares: Sequence["LiveShare"]) -> BindingPart:
    from reconciler.pipeline.readme import binding_state
    from reconciler.record.binding_status import expected_clusters
    from reconciler.status.fleet import binding_problems

    replicas, absent = binding.placed_replicas, binding.undispatched_clusters
    live = {each.cluster: each.live for each in shares if each.live is not None}
    return BindingPart(
        object=str(binding.ref),
        policy=binding.policy or None,
        reason=binding_state(binding),
        clusters={name: replicas.get(name, 0) for name in expected_clusters(binding) if name not in absent},
        overridden=value_unless_empty(tuple(sorted(binding.overridden_replicas))),
        live=value_unless_empty({name: each.replicas for name, each in live.items()}),
        replicas_managers=value_unless_empty({name: each.manager for name, each in live.items() if each.manager}),
        required_by=value_unless_empty(tuple(f"{each.namespace}/{each.name}" for each in binding.required_by)),
        problems=tuple(binding_problems(binding)),
    )
