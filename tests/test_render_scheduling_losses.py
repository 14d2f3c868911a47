"""A loss that is asked about after a pass has the outcome of a pass over the source without the lost clusters."""

from collections.abc import Collection, Mapping
from itertools import combinations
from random import Random

import pytest
from msgspec.structs import replace

from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.scope import Scope, refs_with_their_namespaces
from reconciler.pipeline.stages import render_pass
from render.former_split import FormerSplit
from render.model import ObjectRef, TargetCluster
from render.scheduling.losses import SchedulerAfterPass
from tests.build import NGINX, a_cluster, a_deployment, a_policy, weighted
from tests.random_placements import PassesInMemory, a_random_fleet, desired_of

Placed = Mapping[ObjectRef, Mapping[str, int]]


def placed_by_pass(inputs: Inputs, before: Rendered, lost: Collection[str], among: Collection[ObjectRef]) -> Placed:
    """Return where a pass over the source without some clusters places some objects; all others stay."""
    clusters = tuple(each for each in inputs.desired.clusters if each.name not in lost)
    others = tuple(each for each in before.built.bindings if each.ref not in among)
    scope = Scope(refs=refs_with_their_namespaces(among), tally=before.tally, others=others)
    without = replace(inputs, desired=replace(inputs.desired, clusters=clusters), scope=scope)
    found = (each for each in render_pass(without).built.bindings if each.ref in among)
    return {
        each.ref: {name: count for name, count in each.target_replicas.items() if name not in lost} for each in found
    }


def losses_of(inputs: Inputs) -> list[tuple[str, ...]]:
    names = [each.name for each in inputs.desired.clusters]
    return [*((name,) for name in names), *combinations(names, 2)]


@pytest.mark.parametrize("seed", range(40))
def test_what_is_asked_after_a_pass_equals_a_whole_pass(seed: int) -> None:
    inputs, rendered = PassesInMemory().first(*a_random_fleet(Random(seed)))
    schedule = rendered.built.schedule
    after = SchedulerAfterPass(schedule.scheduler, schedule.bindings, schedule.context)
    for lost in losses_of(inputs):
        concerned = [each for each in schedule.bindings if any(target.name in lost for target in each.targets)]
        placed = (each.binding for each in after.placed_after_loss(lost, concerned))
        found = {each.ref: dict(each.target_replicas) for each in placed}
        assert found == placed_by_pass(inputs, rendered, lost, found.keys()), lost


def test_a_former_split_that_the_pass_restored_is_not_restored_once_more() -> None:
    policy = a_policy("web", selectors=[NGINX], placement={"replicaScheduling": weighted(a=1, b=1, c=1)})
    documents = [*map(a_cluster, "abc"), a_deployment(replicas=6), policy]
    _, rendered = PassesInMemory().first(desired_of(documents), {})
    schedule = rendered.built.schedule
    after = SchedulerAfterPass(schedule.scheduler, schedule.bindings, schedule.context)
    split = FormerSplit(request="back", replicas=6, targets=(TargetCluster("a", 6),))
    (placed,) = after.placed_after_loss({"c"}, [replace(each, restored=split) for each in schedule.bindings])
    assert placed.binding.target_replicas == {"a": 3, "b": 3}


@pytest.mark.parametrize("seed", range(30))
def test_what_is_certain_without_a_decision_is_so(seed: int) -> None:
    """A decision places everything of which the bounds say so, with room for each replica."""
    inputs, rendered = PassesInMemory().first(*a_random_fleet(Random(seed), spread=False))
    schedule = rendered.built.schedule
    after = SchedulerAfterPass(schedule.scheduler, schedule.bindings, schedule.context)
    for lost in losses_of(inputs):
        concerned = [each for each in schedule.bindings if any(target.name in lost for target in each.targets)]
        for asked in (concerned, *([each] for each in concerned)):
            outcomes = after.certain_outcomes(lost, asked)
            before = {each.ref: each for each in asked}
            for placed in after.placed_after_loss(lost, asked) if outcomes is not None else ():
                binding, former = placed.binding, before[placed.binding.ref]
                assert not placed.without_room
                assert not placed.of_unknown_room
                if outcomes is not None and binding.is_divided and outcomes[binding.ref]:
                    assert sum(binding.target_replicas.values()) == binding.replicas
                else:
                    assert binding.targets == tuple(each for each in former.targets if each.name not in lost)
