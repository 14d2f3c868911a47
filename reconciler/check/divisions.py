"""Warnings about what policies divide: at the policy where nothing is divided, else at the number that is not."""

from collections.abc import Iterable, Iterator, Mapping

from msgspec.structs import replace

from overrides.lint import LineOf
from reconciler.branches.reading import ObservedInputs
from reconciler.pipeline.divisions import source_division_warnings
from reconciler.pipeline.webhook_answers import Recording
from reconciler.source.desired import Desired, interpreter_of_source
from reconciler.source.facts import clusters_corrected_by_facts
from reconciler.source.lines import template_problem
from render.cluster_index import ClusterIndex
from render.divisions import DivisionRule, DivisionWarning
from render.errors import Problem
from render.model import ObjectRef, Template
from render.policy import PropagationPolicy
from render.words import counted_noun, first_few

_FIELD = "spec.placement.replicaScheduling"


def division_problems(
    desired: Desired, claims: Mapping[ObjectRef, PropagationPolicy], observed: ObservedInputs, line_of: LineOf | None
) -> Iterator[Problem]:
    """Yield a warning for each number that is divided in vain or alone, given the policies that claim templates."""
    index = ClusterIndex(clusters_corrected_by_facts(desired.clusters, observed.facts))
    interpreter = interpreter_of_source(desired, Recording(observed.answers).send, members=index.clusters)
    found = source_division_warnings(desired, claims, index, interpreter)
    template_by_ref = {template.ref: template for template in desired.templates}
    yield from _undivided_problems([each for each in found if each.rule is DivisionRule.UNDIVIDED], desired, line_of)
    numbers = (each for each in found if each.rule is DivisionRule.UNDIVIDED_NUMBER)
    scaled = _warning_of_each_autoscaler(each for each in found if each.rule is DivisionRule.AUTOSCALED)
    for each in (*numbers, *scaled):
        yield _problem_at_number(each, template_by_ref[each.ref], line_of)


def _warning_of_each_autoscaler(found: Iterable[DivisionWarning]) -> Iterator[DivisionWarning]:
    """Yield one warning for all autoscalers of a kind, at the first of them, that names the others."""
    warnings_by_kind: dict[str, list[DivisionWarning]] = {}
    for each in found:
        warnings_by_kind.setdefault(each.ref.group_kind, []).append(each)
    for first, *others in warnings_by_kind.values():
        more = counted_noun(len(others), f"more {first.ref.kind}")
        names = first_few([f"{each.ref.namespace}/{each.ref.name}" for each in others])
        yield replace(first, message=f"{first.message}; so it is with {more}: {names}") if others else first


def _problem_at_number(found: DivisionWarning, template: Template, line_of: LineOf | None) -> Problem:
    problem = Problem(template.path, 0, found.field, found.message, found.hint, found.rule)
    return template_problem(template, problem, line_of)


def _undivided_problems(found: list[DivisionWarning], desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield one warning for all objects of a policy that are not divided for the same reason."""
    policy_by_name: dict[str, PropagationPolicy] = {str(policy): policy for policy in desired.policies}
    warnings_by_clause: dict[tuple[str, str, str], list[DivisionWarning]] = {}
    for each in found:
        warnings_by_clause.setdefault((each.policy, each.clause, each.receivers), []).append(each)
    for (name, clause, receivers), warnings in warnings_by_clause.items():
        policy, objects = policy_by_name[name], first_few([str(each.ref) for each in warnings])
        line = line_of(policy.path, policy.document, _FIELD) if line_of else 0
        message = f"it divides, but {clause}: {receivers} gets all of {objects}"
        yield Problem(policy.path, line, _FIELD, message, warnings[0].hint, DivisionRule.UNDIVIDED)
