"""Member clusters as the scheduler reads them: labels, location, taints and what tolerates them, APIs, capacity."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from .placement import Toleration

BLOCKING_EFFECTS = frozenset({"NoSchedule", "NoExecute"})


class Taint(Struct, frozen=True, kw_only=True):
    """A cluster taint; effect ``NoSchedule`` or ``NoExecute``. ``time_added`` is RFC 3339 text ("": not known)."""

    key: str
    value: str = ""
    effect: str = ""
    time_added: str = ""

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


CORDON = Taint(key="cluster.karmada.io/unschedulable", effect="NoSchedule")
"""The taint that ``karmadactl cordon`` puts on a cluster."""

DRAIN = tuple(Taint(key="argosy.dev/drain", effect=effect) for effect in ("NoExecute", "NoSchedule"))
"""The taints that make everything leave a cluster and nothing come."""

ALLOW_UNPLACED = "allow-unplaced"
"""The value of the taints of a drain that takes away what no other cluster takes, too."""


class ClusterCondition(Struct, frozen=True, kw_only=True):
    """A condition of a cluster, such as ``Ready``; ``since`` is when it got this status, as RFC 3339 text."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    since: str = ""


class ResourceModelRange(Struct, frozen=True, kw_only=True):
    """One resource of a grade: from ``min`` up to but excluding ``max``, quantities in Kubernetes' notation."""

    name: str
    min: str
    max: str


class ResourceModel(Struct, frozen=True, kw_only=True):
    """A grade of nodes by their resources."""

    grade: int
    ranges: tuple[ResourceModelRange, ...]

    def plain(self) -> dict[str, Any]:
        """Return the grade as the Cluster API writes it."""
        return {
            "grade": self.grade,
            "ranges": [{"name": each.name, "min": each.min, "max": each.max} for each in self.ranges],
        }


LARGEST = str(2**63 - 1)
"""The upper end of the last grade."""

_CPU = ("0", "1", "2", "4", "8", "16", "32", "64", "128", LARGEST)
_MEMORY = ("0", "4Gi", "16Gi", "32Gi", "64Gi", "128Gi", "256Gi", "512Gi", "1Ti", LARGEST)

DEFAULT_GRADES = tuple(
    ResourceModel(
        grade=grade,
        ranges=(
            ResourceModelRange(name="cpu", min=cpu[0], max=cpu[1]),
            ResourceModelRange(name="memory", min=memory[0], max=memory[1]),
        ),
    )
    for grade, (cpu, memory) in enumerate(zip(pairwise(_CPU), pairwise(_MEMORY), strict=True))
)
"""The grades of a Cluster that declares none: by powers of two of CPU and memory."""


class ResourceSummary(Struct, frozen=True, kw_only=True):
    """Capacity of a cluster: resource name -> quantity text; ``modelings`` maps a grade to its node count.

    ``is_declared``: the source declares it, so that the replicas this fleet has placed are not subtracted yet. Of an
    observed one, ``reserved`` are the amounts earlier passes placed since it was observed.
    """

    allocatable: Mapping[str, str] = field(default_factory=dict)
    allocating: Mapping[str, str] = field(default_factory=dict)
    allocated: Mapping[str, str] = field(default_factory=dict)
    modelings: tuple[tuple[int, int], ...] = ()
    is_declared: bool = False
    reserved: Mapping[str, str] = field(default_factory=dict)


class Cluster(Struct, frozen=True, kw_only=True):
    """A cluster.karmada.io/v1alpha1 Cluster of the source, its status replaced by observed facts where there are any.

    ``api_enablements`` is the set of served ``(apiVersion, kind)``; None means nothing is recorded. ``is_terminating``:
    it has a deletionTimestamp. ``scales`` are the scale subresources recorded of its custom kinds, as plain data.
    ``sync_mode`` is ``Push`` or ``Pull``. ``former_names`` are those it had before it was renamed, the last one last.
    ``kubernetes_version``: such as ``v1.33.1``; "" where nothing tells.
    """

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    provider: str = ""
    region: str = ""
    zones: tuple[str, ...] = ()
    taints: tuple[Taint, ...] = ()
    resource_models: tuple[ResourceModel, ...] = ()
    api_enablements: frozenset[tuple[str, str]] | None = None
    scales: Mapping[tuple[str, str], Mapping[str, Any]] = field(default_factory=dict)
    resource_summary: ResourceSummary | None = None
    is_terminating: bool = False
    sync_mode: str = ""
    former_names: tuple[str, ...] = ()
    kubernetes_version: str = ""
    path: str = ""
    document: int = 0


def is_applied_by_own_agent(cluster: Cluster) -> bool:
    """Return whether a cluster's own agent applies to it."""
    return cluster.sync_mode == "Pull"


def loses_last_copies(cluster: Cluster) -> bool:
    """Return whether a cluster is drained also of what no other cluster takes.

    >>> loses_last_copies(Cluster(name="a", taints=drain_taints(is_unplaced_allowed=True)))
    True
    """
    if not cluster.taints:
        return False
    keys = {each.key for each in DRAIN}
    return any(taint.key in keys and taint.value == ALLOW_UNPLACED for taint in cluster.taints)


def is_drained(cluster: Cluster) -> bool:
    """Return whether a cluster is drained: everything leaves it, until it is uncordoned.

    >>> is_drained(Cluster(name="a", taints=DRAIN)), is_drained(Cluster(name="a", taints=(CORDON,)))
    (True, False)
    """
    return any(taint.key == DRAIN[0].key and taint.effect == DRAIN[0].effect for taint in cluster.taints)


def drain_taints(*, is_unplaced_allowed: bool) -> tuple[Taint, ...]:
    """Return the taints of a drain, which may take away what no other cluster takes."""
    return tuple(replace(each, value=ALLOW_UNPLACED) for each in DRAIN) if is_unplaced_allowed else DRAIN


def is_tolerated(taint: Taint, tolerations: Iterable[Toleration]) -> bool:
    """Say whether any toleration covers a taint: an empty effect covers every effect, an empty key every taint."""
    return any(
        toleration.effect in {"", taint.effect}
        and toleration.key in {"", taint.key}
        and (
            toleration.operator == "Exists"
            or (toleration.operator in {"", "Equal"} and toleration.value == taint.value)
        )
        for toleration in tolerations
    )


def first_untolerated_taint(
    taints: Iterable[Taint], tolerations: Iterable[Toleration], *, effects: frozenset[str] = BLOCKING_EFFECTS
) -> Taint | None:
    """Return the first taint with one of the effects that nothing tolerates, if there is one."""
    return next((taint for taint in taints if taint.effect in effects and not is_tolerated(taint, tolerations)), None)
