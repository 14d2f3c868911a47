"""WorkloadRebalancers that name workloads which are not in the source."""

from collections.abc import Iterator

from overrides.lint import LineOf
from reconciler.source.desired import Desired
from render.errors import Problem
from render.rescheduling.rebalancing import NamedWorkload
from render.suggestions import nearest

RULE = "UnmatchedRebalancer"


def request_warnings(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each workload that a rebalancer names and the source does not have."""
    known = {(each.ref.kind, each.ref.namespace, each.ref.name) for each in desired.templates}
    for request in desired.reschedule_requests:
        for index, workload in enumerate(request.workloads):
            if (workload.kind, workload.namespace, workload.name) not in known:
                field = f"spec.workloads[{index}]"
                line = line_of(request.path, request.document, field) if line_of else 0
                named = f"{workload.kind} {'/'.join(filter(None, (workload.namespace, workload.name)))}"
                message = f"there is no {named} in the source, so nothing is rescheduled"
                yield Problem(request.path, line, field, message, _hint(workload, desired), RULE)


def _hint(workload: NamedWorkload, desired: Desired) -> str:
    of_kind = [each.ref for each in desired.templates if each.ref.kind == workload.kind]
    if elsewhere := sorted(ref.namespace for ref in of_kind if ref.name == workload.name):
        return f"there is one in namespace {elsewhere[0]!r}" if elsewhere[0] else "it has no namespace"
    near = nearest(workload.name, [ref.name for ref in of_kind if ref.namespace == workload.namespace])
    return f"did you mean {near!r}?" if near else ""
