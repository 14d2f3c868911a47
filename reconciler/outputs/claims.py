"""The document of ``argosy status policy/NAME``."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field, value_unless_empty
from .parts import Message, ObjectName, Rendered
from .survey_parts import (
    PolicyName,
    RecordedAt,
    SourceOfRendered,
    States,
    SurveyedObjectPart,
    commit_fields,
    surveyed_object_part,
    words_of_states,
)

if TYPE_CHECKING:
    from reconciler.survey.families.other_policy import OtherPolicy
    from reconciler.survey.named_policies import NamedPolicies
    from reconciler.survey.policies import LostClaim, SurveyedOverridePolicy, SurveyedPolicy
    from reconciler.survey.surveying import Survey


class LostClaimPart(DocumentPart, frozen=True, kw_only=True):
    """An object that a policy selects and does not claim."""

    object: ObjectName
    holder: Annotated[str, meaning_of_field("The policy that claims it; left out if none does.")] | UnsetType = UNSET
    why: Annotated[str, meaning_of_field("Why this policy does not, in a sentence.")]
    would_take: (
        Annotated[
            str,
            meaning_of_field(
                "`Afresh` if it ranks above the one that claims the object, so that it takes it where claims are made"
                " anew; `Next` if it takes it when that one is gone; else left out."
            ),
        ]
        | UnsetType
    ) = UNSET


class PolicyStatePart(DocumentPart, frozen=True, kw_only=True):
    """A propagation policy."""

    policy: PolicyName
    path: Annotated[str, meaning_of_field("Its file.")]
    priority: Annotated[int, meaning_of_field("Its priority.")]
    preemption: Annotated[str, meaning_of_field("`Always` if it may take objects from others, or `Never`.")]
    selectors: Annotated[tuple[str, ...], meaning_of_field("Its selectors in words.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters in which is what it claims.")]
    replicas: Annotated[int, meaning_of_field("How many replicas that has.")]
    states: States
    holds: Annotated[tuple[SurveyedObjectPart, ...], meaning_of_field("The objects that it claims.")]
    loses: Annotated[tuple[LostClaimPart, ...], meaning_of_field("The objects that it selects and does not claim.")]
    overlaps: Annotated[
        Mapping[str, int],
        meaning_of_field("The policies that claim objects which it selects, with the number of these."),
    ]


class OverridePolicyStatePart(DocumentPart, frozen=True, kw_only=True):
    """An override policy."""

    policy: PolicyName
    path: Annotated[str, meaning_of_field("Its file.")]
    selectors: Annotated[tuple[str, ...], meaning_of_field("Its selectors in words; none stands for all objects.")]
    rules: Annotated[int, meaning_of_field("How many rules it has.")]
    selects: Annotated[
        tuple[SurveyedObjectPart, ...], meaning_of_field("The objects that it selects as they are in the source.")
    ]


class WaitsByPolicyPart(DocumentPart, frozen=True, kw_only=True):
    """Something that waits by a policy."""

    subject: Annotated[str, meaning_of_field("The change that waits, or goes out.")]
    message: Message
    command: Annotated[str, meaning_of_field("The command that lets it go on.")] | UnsetType = UNSET


class OtherPolicyStatePart(DocumentPart, frozen=True, kw_only=True):
    """A policy that neither places nor overrides: of rollouts, resilience, taints, quotas, the calendar, or a test."""

    policy: PolicyName
    path: Annotated[str, meaning_of_field("Its file; of an entry of the calendar, with its field.")]
    priority: Annotated[int, meaning_of_field("Its priority, where one counts.")] | UnsetType = UNSET
    selectors: Annotated[tuple[str, ...], meaning_of_field("What it is about, in words.")]
    does: Annotated[tuple[str, ...], meaning_of_field("What it does, a sentence each.")]
    clusters: Annotated[tuple[str, ...], meaning_of_field("The clusters that it is about.")] | UnsetType = UNSET
    states: States
    decides: Annotated[tuple[SurveyedObjectPart, ...], meaning_of_field("The objects that it decides about.")]
    loses: Annotated[
        tuple[LostClaimPart, ...],
        meaning_of_field("The objects that it selects, and that another of its kind decides about."),
    ]
    waits: Annotated[tuple[WaitsByPolicyPart, ...], meaning_of_field("What waits by it or goes out by it.")]


class PolicyStatusDocument(OutputDocument, frozen=True, kw_only=True):
    """Policies of a name: what they hold, lose and would take, by the branches alone."""

    kind = "PolicyStatus"
    about = "The state of a policy: what it holds, what it loses to others, and what it would take."
    printed_by = ("status policy/NAME",)

    rendered: Rendered
    source: SourceOfRendered
    recorded_at: RecordedAt | UnsetType = UNSET
    policies: Annotated[tuple[PolicyStatePart, ...], meaning_of_field("The propagation policies of that name.")]
    override_policies: Annotated[
        tuple[OverridePolicyStatePart, ...], meaning_of_field("The override policies of that name.")
    ]
    other_policies: (
        Annotated[
            tuple[OtherPolicyStatePart, ...],
            meaning_of_field(
                "Policies of that name of other kinds: RolloutPolicy, ClusterRolloutPolicy, ResiliencePolicy,"
                " ClusterResiliencePolicy, ClusterTaintPolicy, FederatedResourceQuota, PolicyTest, and Freeze and"
                " Window, which stand for the entries of the calendar of argosy.yaml and are called by their numbers."
            ),
        ]
        | UnsetType
    ) = UNSET


def policy_status_document(survey: "Survey", named: "NamedPolicies") -> PolicyStatusDocument:
    """Return the state of policies as a document."""
    return PolicyStatusDocument(
        **commit_fields(survey.branches),
        policies=tuple(map(_policy_part, named.placing)),
        override_policies=tuple(map(_override_policy_part, named.overriding)),
        other_policies=value_unless_empty(tuple(map(_other_policy_part, named.others))),
    )


def _other_policy_part(each: "OtherPolicy") -> OtherPolicyStatePart:
    from reconciler.survey.surveying import counts_of_objects

    return OtherPolicyStatePart(
        policy=str(each),
        path=each.path,
        priority=UNSET if each.priority is None else each.priority,
        selectors=each.selectors,
        does=each.does,
        clusters=value_unless_empty(each.clusters),
        states=words_of_states(counts_of_objects(each.decides)),
        decides=tuple(map(surveyed_object_part, each.decides)),
        loses=tuple(map(_lost_part, each.loses)),
        waits=tuple(
            WaitsByPolicyPart(subject=one.subject, message=one.message, command=value_unless_empty(one.command))
            for one in each.waits
        ),
    )


def _policy_part(each: "SurveyedPolicy") -> PolicyStatePart:
    from reconciler.explain.policies import selector_text
    from reconciler.survey.surveying import counts_of_objects

    return PolicyStatePart(
        policy=str(each.policy),
        path=each.policy.path,
        priority=each.policy.priority,
        preemption=str(each.policy.preemption),
        selectors=tuple(map(selector_text, each.policy.resource_selectors)),
        clusters=tuple(sorted(each.clusters)),
        replicas=sum(held.total_replicas for held in each.holds),
        states=words_of_states(counts_of_objects(each.holds)),
        holds=tuple(map(surveyed_object_part, each.holds)),
        loses=tuple(map(_lost_part, each.loses)),
        overlaps=each.overlaps,
    )


def _lost_part(each: "LostClaim") -> LostClaimPart:
    return LostClaimPart(
        object=str(each.object.ref),
        holder=value_unless_empty(each.holder),
        why=each.why,
        would_take=value_unless_empty(each.would_take),
    )


def _override_policy_part(each: "SurveyedOverridePolicy") -> OverridePolicyStatePart:
    from reconciler.explain.policies import selector_text

    return OverridePolicyStatePart(
        policy=str(each.policy),
        path=each.policy.path,
        selectors=tuple(map(selector_text, each.policy.resource_selectors)),
        rules=len(each.policy.rules),
        selects=tuple(map(surveyed_object_part, each.selects)),
    )
