"""Random histories that are rolled back: what was asked for is as it was, and nothing else has moved.

The judge knows no scheduler: it looks at what clusters had and have, at which of them are in the fleet, and at their
taints.
"""

from collections.abc import Mapping
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import replace

from reconciler.ledger.facts import Facts
from reconciler.pipeline.former_splits import (
    NO_RESTORATIONS,
    Unrestored,
    restorations_of_requests,
    unrestored_shares,
)
from reconciler.pipeline.pass_values import Inputs, Rendered
from reconciler.pipeline.stages import render_pass
from render.binding import Binding
from render.layout import object_path
from render.model import ObjectRef
from render.placement import ReplicaSchedulingType
from tests.random_placements import (
    PassesInMemory,
    a_random_cluster,
    a_random_object,
    a_random_placement,
    desired_of,
    observed_cluster,
)

CLUSTERS, OBJECTS = 6, 6
TO = "b" * 40
PARTS, SEEDS = 10, 10**8
"""A thousand histories take longer than one test may; each part draws its share, of seeds of its own."""
in_parts = pytest.mark.parametrize("part", range(PARTS))
in_shares = settings(max_examples=max(4, settings().max_examples // PARTS))


class World(Struct, kw_only=True):
    """The documents of a source by name, and what is observed of its clusters."""

    clusters: dict[str, dict[str, Any]]
    objects: dict[str, list[dict[str, Any]]]
    facts: Facts

    def documents(self, *more: dict[str, Any]) -> list[dict[str, Any]]:
        """All documents, and more."""
        return [*self.clusters.values(), *(each for both in self.objects.values() for each in both), *more]


def a_random_world(random: Random) -> World:
    members = [a_random_cluster(random, number) for number in range(CLUSTERS)]
    facts = dict(observed_cluster(each, random) for each in members if random.random() < 0.4)
    for each in members:
        if each["metadata"]["name"] in facts:
            del each["status"]
    objects = {f"o{number}": a_random_object(random, number, CLUSTERS) for number in range(OBJECTS)}
    return World(clusters={each["metadata"]["name"]: each for each in members}, objects=objects, facts=facts)


def changed_objects(world: World, random: Random) -> World:
    """The change that is to be rolled back: scaled, edited, placed elsewhere, taken away."""
    objects = deepcopy(world.objects)
    for number, (name, both) in enumerate(world.objects.items()):
        template, policy = objects[name]
        chance = random.random()
        if chance < 0.3 and template["kind"] == "Deployment":
            template["spec"]["replicas"] = random.randint(0, 9)
        elif chance < 0.6:
            policy["spec"]["placement"] = a_random_placement(random, CLUSTERS)
        elif chance < 0.7:
            template["metadata"].setdefault("labels", {})["edited"] = "yes"
        elif chance < 0.8:
            del objects[name]
        elif chance < 0.85:
            objects[name] = a_random_object(random, number, CLUSTERS)
            objects[name][0]["metadata"]["name"] = both[0]["metadata"]["name"]
    return World(clusters=world.clusters, objects=objects, facts=world.facts)


def changed_clusters(world: World, random: Random) -> World:
    """The fleet goes its own way: room comes and goes, clusters leave, join and are tainted."""
    clusters, facts = deepcopy(world.clusters), dict(world.facts)
    for name in sorted(clusters):
        chance = random.random()
        if chance < 0.12:
            del clusters[name]
            facts.pop(name, None)
        elif chance < 0.24:
            effect = random.choice(("NoSchedule", "NoExecute"))
            clusters[name]["spec"]["taints"] = [{"key": "broken", "effect": effect}]
        elif chance < 0.7:
            allocatable = {"cpu": str(random.randint(1, 12)), "memory": "24Gi", "pods": "110"}
            if name in facts:
                sized = {**clusters[name], "status": {"resourceSummary": {"allocatable": allocatable}}}
                facts[name] = observed_cluster(sized, random)[1]
            else:
                clusters[name]["status"] = {"resourceSummary": {"allocatable": allocatable}}
    if random.random() < 0.3:
        joined = a_random_cluster(random, CLUSTERS)
        clusters[joined["metadata"]["name"]] = joined
    return World(clusters=clusters, objects=world.objects, facts=facts)


class Played(Struct, frozen=True, kw_only=True):
    """A history and its rollback: the pass to go back to, the one before, the one that answers, and the next."""

    former: Rendered
    before: Rendered
    after: Rendered
    again: Rendered
    world: World
    asked: frozenset[str]
    shares: tuple[Unrestored, ...]
    memory: PassesInMemory


def played(seed: int) -> Played:
    """Play a history: a fleet, a change and what happens to clusters, and a rollback of everything or of some."""
    random = Random(seed)
    memory, first = PassesInMemory(), a_random_world(random)
    inputs, former = memory.first(desired_of(first.documents()), first.facts)
    world = first
    for step in random.sample((changed_objects, changed_clusters, changed_clusters), 3):
        world = step(world, random)
        inputs = replace(inputs, desired=desired_of(world.documents()), facts=world.facts, source="c" * 40)
        inputs, before = settled(memory, inputs)
    is_whole = random.random() < 0.5
    asked = frozenset(first.objects) if is_whole else frozenset(random.sample(sorted(first.objects), 2))
    objects = {**world.objects, **{name: first.objects[name] for name in asked}}
    world = World(clusters=world.clusters, objects=objects, facts=world.facts)
    return rolled_back(memory, inputs, (former, before), world, asked if not is_whole else frozenset(), asked)


def settled(memory: PassesInMemory, inputs: Inputs) -> tuple[Inputs, Rendered]:
    """Run passes until one changes nothing."""
    rendered = render_pass(inputs)
    for _ in range(5):
        inputs = memory.next_inputs(inputs, rendered)
        root, rendered = rendered.tree.root, render_pass(inputs)
        if rendered.tree.root == root:
            break
    return memory.next_inputs(inputs, rendered), rendered


def rolled_back(
    memory: PassesInMemory,
    inputs: Inputs,
    passes: tuple[Rendered, Rendered],
    world: World,
    named: frozenset[str],
    asked: frozenset[str],
) -> Played:
    former, before = passes
    templates = [world.objects[name][0] for name in sorted(named)]
    parts = {"objects": [_named(each) for each in templates]} if named else {}
    request = {
        "apiVersion": "argosy.dev/v1alpha1",
        "kind": "RollbackRequest",
        "metadata": {"name": "back"},
        "spec": {"to": TO, **parts},
    }
    desired = desired_of(world.documents(request))
    bindings = {each.ref: each for each in former.built.bindings}
    refs = (each.ref for each in desired.templates)
    assert inputs.previous is not None
    found = restorations_of_requests([(desired.rollback_requests[0], bindings)], refs, inputs.previous.bindings)
    asking = replace(inputs, desired=desired, facts=world.facts, source="d" * 40, restorations=found)
    after = render_pass(asking)
    assert render_pass(asking).tree.root == after.tree.root
    again = render_pass(replace(memory.next_inputs(asking, after), restorations=NO_RESTORATIONS))
    shares = unrestored_shares(after.built.schedule)
    return Played(
        former=former, before=before, after=after, again=again, world=world, asked=asked, shares=shares, memory=memory
    )


def _named(template: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": template["apiVersion"],
        "kind": template["kind"],
        "namespace": "default",
        "name": template["metadata"]["name"],
    }


def copies(memory: PassesInMemory, rendered: Rendered) -> dict[tuple[str, ObjectRef], bytes]:
    """Return the bytes that clusters have of all objects with bindings, by their ids."""
    tree = memory.next_inputs(_NOTHING, rendered).previous
    assert tree is not None
    found = {}
    for name, folder in tree.tree.clusters.items():
        for binding in rendered.built.bindings:
            entry = tree.tree.trees.entry(folder, tuple(object_path(binding.ref)))
            if entry is not None:
                found[name, binding.ref] = entry.id
    return found


_NOTHING = Inputs(desired=desired_of([]), facts={}, previous=None, source="a" * 40)


def is_divided(binding: Binding) -> bool:
    scheduling = binding.placement.replica_scheduling if binding.placement else None
    if scheduling is None or scheduling.type is not ReplicaSchedulingType.DIVIDED or not binding.is_workload:
        return False
    return scheduling.division_preference is not None


def allowed(world: World, name: str, had: Mapping[str, int]) -> bool:
    """Say whether a cluster is still there and may have a copy: one with a taint may keep what it has, if that lets."""
    cluster = world.clusters.get(name)
    if cluster is None:
        return False
    effects = {taint["effect"] for taint in cluster["spec"].get("taints", ())}
    return "NoExecute" not in effects and ("NoSchedule" not in effects or name in had)


@in_parts
@in_shares
@given(seed=st.integers(0, SEEDS - 1))
def test_what_was_asked_for_is_as_it_was_and_the_rest_is_named(part: int, seed: int) -> None:
    check_that_all_is_as_it_was_or_named(played(part * SEEDS + seed))


def test_what_waits_where_it_was_is_restored_or_named_as_well() -> None:
    """It had its former targets, one of which had left, and found room by what the same pass took back."""
    check_that_all_is_as_it_was_or_named(played(300003687))


def check_that_all_is_as_it_was_or_named(history: Played) -> None:
    then, now = (copies(history.memory, each) for each in (history.former, history.after))
    present = {each.ref: each for each in history.after.built.bindings}
    had = {each.ref: each.target_replicas for each in history.before.built.bindings}
    named = {(each.cluster, each.ref) for each in history.shares}
    for former in history.former.built.bindings:
        ref = former.ref
        if ref.name not in history.asked or not former.policy:
            continue
        assert ref in present, ref
        unwell = [name for name in former.target_replicas if not allowed(history.world, name, had.get(ref, {}))]
        for name in history.world.clusters:
            is_same = then.get((name, ref)) == now.get((name, ref))
            assert is_same or (name, ref) in named, (ref, name)
            if is_divided(former) and former.targets and not unwell:
                assert is_same, (ref, name)


@in_parts
@in_shares
@given(seed=st.integers(0, SEEDS - 1))
def test_no_cluster_that_is_allowed_loses_its_former_share_for_others(part: int, seed: int) -> None:
    """The clusters that are left of a split have at least what they had, unless nobody takes the rest."""
    check_that_no_share_is_lost(played(part * SEEDS + seed))


def test_where_spread_constraints_chose_other_clusters_no_share_is_lost_either() -> None:
    check_that_no_share_is_lost(played(228373931))


def check_that_no_share_is_lost(history: Played) -> None:
    had = {each.ref: each.target_replicas for each in history.before.built.bindings}
    reasons = {(each.cluster, each.ref): each.reason for each in history.shares}
    for former in history.former.built.bindings:
        if former.ref.name not in history.asked or not is_divided(former) or not former.targets:
            continue
        now = next(each for each in history.after.built.bindings if each.ref == former.ref).target_replicas
        for name, replicas in former.target_replicas.items():
            reason = reasons.get((name, former.ref), "")
            if allowed(history.world, name, had.get(former.ref, {})) and not reason.startswith("nothing of the split"):
                assert now.get(name, 0) >= replicas, (former.ref, name, reason)


@in_parts
@in_shares
@given(seed=st.integers(0, SEEDS - 1))
def test_nothing_else_moves_and_the_next_pass_changes_nothing(part: int, seed: int) -> None:
    history = played(part * SEEDS + seed)
    before = {each.ref: each for each in history.before.built.bindings}
    for after in history.after.built.bindings:
        old = before.get(after.ref)
        if after.ref.name in history.asked or old is None or any(each.status != "True" for each in old.conditions):
            continue
        assert (after.targets, after.answered_requests) == (old.targets, ()), after.ref
    waiting = {each.ref for each in history.after.built.bindings if any(c.status != "True" for c in each.conditions)}
    changed = {
        each.ref
        for each, other in zip(history.after.built.bindings, history.again.built.bindings, strict=True)
        if each.targets != other.targets
    }
    assert changed <= waiting
