"""CPU time of matching and scheduling a whole fleet from nothing: shared placements, or every template its own.

``python -m tests.bench schedule [--templates N] [--clusters N] [--policies N]``
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from render.binding import Binding
from render.cluster import Cluster, ResourceSummary, Taint
from render.cluster_index import ClusterIndex
from render.matching.bindings import Workload, binding_before_scheduling
from render.matching.match import PolicyIndex
from render.model import ObjectRef, Template
from render.parsing.placements import parse_placement
from render.placement import Placement
from render.policy import PropagationPolicy
from render.resources import ReplicaRequirements
from render.scheduling.batch import schedule_all
from render.scheduling.decisions import binding_with_decision
from render.selectors import ResourceSelector

Answer = TypeVar("Answer")
REGIONS, TIERS = ("ap", "eu", "sa", "us-east", "us-west"), ("bronze", "gold", "silver")
SHARED_BAR, OWN_BAR = 0.6, 4.0
STRATEGIES: dict[str, dict[str, object]] = {
    "static": {
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {
            "staticWeightList": [
                {"targetCluster": {"labelSelector": {"matchLabels": {"tier": tier}}}, "weight": weight}
                for weight, tier in enumerate(TIERS, start=1)
            ]
        },
    },
    "dynamic": {
        "replicaDivisionPreference": "Weighted",
        "weightPreference": {"dynamicWeight": "AvailableReplicas"},
    },
    "Aggregated": {"replicaDivisionPreference": "Aggregated"},
}


def some_clusters(count: int) -> list[Cluster]:
    rng = random.Random(1)
    return [
        Cluster(
            name=f"member{number}",
            labels={"tier": rng.choice(TIERS), "env": rng.choice(("dev", "prod")), "rack": f"r{number % 40}"},
            region=rng.choice(REGIONS),
            taints=(Taint(key="gpu", value="only", effect="NoSchedule"),) if number % 50 == 0 else (),
            api_enablements=frozenset({("apps/v1", "Deployment"), ("v1", "ConfigMap")}),
            resource_summary=ResourceSummary(
                allocatable={
                    "cpu": f"{rng.randrange(200, 4000)}",
                    "memory": f"{rng.randrange(800, 16000)}Gi",
                    "pods": "20000",
                },
                allocated={
                    "cpu": f"{rng.randrange(100, 90000)}m",
                    "memory": f"{rng.randrange(1, 300)}Gi",
                    "pods": "300",
                },
            ),
        )
        for number in range(count)
    ]


def some_policies(count: int, strategy: str) -> list[PropagationPolicy]:
    """Policies that select by label; a fifth of them spare one rack, each its own."""
    return [
        PropagationPolicy(
            name=f"policy-{number}",
            resource_selectors=(
                ResourceSelector(api_version="apps/v1", kind="Deployment", name=f"app-{number}")
                if count > 40
                else ResourceSelector(api_version="apps/v1", kind="Deployment", namespace=f"team-{number}"),
            ),
            placement=_placement(number, strategy),
        )
        for number in range(count)
    ]


def _placement(number: int, strategy: str) -> Placement:
    return parse_placement(
        {
            "clusterAffinity": {
                "labelSelector": {"matchExpressions": [{"key": "env", "operator": "Exists"}]},
                "exclude": [f"member{number}"],
            },
            "clusterTolerations": [{"key": "gpu", "operator": "Exists"}] if number % 2 else [],
            "replicaScheduling": {"replicaSchedulingType": "Divided", **STRATEGIES[strategy]},
        }
    )


def some_templates(count: int, policies: int) -> list[Template]:
    return [
        Template(
            ref=ObjectRef("apps", "Deployment", f"team-{number % policies}", f"app-{number}"),
            manifest={
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": f"app-{number}", "labels": {}},
            },
        )
        for number in range(count)
    ]


def some_bindings(templates: Sequence[Template], policies: Sequence[PropagationPolicy], *, own: bool) -> list[Binding]:
    """Match every template; few replica counts and requests in common, or a count of its own for each."""
    index, rng, bindings = PolicyIndex(policies), random.Random(2), []
    needs = [ReplicaRequirements(resource_request={"cpu": f"{n * 50}m", "memory": f"{n * 64}Mi"}) for n in range(1, 21)]
    for number, template in enumerate(templates):
        count = 1 + number if own else rng.choice((1, 2, 3, 5, 10, 20, 50, 100, 500))
        workload = Workload(replicas=count, requirements=needs[number % len(needs)])
        made = binding_before_scheduling(template, index.match(template), workload)
        assert made is not None
        bindings.append(made)
    return bindings


def cpu_seconds(run: Callable[[], Answer]) -> tuple[float, Answer]:
    started = time.process_time()
    answer = run()
    return time.process_time() - started, answer


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench schedule")
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--policies", type=int, default=40)
    options = parser.parse_args(arguments)
    clusters = some_clusters(options.clusters)
    print(f"{options.templates} templates, {options.clusters} clusters; CPU seconds: first pass, the same pass again")
    runs = [
        measured(strategy, clusters, options.templates, options.templates if own else options.policies, own=own)
        for own in (False, True)
        for strategy in STRATEGIES
    ]
    return 1 if any(runs) else 0


def measured(strategy: str, clusters: list[Cluster], count: int, policies: int, *, own: bool) -> bool:
    """Measure one kind of fleet; say whether it is over its bar."""
    templates, made = some_templates(count, policies), some_policies(policies, strategy)
    matching, bindings = cpu_seconds(lambda: some_bindings(templates, made, own=own))
    first, batch = cpu_seconds(lambda: schedule_all(bindings, ClusterIndex(clusters)))
    by_ref = {decision.ref: decision for decision in batch.decisions}
    done = [binding_with_decision(each, by_ref[each.ref]) for each in bindings]
    again, repeated = cpu_seconds(lambda: schedule_all(done, ClusterIndex(clusters)))
    assert all(each.targets is by_ref[each.ref].targets for each in repeated.decisions)
    placed = sum(each.is_scheduled for each in batch.decisions)
    targets = sum(len(each.targets) for each in batch.decisions)
    bar = OWN_BAR if own else SHARED_BAR
    print(
        f"{'own' if own else 'shared':6} {strategy:10} {first:5.2f} (bar {bar}), again {again:5.2f}, "
        f"matching {matching:5.2f}; {placed} placed on {targets} targets"
    )
    return first > bar
