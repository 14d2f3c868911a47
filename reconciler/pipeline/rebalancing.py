"""The requests of WorkloadRebalancers, written into the bindings that they are about."""

from collections.abc import Iterable

from msgspec.structs import replace

from render.binding import Binding
from render.rescheduling.requests import RescheduleRequest, names_by_workload


def with_requests(bindings: Iterable[Binding], requests: Iterable[RescheduleRequest]) -> tuple[Binding, ...]:
    """Return bindings with the requests of the source; a request that left it is not remembered as answered."""
    names = names_by_workload(requests)
    return tuple(
        _with_names(each, names.get((each.ref.namespace, each.ref.kind, each.ref.name), ())) for each in bindings
    )


def _with_names(binding: Binding, names: tuple[str, ...]) -> Binding:
    answered = tuple(name for name in binding.answered_requests if name in names)
    if names == binding.reschedule_requests and answered == binding.answered_requests:
        return binding
    return replace(binding, reschedule_requests=names, answered_requests=answered)
