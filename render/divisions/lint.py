"""The warnings about all divisions of a source or of a pass."""

from collections.abc import Iterable, Iterator

from render.interpreter import InterpreterError
from render.kinds import BUILT_IN
from render.model import Template, is_signed_whole_by_sops

from .companions import autoscaler_warnings, budget_warnings, is_autoscaler, is_budget
from .own_numbers import own_number_warnings
from .undivided import undivided_warning
from .values import ONE_CLUSTER, DividedTemplate, DividedWorkload, DivisionContext, DivisionWarning
from .workload_index import WorkloadIndex


def division_warnings(
    divisions: Iterable[DividedTemplate], delivered: Iterable[Template], context: DivisionContext
) -> tuple[DivisionWarning, ...]:
    """Return the warnings, sorted; ``delivered`` are all templates that clusters get."""
    known = [(division, _workload(division, context)) for division in divisions if division.clusters > 1]
    useful = context.mixed_policies | {
        each.policy for each, workload in known if _is_divided(workload) or _is_of_built_in_kind(each.template)
    }
    workloads, found = list[DividedWorkload](), list[DivisionWarning]()
    for division, workload in known:
        if undivided := undivided_warning(division, context, is_in_vain=division.policy not in useful):
            found.append(undivided)
        elif workload:
            workloads.append(workload)
            found += _warnings_of_workload(workload, context) if _is_divided(workload) else ()
    divided, every = WorkloadIndex(filter(_is_divided, workloads)), WorkloadIndex(workloads)
    for template in delivered if workloads else ():
        if is_budget(template):
            found += budget_warnings(template, divided, context)
        elif is_autoscaler(template):
            found += autoscaler_warnings(template, every, context)
    return tuple(sorted(found))


def _is_divided(workload: DividedWorkload | None) -> bool:
    """Say whether more than one cluster has a share; a single replica is in one, until an autoscaler makes it more."""
    return workload is not None and workload.clusters > 1


def _warnings_of_workload(workload: DividedWorkload, context: DivisionContext) -> Iterator[DivisionWarning]:
    yield from _warnings_of_signed_document(workload)
    yield from own_number_warnings(workload, context)


def _warnings_of_signed_document(workload: DividedWorkload) -> Iterator[DivisionWarning]:
    """Yield the warning about a document that SOPS signed as a whole: no cluster's share can be written into it."""
    if is_signed_whole_by_sops(workload.template.manifest):
        message = (
            "SOPS signed all of it, so that the share of a cluster is not written: where it is not"
            f" {workload.replicas}, the cluster keeps what it has"
        )
        hint = f"encrypt it with mac_only_encrypted: true, or let one cluster run it: {ONE_CLUSTER}"
        kind = workload.template.ref.kind
        field = (
            "spec.parallelism"
            if kind == "Job"
            else "spec.replicas"
            if _is_of_built_in_kind(workload.template)
            else "spec"
        )
        yield workload.warning(workload.template, field, message, hint)


def _is_of_built_in_kind(template: Template) -> bool:
    return (template.ref.group, template.ref.kind) in BUILT_IN


def _workload(division: DividedTemplate, context: DivisionContext) -> DividedWorkload | None:
    """Return a workload that has replicas to divide, be it a single one."""
    try:
        replicas = context.replicas(division)
    except InterpreterError:
        return None  # the object fails by itself
    clusters = min(division.clusters, replicas or 0)
    if replicas is None or clusters < 1:
        return None
    share = replicas // clusters if division.share is None else division.share
    return DividedWorkload(
        division=division,
        replicas=replicas,
        clusters=clusters,
        share=share,
        is_as_in_karmada=context.is_as_in_karmada,
    )
