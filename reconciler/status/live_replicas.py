"""The replicas that members' objects ask for, beside those that the trees give them.

An autoscaler or a person may own the field, and then passes leave the number to them: what the trees say is not what
runs. The numbers are those that passes recorded; where nobody knows one now, none is told.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from reconciler.ledger.work import LiveReplicas
from reconciler.record.binding_status import expected_clusters
from reconciler.record.recorded_status import path_in_cluster
from render.binding import Binding
from render.model import Manifest, ObjectRef
from render.words import first_few

from .branches import RecordedFleet, is_over

UNKNOWN = "-"
"""The cell of a number that nobody knows."""
_AUTOSCALER = "kube-controller-manager"


class LiveShare(Struct, frozen=True, kw_only=True):
    """The replicas of an object in a cluster: those that its tree says, and those that it asks for there, if known.

    ``seen`` is when that was so, where it changes more often than it is recorded ("": it was so at the last look).
    """

    ref: ObjectRef
    cluster: str
    replicas: int
    live: LiveReplicas | None
    seen: str = ""

    @property
    def is_other(self) -> bool:
        """True where the object is known to ask for another number than its tree says."""
        return has_other_replicas(self.live, self.replicas)


def has_other_replicas(live: LiveReplicas | None, replicas: int | None) -> bool:
    """Say whether an object is known to ask for other replicas than its tree says; one that says none says nothing."""
    return live is not None and bool(replicas) and live.replicas != replicas


class LiveTotal(Struct, frozen=True, kw_only=True):
    """The replicas that the objects of a cluster ask for, as far as they are known, and how many are not known.

    ``seen`` is the first time at which one of them was seen that changes more often than it is recorded ("": none).
    """

    replicas: int = 0
    unknown: int = 0
    seen: str = ""

    def __str__(self) -> str:
        if not self.unknown:
            return str(self.replicas)
        return f"{self.replicas}+?" if self.replicas else UNKNOWN


def live_shares_of_bindings(branches: RecordedFleet, bindings: Iterable[Binding]) -> Iterator[LiveShare]:
    """Yield the replicas of objects in the members that should have them, without those of Jobs that have ended."""
    for binding in bindings:
        replicas, absent, below = binding.placed_replicas, binding.undispatched_clusters, path_in_cluster(binding.ref)
        for name in expected_clusters(binding):
            if name in absent or name not in branches.fleet.members:
                continue
            work = branches.recorded.manifest(f"works/{name}/{below}")
            if binding.ref.group_kind != "Job.batch" or not is_over(work):
                live = _live_replicas_in_work(branches, name, work)
                seen = str(work["observedAt"]) if work and live and "unsettled" in work else ""
                yield LiveShare(ref=binding.ref, cluster=name, replicas=replicas.get(name) or 0, live=live, seen=seen)


def _live_replicas_in_work(branches: RecordedFleet, cluster: str, work: Manifest | None) -> LiveReplicas | None:
    progress = branches.progress.get(cluster)
    is_known = work is not None and progress is not None and progress.is_known
    return LiveReplicas.of_work(work) if work is not None and is_known else None


def live_total_by_cluster(shares: Iterable[LiveShare]) -> Mapping[str, LiveTotal]:
    """Return the sum of every cluster; what has no replicas counts nothing."""
    shares_by_cluster: dict[str, list[LiveShare]] = defaultdict(list)
    for share in shares:
        shares_by_cluster[share.cluster].append(share)
    return {
        name: LiveTotal(
            replicas=sum(each.live.replicas for each in found if each.live is not None),
            unknown=sum(1 for each in found if each.live is None and each.replicas),
            seen=min((each.seen for each in found if each.seen), default=""),
        )
        for name, found in shares_by_cluster.items()
    }


def shares_asking_for_other_replicas(branches: RecordedFleet, shares: Iterable[LiveShare]) -> tuple[LiveShare, ...]:
    """Return the objects that ask for another number than their tree, in the members that have that tree."""
    return tuple(each for each in shares if each.is_other and branches.progress[each.cluster].is_reached)


def field_manager_in_words(manager: str) -> str:
    """Return a field manager, and what it is where its name does not say so.

    >>> field_manager_in_words("kubectl"), field_manager_in_words("kube-controller-manager"), field_manager_in_words("")
    ('kubectl', 'kube-controller-manager (an autoscaler)', '-')
    """
    return f"{manager} (an autoscaler)" if manager == _AUTOSCALER else manager or UNKNOWN


def lines_of_owners(clusters_by_manager: Mapping[str, list[str]]) -> Iterator[str]:
    """Yield a line for each manager that owns the replicas of an object in some clusters; "" where none is recorded."""
    for manager, names in sorted(clusters_by_manager.items()):
        who = f"{field_manager_in_words(manager)} owns the field" if manager else "nobody else is recorded as the owner"
        yield f"LIVE is not what the tree says in {first_few(sorted(names))}: {who}\n"
