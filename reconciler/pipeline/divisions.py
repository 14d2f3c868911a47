"""The divisions of a source and of a pass, and the warnings about those that do not mean what they seem to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import partial, reduce
from operator import or_

from msgspec.structs import replace

from overrides.pointer import tokens_of_pointer
from overrides.policy import OverridePolicy, RuleWithCluster
from reconciler.source.desired import Desired
from render.binding import Binding
from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.divisions import DividedTemplate, DivisionContext, DivisionRule, DivisionWarning, division_warnings
from render.interpreter import Interpreter
from render.interpreter.scale import kinds_of_definitions
from render.kinds import BUILT_IN
from render.matching.selector_index import SelectorIndex
from render.model import ObjectRef, Template, group_of
from render.placement import Placement, ReplicaSchedulingType, SpreadField
from render.policy import PropagationPolicy
from render.scheduling.rules import rules_of_placement, selects_all_feasible_clusters
from render.scheduling.scheduler import Scheduler
from render.scheduling.targets import TargetList

from .held_divisions import shares_if_asked

_MOST = 10


def source_division_warnings(
    desired: Desired,
    claims: Mapping[ObjectRef, PropagationPolicy],
    index: ClusterIndex,
    interpreter: Interpreter,
) -> tuple[DivisionWarning, ...]:
    """Return the warnings about a source, given the policies that claim its templates, before anything is placed."""
    among: dict[Placement, tuple[int, Mask]] = {}
    divisions = list[DividedTemplate]()
    for template in desired.templates:
        policy = claims.get(template.ref)
        if policy is None or not _does_placement_divide(policy.placement):
            continue
        if policy.placement not in among:
            among[policy.placement] = _clusters_among(policy.placement, index)
        clusters, targets = among[policy.placement]
        divisions.append(DividedTemplate(template=template, policy=str(policy), clusters=clusters, targets=targets))
    delivered = [each for each in desired.templates if each.ref in claims]
    context = _division_context(desired, index, interpreter, tries_revisions=True)
    clusters_of = partial(_clusters_that_may_get, claims, index)
    return division_warnings(divisions, delivered, replace(context, clusters_of=clusters_of))


def _clusters_that_may_get(
    claims: Mapping[ObjectRef, PropagationPolicy], index: ClusterIndex, template: Template
) -> Mask:
    return _clusters_among(claims[template.ref].placement, index)[1]


def division_warnings_of(
    bindings: Iterable[Binding],
    template_by_ref: Mapping[ObjectRef, Template],
    desired: Desired,
    interpreter: Interpreter,
    scheduler: Scheduler,
) -> tuple[DivisionWarning, ...]:
    """Return the warnings about the outcome of a pass, given its bindings and the templates that they are of."""
    divisions = list[DividedTemplate]()
    delivered, targets = [], dict[ObjectRef, TargetList]()
    for binding in bindings:
        template = template_by_ref.get(binding.ref)
        if template is None:
            continue
        delivered.append(template)
        targets[binding.ref] = binding.targets
        if binding.policy and binding.placement and _does_placement_divide(binding.placement):
            divisions.append(_division_of(binding, template, scheduler))
    index = scheduler.state.index
    context = _division_context(desired, index, interpreter)
    context = replace(
        context, clusters_of=lambda template: index.clusters_named(each.name for each in targets[template.ref])
    )
    return division_warnings(divisions, delivered, context)


def _division_of(binding: Binding, template: Template, scheduler: Scheduler) -> DividedTemplate:
    """Return a division as it is; of an object that has no replicas, each cluster has all."""
    held = binding.undivided
    is_whole = held is not None or not binding.is_workload or bool(binding.components)
    targets = [each for each in binding.targets if is_whole or each.replicas]
    return DividedTemplate(
        template=template,
        policy=binding.policy,
        clusters=len(targets),
        targets=scheduler.state.index.clusters_named(each.name for each in targets),
        replicas=None if is_whole else binding.replicas,
        share=None if is_whole else min((each.replicas for each in targets), default=None),
        is_held=held is not None,
        shares=() if held is None else shares_if_asked(binding, held.replicas, scheduler),
    )


def _division_context(
    desired: Desired, index: ClusterIndex, interpreter: Interpreter, *, tries_revisions: bool = False
) -> DivisionContext:
    defined = kinds_of_definitions(each.manifest for each in desired.crds)
    return DivisionContext(
        interpreter=interpreter,
        overridden=_OverriddenFields(desired, index).clusters_overriding_field,
        is_as_in_karmada=desired.fleet.is_karmada_compatible,
        counts_components=desired.fleet.feature_gates.multiple_pod_templates_scheduling,
        may_scale=lambda kind: desired.fleet.interprets_scale and kind not in defined,
        tries_revisions=tries_revisions,
        mixed_policies=frozenset(str(each) for each in desired.policies if _selects_kind_of_kubernetes(each)),
    )


def _selects_kind_of_kubernetes(policy: PropagationPolicy) -> bool:
    return any((group_of(each.api_version), each.kind) in BUILT_IN for each in policy.resource_selectors)


def undivided_lines(warnings: Iterable[DivisionWarning]) -> tuple[str, ...]:
    """Return a line for each object that is divided in vain; of many, the first few."""
    lines = [str(each) for each in warnings if each.rule is DivisionRule.UNDIVIDED]
    more = len(lines) - _MOST
    return (*lines[:_MOST], *([f"and {more} more objects that are divided in vain"] if more > 0 else []))


def _does_placement_divide(placement: Placement) -> bool:
    scheduling = placement.replica_scheduling
    return scheduling is not None and scheduling.type is ReplicaSchedulingType.DIVIDED


def _clusters_among(placement: Placement, index: ClusterIndex) -> tuple[int, Mask]:
    """Return the clusters that a placement may divide among, by its affinity, weights and spread alone.

    The first is the most there may be at once, the second all that may be among them.
    """
    rules = rules_of_placement(placement, index)
    weighted = sum(1 << position for position, weight in enumerate(rules.weights) if weight)
    masks = [group.clusters(overflows=True) & (weighted if rules.weights else index.all) for group in rules.groups]
    by_cluster = (each for each in placement.spread_constraints if each.spread_by_field is SpreadField.CLUSTER)
    limits = (
        [] if selects_all_feasible_clusters(placement) else [each.max_groups for each in by_cluster if each.max_groups]
    )
    most = min([max((mask.bit_count() for mask in masks), default=0), *limits])
    return most, reduce(or_, masks, 0)


class _OverriddenFields:
    """The fields that override policies write, and for which clusters; the policies of a field are indexed once."""

    def __init__(self, desired: Desired, index: ClusterIndex) -> None:
        self._index = index
        self._policies: dict[tuple[str, ...], list[tuple[OverridePolicy, Mask]]] = defaultdict(list)
        self._indexes: dict[tuple[str, ...], _MaskIndex] = {}
        for policy in desired.override_policies:
            for keys, clusters in self._written_by(policy).items():
                self._policies[keys].append((policy, clusters))

    def _written_by(self, policy: OverridePolicy) -> Mapping[tuple[str, ...], Mask]:
        written: dict[tuple[str, ...], Mask] = defaultdict(int)
        for rule in policy.rules:
            target = rule.target_cluster
            clusters = self._index.all if target is None else self._index.clusters_matching_affinity(target)
            for keys in _pointers_of_rule(rule):
                written[keys] |= clusters
        return written

    def clusters_overriding_field(self, template: Template, keys: tuple[str, ...]) -> Mask:
        """Return the clusters for which an override policy writes a field of a template."""
        if keys not in self._policies:
            return 0
        if keys not in self._indexes:
            self._indexes[keys] = _MaskIndex(self._policies[keys])
        return self._indexes[keys].clusters_with_overrides(template)


class _MaskIndex:
    """The clusters of policies, by what these select."""

    def __init__(self, policies: Iterable[tuple[OverridePolicy, Mask]]) -> None:
        every = tuple(policies)
        self._everywhere: dict[str, Mask] = defaultdict(int)
        for policy, clusters in every:
            if not policy.resource_selectors:
                self._everywhere[policy.namespace] |= clusters
        self._selecting = SelectorIndex(
            (policy.namespace, selector, clusters)
            for policy, clusters in every
            for selector in policy.resource_selectors
        )

    def clusters_with_overrides(self, template: Template) -> Mask:
        """Return the clusters of all policies that select a template."""
        found = self._everywhere.get("", 0) | self._everywhere.get(template.ref.namespace, 0)
        for met in self._selecting.selecting_entries_by_bucket(template):
            for entry in met.all_entries():
                found |= entry.owner
        return found


def _pointers_of_rule(rule: RuleWithCluster) -> Iterator[tuple[str, ...]]:
    for _, type_, overrider in rule.overriders:
        pointer = type_.pointer(overrider)
        if pointer is not None and (tokens := tokens_of_pointer(pointer)):
            yield tokens
