"""The warnings about all divisions of a source or of a pass."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from render.interpreter import InterpreterError
from render.kinds import BUILT_IN
from render.model import Template

from .companions import companion_warnings, is_companion
from .own_numbers import own_number_warnings
from .undivided import undivided_warning
from .values import DividedTemplate, DividedWorkload, DivisionContext, DivisionWarning


def division_warnings(
    divisions: Iterable[DividedTemplate], delivered: Iterable[Template], context: DivisionContext
) -> tuple[DivisionWarning, ...]:
    """Return the warnings, sorted; ``delivered`` are all templates that clusters get."""
    companions: dict[str, list[Template]] = defaultdict(list)
    for template in delivered:
        if is_companion(template):
            companions[template.ref.namespace].append(template)
    return tuple(sorted(_warnings(divisions, companions, context)))


def _warnings(
    divisions: Iterable[DividedTemplate], companions: dict[str, list[Template]], context: DivisionContext
) -> Iterator[DivisionWarning]:
    known = [(division, _divided_workload(division, context)) for division in divisions if division.clusters > 1]
    useful = {each.policy for each, workload in known if workload or _is_built_in(each.template)}
    for division, workload in known:
        if undivided := undivided_warning(division, context, is_in_vain=division.policy not in useful):
            yield undivided
        elif workload:
            yield from own_number_warnings(workload, context)
            yield from companion_warnings(workload, companions.get(division.template.ref.namespace, ()), context)


def _is_built_in(template: Template) -> bool:
    return (template.ref.group, template.ref.kind) in BUILT_IN


def _divided_workload(division: DividedTemplate, context: DivisionContext) -> DividedWorkload | None:
    """Return a workload of which more than one cluster may have a share."""
    try:
        replicas = context.replicas(division)
    except InterpreterError:
        return None  # the object fails by itself
    clusters = min(division.clusters, replicas or 0)
    if replicas is None or clusters < 2:
        return None
    share = replicas // clusters if division.share is None else division.share
    return DividedWorkload(
        division=division,
        replicas=replicas,
        clusters=clusters,
        share=share,
        is_as_in_karmada=context.is_as_in_karmada,
    )
