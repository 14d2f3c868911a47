"""The documents of ``argosy list``: objects, clusters, policies and namespaces, each list with numbers about all."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import ClusterName, Message, Reason, Rendered, StateWord
from .status_parts import Hint
from .survey_parts import (
    ClusterRoomPart,
    Offset,
    PolicyName,
    RecordedAt,
    Since,
    SourceOfRendered,
    States,
    SurveyedObjectPart,
    Total,
    commit_fields,
    room_part,
    state_fields,
    surveyed_object_part,
    words_of_states,
)

if TYPE_CHECKING:
    from reconciler.survey.clusters import SurveyedCluster
    from reconciler.survey.families.other_policy import OtherPolicy
    from reconciler.survey.lists import ClusterList, NamespaceList, ObjectList, PolicyList, SurveyedNamespace
    from reconciler.survey.policies import SurveyedOverridePolicy, SurveyedPolicy


class ObjectListDocument(OutputDocument, frozen=True, kw_only=True):
    """Objects of a fleet: a part of those that are asked for, and numbers about all of these."""

    kind = "ObjectList"
    about = "Objects of the fleet, and the state of each; where clusters are asked for, in these alone."
    printed_by = ("list objects",)

    rendered: Rendered
    source: SourceOfRendered
    recorded_at: RecordedAt | UnsetType = UNSET
    total: Total
    offset: Offset
    states: States
    replicas: Annotated[int, meaning_of_field("The replicas of all of them in all clusters.")]
    clusters: Annotated[int, meaning_of_field("In how many clusters any of them is.")]
    objects: Annotated[tuple[SurveyedObjectPart, ...], meaning_of_field("The objects of this page.")]


def object_list_document(found: "ObjectList") -> ObjectListDocument:
    """Return a list of objects as a document."""
    return ObjectListDocument(
        **commit_fields(found.survey.branches),
        total=found.page.total,
        offset=found.page.offset,
        states=words_of_states(found.counts),
        replicas=found.replicas,
        clusters=found.clusters,
        objects=tuple(map(surveyed_object_part, found.page.items)),
    )


class SurveyedClusterPart(DocumentPart, frozen=True, kw_only=True):
    """A cluster of the fleet: where it is, how it is seen, and the states of the objects in it."""

    name: ClusterName
    state: StateWord
    reason: Reason | UnsetType = UNSET
    message: Message | UnsetType = UNSET
    since: Since | UnsetType = UNSET
    hint: Hint | UnsetType = UNSET
    connected: Annotated[bool, meaning_of_field("False if it left the source.")]
    region: Annotated[str, meaning_of_field("Its region.")] | UnsetType = UNSET
    provider: Annotated[str, meaning_of_field("Its provider.")] | UnsetType = UNSET
    zones: Annotated[tuple[str, ...], meaning_of_field("Its zones.")] | UnsetType = UNSET
    labels: Annotated[Mapping[str, str], meaning_of_field("Its labels.")] | UnsetType = UNSET
    taints: Annotated[tuple[str, ...], meaning_of_field("Its taints.")] | UnsetType = UNSET
    path: Annotated[str, meaning_of_field("Its file.")] | UnsetType = UNSET
    version: Annotated[str, meaning_of_field("Its Kubernetes version.")] | UnsetType = UNSET
    converged: Annotated[str, meaning_of_field("The rendered commit it converged to.")] | UnsetType = UNSET
    outcome: Annotated[str, meaning_of_field("How the last pass over it ended.")] | UnsetType = UNSET
    objects: Annotated[int, meaning_of_field("How many objects its folder has.")]
    replicas: Annotated[int, meaning_of_field("How many replicas are placed there.")]
    states: Annotated[
        Mapping[str, int], meaning_of_field("How many objects in it are in which state, the worst first.")
    ]
    room: Annotated[tuple[ClusterRoomPart, ...], meaning_of_field("Its capacity.")] | UnsetType = UNSET
    capacity_recorded_at: Annotated[str, meaning_of_field("The time at which that was recorded.")] | UnsetType = UNSET


class ClusterListDocument(OutputDocument, frozen=True, kw_only=True):
    """Clusters of a fleet: a part of those that are asked for, and numbers about all of these."""

    kind = "ClusterList"
    about = "Clusters of the fleet: where they are, how they are seen, and in which states the objects in them are."
    printed_by = ("list clusters",)

    rendered: Rendered
    source: SourceOfRendered
    recorded_at: RecordedAt | UnsetType = UNSET
    total: Total
    offset: Offset
    states: States
    regions: Annotated[
        Mapping[str, Mapping[str, int]], meaning_of_field("How many clusters of each region are in which state.")
    ]
    providers: Annotated[
        Mapping[str, Mapping[str, int]], meaning_of_field("How many clusters of each provider are in which state.")
    ]
    clusters: Annotated[tuple[SurveyedClusterPart, ...], meaning_of_field("The clusters of this page.")]


def cluster_list_document(found: "ClusterList") -> ClusterListDocument:
    """Return a list of clusters as a document."""
    return ClusterListDocument(
        **commit_fields(found.survey.branches),
        total=found.page.total,
        offset=found.page.offset,
        states=words_of_states(found.counts),
        regions={name: words_of_states(counts) for name, counts in found.regions.items()},
        providers={name: words_of_states(counts) for name, counts in found.providers.items()},
        clusters=tuple(map(surveyed_cluster_part, found.page.items)),
    )


def surveyed_cluster_part(each: "SurveyedCluster") -> SurveyedClusterPart:
    """Return a cluster as documents have it."""
    member = each.member
    return SurveyedClusterPart(
        name=each.name,
        **state_fields(each.state),
        hint=value_unless_empty(each.hint),
        connected=each.is_connected,
        region=value_unless_empty(member.region if member is not None else ""),
        provider=value_unless_empty(member.provider if member is not None else ""),
        zones=value_unless_empty(member.zones if member is not None else ()),
        labels=value_unless_empty(member.labels if member is not None else {}),
        taints=value_unless_empty(tuple(map(str, member.taints)) if member is not None else ()),
        path=value_unless_empty(member.path if member is not None else ""),
        version=value_unless_empty(each.version),
        converged=value_unless_empty(each.converged),
        outcome=value_unless_empty(each.outcome),
        objects=each.objects,
        replicas=each.replicas,
        states=words_of_states(each.counts),
        room=value_unless_empty(tuple(map(room_part, each.room))),
        capacity_recorded_at=value_unless_empty(each.facts_at),
    )


class ListedPolicyPart(DocumentPart, frozen=True, kw_only=True):
    """A policy; what neither places nor overrides says what it does, and decides about objects in place of claims."""

    policy: PolicyName
    path: Annotated[str, meaning_of_field("Its file.")]
    priority: Annotated[int, meaning_of_field("Its priority.")] | UnsetType = UNSET
    selects: Annotated[int, meaning_of_field("How many objects it selects.")]
    holds: (
        Annotated[int, meaning_of_field("How many of them it claims; of a rollout policy, decides about.")] | UnsetType
    ) = UNSET
    loses: Annotated[int, meaning_of_field("How many of them another policy claims, or none.")] | UnsetType = UNSET
    clusters: (
        Annotated[int, meaning_of_field("In how many clusters is what it claims, or about how many it is.")] | UnsetType
    ) = UNSET
    does: (
        Annotated[
            tuple[str, ...], meaning_of_field("What it does, a sentence each, where it neither places nor overrides.")
        ]
        | UnsetType
    ) = UNSET
    waits: Annotated[int, meaning_of_field("How many changes wait by it or go out by it.")] | UnsetType = UNSET
    replicas: Annotated[int, meaning_of_field("How many replicas that has.")] | UnsetType = UNSET
    states: (
        Annotated[
            Mapping[str, int], meaning_of_field("How many of what it claims are in which state, the worst first.")
        ]
        | UnsetType
    ) = UNSET


class PolicyListDocument(OutputDocument, frozen=True, kw_only=True):
    """Policies of a fleet."""

    kind = "PolicyList"
    about = "Policies of the fleet: what each selects, claims and loses."
    printed_by = ("list policies",)

    rendered: Rendered
    source: SourceOfRendered
    recorded_at: RecordedAt | UnsetType = UNSET
    total: Total
    offset: Offset
    policies: Annotated[tuple[ListedPolicyPart, ...], meaning_of_field("The policies of this page.")]


def policy_list_document(found: "PolicyList") -> PolicyListDocument:
    """Return a list of policies as a document."""
    return PolicyListDocument(
        **commit_fields(found.survey.branches),
        total=found.page.total,
        offset=found.page.offset,
        policies=tuple(map(_listed_policy_part, found.page.items)),
    )


def _listed_policy_part(each: "SurveyedPolicy | SurveyedOverridePolicy | OtherPolicy") -> ListedPolicyPart:
    from reconciler.survey.families.other_policy import OtherPolicy
    from reconciler.survey.policies import SurveyedPolicy
    from reconciler.survey.surveying import counts_of_objects

    policy = str(each.policy)
    if isinstance(each, OtherPolicy):
        return ListedPolicyPart(
            policy=policy,
            path=each.path,
            priority=UNSET if each.priority is None else each.priority,
            selects=len(each.decides) + len(each.loses),
            holds=UNSET if each.priority is None else len(each.decides),
            loses=UNSET if each.priority is None else len(each.loses),
            clusters=len(each.clusters) or UNSET,
            states=value_unless_empty(words_of_states(counts_of_objects(each.decides))),
            does=value_unless_empty(each.does),
            waits=len(each.waits) or UNSET,
        )
    if not isinstance(each, SurveyedPolicy):
        return ListedPolicyPart(policy=policy, path=each.policy.path, selects=len(each.selects))
    return ListedPolicyPart(
        policy=policy,
        path=each.policy.path,
        priority=each.policy.priority,
        selects=len(each.holds) + len(each.loses),
        holds=len(each.holds),
        loses=len(each.loses),
        clusters=len(each.clusters),
        replicas=sum(held.total_replicas for held in each.holds),
        states=words_of_states(counts_of_objects(each.holds)),
    )


class ListedNamespacePart(DocumentPart, frozen=True, kw_only=True):
    """A namespace, and the objects in it."""

    namespace: Annotated[str, meaning_of_field("The namespace; empty for objects that are in none.")]
    objects: Annotated[int, meaning_of_field("How many objects are in it.")]
    kinds: Annotated[Mapping[str, int], meaning_of_field("How many of them are of which kind.")]
    policies: Annotated[Mapping[str, int], meaning_of_field("How many of them each policy claims.")]
    clusters: Annotated[int, meaning_of_field("In how many clusters any of them is.")]
    replicas: Annotated[int, meaning_of_field("How many replicas they have.")]
    states: Annotated[Mapping[str, int], meaning_of_field("How many of them are in which state, the worst first.")]


class NamespaceListDocument(OutputDocument, frozen=True, kw_only=True):
    """Namespaces of a fleet."""

    kind = "NamespaceList"
    about = "Namespaces of the fleet: what is in them, and in which state."
    printed_by = ("list namespaces",)

    rendered: Rendered
    source: SourceOfRendered
    recorded_at: RecordedAt | UnsetType = UNSET
    total: Total
    offset: Offset
    namespaces: Annotated[tuple[ListedNamespacePart, ...], meaning_of_field("The namespaces of this page.")]


def namespace_list_document(found: "NamespaceList") -> NamespaceListDocument:
    """Return a list of namespaces as a document."""
    return NamespaceListDocument(
        **commit_fields(found.survey.branches),
        total=found.page.total,
        offset=found.page.offset,
        namespaces=tuple(map(_namespace_part, found.page.items)),
    )


def _namespace_part(each: "SurveyedNamespace") -> ListedNamespacePart:
    return ListedNamespacePart(
        namespace=each.name,
        objects=len(each.objects),
        kinds=each.kinds,
        policies=each.policies,
        clusters=len(each.clusters),
        replicas=each.replicas,
        states=words_of_states(each.counts),
    )
