"""Headroom: how many more replicas fit is what passes place, one replica more after the other."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from reconciler.pipeline.pass_values import Inputs
from reconciler.pipeline.stages import render_pass
from reconciler.source.facts import clusters_corrected_by_facts
from render.binding import Binding
from render.model import Template
from render.quantity import parse_quantity
from render.scheduling.headroom import headroom_of_binding
from render.scheduling.losses import SchedulerAfterPass
from tests.build import Repository, argosy, on_clusters, weighted
from tests.random_placements import PassesInMemory, a_random_fleet
from tests.test_check_resilience import AGGREGATED, DUPLICATED, NOWHERE_KNOWN, STATIC, THREE, a_member, web, web_of
from tests.test_simulate import NINE, fleet_of

MOST = 40
"""No random fleet has room for so many more replicas of an object in any way."""


def placed_by_pass(inputs: Inputs, template: Template, more: int) -> Binding:
    """Return the binding that a whole pass makes of an object with so many replicas more."""
    spec = {**template.manifest["spec"], "replicas": template.manifest["spec"]["replicas"] + more}
    scaled = replace(template, manifest={**template.manifest, "spec": spec})
    templates = tuple(scaled if each.ref == template.ref else each for each in inputs.desired.templates)
    built = render_pass(replace(inputs, desired=replace(inputs.desired, templates=templates))).built
    return next(each for each in built.bindings if each.ref == template.ref)


def free_amounts(inputs: Inputs, placed: list[Binding]) -> dict[str, dict[str, Any]]:
    """Return what is free in each cluster beside what is placed, counted by hand from what is known of it."""
    free: dict[str, dict[str, Any]] = {}
    for cluster in clusters_corrected_by_facts(inputs.desired.clusters, inputs.facts):
        summary = cluster.resource_summary
        assert summary is not None
        left = {name: parse_quantity(each) for name, each in summary.allocatable.items()}
        for name, each in summary.allocated.items():
            left[name] -= parse_quantity(each)
        free[cluster.name] = left
    for binding in placed:
        requests = binding.requirements.resource_request if binding.requirements else {}
        for name, count in binding.target_replicas.items() if binding.is_workload else ():
            free[name]["pods"] -= count
            for resource, amount in requests.items():
                free[name][resource] -= parse_quantity(amount) * count
    return free


def has_room(before: Binding, after: Binding, free: dict[str, dict[str, Any]]) -> bool:
    """Say whether a pass placed all, and each cluster has room for what it gains."""
    condition = next(each for each in after.conditions if each.type == "Scheduled")
    requests = after.requirements.resource_request if after.requirements else {}
    for name, count in after.target_replicas.items():
        gained = count - before.target_replicas.get(name, 0)
        needed = {"pods": gained, **{each: parse_quantity(amount) * gained for each, amount in requests.items()}}
        if gained > 0 and any(free[name][each] < amount for each, amount in needed.items()):
            return False
    return condition.status == "True"


@pytest.mark.parametrize("seed", range(12))
def test_it_equals_a_search_by_whole_passes(seed: int) -> None:
    inputs, rendered = PassesInMemory().first(*a_random_fleet(Random(seed), clusters=4, objects=4, spread=False))
    schedule = rendered.built.schedule
    after = SchedulerAfterPass(schedule.scheduler, schedule.bindings, schedule.context)
    free = free_amounts(inputs, list(rendered.built.bindings))
    templates = {each.ref: each for each in inputs.desired.templates}
    for binding in schedule.bindings:
        if not binding.is_workload or not binding.targets:
            continue
        fitting = 0
        while fitting < MOST and has_room(binding, placed_by_pass(inputs, templates[binding.ref], fitting + 1), free):
            fitting += 1
        found = headroom_of_binding(after, binding).fits
        assert found is not None
        assert min(found, MOST) == fitting, binding.ref


def a_fleet(path: Path, *documents: Any) -> Repository:
    repository = Repository.create(path)
    repository.commit({"all.yaml": list(documents)})
    return repository


ANSWERS: tuple[tuple[str, list[Any], int, str], ...] = (
    ("by room", [*THREE, *web(6)], 0, "6 more replicas fit; eu-1 gives out first, by cpu"),
    ("packed", [*THREE, *web(2, placed={"replicaScheduling": AGGREGATED})], 0,
     "10 more replicas fit; eu-1 gives out first, by cpu"),
    ("by weights, one of them small", [*THREE[:2], a_member("us-1", 3, region="us"), *web(6, placed=STATIC)], 0,
     "3 more replicas fit; us-1 gives out first, by cpu"),
    ("one cluster", [*THREE, *web(3, placed=on_clusters("us-1", replicaScheduling=weighted(**{"us-1": 1})))], 0,
     "1 more replica fits; us-1 gives out first, by cpu"),
    ("nothing", [*THREE, *web(12)], 1, "no more replicas fit; eu-1 gives out first, by cpu"),
    ("beside another", [*THREE, *web(6), *web_of("api", 4)], 0, "2 more replicas fit; us-1 gives out first, by cpu"),
    ("pods are over first", [*THREE, *web(6, cpu="1m")], 0, "291 more replicas fit; eu-1 gives out first, by pods"),
    ("copies", [*THREE, *web(1, placed=DUPLICATED)], 0,
     "3 more replicas fit in each copy, and 0 more copies in other clusters; eu-1 gives out first, by cpu"),
    ("no capacity is known", [*NOWHERE_KNOWN, *web(6, placed=STATIC)], 1,
     "nobody can tell how many more: no capacity is known of us-1"),
)  # fmt: skip


@pytest.mark.parametrize(("why", "documents", "code", "words"), ANSWERS, ids=[each[0] for each in ANSWERS])
def test_the_answer_names_what_gives_out_first(
    why: str, documents: list[Any], code: int, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended = argosy(a_fleet(tmp_path, *documents), capsys, "simulate", "--headroom", "deploy/web", "-n", "shop")
    assert (ended.code, ended.out.partition("\n")[0]) == (code, f"Deployment.apps shop/web: {words}"), why


def test_what_is_supposed_counts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path, *THREE, *web(6))
    assert argosy(repository, capsys, "render", "--commit", "--bootstrap").code == 0
    asked = ("simulate", "--headroom", "deploy/web", "-n", "shop", "-o", "json")
    assert json.loads(argosy(repository, capsys, *asked).out)["fits"] == 6
    assert json.loads(argosy(repository, capsys, *asked, "--without-cluster", "us-1").out)["fits"] == 2
    assert json.loads(argosy(repository, capsys, *asked, "--capacity", "us-1=cpu=10").out)["fits"] == 12
    scaled = json.loads(argosy(repository, capsys, *asked, "--scale", "deploy/web=8").out)
    assert (scaled["replicas"], scaled["fits"]) == (8, 4)


def test_an_object_without_replicas_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    repository = a_fleet(tmp_path, *THREE, *web(6))
    nowhere = argosy(repository, capsys, "simulate", "--headroom", "deploy/wep", "-n", "shop")
    assert (nowhere.code, "the source has no deploy called 'wep'" in nowhere.err) == (2, True)
    repository.commit({"all.yaml": [*THREE, web(6)[0]]})
    unplaced = argosy(repository, capsys, "simulate", "--headroom", "deploy/web", "-n", "shop")
    assert (unplaced.code, "no policy places Deployment.apps shop/web" in unplaced.err) == (2, True)


def test_what_is_lost_is_not_counted_among_the_clusters_that_there_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The StatefulSet may go to paris alone; without it, neither of the two others is for it."""
    fleet = fleet_of(tmp_path)
    asked = ("simulate", "--headroom", "sts/db", "--without-cluster", "paris", *NINE)
    found = json.loads(argosy(fleet, capsys, *asked, "-o", "json").out)
    none = "0/2 clusters are available: 2 cluster(s) did not match the placement cluster affinity constraint."
    assert (found["fits"], found["reason"]) == (0, none)
    assert found["assumptions"][-1] == "each further replica requests what one requests now"
    assert f"ONE MORE\n  {none}\n" in argosy(fleet, capsys, *asked).out
