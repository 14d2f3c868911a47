"""Losses of clusters: each is decided for the objects that it concerns, and equals the ideal pass over everything."""

import random
from collections.abc import Iterable, Mapping

import pytest
from msgspec.structs import replace

from reconciler.pipeline.following_passes import PassMemory, inputs_of_next_pass
from reconciler.pipeline.movements import movements_between
from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.stages import render_pass
from reconciler.simulation.alterations import LostClusters, altered
from reconciler.simulation.loss_outcomes import LossJudge, LossOutcome
from reconciler.simulation.losses import Losses
from reconciler.simulation.objects import ObjectCourse, PlacedReplicas
from reconciler.simulation.passes import ideal_inputs
from reconciler.simulation.simulated_pass import SimulatedPass
from render.binding import Binding
from render.cluster_index import ClusterIndex
from render.model import ObjectRef
from render.placement import SpreadField
from render.prices.cluster_prices import prices_of_clusters
from render.prices.costs import costs_of_bindings
from render.resilience.losses import Loss, clusters_lost_together, losses_of_fleet
from render.scheduling.losses import SchedulerAfterPass

from .random_fleets import random_files
from .supposed_fleets import NINE, inputs_after_first_pass, inputs_of_files


def every_loss(following: Inputs, rng: random.Random) -> list[Loss]:
    """Every loss of one domain of any kind, and some of two."""
    found: list[Loss] = []
    for field in SpreadField:
        together = clusters_lost_together(following.desired.clusters, field)
        pairs = list(losses_of_fleet(together, field, 2))
        found += [*losses_of_fleet(together, field, 1), *rng.sample(pairs, min(3, len(pairs)))]
    return found


def decided(bindings: Iterable[Binding]) -> Mapping[ObjectRef, object]:
    """The decisions about objects: where they are, why not elsewhere, and what requires them."""
    return {
        each.ref: (
            each.targets,
            each.required_by,
            [(one.status, one.reason, one.message) for one in each.conditions if one.type == "Scheduled"],
            [task.from_cluster for task in each.eviction_tasks],
        )
        for each in bindings
        if each.targets or each.required_by or each.conditions
    }


@pytest.mark.parametrize("seed", range(40))
def test_each_loss_is_what_an_ideal_pass_over_everything_says(seed: int) -> None:
    rng = random.Random(seed)
    inputs, _ = inputs_after_first_pass(inputs_of_files(random_files(rng), facts={} if seed % 3 else None))
    base = render_pass(inputs)
    following = inputs_of_next_pass(inputs, base, PassMemory(), NINE)
    losses, placed = Losses.of(following, NINE), {each.ref: each for each in base.built.bindings}
    for loss in every_loss(following, rng):
        lost = [LostClusters(names=loss.clusters)]
        wanted = ideal_inputs(altered(following, lost, NINE), lost, placed)
        ideal = SimulatedPass(at=NINE, inputs=wanted, rendered=render_pass(wanted))
        found = {**placed, **losses.placed_after(loss.clusters).bindings}
        assert decided(found.values()) == decided(ideal.bindings.values()), str(loss)
        assert counted(LossJudge(losses=losses).outcome_of(loss)) == expected(placed, ideal, loss), str(loss)


@pytest.mark.parametrize("seed", range(16))
def test_policies_of_resilience_go_by_the_same_places_as_every_loss(seed: int) -> None:
    """Two ways lead to them: one decides all that a loss concerns, the other only what it is asked about.

    Asked about all that a loss takes, the second one says what the first one does.
    """
    rng = random.Random(seed)
    inputs, _ = inputs_after_first_pass(inputs_of_files(random_files(rng), facts={} if seed % 3 else None))
    base = render_pass(inputs)
    losses, schedule = Losses.of(inputs_of_next_pass(inputs, base, PassMemory(), NINE), NINE), base.built.schedule
    after = SchedulerAfterPass(schedule.scheduler, schedule.bindings, schedule.context)
    for loss in every_loss(losses.inputs, rng):
        moving = [
            each for each in schedule.bindings if targets_left(each, frozenset()) != targets_left(each, loss.clusters)
        ]
        asked = {each.binding.ref: each.binding for each in after.placed_after_loss(loss.clusters, moving)}
        found = losses.placed_after(loss.clusters).bindings
        assert {ref: targets_left(each, loss.clusters) for ref, each in asked.items()} == {
            ref: targets_left(found[ref], loss.clusters) for ref in asked
        }, str(loss)


def targets_left(binding: Binding, lost: frozenset[str]) -> Mapping[str, int]:
    return {each.name: each.replicas for each in binding.targets if each.name not in lost}


PRICES = {
    "apiVersion": "argosy.dev/v1alpha1",
    "kind": "PriceList",
    "metadata": {"name": "prices"},
    "spec": {"currency": "EUR", "prices": [{"perHour": {"cpu": "0.031", "memory": "0.004"}}]},
}


@pytest.mark.parametrize("seed", range(40))
def test_the_cost_of_a_loss_is_the_difference_between_all_that_is_placed(seed: int) -> None:
    """The cost equals that of whole fleets wherever nothing is unknown on either side."""
    rng = random.Random(seed)
    files = {**random_files(rng), "prices": PRICES}
    inputs, _ = inputs_after_first_pass(inputs_of_files(files, facts={} if seed % 3 else None))
    base = render_pass(inputs)
    losses = Losses.of(inputs_of_next_pass(inputs, base, PassMemory(), NINE), NINE)
    desired = losses.inputs.desired
    prices = prices_of_clusters(desired.price_lists, ClusterIndex(desired.clusters))
    for loss in every_loss(losses.inputs, rng):
        left = [
            replace(each, targets=tuple(target for target in each.targets if target.name not in loss.clusters))
            for each in {**losses.placed, **losses.placed_after(loss.clusters).bindings}.values()
        ]
        before, after = (costs_of_bindings(each, prices) for each in (losses.placed.values(), left))
        found = LossJudge(losses=losses).outcome_of(loss).cost
        assert found is not None
        if found.is_unknown:
            assert before.money.unknown or after.money.unknown, str(loss)
        else:
            assert found.amount == after.total - before.total, str(loss)


def counted(outcome: LossOutcome) -> tuple[object, ...]:
    """The numbers and names of which the table of losses is made."""
    broken = {each.ref: each.missing for each in outcome.broken}
    return broken, set(outcome.copies), dict(outcome.stateful), outcome.moved, outcome.objects


def expected(placed: Mapping[ObjectRef, Binding], ideal: SimulatedPass, loss: Loss) -> tuple[object, ...]:
    """The same, as a simulation of this loss alone tells it of each object."""
    manifests = {each.ref: each.manifest for each in ideal.inputs.desired.templates}
    broken, copies, stateful = {}, set(), {}
    for ref, before in placed.items():
        after = ideal.bindings.get(ref)
        course = ObjectCourse(ref=ref, base=before, ideal=after, last=after, placed=PlacedReplicas(lost=loss.clusters))
        each = course.outcome([], manifests.get(ref, {}))
        if each.is_unplaced_ideally:
            broken[ref] = max(0, each.missing_ideally - each.missing_before)
        if each.lost is not None and each.lost.is_duplicated and each.lost.remaining:
            copies.add(ref)
        if each.lost is not None and each.lost.state:
            stateful[ref] = each.lost.state
    members = {cluster.name for cluster in ideal.inputs.desired.clusters} | loss.clusters
    moved = sum(each.displaced_replicas for each in movements_between(placed, ideal.bindings, members))
    held = sum(any(target.name in loss.clusters for target in each.targets) for each in placed.values())
    return broken, copies, stateful, moved, held
