"""The document of ``argosy status KIND/NAME``."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import UNSET, UnsetType, field
from msgspec.structs import replace

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import ConditionPart, Message, ObjectName, Reason, StateWord
from .status_parts import LiveObjectPart, as_recorded, live_object_part
from .survey_parts import words_of_states

if TYPE_CHECKING:
    from reconciler.status.branches import RecordedFleet
    from render.binding import Binding, LastMove


class LastMovePart(DocumentPart, frozen=True, kw_only=True):
    """The last time that an object was evicted from clusters."""

    at: Annotated[str, meaning_of_field("The time of the pass that decided it.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that it left.")] = field(name="from")
    reason: Reason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    times: (
        Annotated[
            int,
            meaning_of_field("How often in a row it left a cluster because it was not well there; left out for once."),
        ]
        | UnsetType
    ) = UNSET


class TemplatePart(DocumentPart, frozen=True, kw_only=True):
    """The template of an object in the source."""

    path: Annotated[str, meaning_of_field("The file that it stands in, or that asks for it.")]
    origin: (
        Annotated[str, meaning_of_field("The file and line that a tool made it from, where `path` asks for that.")]
        | UnsetType
    ) = UNSET
    owner: Annotated[str, meaning_of_field("Whose it says that it is.")] | UnsetType = UNSET


class SelectingPart(DocumentPart, frozen=True, kw_only=True):
    """A policy of the source that selects an object, the best first."""

    policy: Annotated[str, meaning_of_field("The policy, with its kind.")]
    path: Annotated[str, meaning_of_field("The file it stands in.")]
    selects_by: Annotated[str, meaning_of_field("`name`, `labels` or `kind`.")]
    priority: Annotated[int, meaning_of_field("Its priority.")]
    claims: Annotated[bool, meaning_of_field("True if the next pass has it claim the object.")]
    why: Annotated[str, meaning_of_field("Why it does not.")] | UnsetType = UNSET


class PlacedImagePart(DocumentPart, frozen=True, kw_only=True):
    """An image of a container, and where it is asked for."""

    container: Annotated[str, meaning_of_field("The container.")]
    image: Annotated[str, meaning_of_field("Its image, as overrides leave it.")]
    clusters: Annotated[
        tuple[str, ...],
        meaning_of_field(
            "The clusters whose folders ask for it. Empty for the newest while every cluster keeps an earlier one: then"
            " it is that of the template, before overrides."
        ),
    ]
    earlier: (
        Annotated[
            bool,
            meaning_of_field(
                "True if these clusters keep an earlier version of the object: a rollout has not come to them, or the"
                " newest cannot be made for them."
            ),
        ]
        | UnsetType
    ) = UNSET


class ObjectStatusDocument(OutputDocument, frozen=True, kw_only=True):
    """An object, and how it is in each of its clusters."""

    kind = "ObjectStatus"
    about = "The state of an object."
    printed_by = ("status KIND/NAME",)

    object: ObjectName
    state: StateWord
    states: Annotated[
        Mapping[str, int], meaning_of_field("In how many of its clusters it is in which state, the worst first.")
    ]
    policy: Annotated[str | None, meaning_of_field("The policy that claims it.")]
    conditions: Annotated[tuple[ConditionPart, ...], meaning_of_field("The conditions of its binding.")]
    clusters: Annotated[tuple[LiveObjectPart, ...], meaning_of_field("The object in each of its clusters.")]
    disconnected: Annotated[
        tuple[str, ...], meaning_of_field("The clusters that left the source and keep it as it was.")
    ]
    template_status: Annotated[
        Any, meaning_of_field("The status the template would have in Karmada; null if none is known.")
    ]
    template: (
        Annotated[TemplatePart, meaning_of_field("Its template; left out where the source has none any more.")]
        | UnsetType
    ) = UNSET
    selected_by: (
        Annotated[tuple[SelectingPart, ...], meaning_of_field("The policies of the source that select it, best first.")]
        | UnsetType
    ) = UNSET
    required_by: Annotated[tuple[ObjectName, ...], meaning_of_field("The objects that bring it along.")] | UnsetType = (
        UNSET
    )
    brings: Annotated[tuple[ObjectName, ...], meaning_of_field("The objects that it brings along.")] | UnsetType = UNSET
    last_move: (
        Annotated[LastMovePart, meaning_of_field("The last time that it was evicted from clusters.")] | UnsetType
    ) = UNSET
    images: (
        Annotated[
            tuple[PlacedImagePart, ...],
            meaning_of_field("The images of its containers by where they are; left out for a kind without pods."),
        ]
        | UnsetType
    ) = UNSET


def object_status_document(branches: "RecordedFleet", binding: "Binding") -> ObjectStatusDocument:
    """Return what is known of an object as a document."""
    from reconciler.record.binding_status import expected_clusters
    from reconciler.status.images import images_of_binding
    from reconciler.status.objects import conditions_of, objects_of_binding
    from reconciler.survey.objects import surveyed_object, usual_states

    recorded, members = branches.recorded, branches.progress
    surveyed = surveyed_object(binding, branches, usual_states(branches))
    known = recorded.binding(binding.ref) or {}
    return ObjectStatusDocument(
        object=str(binding.ref),
        state=str(surveyed.worst.state),
        states=words_of_states(surveyed.counts),
        policy=binding.policy or None,
        conditions=as_recorded(conditions_of(binding, recorded, members)),
        clusters=tuple(
            replace(live_object_part(each), state=str(surveyed.in_cluster(each.cluster).state))
            for each in objects_of_binding(binding, recorded, members)
        ),
        disconnected=tuple(name for name in expected_clusters(binding) if name not in members),
        template_status=known.get("templateStatus"),
        **_fields_of_source(branches, binding),
        required_by=value_unless_empty(tuple(_objects_requiring(branches, binding))),
        brings=value_unless_empty(tuple(_objects_brought_along(branches, binding))),
        last_move=_last_move_part(binding.moved),
        images=value_unless_empty(
            tuple(
                PlacedImagePart(
                    container=each.container,
                    image=each.image,
                    clusters=each.clusters,
                    earlier=each.is_earlier or UNSET,
                )
                for each in images_of_binding(branches, binding)
            )
        ),
    )


def _fields_of_source(branches: "RecordedFleet", binding: "Binding") -> dict[str, Any]:
    """Return what the source says of an object: its template, and the policies that select it."""
    from reconciler.explain.object import verdicts_on_policies
    from reconciler.overview.owners import owner_named_in

    desired = branches.fleet.source.desired
    template = next((each for each in desired.templates if each.ref == binding.ref), None)
    if template is None:
        return {}
    owner = owner_named_in(template)
    verdicts = verdicts_on_policies(template, desired, branches.fleet.previous.bindings)
    return {
        "template": TemplatePart(
            path=template.path,
            origin=value_unless_empty(template.origin),
            owner=UNSET if owner is None else owner.name,
        ),
        "selected_by": tuple(
            SelectingPart(
                policy=each.policy,
                path=each.path,
                selects_by=each.selects_by,
                priority=each.priority,
                claims=each.holds,
                why=value_unless_empty(each.why),
            )
            for each in verdicts
        ),
    }


def _objects_requiring(branches: "RecordedFleet", binding: "Binding") -> Iterator[str]:
    """Yield the objects that bring an object along."""
    from reconciler.pipeline.dependencies import binding_name

    names = {(each.namespace, each.name) for each in binding.required_by}
    for each in branches.fleet.bindings if names else ():
        if (each.ref.namespace, binding_name(each.ref)) in names:
            yield str(each.ref)


def _objects_brought_along(branches: "RecordedFleet", binding: "Binding") -> Iterator[str]:
    """Yield the objects that an object brings along."""
    from reconciler.pipeline.dependencies import binding_name

    name = binding.ref.namespace, binding_name(binding.ref)
    for each in branches.fleet.bindings:
        if any((one.namespace, one.name) == name for one in each.required_by):
            yield str(each.ref)


def _last_move_part(moved: "LastMove | None") -> LastMovePart | UnsetType:
    if moved is None:
        return UNSET
    return LastMovePart(
        at=moved.at,
        clusters=moved.clusters,
        reason=value_unless_empty(moved.reason),
        message=value_unless_empty(moved.message),
        times=moved.times if moved.times > 1 else UNSET,
    )
