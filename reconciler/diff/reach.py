"""The reach of a change: the clusters it touches, the workloads it leaves in one cluster alone, and what holds it back.

A workload all of whose replicas are in one cluster is gone with that cluster until they are placed elsewhere: what
stands so before and after a change is the part of its risk that needs no forecast.
"""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice

from reconciler.source.desired import Desired
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.model import Manifest, ObjectRef
from render.rollouts.calendar import is_frozen_by
from render.rollouts.fleet_calendar import FleetCalendar, is_object_covered
from render.rollouts.one_way import one_way_changes
from render.rollouts.policy import Freeze
from render.rollouts.selection import RolloutIndex
from render.timing import instant_text

from .difference import Difference
from .resilience import ResilienceEffect
from .risks import FreezeInForce, Risk

Bindings = Mapping[ObjectRef, Binding]
Change = tuple[ObjectRef, Manifest, Manifest]
"""An object that is another one in some cluster, with its manifest before and after."""


def risk_of_difference(
    found: Difference, desired: Desired, bindings: tuple[Bindings, Bindings], changes: Iterable[Change], now: datetime
) -> Risk:
    """Return the risk of what differs, given the source after it, the bindings on both sides, and the time."""
    one_way = {each for ref, before, after in changes for each in one_way_changes(ref, before, after)}
    alone = [len(objects_in_one_cluster(side.values())) for side in bindings]
    touched = frozenset(total.name for total in found.clusters)
    return Risk(
        clusters=len(touched),
        members=len(touched | frozenset(found.members)),
        moved=found.moved_replicas + found.replicas_placed_anew,
        replicas=found.replicas,
        alone_before=alone[0],
        alone_after=alone[1],
        lost=_count_of_objects(found, ResilienceEffect.LOST),
        gained=_count_of_objects(found, ResilienceEffect.GAINED),
        one_way=tuple(sorted(one_way, key=lambda each: (each.ref, each.reason))),
        freezes=tuple(sorted(set(_freezes_in_force(desired, _clusters_by_changed_object(found), now)))),
    )


def _count_of_objects(found: Difference, effect: ResilienceEffect) -> int:
    """Count the objects to whose resilience something happens."""
    return len({each.judgement.requirement.ref for each in found.resilience if each.effect is effect})


def objects_in_one_cluster(bindings: Iterable[Binding]) -> frozenset[ObjectRef]:
    """Return the objects all of whose replicas are in one cluster."""
    return frozenset(each.ref for each in bindings if _is_in_one_cluster(each))


def _is_in_one_cluster(binding: Binding) -> bool:
    """Say whether exactly one cluster has replicas of an object; a look at the second of many is enough."""
    if binding.kept or binding.overridden or binding.components:
        counts: Iterable[int] = binding.placed_replicas.values()
    else:
        counts = (target.replicas for target in binding.targets)
    return len(list(islice(filter(None, counts), 2))) == 1


def _clusters_by_changed_object(found: Difference) -> Mapping[ObjectRef, frozenset[str]]:
    """Return the objects that change, each with the clusters in which it does."""
    clusters: dict[ObjectRef, set[str]] = {}
    for change in found.objects:
        clusters.setdefault(change.ref, set()).update(change.clusters)
    for movement in found.movements:
        clusters.setdefault(movement.ref, set()).update(each.cluster for each in movement.changes)
    return {ref: frozenset(names) for ref, names in clusters.items()}


def _freezes_in_force(
    desired: Desired, clusters_by_object: Mapping[ObjectRef, frozenset[str]], now: datetime
) -> Iterator[FreezeInForce]:
    """Yield the freezes of argosy.yaml and of rollout policies that hold now, and are about some of these objects."""
    if desired.fleet.rollouts.freezes:
        index = ClusterIndex(desired.clusters)
        touched = {ref: index.clusters_named(names) for ref, names in clusters_by_object.items()}
        for each in FleetCalendar.of(desired.fleet.rollouts, index).freezes:
            if any(mask & each.clusters and is_object_covered(each.covered, ref) for ref, mask in touched.items()):
                yield from _freezes_that_hold([each.freeze], now)
    if any(policy.freezes for policy in desired.rollout_policies):
        policies = RolloutIndex(desired.rollout_policies)
        for template in desired.templates:
            policy = policies.policy_for_template(template) if template.ref in clusters_by_object else None
            yield from _freezes_that_hold(policy.freezes if policy else (), now)


def _freezes_that_hold(freezes: Iterable[Freeze], now: datetime) -> Iterator[FreezeInForce]:
    for each in freezes:
        if is_frozen_by(each, now):
            yield FreezeInForce(until=instant_text(each.ends), reason=each.reason)
