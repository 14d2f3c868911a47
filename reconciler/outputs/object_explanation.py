"""The document of ``argosy explain KIND/NAME``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field
from .explanation_parts import OverriddenPart, OverriddenTargets, Targets, Unmet, UnmetPart
from .parts import ClusterName, ConditionPart, FailurePart, ObjectName, Previous, Source


class SelectingPolicyPart(DocumentPart, frozen=True, kw_only=True):
    """A propagation policy that selects an object."""

    policy: str
    path: str
    selects_by: Annotated[str, meaning_of_field("`name`, `labels` or `kind`.")]
    priority: int
    holds: Annotated[bool, meaning_of_field("True if it claims the object.")]
    why: Annotated[str, meaning_of_field("The reason why it does not.")] | UnsetType = UNSET


class ComponentPart(DocumentPart, frozen=True, kw_only=True):
    """A pod template of a workload with several."""

    name: str
    replicas: int
    requests: Annotated[dict[str, str], meaning_of_field("What each replica requests.")] | UnsetType = UNSET


class RequirementPart(DocumentPart, frozen=True, kw_only=True):
    """An object that another one follows."""

    namespace: str | UnsetType = UNSET
    name: str
    clusters: Targets | UnsetType = UNSET


class RejectedClusterPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that filters refused."""

    cluster: ClusterName
    reasons: Annotated[
        tuple[tuple[str, ...], ...], meaning_of_field("Each filter that refused the cluster, with its reason.")
    ]


class CandidatePart(DocumentPart, frozen=True, kw_only=True):
    """A cluster that filters let pass."""

    cluster: ClusterName
    tier: int
    score: int
    room: int | UnsetType = UNSET
    held: int | UnsetType = UNSET
    is_selected: bool
    replicas: int
    why: Annotated[str, meaning_of_field("The rule by which it is not chosen.")] | UnsetType = UNSET
    in_spite_of: (
        Annotated[str, meaning_of_field("The taints that it passes in spite of, and why they do not refuse it.")]
        | UnsetType
    ) = UNSET


class RegionPart(DocumentPart, frozen=True, kw_only=True):
    """A region of candidates."""

    name: str
    clusters: tuple[str, ...]
    score: int
    is_chosen: bool
    why: Annotated[str, meaning_of_field("The rule by which it is not chosen.")] | UnsetType = UNSET


class VotePart(DocumentPart, frozen=True, kw_only=True):
    """A cluster and its votes in a division."""

    cluster: ClusterName
    base: int
    votes: int
    more: int


class DivisionPart(DocumentPart, frozen=True, kw_only=True):
    """A division of replicas among clusters."""

    mode: str
    replicas: int
    votes: tuple[VotePart, ...] | UnsetType = UNSET
    is_descending: bool


class AttemptPart(DocumentPart, frozen=True, kw_only=True):
    """An affinity group that was tried."""

    affinity: Annotated[str, meaning_of_field("The name of the affinity group.")] | UnsetType = UNSET
    rejected: tuple[RejectedClusterPart, ...] | UnsetType = UNSET
    candidates: tuple[CandidatePart, ...] | UnsetType = UNSET
    regions: tuple[RegionPart, ...] | UnsetType = UNSET
    divisions: tuple[DivisionPart, ...] | UnsetType = UNSET
    refusal: FailurePart | UnsetType = UNSET


class DecisionOutcomePart(DocumentPart, frozen=True, kw_only=True):
    """The outcome of a scheduling decision."""

    ref: ObjectName
    trigger: str
    targets: Targets | UnsetType = UNSET
    condition: ConditionPart | UnsetType = UNSET
    observed_affinity: str | UnsetType = UNSET
    last_scheduled_at: str | UnsetType = UNSET
    hint: str | UnsetType = UNSET
    has_components: bool


class DecisionPart(DocumentPart, frozen=True, kw_only=True):
    """A scheduling decision, with all it rests on."""

    ref: ObjectName
    trigger: Annotated[str, meaning_of_field("The event that asked for the decision, or `None`.")]
    strategy: Annotated[str, meaning_of_field("How replicas are assigned.")]
    decision: Annotated[DecisionOutcomePart, meaning_of_field("What was decided.")]
    attempts: (
        Annotated[
            tuple[AttemptPart, ...],
            meaning_of_field("Each affinity group that was tried: filters, candidates, regions, divisions."),
        ]
        | UnsetType
    ) = UNSET
    terminating: Annotated[tuple[str, ...], meaning_of_field("The clusters that are being deleted.")] | UnsetType = (
        UNSET
    )
    afresh: (
        Annotated[
            dict[str, int],
            meaning_of_field(
                "The replicas that `argosy rebalance` would give each cluster, where nothing was decided now."
            ),
        ]
        | UnsetType
    ) = UNSET


class ResourceRoomPart(DocumentPart, frozen=True, kw_only=True):
    """The room of a cluster for one resource."""

    resource: str
    request: int
    allocatable: int
    used: int
    fits: int


class RoomPart(DocumentPart, frozen=True, kw_only=True):
    """The room of a candidate."""

    cluster: ClusterName
    origin: Annotated[str, meaning_of_field("`declared`, `observed` or `unknown`.")]
    by_summary: int
    taken: int
    held: int
    room: int
    resources: tuple[ResourceRoomPart, ...] | UnsetType = UNSET
    by_grades: (
        Annotated[
            bool,
            meaning_of_field("True if `bySummary` counts node by node, and is not what fits the scarcest resource."),
        ]
        | UnsetType
    ) = UNSET


class KeptBytesPart(DocumentPart, frozen=True, kw_only=True):
    """Clusters that keep older bytes."""

    clusters: tuple[str, ...] | UnsetType = UNSET
    reason: str | UnsetType = UNSET
    message: str | UnsetType = UNSET


class SeatPart(DocumentPart, frozen=True, kw_only=True):
    """One replica of a division."""

    number: int
    cluster: ClusterName
    average: float
    tied: tuple[str, ...] | UnsetType = UNSET


class ObjectExplanationDocument(OutputDocument, frozen=True, kw_only=True):
    """An object, and all that its place rests on."""

    kind = "ObjectExplanation"
    about = "Why an object is where it is."
    printed_by = ("explain KIND/NAME", "simulate --explain KIND/NAME")

    source: Source
    previous: Previous
    ref: ObjectName
    path: Annotated[str, meaning_of_field("The file of the template.")] | UnsetType = UNSET
    verdict: Annotated[str, meaning_of_field("What claims the object, in one sentence.")]
    policies: (
        Annotated[tuple[SelectingPolicyPart, ...], meaning_of_field("The propagation policies that select it.")]
        | UnsetType
    ) = UNSET
    replicas: Annotated[int, meaning_of_field("How many replicas it asks for.")] | UnsetType = UNSET
    components: (
        Annotated[tuple[ComponentPart, ...], meaning_of_field("Its pod templates, where it counts by these.")]
        | UnsetType
    ) = UNSET
    targets: Targets | UnsetType = UNSET
    overridden: OverriddenTargets | UnsetType = UNSET
    required_by: Annotated[tuple[RequirementPart, ...], meaning_of_field("What it follows.")] | UnsetType = UNSET
    decision: (
        Annotated[DecisionPart, meaning_of_field("The scheduling decision, with all it rests on.")] | UnsetType
    ) = UNSET
    decided_in: (
        Annotated[str, meaning_of_field("The rendered commit in which it was taken, if that is an earlier one.")]
        | UnsetType
    ) = UNSET
    decided_from: Annotated[str, meaning_of_field("The source commit of that one.")] | UnsetType = UNSET
    rooms: (
        Annotated[tuple[RoomPart, ...], meaning_of_field("The room of each candidate, and what it is made of.")]
        | UnsetType
    ) = UNSET
    facts: (
        Annotated[
            str, meaning_of_field("In which commit what was observed of the members is recorded, and when it was seen.")
        ]
        | UnsetType
    ) = UNSET
    overrides: (
        Annotated[tuple[OverriddenPart, ...], meaning_of_field("What override rules change, by class of clusters.")]
        | UnsetType
    ) = UNSET
    kept: Annotated[tuple[KeptBytesPart, ...], meaning_of_field("The clusters with older bytes.")] | UnsetType = UNSET
    unmet: Unmet | UnsetType = UNSET
    pending: (
        Annotated[
            tuple[str, ...],
            meaning_of_field("What is decided and not carried out, because it is suspended or a lazy policy waits."),
        ]
        | UnsetType
    ) = UNSET
    origin: (
        Annotated[
            str,
            meaning_of_field("The file and line that a tool made the object from, where `path` is what asks for that."),
        ]
        | UnsetType
    ) = UNSET
    scaled: (
        Annotated[
            str, meaning_of_field("The rule of a CronFederatedHPA that set its replicas, and the one that fires next.")
        ]
        | UnsetType
    ) = UNSET
    descheduled: Annotated[str, meaning_of_field("What the descheduler last took from clusters.")] | UnsetType = UNSET
    moved: Annotated[str, meaning_of_field("When it was last evicted from clusters, and why.")] | UnsetType = UNSET
    left: (
        Annotated[tuple[str, ...], meaning_of_field("The clusters that it was evicted from in the pass that decided.")]
        | UnsetType
    ) = UNSET
    waits: (
        Annotated[
            str,
            meaning_of_field("What becomes of it by itself, and when, because clusters or the object in them fail."),
        ]
        | UnsetType
    ) = UNSET
    interpreters: (
        Annotated[
            tuple[str, ...],
            meaning_of_field("The customizations and webhooks of the source that are asked about its kind."),
        ]
        | UnsetType
    ) = UNSET
    layers: (
        Annotated[
            dict[str, str],
            meaning_of_field(
                "The layer of the interpreter that reads its replicas (`InterpretReplica`), and the one that writes a"
                " cluster's share (`ReviseReplica`): `customization`, `webhook`, `thirdparty`, `native`, `scale` or"
                " `none`. It is left out where nothing reads them."
            ),
        ]
        | UnsetType
    ) = UNSET
    undivided: (
        Annotated[
            tuple[UnmetPart, ...],
            meaning_of_field(
                "The numbers that each cluster gets whole, though its policy divides it; no field: all of it."
            ),
        ]
        | UnsetType
    ) = UNSET
    joined_later: (
        Annotated[
            tuple[str, ...],
            meaning_of_field(
                "Of each cluster that joined after it was decided: what `argosy rebalance` would give it."
            ),
        ]
        | UnsetType
    ) = UNSET
    refused_before: (
        Annotated[
            tuple[str, ...],
            meaning_of_field(
                "Of each cluster that was refused when it was decided, and is no more: what `argosy rebalance` would"
                " give it."
            ),
        ]
        | UnsetType
    ) = UNSET
    seats: (
        Annotated[tuple[tuple[SeatPart, ...], ...], meaning_of_field("With `-v`: each division, replica by replica.")]
        | UnsetType
    ) = UNSET
