"""The status in a WorkloadRebalancer's file: the workloads that a control plane is done with, and when it was.

A request is answered once. One that Karmada has answered already, as its status says, asks for nothing here.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from render.model import Manifest, mapping_or_empty
from render.timing import parse_instant

from .rebalancing import (
    NOT_FOUND,
    NamedWorkload,
    ObservedWorkload,
    RebalancerStatus,
    RequestOutcome,
    parse_named_workload,
)

_ANSWERS: Mapping[Any, RequestOutcome] = {str(each): each for each in RequestOutcome if each}


def recorded_request_status(manifest: Manifest) -> RebalancerStatus:
    """Return what a rebalancer's own status says of the workloads that it names, as far as they are done with.

    The whole of a request that finished is done with, but for what was added to it since then.
    """
    status, named = mapping_or_empty(manifest.get("status")), tuple(_workloads_named_by(manifest))
    finished = parse_instant(str(status.get("finishTime") or ""))
    done = {each.workload: each for each in _observed_workloads(status) if each.outcome}
    if finished is not None and _is_of_this_spec(manifest, status):
        done = {each: ObservedWorkload(workload=each, outcome=RequestOutcome.SUCCESSFUL) for each in named} | done
    return RebalancerStatus(observed=tuple(done[each] for each in named if each in done), finished=finished)


def unfinished_workloads(manifest: Manifest) -> list[Mapping[str, Any]]:
    """Return the workloads of a rebalancer that a control plane is not done with, as the rebalancer names them."""
    done = {each.workload for each in recorded_request_status(manifest).observed}
    return [
        each
        for each in mapping_or_empty(manifest.get("spec")).get("workloads") or ()
        if parse_named_workload(each) not in done
    ]


def _workloads_named_by(manifest: Manifest) -> Iterator[NamedWorkload]:
    for each in mapping_or_empty(manifest.get("spec")).get("workloads") or ():
        yield parse_named_workload(each)


def _observed_workloads(status: Mapping[str, Any]) -> Iterator[ObservedWorkload]:
    for each in status.get("observedWorkloads") or ():
        outcome = _ANSWERS.get(each.get("result"), RequestOutcome.PENDING)
        reason = str(each.get("reason") or NOT_FOUND) if outcome is RequestOutcome.FAILED else ""
        yield ObservedWorkload(
            workload=parse_named_workload(mapping_or_empty(each.get("workload"))), outcome=outcome, reason=reason
        )


def _is_of_this_spec(manifest: Manifest, status: Mapping[str, Any]) -> bool:
    """Say whether a status is of the spec beside it; one that does not say of which is taken for it."""
    seen, generation = status.get("observedGeneration"), mapping_or_empty(manifest.get("metadata")).get("generation")
    return seen is None or generation is None or seen >= generation
