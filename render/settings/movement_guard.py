"""``spec.movementGuard``: the limits on how far one commit may move placed workloads."""

from typing import Annotated

from msgspec import Struct, field

from .setting import ALL_OF, LEAST, MOST, FleetSetting, faults_of_percentage


class MovementBudget(Struct, frozen=True, kw_only=True):
    """The replicas that may move in one commit: at most ``replicas`` and ``percent`` of them (None: no limit)."""

    replicas: Annotated[
        int | None, FleetSetting("replicas", "So many replicas may move; left out means any number.", reach=MOST)
    ] = None
    percent: Annotated[
        int | None,
        FleetSetting(
            "percent",
            "So many percent of all replicas may move; left out means any number.",
            reach=MOST,
            faults=faults_of_percentage,
        ),
    ] = None


class PinnedObject(Struct, frozen=True, kw_only=True):
    """Objects that must never leave the clusters named (none named: any cluster); an empty field means any value."""

    group: Annotated[str, FleetSetting("group", "Their API group; left out means any.")] = ""
    kind: Annotated[str, FleetSetting("kind", "Their kind; left out means any.")] = ""
    namespace: Annotated[str, FleetSetting("namespace", "Their namespace; left out means any.")] = ""
    name: Annotated[str, FleetSetting("name", "Their name; left out means any.")] = ""
    clusters: Annotated[
        tuple[str, ...],
        FleetSetting("clusters", "The clusters they stay in; left out means those they are in.", shown=None),
    ] = ()


def _pinned_objects_in_words(guard: "MovementGuard") -> tuple[str, ...]:
    return tuple(
        "/".join(filter(None, (each.group, each.kind, each.namespace, each.name))) + "@" + ",".join(each.clusters)
        for each in guard.pinned
    )


class MovementGuard(Struct, frozen=True, kw_only=True):
    """The limits on moving placed workloads in one commit: budgets, clusters and regions each keeps, pinned objects."""

    fleet: Annotated[MovementBudget, FleetSetting("fleet", "The limits for all workloads together.")] = field(
        default_factory=MovementBudget
    )
    workload: Annotated[
        MovementBudget,
        FleetSetting(
            "workload",
            "The limits for each workload.",
            sentences={
                "replicas": "So many of its replicas may move; left out means any number.",
                "percent": "So many percent of its replicas may move; left out means any number.",
            },
        ),
    ] = field(default_factory=MovementBudget)
    minimum_clusters: Annotated[
        int, FleetSetting("minimumClusters", "A workload that loses clusters keeps at least so many.", reach=LEAST)
    ] = 0
    minimum_regions: Annotated[
        int, FleetSetting("minimumRegions", "A workload that loses regions keeps at least so many.", reach=LEAST)
    ] = 0
    pinned: Annotated[
        tuple[PinnedObject, ...],
        FleetSetting(
            "pinned", "The objects that never leave a cluster.", reach=ALL_OF, compared=_pinned_objects_in_words
        ),
    ] = ()


MOVEMENT_GUARD = FleetSetting(
    "movementGuard",
    "The limits on how far one commit may move placed workloads. What moves leaves one cluster for another, so that"
    " always the whole commit is refused.",
    in_karmada="Karmada has no guards",
)
