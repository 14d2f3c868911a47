"""Requests to roll back: the splits that an earlier rendered commit had are to stand again.

A RollbackRequest of the source names that commit, and the objects that it is about. It is answered by the first pass
that finds it, and by no later one, so that whatever moves afterwards stays where it went.
"""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from render.binding import Binding
from render.former_split import FormerSplit
from render.model import Manifest, ObjectRef
from render.rebalancers.rebalancing import parse_named_workload
from render.scheduling.decisions import SCHEDULED

ROLLBACK = "RollbackRequest/"
"""The beginning of the names by which requests to roll back are recorded; a WorkloadRebalancer has no such name."""


class RollbackRequest(Struct, frozen=True, kw_only=True):
    """A RollbackRequest of the source: ``to`` is the rendered commit whose splits are to stand again.

    It is about some ``objects``, about all of a ``namespace``, about what one ``cluster`` had, or where none of them is
    set about everything.
    """

    name: str
    to: str
    objects: tuple[ObjectRef, ...] = ()
    namespace: str = ""
    cluster: str = ""
    path: str = ""
    document: int = 0

    @property
    def record_name(self) -> str:
        """The name by which rendered commits record it: another commit in the same file is another request."""
        return f"{ROLLBACK}{self.name}@{self.to[:12]}"

    def refs_among(self, refs: Collection[ObjectRef]) -> frozenset[ObjectRef]:
        """Return those of some objects whose split is to stand again."""
        if self.objects:
            return frozenset(self.objects).intersection(refs)
        return frozenset(ref for ref in refs if not self.namespace or ref.namespace == self.namespace)


def parse_rollback_request(manifest: Manifest, *, path: str = "", document: int = 0) -> RollbackRequest:
    """Return the value of an admitted RollbackRequest."""
    spec = manifest["spec"]
    return RollbackRequest(
        name=manifest["metadata"]["name"],
        to=spec["to"],
        objects=tuple(parse_named_workload(each).ref for each in spec.get("objects") or ()),
        namespace=spec.get("namespace") or "",
        cluster=spec.get("cluster") or "",
        path=path,
        document=document,
    )


def former_split_of(before: Binding, request: RollbackRequest) -> FormerSplit:
    """Return the split that a binding of an earlier rendered commit has; a step of a move counts as its end."""
    return FormerSplit(
        request=request.record_name,
        replicas=before.asked_replicas,
        targets=before.final_targets,
        placement=before.placement,
        observed_affinity=before.observed_affinity,
        cluster=request.cluster,
    )


def is_decided_as_before(now: Binding, former: Binding) -> bool:
    """Say whether nothing of the decision about an object is another one than in an earlier rendered commit.

    One that waits for a place will be decided anew as soon as there is room, whatever it holds meanwhile.
    """
    is_waiting = any(each.type == SCHEDULED and each.status == "False" for each in now.conditions)
    return (
        not is_waiting
        and now.final_targets == former.final_targets
        and now.asked_replicas == former.asked_replicas
        and now.policy == former.policy
        and now.placement == former.placement
        and now.applied_placement == former.applied_placement
        and now.observed_affinity == former.observed_affinity
    )


def bindings_with_former_splits(
    bindings: Iterable[Binding], splits: Mapping[ObjectRef, FormerSplit]
) -> tuple[Binding, ...]:
    """Return bindings with the splits that are to stand again, and the requests that ask for them."""
    return tuple(
        each if (split := splits.get(each.ref)) is None else _binding_with_former_split(each, split)
        for each in bindings
    )


def _binding_with_former_split(binding: Binding, split: FormerSplit) -> Binding:
    """Return a binding with a split; what it is leaving of that it leaves no more, unless something evicts it again."""
    requests = tuple(sorted({*binding.reschedule_requests, split.request}))
    names = {each.name for each in split.restored_targets}
    tasks = tuple(each for each in binding.eviction_tasks if each.from_cluster not in names)
    return replace(binding, restored=split, reschedule_requests=requests, eviction_tasks=tasks)
