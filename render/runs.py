"""Runs to completion: what clusters report of objects that run once, as Jobs do, and what stays of them for that.

Such an object is not moved like one that runs for ever. What has begun cannot be divided anew, for most of its fields
are fixed, and what is over would run a second time.
"""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from .binding import Binding, Completions
from .model import Manifest, ObjectRef, TargetCluster


class ReportedRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The run of an object in a cluster: it has begun, and ``finish`` says how it ended ("": it goes on)."""

    cluster: str
    finish: str = ""


Runs = Mapping[ObjectRef, Sequence[ReportedRun]]
"""The runs that clusters report, by object."""


def completions_by_cluster(
    manifest: Manifest, binding: Binding, replicas_by_cluster: Mapping[str, int], identity: str
) -> Mapping[str, int]:
    """Return a Job's completions by cluster; empty where each has the template's (Karmada's rule: kind alone).

    Those of clusters in which it has begun stand, and the others share the rest. Ties go by ``identity``, as in the
    division of its replicas.
    """
    total = (manifest.get("spec") or {}).get("completions") if manifest["kind"] == "Job" else None
    if type(total) is not int:
        return {}
    fixed = _recorded_completions(binding.completions, total)
    if not fixed and not (binding.is_divided and any(replicas_by_cluster.values())):
        return {}
    others = {name: count for name, count in replicas_by_cluster.items() if name not in fixed}
    rest = total - sum(fixed.values()) if binding.is_divided else 0
    if rest > 0 and any(others.values()):
        from .scheduling.webster import divide_replicas

        return fixed | divide_replicas(rest, others, uid=identity)
    return fixed | dict.fromkeys(others, 0 if binding.is_divided else total)


def _recorded_completions(recorded: Completions | None, total: int) -> dict[str, int]:
    """Return the completions that a binding records by cluster; nothing where they were of another number."""
    if recorded is None or recorded.total != total:
        return {}
    return {each.name: each.replicas for each in recorded.clusters}


def rescaled_targets(targets: Sequence[TargetCluster], replicas: int, identity: str) -> tuple[TargetCluster, ...]:
    """Return targets with other replicas in all, in the proportions that they have; evenly where they have none."""
    held = {each.name: each.replicas for each in targets}
    if not held or sum(held.values()) == replicas:
        return tuple(targets)
    from .scheduling.webster import divide_replicas

    votes = held if any(held.values()) else dict.fromkeys(held, 1)
    shares = divide_replicas(replicas, votes, uid=identity)
    return tuple(TargetCluster(name, shares.get(name, 0)) for name in held)
