"""The cost of checks against schemas: a cold pass with them beside one without, in processes of their own, in turn.

The manifests are those of the corpus, eight kinds in turn. Clusters run two versions of Kubernetes, so that each object
is checked when it is read and again for the versions of its clusters; ``--rules`` objects are changed by an override
and checked once more.
"""

import argparse
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.build import Repository, a_cluster, a_cluster_policy, on_clusters

from .bench_render import REGIONS, copied, timed
from .corpus import manifests

BAR = 0.10
VERSIONS = ("v1.33.4", "v1.36.0")


def main(arguments: list[str]) -> int:
    """Print CPU seconds with and without checks, and what they cost; 1 when that is more than the bar."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench schemas")
    parser.add_argument("--templates", type=int, default=2000)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--rules", type=int, default=100)
    parser.add_argument("--unknown", action="store_true", help="no version of any cluster is known")
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args(arguments)
    seconds: dict[str, list[float]] = {"Strict": [], "Off": []}
    with tempfile.TemporaryDirectory() as folder:
        origins = {each: Path(folder) / each for each in seconds}
        for validation, origin in origins.items():
            make_fleet(origin, validation, options)
        for number in range(options.runs):
            for validation, origin in origins.items():
                run = timed(copied(origin, Path(folder) / f"{validation}{number}"))
                seconds[validation].append(run.cpu)
    return reported(options, seconds)


def reported(options: argparse.Namespace, seconds: dict[str, list[float]]) -> int:
    """Print what was measured, and say whether it is below the bar."""
    print(f"{options.templates} templates x {options.clusters} clusters, {options.rules} objects overridden")
    for validation, found in seconds.items():
        print(f"{validation:7} {statistics.median(found):.3f} s CPU, best {min(found):.3f}")
    best = min(seconds["Strict"]) / min(seconds["Off"]) - 1
    # Each pass with checks beside the one that ran next to it: on a busy machine the medians of both drift apart.
    cost = statistics.median(one / other for one, other in zip(seconds["Strict"], seconds["Off"], strict=True)) - 1
    print(f"checks cost {cost:.1%} of a cold pass by the median ({best:.1%} by the best), the bar is {BAR:.0%}")
    return int(cost > BAR)


def make_fleet(path: Path, validation: str, options: argparse.Namespace) -> None:
    """Write and commit the source of a fleet."""
    repository = Repository.create(path)
    settings = {"apiVersion": "argosy.dev/v1alpha1", "kind": "Fleet", "spec": {"validation": validation}}
    repository.write({"argosy.yaml": settings})
    for number in range(options.clusters):
        repository.write({f"clusters/{number:04}.yaml": running(number, options)})
    for number, manifest in enumerate(manifests(options.templates)):
        repository.write({f"apps/{number:05}.yaml": manifest})
    repository.write({"policy.yaml": everything(options.clusters), "override.yaml": overriding(options.rules)})
    repository.commit({}, "the fleet")


def running(number: int, options: argparse.Namespace) -> dict[str, Any]:
    """Return a cluster of one of the versions."""
    cluster = a_cluster(f"member{number:04}", region=REGIONS[number % 4])
    return cluster if options.unknown else {**cluster, "status": {"kubernetesVersion": VERSIONS[number % 2]}}


def everything(clusters: int) -> dict[str, Any]:
    """Return a policy that sends all there is to every cluster."""
    names = [f"member{number:04}" for number in range(clusters)]
    selectors = [{"apiVersion": version, "kind": kind} for version, kind in sorted(kinds())]
    return a_cluster_policy("everything", selectors=selectors, placement=on_clusters(*names))


def kinds() -> set[tuple[str, str]]:
    """Return the kinds of the corpus."""
    return {(each["apiVersion"], each["kind"]) for each in manifests(8)}


def overriding(count: int) -> dict[str, Any]:
    """Return a policy that changes a field of some Deployments in each region."""
    names = [each["metadata"]["name"] for each in manifests(8 * count) if each["kind"] == "Deployment"][:count]
    edit = {"plaintext": [{"path": "/spec/minReadySeconds", "operator": "add", "value": 5}]}
    rules = [{"targetCluster": {"fieldSelector": on_region(region)}, "overriders": edit} for region in REGIONS]
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "ClusterOverridePolicy",
        "metadata": {"name": "by-region"},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name} for name in names],
            "overrideRules": rules,
        },
    }


def on_region(region: str) -> dict[str, Any]:
    """Return a selector of the clusters of a region."""
    return {"matchExpressions": [{"key": "region", "operator": "In", "values": [region]}]}
