"""The document of ``argosy explain cluster/NAME``."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field
from .parts import ClusterName, IsOverridden, ObjectName, Previous, Source


class CapacityLinePart(DocumentPart, frozen=True, kw_only=True):
    """The capacity of a cluster for one resource."""

    resource: str
    allocatable: str
    allocated: str | UnsetType = UNSET
    allocating: str | UnsetType = UNSET
    reserved: str | UnsetType = UNSET


class GradePart(DocumentPart, frozen=True, kw_only=True):
    """A grade of the resource model of a cluster."""

    grade: int
    nodes: Annotated[int, meaning_of_field("How many nodes of the cluster are of the grade.")]
    least: Annotated[
        Mapping[str, str], meaning_of_field("The least of each resource that a node of it has: that counts.")
    ]


class HeldObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object that a cluster holds."""

    ref: ObjectName
    replicas: int
    overridden: IsOverridden | UnsetType = UNSET
    why: str


class AbsentObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object that goes elsewhere."""

    ref: ObjectName
    refused: (
        Annotated[
            tuple[tuple[str, ...], ...], meaning_of_field("Each filter that refused the cluster, with its reason.")
        ]
        | UnsetType
    ) = UNSET
    why: str | UnsetType = UNSET


class ClusterExplanationDocument(OutputDocument, frozen=True, kw_only=True):
    """A cluster, and the objects that are in it or elsewhere."""

    kind = "ClusterExplanation"
    about = "What a cluster holds, and why."
    printed_by = ("explain cluster/NAME",)

    source: Source
    previous: Previous
    name: ClusterName
    disconnected: Annotated[bool, meaning_of_field("True if it left the source.")] | UnsetType = UNSET
    path: Annotated[str, meaning_of_field("Its file.")] | UnsetType = UNSET
    region: Annotated[str, meaning_of_field("Its region.")] | UnsetType = UNSET
    provider: Annotated[str, meaning_of_field("Its provider.")] | UnsetType = UNSET
    zones: Annotated[tuple[str, ...], meaning_of_field("Its zones.")] | UnsetType = UNSET
    labels: Annotated[Mapping[str, str], meaning_of_field("Its labels.")] | UnsetType = UNSET
    former_names: (
        Annotated[tuple[str, ...], meaning_of_field("The names it had before it was renamed, the last one last.")]
        | UnsetType
    ) = UNSET
    taints: Annotated[tuple[str, ...], meaning_of_field("Its taints.")] | UnsetType = UNSET
    served: Annotated[int, meaning_of_field("How many APIs are recorded of it.")] | UnsetType = UNSET
    origin: (
        Annotated[str, meaning_of_field("Where its capacity comes from: `declared`, `observed` or `unknown`.")]
        | UnsetType
    ) = UNSET
    capacity: Annotated[tuple[CapacityLinePart, ...], meaning_of_field("Its capacity.")] | UnsetType = UNSET
    grades: (
        Annotated[tuple[GradePart, ...], meaning_of_field("The resource model by which its room is counted.")]
        | UnsetType
    ) = UNSET
    held: Annotated[tuple[HeldObjectPart, ...], meaning_of_field("What it holds, and why.")] | UnsetType = UNSET
    absent: Annotated[tuple[AbsentObjectPart, ...], meaning_of_field("What goes elsewhere, and why.")] | UnsetType = (
        UNSET
    )
