"""A source loaded in this process: every blob parsed, and with every parse in the cache."""

import argparse
import gc
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from reconciler.repository.cache import Cache
from reconciler.source.loading import Loaded, load_source
from reconciler.source.reading import Caches, SourceReading
from render.documents import emit
from tests.sources import Content, Source, source_of

from .corpus import manifests

REGIONS = ("eu", "us", "ap", "sa")
APIS = (("apps/v1", "Deployment"), ("apps/v1", "StatefulSet"), ("v1", "Service"), ("v1", "ConfigMap"))


def main(arguments: list[str]) -> int:
    """Print CPU seconds of a cold and of a cached load."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench load")
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=1000)
    parser.add_argument("--policies", type=int, default=40)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args(arguments)
    source = a_source(options)
    with tempfile.TemporaryDirectory() as folder:
        cold = [timed(source, Path(folder) / str(number)) for number in range(options.runs)]
        cached = [timed(source, Path(folder) / "0") for _ in range(options.runs)]
    print(f"{options.templates} templates, {options.clusters} clusters, {options.policies} policies")
    for name, seconds in (("cold", cold), ("cached", cached)):
        print(f"{name:7} {statistics.median(seconds):.3f} s CPU, best {min(seconds):.3f}")
    return 0


def timed(source: Source, folder: Path) -> float:
    """Load once with the cache in a folder and return the CPU seconds it took."""
    gc.collect()
    begun = time.process_time()
    with Cache(folder, "documents", version="bench") as cache:
        loaded = load_source(source.files, SourceReading(source.read, caches=Caches(parsed=cache)))
    seconds = time.process_time() - begun
    _check(loaded)
    return seconds


def _check(loaded: Loaded) -> None:
    if loaded.problems:
        raise SystemExit("\n".join(map(str, loaded.problems[:10])))


def a_source(options: argparse.Namespace) -> Source:
    """Return a source of ordinary manifests, one a file."""
    rng = random.Random(1)
    files: dict[str, Content] = {}
    for number, manifest in enumerate(manifests(options.templates)):
        files[f"apps/{number:04}.yaml"] = emit(manifest)
    for number in range(options.clusters):
        files[f"clusters/{number:04}.yaml"] = emit(a_cluster(rng, f"member{number:04}"))
    for number in range(options.policies):
        files[f"policies/{number:02}.yaml"] = emit(a_policy(rng, f"policy{number:02}", options.clusters))
    return source_of(files)


def a_cluster(rng: random.Random, name: str) -> dict[str, Any]:
    """Return a cluster with declared capacity and APIs."""
    capacity = {"cpu": str(rng.randrange(8, 512)), "memory": f"{rng.randrange(32, 999)}Gi", "pods": "500"}
    apis = [
        {"groupVersion": version, "resources": [{"name": kind.lower() + "s", "kind": kind}]} for version, kind in APIS
    ]
    return {
        "apiVersion": "cluster.karmada.io/v1alpha1",
        "kind": "Cluster",
        "metadata": {"name": name, "labels": {"stage": f"s{rng.randrange(3)}", "tier": rng.choice(("gold", "silver"))}},
        "spec": {"syncMode": "Push", "region": rng.choice(REGIONS), "provider": "example", "zones": ["a", "b"]},
        "status": {
            "kubernetesVersion": "v1.34.1",
            "apiEnablements": apis,
            "resourceSummary": {"allocatable": capacity},
        },
    }


def a_policy(rng: random.Random, name: str, clusters: int) -> dict[str, Any]:
    """Return a policy that divides by weights."""
    weights = [
        {"targetCluster": {"clusterNames": [f"member{rng.randrange(clusters):04}"]}, "weight": rng.randrange(1, 9)}
        for _ in range(5)
    ]
    scheduling = {"replicaSchedulingType": "Divided", "weightPreference": {"staticWeightList": weights}}
    return {
        "apiVersion": "policy.karmada.io/v1alpha1",
        "kind": "PropagationPolicy",
        "metadata": {"name": name, "namespace": rng.choice(("checkout", "search"))},
        "spec": {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "placement": {
                "clusterAffinity": {"labelSelector": {"matchLabels": {"tier": "gold"}}},
                "replicaScheduling": scheduling,
            },
        },
    }
