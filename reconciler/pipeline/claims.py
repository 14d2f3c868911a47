"""Claims: the policy that claims each template, and the bindings of a pass before they are scheduled.

Every template of the source is matched anew (or keeps the policy that claimed it, with ``claims: Sticky``). A template
that no policy holds any more keeps its last binding, *released*: nothing vanishes because a policy did, or because it
waits for something.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.source.desired import Desired
from render.binding import Binding, Condition, binding_with_final_targets
from render.boundary import REPORT_IT, result_or_substitute, words_of_unexpected_error
from render.documents import emit
from render.interpreter import Interpreter, InterpreterError
from render.interpreter.pruning import manifest_without_pruned_fields
from render.kinds.batch import is_indexed_job
from render.matching.bindings import binding_before_scheduling, fields_waiting_for_change, interpreted_workload
from render.matching.exclusions import exclusions_of
from render.matching.match import Match, MatchOptions, NoPolicyReason, PolicyIndex
from render.model import ObjectRef, Template
from render.policy import PropagationPolicy
from render.scheduling.decisions import SUCCESS_MESSAGE, ScheduledReason
from render.settings.fleet import Fleet
from render.settings.switches import ClaimMode, OnPolicyRemoval

from .pending import words_of_waiting_policy

SCHEDULED = "Scheduled"
_RELEASED = frozenset(NoPolicyReason)
"""The reasons that bindings without a policy have."""


class Claims(Struct, frozen=True, kw_only=True):
    """The templates of a pass by what claims them.

    ``bindings`` await scheduling. ``released`` keep every byte. ``failed`` could not be interpreted and keep what they
    had. ``unmatched`` are held by nothing; dependencies may still bring them along. ``matches`` say why, for all.
    ``waiting`` says in words what lazy policies will do once a template changes.
    """

    bindings: tuple[Binding, ...]
    released: tuple[Binding, ...]
    failed: tuple[tuple[Template, InterpreterError], ...]
    unmatched: tuple[Template, ...]
    matches: Mapping[ObjectRef, Match]
    waiting: Mapping[ObjectRef, str] = field(default_factory=dict)

    @property
    def objects_kept(self) -> frozenset[ObjectRef]:
        """The objects of which clusters keep what they have, whatever their templates say."""
        return frozenset((*(each.ref for each in self.released), *(template.ref for template, _ in self.failed)))

    def without_failed(self, errors: Mapping[ObjectRef, InterpreterError], templates: Iterable[Template]) -> "Claims":
        """Return claims in which objects with these errors have failed, as far as they were to be scheduled."""
        refs = {each.ref for each in self.bindings if each.ref in errors}
        if not refs:
            return self
        found = ((each, errors[each.ref]) for each in templates if each.ref in refs)
        bindings = tuple(each for each in self.bindings if each.ref not in refs)
        return replace(self, bindings=bindings, failed=(*self.failed, *found))


def policy_index(desired: Desired) -> PolicyIndex:
    """Index the source's policies, with the overrides and priority classes they may wait for."""
    return PolicyIndex(
        desired.policies,
        override_policies=frozenset((policy.namespace, policy.name) for policy in desired.override_policies),
        priority_by_class=_values_of_priority_classes(desired.templates),
    )


def claims_of(desired: Desired, previous: Mapping[ObjectRef, Binding]) -> dict[ObjectRef, PropagationPolicy]:
    """Return the policy that claims each template in the next pass, as far as one does."""
    return {ref: match.policy for ref, match in next_matches(desired, previous).items() if match.policy is not None}


def next_matches(
    desired: Desired, previous: Mapping[ObjectRef, Binding], templates: Iterable[Template] | None = None
) -> dict[ObjectRef, Match]:
    """Match every template as the next pass will, or some ``templates`` of them."""
    index, claims = policy_index(desired), desired.fleet.claims
    matched = desired.templates if templates is None else tuple(templates)
    if claims is ClaimMode.PURE:
        return {each.ref: index.match(each) for each in matched}
    options = match_options(desired.fleet)
    claimed = {each.ref: previous[each.ref].policy for each in matched if each.ref in previous}
    return {each.ref: index.match(each, claim=claimed.get(each.ref, ""), options=options) for each in matched}


def match_options(fleet: Fleet) -> MatchOptions:
    """Return how a fleet's settings have templates matched."""
    return MatchOptions(
        claims=fleet.claims,
        allows_preemption=fleet.feature_gates.propagation_policy_preemption,
        exclusions=exclusions_of(fleet),
    )


def _values_of_priority_classes(templates: Iterable[Template]) -> Mapping[str, int]:
    return {
        template.ref.name: template.manifest.get("value", 0)
        for template in templates
        if template.ref.kind == "PriorityClass" and template.ref.group == "scheduling.k8s.io"
    }


def claim_templates(
    templates: Iterable[Template], desired: Desired, interpreter: Interpreter, previous: Mapping[ObjectRef, Binding]
) -> Claims:
    """Match templates of a source and make their bindings."""
    starting = {each.ref: each for each in desired.starting_bindings}
    claiming = _Claiming(desired, policy_index(desired), match_options(desired.fleet), interpreter, previous, starting)
    for template in templates:
        result_or_substitute(partial(claiming.add, template), partial(claiming.note_failed_template, template))
    return claiming.claims()


class _Claiming(Struct):
    """The claims of a pass as they are made, each template by itself."""

    desired: Desired
    policies: PolicyIndex
    options: MatchOptions
    interpreter: Interpreter
    previous: Mapping[ObjectRef, Binding]
    starting: Mapping[ObjectRef, Binding]
    bindings: list[Binding] = field(default_factory=list)
    released: list[Binding] = field(default_factory=list)
    failed: list[tuple[Template, InterpreterError]] = field(default_factory=list)
    unmatched: list[Template] = field(default_factory=list)
    matches: dict[ObjectRef, Match] = field(default_factory=dict)
    waiting: dict[ObjectRef, str] = field(default_factory=dict)

    @property
    def divides_components(self) -> bool:
        """Say whether workloads of several pod templates count by their components."""
        return self.desired.fleet.feature_gates.multiple_pod_templates_scheduling

    def add(self, template: Template) -> None:
        """Match a template, and make its binding."""
        before = self.previous.get(template.ref)
        known = before or self.starting.get(template.ref)
        match = self.policies.match(template, claim=known.policy if known else "", options=self.options)
        self.matches[template.ref] = match
        if match.policy is None:
            kept = released_binding(before, match, self.desired.fleet) if before else None
            if kept is None:
                self.unmatched.append(template)
            else:
                self.released.append(kept)
            return
        try:
            workload = interpreted_workload(template, self.interpreter, divides_components=self.divides_components)
        except InterpreterError as error:
            self.failed.append((template, error))
            return
        is_changed = _is_template_changed(template, match, before)
        past = before and binding_with_final_targets(before)
        made = binding_before_scheduling(
            template, match, workload, past or _binding_of_source(known, match), is_changed=is_changed
        )
        if made is not None:
            if not is_changed and (fields := fields_waiting_for_change(template, match, workload, made)):
                self.waiting[template.ref] = words_of_waiting_policy(str(match.policy), fields)
            digest = template_digest(template) if match.is_lazy else ""
            is_whole = is_indexed_job(template.manifest) and not self.desired.fleet.is_karmada_compatible
            kept_whole = replace(made, is_whole=True) if is_whole else made
            self.bindings.append(replace(kept_whole, template_digest=digest) if digest else kept_whole)

    def note_failed_template(self, template: Template, error: Exception) -> None:
        """Have a template keep what it has, because it led to an error nobody thought of."""
        self.matches.setdefault(template.ref, Match())
        self.failed.append((template, unexpected_failure(template.ref, error)))

    def claims(self) -> Claims:
        """Return what was made."""
        return Claims(
            bindings=tuple(self.bindings),
            released=tuple(self.released),
            failed=tuple(self.failed),
            unmatched=tuple(self.unmatched),
            matches=self.matches,
            waiting=self.waiting,
        )


def unexpected_failure(ref: ObjectRef, error: Exception) -> InterpreterError:
    """Return the failure of an object that led to an error nobody thought of."""
    return InterpreterError(f"{words_of_unexpected_error(error)}; {REPORT_IT}", where=str(ref))


def _binding_of_source(start: Binding | None, match: Match) -> Binding | None:
    """Return a binding of the source as the outcome of a pass that placed the object by the policy it has now.

    So nothing moves when an object that another control plane placed comes here. Of its past nothing else counts.
    """
    if start is None or match.policy is None or not start.targets:
        return None
    return Binding(
        ref=start.ref,
        api_version=start.api_version,
        uid=start.uid,
        policy=start.policy,
        targets=start.targets,
        applied_placement=match.policy.placement,
        observed_affinity=start.observed_affinity,
        conditions=(Condition(type=SCHEDULED, status="True", reason=ScheduledReason.SUCCESS, message=SUCCESS_MESSAGE),),
    )


def _is_template_changed(template: Template, match: Match, before: Binding | None) -> bool:
    """Return whether a template differs from the one its binding was made of; only lazy policies need to know."""
    return not match.is_lazy or before is None or before.template_digest != template_digest(template)


def template_digest(template: Template) -> str:
    """Return a short hash of what a user wrote in a template."""
    return hashlib.sha256(
        b"".join(emit(manifest_without_pruned_fields(each)) for each in template.manifests)
    ).hexdigest()[:16]


def released_bindings(desired: Desired, previous: Mapping[ObjectRef, Binding]) -> Iterator[Binding]:
    """Yield the bindings that a source releases, or leaves released, given those of the previous commit."""
    policies, options = policy_index(desired), match_options(desired.fleet)
    for template in desired.templates:
        before = previous.get(template.ref)
        if before is None:
            continue
        match = policies.match(template, claim=before.policy, options=options)
        kept = released_binding(before, match, desired.fleet) if match.policy is None else None
        if kept is not None:
            yield kept


def released_binding(before: Binding, match: Match, fleet: Fleet) -> Binding | None:
    """Return the binding of a template that no policy holds any more, None when nothing held it or it must go.

    A policy that waits for something is not gone: what it held stays, whatever ``onPolicyRemoval`` says.
    """
    reason = match.reason or NoPolicyReason.NO_POLICY
    was_held = bool(before.policy) or any(
        condition.type == SCHEDULED and condition.reason in _RELEASED for condition in before.conditions
    )
    must_go = fleet.on_policy_removal is OnPolicyRemoval.REMOVE and not reason.is_waiting
    if not was_held or must_go:
        return None
    message = match.message or "no policy selects it; its objects stay as they are"
    return replace(
        before,
        policy="",
        required_by=(),
        conditions=(Condition(type=SCHEDULED, status="False", reason=reason, message=message),),
    )
