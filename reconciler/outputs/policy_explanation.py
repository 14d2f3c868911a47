"""The document of ``argosy explain policy/NAME``."""

from typing import Annotated

from msgspec import UNSET, UnsetType

from .document import DocumentPart, OutputDocument, meaning_of_field
from .explanation_parts import OverriddenPart, OverriddenTargets, Targets, Unmet
from .parts import ObjectName, Previous, Source


class SelectorPart(DocumentPart, frozen=True, kw_only=True):
    """A selector of a policy."""

    selector: str
    objects: int


class SelectedObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object that a propagation policy selects."""

    ref: ObjectName
    holds: Annotated[bool, meaning_of_field("True if it claims the object.")]
    selects_by: str
    targets: Targets | UnsetType = UNSET
    overridden: OverriddenTargets | UnsetType = UNSET
    holder: Annotated[str, meaning_of_field("The policy that claims it instead.")] | UnsetType = UNSET
    why: str | UnsetType = UNSET


class ExplainedPolicyPart(DocumentPart, frozen=True, kw_only=True):
    """A propagation policy."""

    policy: str
    path: str
    priority: int
    preemption: str
    selectors: (
        Annotated[tuple[SelectorPart, ...], meaning_of_field("Its selectors, and how many objects each selects.")]
        | UnsetType
    ) = UNSET
    objects: tuple[SelectedObjectPart, ...] | UnsetType = UNSET
    unmet: Unmet | UnsetType = UNSET


class RuleTargetsPart(DocumentPart, frozen=True, kw_only=True):
    """An override rule and its clusters."""

    rule: str
    clusters: tuple[str, ...] | UnsetType = UNSET


class AffectedObjectPart(DocumentPart, frozen=True, kw_only=True):
    """An object that an override policy selects."""

    ref: ObjectName
    classes: tuple[OverriddenPart, ...] | UnsetType = UNSET
    why: str | UnsetType = UNSET


class ExplainedOverridePolicyPart(DocumentPart, frozen=True, kw_only=True):
    """An override policy."""

    policy: str
    path: str
    selectors: (
        Annotated[tuple[SelectorPart, ...], meaning_of_field("Its selectors, and how many objects each selects.")]
        | UnsetType
    ) = UNSET
    rules: tuple[RuleTargetsPart, ...] | UnsetType = UNSET
    objects: tuple[AffectedObjectPart, ...] | UnsetType = UNSET


class PolicyExplanationDocument(OutputDocument, frozen=True, kw_only=True):
    """Policies of a name, and the objects that they select."""

    kind = "PolicyExplanation"
    about = "What a policy selects and does."
    printed_by = ("explain policy/NAME",)

    source: Source
    previous: Previous
    policies: Annotated[tuple[ExplainedPolicyPart, ...], meaning_of_field("The propagation policies of that name.")]
    override_policies: Annotated[
        tuple[ExplainedOverridePolicyPart, ...], meaning_of_field("The override policies of that name.")
    ]
