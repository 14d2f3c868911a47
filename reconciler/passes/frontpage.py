"""README.md of the rendered branch: counts for people who browse it, derived from what it holds alone."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from render.binding import Binding
from render.bits import Mask, members
from render.model import TargetCluster

_INTRODUCTION = """\
# What every cluster must hold

Written by Argosy; edit the source instead. `clusters/<cluster>/` is a folder that `kubectl apply -R -f`, Argo CD or
Flux can use as it is. `bindings/` says which object goes where with how many replicas, and why.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterCount:
    """One line of the front page: objects held and replicas bound there; ``note`` says what is special."""

    objects: int
    replicas: int
    note: str = ""


def front_page(counts: Mapping[str, ClusterCount], bindings: Mapping[str, int]) -> bytes:
    """Return the page: a line per cluster, then how many bindings are in which state.

    ``bindings`` maps the reason of a binding's Scheduled condition (``Success``, ``NoClusterFit`` ...) to a number.
    """
    lines = [_INTRODUCTION, "| cluster | objects | replicas | |", "|---|---:|---:|---|"]
    lines += [
        f"| [{name}](clusters/{name}) | {count.objects} | {count.replicas} | {count.note} |"
        for name, count in sorted(counts.items())
    ]
    lines += ["", "| bindings | |", "|---|---:|"]
    lines += [f"| {reason} | {number} |" for reason, number in sorted(bindings.items())]
    return ("\n".join(lines) + "\n").encode()


def objects_by_index(held: Iterable[Mask]) -> Counter[int]:
    """Count the objects of each cluster, given who holds each object; equal sets are counted once."""
    counts: Counter[int] = Counter()
    for clusters, number in Counter(held).items():
        for index in members(clusters):
            counts[index] += number
    return counts


def replicas_by_cluster(bindings: Iterable[Binding]) -> Counter[str]:
    """Sum the replicas bound to each cluster; bindings that share a target list are counted once."""
    lists: dict[int, tuple[tuple[TargetCluster, ...], int]] = {}
    for binding in bindings:
        _, number = lists.get(id(binding.targets), (binding.targets, 0))
        lists[id(binding.targets)] = (binding.targets, number + 1)
    counts: Counter[str] = Counter()
    for targets, number in lists.values():
        for target in targets:
            counts[target.name] += target.replicas * number
    return counts


def scheduled_reason(binding: Binding) -> str:
    """Return the reason of a binding's Scheduled condition."""
    return next((each.reason for each in binding.conditions if each.type == "Scheduled"), "Unknown")
