"""Templates matched with policies: the policy that claims each template, and those that selected it but lost.

Only policies that select a template compete, in one total order: namespaced before cluster-scoped, then the explicit
priority, then how specifically they select, then the name. The selectors of all policies stand in an index in this
order, so that the best one is found without a look at the others. Those are only looked for when somebody asks.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum

from msgspec import Struct, field
from msgspec.structs import replace

from render.bits import Mask, mask_of, mask_where
from render.model import Template
from render.policy import Preemption, PropagationPolicy
from render.selectors import best_selector
from render.settings.switches import ClaimMode

from .exclusions import Exclusions
from .precedence import (
    CandidatePolicy,
    RankedPolicy,
    candidate_policies_of,
    may_preempt_claimant,
    policy_named_by_claim,
    rank_candidates,
)
from .selector_index import Met, SelectorIndex

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

    ``is_selected``: some policy selects it. ``lost_claim`` names the policy that no longer claims
    it: it is gone, it selects the template no more, or another one preempted it. Karmada takes two events for the first
    two; here the next policy claims it at once. ``priority`` is the schedule priority. ``waiting`` is the policy that
    would claim it, and ``waits_for`` what is missing for that.
    """

    policy: PropagationPolicy | None = None
    reason: NoPolicyReason | None = None
    message: str = ""
    is_selected: bool = False
    lost_claim: str = ""
    priority: int = 0
    waiting: PropagationPolicy | None = None
    waits_for: str = ""

    @property
    def is_lazy(self) -> bool:
        """Say whether the policy waits for the template to change before it takes effect."""
        return self.policy is not None and self.policy.activation_preference == "Lazy"


class PolicyIndex:
    """The policies of a source, found by what their selectors ask for.

    ``override_policies`` are the ``(namespace, name)`` of those that exist, ``priority_by_class`` the values of the
    PriorityClasses in the source: policies may wait for either.
    """

    __slots__ = ("_by_name", "_index", "_masks", "_override_policies", "_priority_by_class", "policies")

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
        entries = sorted(candidate_policies_of(self.policies), key=lambda each: each.rank)
        self._index = SelectorIndex((each.policy.namespace, each.selector, each) for each in entries)
        self._masks = _MasksByPolicy()

    def match(self, template: Template, *, claim: str = "", options: MatchOptions | None = None) -> Match:
        """Find the policy of a template; ``claim`` names the one that claims it in the previous commit.

        Without a previous commit, Karmada's own claim in the template's metadata counts. ``Pure`` ignores claims.
        """
        options = options or MatchOptions()
        never = options.exclusions.reason_for_exclusion(template)
        if never:
            return Match(reason=NoPolicyReason.NEVER_PROPAGATED, message=never)
        met = self._index.selecting_entries_by_bucket(template)
        if options.claims is ClaimMode.PURE:
            return self._best_match(template, met)
        claim = claim or policy_named_by_claim(template)
        if not claim:
            return self._best_match(template, met)
        return self._match_of_claim(template, claim, met, options.allows_preemption)

    def candidates(self, template: Template) -> tuple[RankedPolicy, ...]:
        """Return the policies that select a template, best first, each but the first with the reason why it lost."""
        chosen: dict[int, CandidatePolicy] = {}
        for met in self._index.selecting_entries_by_bucket(template):
            for entry in met.all_entries():
                known = chosen.setdefault(id(entry.owner.policy), entry.owner)
                if entry.owner.rank < known.rank:
                    chosen[id(entry.owner.policy)] = entry.owner
        return rank_candidates(chosen.values())

    def best_policy_and_next(self, template: Template) -> tuple[CandidatePolicy, ...]:
        """Return the best of the policies that select a template, and the one that comes after it."""
        met = self._index.selecting_entries_by_bucket(template)
        best = _best_policy(met)
        if best is None:
            return ()
        others = [Met(each.bucket, each.mask & ~self._masks.of(each, best.policy)) for each in met]
        second = _best_policy(others)
        return (best,) if second is None else (best, second)

    def selecting_policies_with_template(
        self, templates: Iterable[Template]
    ) -> Iterator[tuple[Template, CandidatePolicy]]:
        """Yield each policy that selects some of these templates once or a few times, with the first of them."""
        seen: dict[int, int] = {}
        for template in templates:
            for met in self._index.selecting_entries_by_bucket(template):
                known = seen.get(id(met.bucket), 0)
                seen[id(met.bucket)] = known | met.mask
                for entry in Met(met.bucket, met.mask & ~known).all_entries():
                    yield template, entry.owner

    def policies_selecting_template(
        self, policies: Iterable[PropagationPolicy], template: Template
    ) -> list[PropagationPolicy]:
        """Return those of some policies that select a template."""
        met = self._index.selecting_entries_by_bucket(template)
        return [policy for policy in policies if any(each.mask & self._masks.of(each, policy) for each in met)]

    def candidate(self, policy: PropagationPolicy, template: Template) -> RankedPolicy | None:
        """Return a policy as one that selects a template, with the reason why it lost; None if it does not."""
        met = self._index.selecting_entries_by_bucket(template)
        best, own = (
            _best_policy(met),
            _best_policy(Met(each.bucket, each.mask & self._masks.of(each, policy)) for each in met),
        )
        if best is None or own is None:
            return None
        return rank_candidates([own])[0] if best.policy is policy else rank_candidates([best, own])[1]

    def _selects(self, policy: PropagationPolicy, template: Template, met: Iterable[Met[CandidatePolicy]]) -> bool:
        if policy.namespace not in {"", template.ref.namespace}:
            return bool(best_selector(policy.resource_selectors, template)[0])
        return any(each.mask & self._masks.of(each, policy) for each in met)

    def _best_match(self, template: Template, met: list[Met[CandidatePolicy]], lost_claim: str = "") -> Match:
        best = _best_policy(met)
        if best is None or best.policy.is_terminating:
            match = Match(reason=NoPolicyReason.NO_POLICY, message="no policy selects it", is_selected=bool(met))
        else:
            match = self._match_with(template, best.policy, is_selected=True)
        return replace(match, lost_claim=lost_claim) if lost_claim else match

    def _match_of_claim(
        self, template: Template, claim: str, met: list[Met[CandidatePolicy]], allows_preemption: bool
    ) -> Match:
        policy = self._by_name.get(claim)
        if policy is not None and policy.is_terminating:
            message = f"{policy} is being deleted"
            return Match(reason=NoPolicyReason.POLICY_TERMINATING, message=message, is_selected=bool(met))
        if policy is None or not self._selects(policy, template, met):
            return self._best_match(template, met, lost_claim=claim)
        taker = self._policy_that_preempts(policy, met) if allows_preemption else None
        if taker is not None:
            return replace(self._match_with(template, taker, is_selected=True), lost_claim=claim)
        return self._match_with(template, policy, is_selected=bool(met))

    def _policy_that_preempts(
        self, claimant: PropagationPolicy, met: Iterable[Met[CandidatePolicy]]
    ) -> PropagationPolicy | None:
        """Return the policy that takes a template over from the one that claims it, if one may.

        Karmada lets policies preempt in the order of events; here the best of those that may takes it at once. Of a
        bucket's policies the first that preempts has the highest priority, so that no other one may if it may not.
        """
        firsts = (each.first_entry(among=self._masks.mask_of_preempting_policies(each)) for each in met)
        takers = [
            each.owner for each in firsts if each is not None and may_preempt_claimant(each.owner.policy, claimant)
        ]
        return min(takers, key=lambda each: each.rank).policy if takers else None

    def _match_with(self, template: Template, policy: PropagationPolicy, *, is_selected: bool) -> Match:
        missing = [
            name for name in policy.dependent_overrides if (policy.namespace, name) not in self._override_policies
        ]
        if missing:
            absent = f"dependent overrides: {', '.join(missing)}"
            return _waiting_match(NoPolicyReason.WAITING_FOR_OVERRIDES, policy, absent, is_selected=is_selected)
        if policy.priority_class_name is None or not template.ref.namespace:
            # Karmada gives cluster-scoped bindings no priority.
            return Match(policy=policy, is_selected=is_selected)
        name = policy.priority_class_name
        priority = self._priority_by_class.get(name)
        if priority is None:
            absent = f"PriorityClass {name}"
            return _waiting_match(NoPolicyReason.WAITING_FOR_PRIORITY_CLASS, policy, absent, is_selected=is_selected)
        return Match(policy=policy, is_selected=is_selected, priority=priority)


def _best_policy(met: Iterable[Met[CandidatePolicy]]) -> CandidatePolicy | None:
    """Return the best of the policies that some buckets have."""
    firsts = (each.first_entry() for each in met)
    return min((each.owner for each in firsts if each is not None), key=lambda each: each.rank, default=None)


class _MasksByPolicy:
    """The entries of each bucket by their policy, and those that may preempt; found once for each bucket."""

    __slots__ = ("_by_policy", "_preempting")

    def __init__(self) -> None:
        self._by_policy: dict[int, dict[int, Mask]] = {}
        self._preempting: dict[int, Mask] = {}

    def of(self, met: Met[CandidatePolicy], policy: PropagationPolicy) -> Mask:
        """Return the entries of a policy."""
        known = self._by_policy.get(id(met.bucket))
        if known is None:
            places: dict[int, list[int]] = {}
            for place, entry in enumerate(met.bucket.entries):
                places.setdefault(id(entry.owner.policy), []).append(place)
            known = self._by_policy[id(met.bucket)] = {key: mask_of(found) for key, found in places.items()}
        return known.get(id(policy), 0)

    def mask_of_preempting_policies(self, met: Met[CandidatePolicy]) -> Mask:
        """Return the entries of policies that may preempt others."""
        known = self._preempting.get(id(met.bucket))
        if known is None:
            policies = (entry.owner.policy for entry in met.bucket.entries)
            flags = (each.preemption is Preemption.ALWAYS and not each.is_terminating for each in policies)
            known = self._preempting[id(met.bucket)] = mask_where(flags)
        return known


def _waiting_match(reason: NoPolicyReason, policy: PropagationPolicy, absent: str, *, is_selected: bool) -> Match:
    message = f"{policy} waits for {absent}"
    return Match(reason=reason, message=message, is_selected=is_selected, waiting=policy, waits_for=absent)
