"""Explanations of a cluster and of a policy as sections."""

from collections.abc import Iterator

from render.model import TargetCluster
from render.words import counted

from .explaining_cluster import AbsentObject, ClusterExplanation
from .explaining_policy import PolicyExplanation
from .sections import DITTO, Section, section


def cluster_sections(found: ClusterExplanation) -> Iterator[Section]:
    """Yield what a cluster is, what it holds, and what it does not."""
    where = f" ({found.path})" if found.path else ""
    yield Section(
        title=f"Cluster {found.name}{where}",
        before=(*_traits(found), f"It holds {counted(len(found.held), 'object')}."),
    )
    if found.capacity:
        header = ("RESOURCE", "ALLOCATABLE", "ALLOCATED", "ALLOCATING", "RESERVED")
        rows = [
            (each.resource, each.allocatable, each.allocated, each.allocating, each.reserved) for each in found.capacity
        ]
        yield section(f"Capacity, {found.origin}", header, rows)
    if found.held:
        held = [(str(each.ref), str(each.replicas or ""), each.why) for each in found.held]
        yield section("It holds", ("OBJECT", "REPLICAS", "WHY"), held)
    if found.absent:
        absent = [row for each in found.absent for row in _absent_rows(each)]
        yield section("It does not hold", ("OBJECT", "FILTER", "REASON"), absent)


def _traits(found: ClusterExplanation) -> Iterator[str]:
    located = {"region": found.region, "zones": " ".join(found.zones), "provider": found.provider}
    parts = [f"{key} {value}" for key, value in located.items() if value]
    parts += [f"label {key}={value}" for key, value in sorted(found.labels.items())]
    if parts:
        yield f"{', '.join(parts)}."
    if found.taints:
        yield f"Taints: {', '.join(found.taints)}."
    if found.served is None:
        yield "No APIs of it are recorded."
    if not found.capacity:
        yield "No capacity is known."


def _absent_rows(each: AbsentObject) -> Iterator[tuple[str, str, str]]:
    name = str(each.ref)
    for plugin, reason in each.refused or (("", each.why),):
        yield name, plugin, reason
        name = DITTO


def policy_sections(found: PolicyExplanation) -> Iterator[Section]:
    """Yield what a policy selects, holds and loses."""
    held = [each for each in found.objects if each.holds]
    lost = [each for each in found.objects if not each.holds]
    yield Section(
        title=f"{found.policy} ({found.path})",
        before=(
            f"Priority {found.priority}, preemption {found.preemption}.",
            f"It selects {counted(len(found.objects), 'object')}, holds {len(held)} and loses {len(lost)}.",
        ),
    )
    selectors = [(each.selector, str(each.objects)) for each in found.selectors]
    yield section("Its selectors", ("SELECTOR", "OBJECTS"), selectors)
    if held:
        rows = [(str(each.ref), each.selects_by, " ".join(map(_target, each.targets))) for each in held]
        yield section("It holds", ("OBJECT", "BY", "CLUSTERS"), rows)
    if lost:
        rows_lost = [(str(each.ref), each.selects_by, each.holder, each.why) for each in lost]
        yield section("It selects, but does not hold", ("OBJECT", "BY", "HELD BY", "WHY"), rows_lost)


def _target(target: TargetCluster) -> str:
    return f"{target.name}:{target.replicas}" if target.replicas else target.name
