"""The document of ``argosy explain cluster/NAME``."""

from collections.abc import Mapping
from typing import Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning
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
    nodes: Annotated[int, meaning("How many nodes of the cluster are of the grade.")]
    least: Annotated[Mapping[str, str], meaning("The least of each resource that a node of it has: that counts.")]


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
        Annotated[tuple[tuple[str, ...], ...], meaning("Each filter that refused the cluster, with its reason.")]
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
    disconnected: Annotated[bool, meaning("True if it left the source.")] | UnsetType = UNSET
    path: Annotated[str, meaning("Its file.")] | UnsetType = UNSET
    region: Annotated[str, meaning("Its region.")] | UnsetType = UNSET
    provider: Annotated[str, meaning("Its provider.")] | UnsetType = UNSET
    zones: Annotated[tuple[str, ...], meaning("Its zones.")] | UnsetType = UNSET
    labels: Annotated[Mapping[str, str], meaning("Its labels.")] | UnsetType = UNSET
    former_names: (
        Annotated[tuple[str, ...], meaning("The names it had before it was renamed, the last one last.")] | UnsetType
    ) = UNSET
    taints: Annotated[tuple[str, ...], meaning("Its taints.")] | UnsetType = UNSET
    served: Annotated[int, meaning("How many APIs are recorded of it.")] | UnsetType = UNSET
    origin: (
        Annotated[str, meaning("Where its capacity comes from: `declared`, `observed` or `unknown`.")] | UnsetType
    ) = UNSET
    capacity: Annotated[tuple[CapacityLinePart, ...], meaning("Its capacity.")] | UnsetType = UNSET
    grades: (
        Annotated[tuple[GradePart, ...], meaning("The resource model by which its room is counted.")] | UnsetType
    ) = UNSET
    held: Annotated[tuple[HeldObjectPart, ...], meaning("What it holds, and why.")] | UnsetType = UNSET
    absent: Annotated[tuple[AbsentObjectPart, ...], meaning("What goes elsewhere, and why.")] | UnsetType = UNSET
