"""Workloads that a WorkloadRebalancer or an autoscaler names, and that are not in the source."""

from collections.abc import Iterator

from overrides.lint import LineOf
from reconciler.source.desired import Desired
from render.errors import Problem
from render.model import ObjectRef
from render.suggestions import nearest

RULE = "UnmatchedWorkload"


def named_workload_warnings(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each workload that is named and not there."""
    refs = [
        *(template.ref for template in desired.templates),
        *(autoscaler.ref for autoscaler in desired.federated_autoscalers),
    ]
    known = {(ref.kind, ref.namespace, ref.name) for ref in refs}
    for path, document, field, ref, loss in _named(desired):
        if (ref.kind, ref.namespace, ref.name) not in known:
            line = line_of(path, document, field) if line_of else 0
            named = f"{ref.kind} {'/'.join(filter(None, (ref.namespace, ref.name)))}"
            message = f"there is no {named} in the source, so nothing is {loss}"
            yield Problem(path, line, field, message, _hint(ref, refs), RULE)


def _named(desired: Desired) -> Iterator[tuple[str, int, str, ObjectRef, str]]:
    """Yield the place and the field that names each workload, the workload, and what is not done without it."""
    for request in desired.reschedule_requests:
        for index, workload in enumerate(request.workloads):
            yield request.path, request.document, f"spec.workloads[{index}]", workload.ref, "rescheduled"
    for autoscaler in desired.cron_autoscalers:
        yield autoscaler.path, autoscaler.document, "spec.scaleTargetRef", autoscaler.target, "scaled"
    for bounding in desired.federated_autoscalers:
        yield bounding.path, bounding.document, "spec.scaleTargetRef", bounding.target, "scaled"


def _hint(wanted: ObjectRef, refs: list[ObjectRef]) -> str:
    of_kind = [ref for ref in refs if ref.kind == wanted.kind]
    if elsewhere := sorted(ref.namespace for ref in of_kind if ref.name == wanted.name):
        return f"there is one in namespace {elsewhere[0]!r}" if elsewhere[0] else "it has no namespace"
    near = nearest(wanted.name, [ref.name for ref in of_kind if ref.namespace == wanted.namespace])
    return f"did you mean {near!r}?" if near else ""
