"""Templates matched with policies: the policy that claims each template, and those that selected it but lost.

Only policies that select a template compete, in one total order: namespaced before cluster-scoped, then the explicit
priority, then how specifically they select, then the name. An index by kind, and by the name or label a selector asks
for, keeps a template from meeting policies that cannot select it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from render.fleet import ClaimMode
from render.model import Template
from render.policy import PropagationPolicy
from render.selectors import ImplicitPriority, ResourceSelector, best_selector, implicit_priority

from .exclusions import Exclusions
from .precedence import RankedPolicy, claimed_policy, preemptor, ranked

BY_NAME = "metadata.name"
# Kubernetes creates these two in every cluster, so no source has to define them.
SYSTEM_PRIORITY_CLASSES: Mapping[str, int] = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


class NoPolicyReason(StrEnum):
    """The reason why no policy is applied to a template."""

    NEVER_PROPAGATED = "NeverPropagated"
    NO_POLICY = "NoPolicy"
    WAITING_FOR_OVERRIDES = "WaitingForDependentOverrides"
    WAITING_FOR_PRIORITY_CLASS = "WaitingForPriorityClass"
    POLICY_TERMINATING = "PolicyTerminating"

    @property
    def is_waiting(self) -> bool:
        """Say whether a policy selects the template and something keeps it from being applied."""
        return self not in {NoPolicyReason.NEVER_PROPAGATED, NoPolicyReason.NO_POLICY}


class MatchOptions(Struct, frozen=True, kw_only=True):
    """Options of a match: the mode of claims, preemption between policies (Karmada's gate is off), and exclusions."""

    claims: ClaimMode = ClaimMode.PURE
    allows_preemption: bool = False
    exclusions: Exclusions = field(default_factory=Exclusions)


class Match(Struct, frozen=True, kw_only=True):
    """The policy of a template, or the reason why it has none.

    ``considered`` are all policies that select it, best first. ``lost_claim`` names the policy that no longer claims
    it: it is gone, it selects the template no more, or another one preempted it. Karmada takes two events for the first
    two; here the next policy claims it at once. ``priority`` is the schedule priority. ``waiting`` is the policy that
    would claim it, and ``waits_for`` what is missing for that.
    """

    policy: PropagationPolicy | None = None
    reason: NoPolicyReason | None = None
    message: str = ""
    considered: tuple[RankedPolicy, ...] = ()
    lost_claim: str = ""
    priority: int = 0
    waiting: PropagationPolicy | None = None
    waits_for: str = ""

    @property
    def is_lazy(self) -> bool:
        """Say whether the policy waits for the template to change before it takes effect."""
        return self.policy is not None and self.policy.activation_preference == "Lazy"


class PolicyIndex:
    """The policies of a source, found by the kind, name or label their selectors ask for.

    ``override_policies`` are the ``(namespace, name)`` of those that exist, ``priority_by_class`` the values of the
    PriorityClasses in the source: policies may wait for either.
    """

    __slots__ = ("_buckets", "_by_name", "_override_policies", "_priority_by_class", "policies")

    def __init__(
        self,
        policies: Iterable[PropagationPolicy],
        *,
        override_policies: Collection[tuple[str, str]] = (),
        priority_by_class: Mapping[str, int] | None = None,
    ) -> None:
        self.policies = tuple(policies)
        self._by_name = {str(policy): policy for policy in self.policies}
        self._override_policies = frozenset(override_policies)
        self._priority_by_class = {**SYSTEM_PRIORITY_CLASSES, **(priority_by_class or {})}
        self._buckets: defaultdict[_Key, list[tuple[PropagationPolicy, ResourceSelector]]] = defaultdict(list)
        for policy in self.policies:
            for selector in policy.resource_selectors:
                self._buckets[_key_of(policy, selector)].append((policy, selector))

    def match(self, template: Template, *, claim: str = "", options: MatchOptions | None = None) -> Match:
        """Find the policy of a template; ``claim`` names the one that claims it in the previous commit.

        Without a previous commit, Karmada's own claim in the template's metadata counts. ``Pure`` ignores claims.
        """
        options = options or MatchOptions()
        never = options.exclusions.reason(template)
        if never:
            return Match(reason=NoPolicyReason.NEVER_PROPAGATED, message=never)
        candidates = self.candidates(template)
        if options.claims is ClaimMode.PURE:
            return self._best(template, candidates)
        claim = claim or claimed_policy(template)
        if not claim:
            return self._best(template, candidates)
        return self._claimed(template, claim, candidates, options.allows_preemption)

    def candidates(self, template: Template) -> tuple[RankedPolicy, ...]:
        """Return the policies that select a template, best first, each but the first with the reason why it lost."""
        chosen: dict[int, tuple[PropagationPolicy, ImplicitPriority, ResourceSelector]] = {}
        for policy, selector in self._meeting(template):
            priority = implicit_priority(selector, template)
            known = chosen.get(id(policy))
            if priority and (known is None or priority > known[1]):
                chosen[id(policy)] = (policy, priority, selector)
        return ranked(chosen.values())

    def _meeting(self, template: Template) -> Iterator[tuple[PropagationPolicy, ResourceSelector]]:
        ref, api_version, buckets = template.ref, template.api_version, self._buckets
        for namespace in {ref.namespace, ""}:
            yield from buckets.get((namespace, api_version, ref.kind, BY_NAME, ref.name), ())
            yield from buckets.get((namespace, api_version, ref.kind, "", ""), ())
            for key, value in template.labels.items():
                yield from buckets.get((namespace, api_version, ref.kind, key, str(value)), ())

    def _best(self, template: Template, candidates: tuple[RankedPolicy, ...], lost_claim: str = "") -> Match:
        if not candidates or candidates[0].policy.is_terminating:
            match = Match(reason=NoPolicyReason.NO_POLICY, message="no policy selects it", considered=candidates)
        else:
            match = self._applied(template, candidates[0].policy, candidates)
        return replace(match, lost_claim=lost_claim) if lost_claim else match

    def _claimed(
        self, template: Template, claim: str, candidates: tuple[RankedPolicy, ...], allows_preemption: bool
    ) -> Match:
        policy = self._by_name.get(claim)
        if policy is not None and policy.is_terminating:
            message = f"{policy} is being deleted"
            return Match(reason=NoPolicyReason.POLICY_TERMINATING, message=message, considered=candidates)
        if policy is None or not best_selector(policy.resource_selectors, template)[0]:
            return self._best(template, candidates, lost_claim=claim)
        taker = preemptor(policy, candidates) if allows_preemption else None
        if taker is not None:
            return replace(self._applied(template, taker, candidates), lost_claim=claim)
        return self._applied(template, policy, candidates)

    def _applied(self, template: Template, policy: PropagationPolicy, candidates: tuple[RankedPolicy, ...]) -> Match:
        missing = [
            name for name in policy.dependent_overrides if (policy.namespace, name) not in self._override_policies
        ]
        if missing:
            absent = f"dependent overrides: {', '.join(missing)}"
            return _waiting(NoPolicyReason.WAITING_FOR_OVERRIDES, policy, absent, candidates)
        if policy.priority_class_name is None or not template.ref.namespace:
            # Karmada gives cluster-scoped bindings no priority.
            return Match(policy=policy, considered=candidates)
        name = policy.priority_class_name
        priority = self._priority_by_class.get(name)
        if priority is None:
            absent = f"PriorityClass {name}"
            return _waiting(NoPolicyReason.WAITING_FOR_PRIORITY_CLASS, policy, absent, candidates)
        return Match(policy=policy, considered=candidates, priority=priority)


def _waiting(
    reason: NoPolicyReason, policy: PropagationPolicy, absent: str, candidates: tuple[RankedPolicy, ...]
) -> Match:
    message = f"{policy} waits for {absent}"
    return Match(reason=reason, message=message, considered=candidates, waiting=policy, waits_for=absent)


_Key = tuple[str, str, str, str, str]


def _key_of(policy: PropagationPolicy, selector: ResourceSelector) -> _Key:
    """Return the bucket of a selector: by the name it asks for, by one label it asks for, or for all of its kind."""
    kind = (policy.namespace, selector.api_version, selector.kind)
    if selector.name:
        return (*kind, BY_NAME, selector.name)
    if selector.label_selector and selector.label_selector.match_labels:
        return (*kind, *selector.label_selector.match_labels[0])
    return (*kind, "", "")
