"""Requests to reschedule workloads: the WorkloadRebalancers of a source, each of which is answered once.

Karmada compares the time at which a rebalancer was created with that of the last decision. A source has no such times,
so a binding records the names of the rebalancers that it has answered: one whose name is new to it asks. A
``creationTimestamp`` in the file is part of the name.
"""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding
from render.model import Manifest
from render.rebalancers.finished import recorded_request_status
from render.rebalancers.rebalancing import (
    NamedWorkload,
    Rebalancer,
    RebalancerPass,
    RebalancerStatus,
    RequestOutcome,
    parse_named_workload,
    rebalancer_pass,
    workloads_in_status_order,
)
from render.timing import FIRST


class RescheduleRequest(Struct, frozen=True, kw_only=True):
    """A WorkloadRebalancer of the source: the name that bindings record, its workloads, and where it stands.

    ``ttl_seconds`` is for how long it may stay once it has finished (None: for ever). ``recorded`` is what the status
    in its file says of workloads that a control plane is done with: they are not rescheduled again.
    """

    name: str
    workloads: tuple[NamedWorkload, ...]
    ttl_seconds: int | None = None
    recorded: RebalancerStatus = field(default_factory=RebalancerStatus)
    path: str = ""
    document: int = 0

    @property
    def requested_workloads(self) -> tuple[NamedWorkload, ...]:
        """The workloads that are to be rescheduled."""
        done = {each.workload for each in self.recorded.observed}
        return tuple(each for each in self.workloads if each not in done)


def parse_reschedule_request(manifest: Manifest, *, path: str = "", document: int = 0) -> RescheduleRequest:
    """Return the request of an admitted WorkloadRebalancer."""
    metadata = manifest["metadata"]
    created = metadata.get("creationTimestamp")
    return RescheduleRequest(
        name=f"{metadata['name']}@{created}" if created else metadata["name"],
        workloads=tuple(map(parse_named_workload, manifest["spec"]["workloads"])),
        ttl_seconds=manifest["spec"].get("ttlSecondsAfterFinished"),
        recorded=recorded_request_status(manifest),
        path=path,
        document=document,
    )


def names_by_workload(requests: Iterable[RescheduleRequest]) -> Mapping[tuple[str, str, str], tuple[str, ...]]:
    """Return the names of the requests for each workload, by its namespace, kind and name.

    The version and the group of a workload do not count, as in Karmada.
    """
    names: dict[tuple[str, str, str], set[str]] = {}
    for request in requests:
        for each in request.requested_workloads:
            names.setdefault((each.namespace, each.kind, each.name), set()).add(request.name)
    return {key: tuple(sorted(found)) for key, found in names.items()}


def pass_of_reschedule_request(
    request: RescheduleRequest, status: RebalancerStatus, bindings: Iterable[Binding], now: datetime
) -> RebalancerPass:
    """Return what became of a request, given the bindings after a pass.

    A workload that was not found is looked for again, for it is rescheduled as soon as it is there.
    """
    by_workload = {(each.ref.namespace, each.ref.kind, each.ref.name): each for each in bindings}

    def outcome(named: NamedWorkload, _created: datetime = FIRST) -> RequestOutcome:
        binding = by_workload.get((named.namespace, named.kind, named.name))
        if binding is None:
            return RequestOutcome.FAILED
        return RequestOutcome.SUCCESSFUL if request.name in binding.answered_requests else RequestOutcome.PENDING

    done = {each.workload: each for each in request.recorded.observed}
    known = tuple(
        each
        for each in status.observed
        if each.workload not in done
        and (each.outcome is not RequestOutcome.FAILED or outcome(each.workload) is RequestOutcome.FAILED)
    )
    observed = workloads_in_status_order((*known, *done.values()))
    status = replace(status, observed=observed, finished=status.finished or request.recorded.finished)
    rebalancer = Rebalancer(workloads=request.workloads, created=FIRST, ttl_seconds=request.ttl_seconds)
    return rebalancer_pass(rebalancer, status, now, outcome)


def bindings_with_requests(
    bindings: Iterable[Binding], requests: Iterable[RescheduleRequest], others: Collection[str] = ()
) -> tuple[Binding, ...]:
    """Return bindings with the requests of the source; a request that left it is not remembered as answered.

    ``others`` are the names of requests of another kind: those of them that were answered are remembered.
    """
    names = names_by_workload(requests)
    return tuple(
        _binding_with_request_names(each, names.get((each.ref.namespace, each.ref.kind, each.ref.name), ()), others)
        for each in bindings
    )


def _binding_with_request_names(binding: Binding, names: tuple[str, ...], others: Collection[str]) -> Binding:
    answered = tuple(name for name in binding.answered_requests if name in names or name in others)
    if known := [name for name in answered if name not in names]:
        names = tuple(sorted((*names, *known)))
    if names == binding.reschedule_requests and answered == binding.answered_requests:
        return binding
    return replace(binding, reschedule_requests=names, answered_requests=answered)
