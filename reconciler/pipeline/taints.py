"""The taints of clusters that have a time: those of ClusterTaintPolicies, and NoExecute taints of the source.

A taint in a file has no time of its own, and one by a policy lasts from when it was added. The rendered branch keeps
both in ``taints.yaml``; what left the source, or the policies, leaves the file.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.ledger.branch_file import converted_to_struct, object_of_any_size, plain_data
from reconciler.ledger.health import ObservedHealth
from render.cluster import Cluster, Taint
from render.cluster_index import ClusterIndex
from render.documents import emit
from render.failover.health import key_and_effect_of_taint
from render.failover.taint_eviction import NO_EXECUTE
from render.failover.taint_policies import taints_after_policies
from render.model import ARGOSY_API_VERSION
from render.policy import ClusterTaintPolicy
from render.timing import instant_text

TAINTS_FILE = "taints.yaml"
KIND = "ClusterTaints"

Taints = Mapping[str, tuple[Taint, ...]]
"""The recorded taints by cluster name; a cluster without an entry has none."""


class TaintedClusters(Struct, frozen=True, kw_only=True):
    """The clusters with all of their taints, those to record, and those that policies added."""

    clusters: tuple[Cluster, ...]
    recorded: Taints = field(default_factory=dict)
    by_policy: Taints = field(default_factory=dict)


def tainted_clusters(
    clusters: Iterable[Cluster],
    policies: Iterable[ClusterTaintPolicy],
    health: ObservedHealth,
    before: Taints,
    now: datetime,
) -> TaintedClusters:
    """Return the clusters with the taints of policies, and with the time of what the source taints."""
    index, found = ClusterIndex(clusters), tuple(policies)
    targets = {
        policy.name: index.all if policy.targets is None else index.clusters_matching_affinity(policy.targets)
        for policy in found
    }
    tainted: list[Cluster] = []
    recorded: dict[str, tuple[Taint, ...]] = {}
    by_policy: dict[str, tuple[Taint, ...]] = {}
    for position, cluster in enumerate(index.clusters):
        known = {key_and_effect_of_taint(taint): taint for taint in before.get(cluster.name, ())}
        own = tuple(_with_time_added(taint, known, now) for taint in cluster.taints)
        concerned = [policy for policy in found if targets[policy.name] >> position & 1]
        kept = _lasting_taints(known, own, concerned)
        taints = taints_after_policies((*own, *kept), health.conditions.get(cluster.name, ()), concerned, now)
        present = set(map(key_and_effect_of_taint, own))
        added = tuple(taint for taint in taints if key_and_effect_of_taint(taint) not in present)
        lasting = tuple(taint for taint in own if taint.effect == NO_EXECUTE and taint not in cluster.taints)
        tainted.append(cluster if taints == cluster.taints else replace(cluster, taints=taints))
        recorded |= {cluster.name: (*lasting, *added)} if lasting or added else {}
        by_policy |= {cluster.name: added} if added else {}
    return TaintedClusters(clusters=tuple(tainted), recorded=recorded, by_policy=by_policy)


def _with_time_added(taint: Taint, known: Mapping[tuple[str, str], Taint], now: datetime) -> Taint:
    """Return a taint of the source with its time: that of when it was first seen, unless it tells one."""
    if taint.effect != NO_EXECUTE or taint.time_added:
        return taint
    before = known.get(key_and_effect_of_taint(taint))
    return replace(taint, time_added=before.time_added if before and before.time_added else instant_text(now))


def _lasting_taints(
    known: Mapping[tuple[str, str], Taint], own: Iterable[Taint], policies: Iterable[ClusterTaintPolicy]
) -> tuple[Taint, ...]:
    """Return the recorded taints that a policy still speaks of, and the source does not."""
    spoken = {key_and_effect_of_taint(taint) for policy in policies for taint in policy.taints}
    present = set(map(key_and_effect_of_taint, own))
    return tuple(taint for key, taint in known.items() if key in spoken and key not in present)


class _RecordedTaint(Struct, frozen=True, kw_only=True, omit_defaults=True):
    key: str
    value: str | None = None
    effect: str
    time_added: str | None = field(name="timeAdded", default=None)


class _TaintsFile(Struct, frozen=True, kw_only=True):
    api_version: str = field(name="apiVersion", default=ARGOSY_API_VERSION)
    kind: str = KIND
    clusters: dict[str, list[_RecordedTaint]]


def taints_file(taints: Taints) -> bytes:
    """Return taints as the file that records them."""
    clusters = {name: list(map(_recorded_taint, found)) for name, found in taints.items()}
    return emit(plain_data(_TaintsFile(clusters=clusters)))


def _recorded_taint(taint: Taint) -> _RecordedTaint:
    return _RecordedTaint(
        key=taint.key, value=taint.value or None, effect=taint.effect, time_added=taint.time_added or None
    )


def parse_taints(content: bytes) -> Taints:
    """Read taints back from their file; FileFault where it is not as it was written."""
    clusters = converted_to_struct(object_of_any_size(content), _TaintsFile).clusters
    return {name: tuple(map(_taint_of_recorded, found)) for name, found in clusters.items()}


def _taint_of_recorded(recorded: _RecordedTaint) -> Taint:
    return Taint(
        key=recorded.key,
        value=recorded.value or "",
        effect=recorded.effect,
        time_added=recorded.time_added or "",
    )
