"""The divisions of a source and of a pass, and the warnings about those that do not mean what they seem to."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from overrides.matching import selected_templates
from overrides.pointer import tokens_of
from overrides.policy import OverridePolicy
from reconciler.source.desired import Desired
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.divisions import DividedTemplate, DivisionContext, DivisionRule, DivisionWarning, division_warnings
from render.interpreter import Interpreter
from render.interpreter.scale import defined_kinds
from render.model import ObjectRef, Template
from render.placement import Placement, ReplicaSchedulingType, SpreadField
from render.policy import PropagationPolicy
from render.scheduling.rules import ignores_spread, placement_rules
from render.scheduling.scheduler import Scheduler

from .held_divisions import shares_if_asked

_MOST = 10


def source_division_warnings(
    desired: Desired,
    claims: Mapping[ObjectRef, PropagationPolicy],
    index: ClusterIndex,
    interpreter: Interpreter,
) -> tuple[DivisionWarning, ...]:
    """Return the warnings about a source, given the policies that claim its templates, before anything is placed."""
    clusters_by_placement: dict[Placement, int] = {}
    divisions = list[DividedTemplate]()
    for template in desired.templates:
        policy = claims.get(template.ref)
        if policy is None or not _divides(policy.placement):
            continue
        if policy.placement not in clusters_by_placement:
            clusters_by_placement[policy.placement] = _most_clusters(policy.placement, index)
        clusters = clusters_by_placement[policy.placement]
        divisions.append(DividedTemplate(template=template, policy=str(policy), clusters=clusters))
    delivered = [each for each in desired.templates if each.ref in claims]
    return _warnings(divisions, delivered, desired, interpreter, tries_revisions=True)


def division_warnings_of(
    bindings: Iterable[Binding],
    template_by_ref: Mapping[ObjectRef, Template],
    desired: Desired,
    interpreter: Interpreter,
    scheduler: Scheduler,
) -> tuple[DivisionWarning, ...]:
    """Return the warnings about the outcome of a pass, given its bindings and the templates that they are of."""
    divisions = list[DividedTemplate]()
    delivered = []
    for binding in bindings:
        template = template_by_ref.get(binding.ref)
        if template is None:
            continue
        delivered.append(template)
        if binding.policy and binding.placement and _divides(binding.placement):
            divisions.append(_division_of(binding, template, scheduler))
    return _warnings(divisions, delivered, desired, interpreter)


def _division_of(binding: Binding, template: Template, scheduler: Scheduler) -> DividedTemplate:
    """Return a division as it is; of an object that has no replicas, each cluster has all."""
    if binding.undivided is not None:
        return DividedTemplate(
            template=template,
            policy=binding.policy,
            clusters=len(binding.targets),
            is_held=True,
            shares=shares_if_asked(binding, binding.undivided.replicas, scheduler),
        )
    if not binding.is_workload or binding.components:
        return DividedTemplate(template=template, policy=binding.policy, clusters=len(binding.targets))
    shares = [each.replicas for each in binding.targets if each.replicas]
    return DividedTemplate(
        template=template,
        policy=binding.policy,
        clusters=len(shares),
        replicas=binding.replicas,
        share=min(shares, default=None),
    )


def _warnings(
    divisions: Iterable[DividedTemplate],
    delivered: Iterable[Template],
    desired: Desired,
    interpreter: Interpreter,
    *,
    tries_revisions: bool = False,
) -> tuple[DivisionWarning, ...]:
    defined = defined_kinds(each.manifest for each in desired.crds)
    context = DivisionContext(
        interpreter=interpreter,
        is_overridden=_OverriddenFields(desired).has,
        is_as_in_karmada=desired.fleet.is_karmada_compatible,
        counts_components=desired.fleet.feature_gates.multiple_pod_templates_scheduling,
        may_scale=lambda kind: desired.fleet.interprets_scale and kind not in defined,
        tries_revisions=tries_revisions,
    )
    return division_warnings(divisions, delivered, context)


def undivided_lines(warnings: Iterable[DivisionWarning]) -> tuple[str, ...]:
    """Return a line for each object that is divided in vain; of many, the first few."""
    lines = [str(each) for each in warnings if each.rule is DivisionRule.UNDIVIDED]
    more = len(lines) - _MOST
    return (*lines[:_MOST], *([f"and {more} more objects that are divided in vain"] if more > 0 else []))


def _divides(placement: Placement) -> bool:
    scheduling = placement.replica_scheduling
    return scheduling is not None and scheduling.type is ReplicaSchedulingType.DIVIDED


def _most_clusters(placement: Placement, index: ClusterIndex) -> int:
    """Return the number of clusters that a placement may divide among, by its affinity, weights and spread alone."""
    rules = placement_rules(placement, index)
    most = 0
    for group in rules.groups:
        mask = group.clusters(overflows=True)
        weighted = sum(1 << position for position, weight in enumerate(rules.weights) if weight)
        most = max(most, (mask & weighted if rules.weights else mask).bit_count())
    by_cluster = (each for each in placement.spread_constraints if each.spread_by_field is SpreadField.CLUSTER)
    limits = [] if ignores_spread(placement) else [each.max_groups for each in by_cluster if each.max_groups]
    return min([most, *limits])


class _OverriddenFields:
    """The fields that override policies write, with the templates in which they do; each is looked up once."""

    def __init__(self, desired: Desired) -> None:
        self._templates = desired.templates
        self._policies: dict[tuple[str, ...], list[OverridePolicy]] = defaultdict(list)
        self._refs: dict[tuple[str, ...], frozenset[ObjectRef]] = {}
        for policy in desired.override_policies:
            for keys in set(_pointers_of(policy)):
                self._policies[keys].append(policy)

    def has(self, template: Template, keys: tuple[str, ...]) -> bool:
        """Say whether an override policy writes a field of a template in some cluster."""
        if keys not in self._policies:
            return False
        if keys not in self._refs:
            selected = selected_templates(self._policies[keys], self._templates)
            self._refs[keys] = frozenset(each.ref for each in selected)
        return template.ref in self._refs[keys]


def _pointers_of(policy: OverridePolicy) -> Iterator[tuple[str, ...]]:
    for rule in policy.rules:
        for _, type_, overrider in rule.overriders:
            pointer = type_.pointer(overrider)
            if pointer is not None and (tokens := tokens_of(pointer)):
                yield tokens
