"""Requests to reschedule workloads: the WorkloadRebalancers of a source, each of which is answered once.

Karmada compares the time at which a rebalancer was created with that of the last decision. A source has no such times,
so a binding records the names of the rebalancers that it has answered: one whose name is new to it asks. A
``creationTimestamp`` in the file is part of the name.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from render.model import Manifest

from .rebalancing import NamedWorkload, workload


@dataclass(frozen=True, slots=True, kw_only=True)
class RescheduleRequest:
    """A WorkloadRebalancer of the source: the name that bindings record, its workloads, and where it stands."""

    name: str
    workloads: tuple[NamedWorkload, ...]
    path: str = ""
    document: int = 0


def reschedule_request(manifest: Manifest, *, path: str = "", document: int = 0) -> RescheduleRequest:
    """Return the request of an admitted WorkloadRebalancer."""
    metadata = manifest["metadata"]
    created = metadata.get("creationTimestamp")
    return RescheduleRequest(
        name=f"{metadata['name']}@{created}" if created else metadata["name"],
        workloads=tuple(map(workload, manifest["spec"]["workloads"])),
        path=path,
        document=document,
    )


def names_by_workload(requests: Iterable[RescheduleRequest]) -> Mapping[tuple[str, str, str], tuple[str, ...]]:
    """Return the names of the requests for each workload, by its namespace, kind and name.

    The version and the group of a workload do not count, as in Karmada.
    """
    names: dict[tuple[str, str, str], set[str]] = {}
    for request in requests:
        for each in request.workloads:
            names.setdefault((each.namespace, each.kind, each.name), set()).add(request.name)
    return {key: tuple(sorted(found)) for key, found in names.items()}
