"""Overrides at scale: templates x clusters under ClusterOverridePolicies, as bytes for every (object, cluster)."""

import argparse
import time
from collections.abc import Iterator, Sequence
from typing import Any

from overrides.engine import OverrideEngine
from overrides.parsing import parse_override_policy
from overrides.policy import OverridePolicy
from render.bits import indexes_of_mask
from render.cluster import Cluster
from render.documents import Hole, copy_value, emit_together
from render.model import Manifest

from .corpus import manifests

REGIONS = ("eu", "us", "ap", "sa")
STAGES = ("dev", "test", "prod")
SAMPLE = 5000
WORKLOADS = ({"apiVersion": "apps/v1", "kind": "Deployment"}, {"apiVersion": "apps/v1", "kind": "StatefulSet"})


def main(arguments: list[str]) -> int:
    """Print how many (object, cluster) pairs a second become bytes, and what that took apart."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench overrides")
    parser.add_argument("--templates", type=int, default=1000)
    parser.add_argument("--clusters", type=int, default=1000)
    options = parser.parse_args(arguments)
    clusters = a_fleet(options.clusters)
    templates = [with_hole(manifest) for manifest in manifests(options.templates)]
    engine = OverrideEngine(five_policies(), clusters)
    every = (1 << len(clusters)) - 1

    start = time.process_time()
    classes = [engine.override(template, every) for template in templates]
    overridden = time.process_time()
    pairs = size = rules = 0
    for template_classes in classes:
        for one in template_classes:
            assert one.manifest is not None, one.error
            indexes = indexes_of_mask(one.clusters)
            rules += len({rule.policy for rule in one.applied}) * len(indexes)
            for content in spliced(one.manifest, indexes):
                pairs += 1
                size += len(content)
    ended = time.process_time()
    _print(pairs, sum(map(len, classes)), rules / pairs, size)
    print(f"  override {overridden - start:.2f} CPU s, emit and splice {ended - overridden:.2f} CPU s")
    rate = pairs / (ended - start)
    alone = one_by_one(engine, templates, len(clusters))
    print(f"  one pair at a time: {alone:,.0f} pairs a second, {rate / alone:.0f} times slower")
    print(f"{rate:,.0f} pairs a second on one core (bar: 100,000)")
    return 0


def one_by_one(engine: OverrideEngine, templates: Sequence[dict[str, Any]], clusters: int) -> float:
    """Return the rate without classes: each pair copied, overridden and emitted alone, on a sample of the pairs."""
    start = time.process_time()
    for number in range(SAMPLE):
        template = copy_value(templates[number % len(templates)])
        (alone,) = engine.override(template, 1 << number % clusters)
        assert alone.manifest is not None
        assert next(spliced(alone.manifest, [number])) is not None
    return SAMPLE / (time.process_time() - start)


def _print(pairs: int, classes: int, policies: float, size: int) -> None:
    print(f"{pairs:,} pairs in {classes:,} classes ({pairs / classes:.0f} clusters each), {size / 1e9:.2f} GB")
    print(f"  {policies:.2f} policies apply to a pair on average")


def a_fleet(count: int) -> tuple[Cluster, ...]:
    """Clusters in four regions and three stages."""
    return tuple(
        Cluster(
            name=f"c{n:04}", region=REGIONS[n % 4], labels={"stage": STAGES[n % 3], "tier": "edge" if n % 5 else "core"}
        )
        for n in range(count)
    )


def five_policies() -> list[OverridePolicy]:
    """Five ClusterOverridePolicies of the usual kinds; 3.5 of them match an object in a cluster on average."""
    in_region = [
        {
            "targetCluster": {
                "fieldSelector": {"matchExpressions": [{"key": "region", "operator": "In", "values": [name]}]}
            },
            "overriders": {
                "imageOverrider": [{"component": "Registry", "operator": "replace", "value": f"{name}.r.io"}]
            },
        }
        for name in REGIONS
    ]
    by_stage = [
        {
            "targetCluster": {"labelSelector": {"matchLabels": {"stage": stage}}},
            "overriders": {
                "labelsOverrider": [{"operator": "add", "value": {"stage": stage}}],
                "annotationsOverrider": [{"operator": "add", "value": {"example.com/stage": stage}}],
            },
        }
        for stage in STAGES
    ]
    edge = {"labelSelector": {"matchLabels": {"tier": "edge"}}}
    note = [{"path": "/metadata/annotations/example.com~1edge", "operator": "add", "value": "yes"}]
    urgent = [{"path": "/spec/template/spec/priorityClassName", "operator": "add", "value": "urgent"}]
    drop = [{"operator": "remove", "value": {"app.kubernetes.io/managed-by": ""}}]
    return [
        _policy("a-registry", in_region),
        _policy("b-stage", by_stage),
        _policy("c-edge", [{"targetCluster": edge, "overriders": {"plaintext": note}}]),
        _policy("d-priority", [{"overriders": {"plaintext": urgent}}], WORKLOADS),
        _policy("e-labels", [{"targetCluster": {"labelSelector": {"matchLabels": {"stage": "prod"}}},
                              "overriders": {"labelsOverrider": drop}}]),
    ]  # fmt: skip


def _policy(name: str, rules: Sequence[dict[str, Any]], selectors: Sequence[dict[str, Any]] = ()) -> OverridePolicy:
    return parse_override_policy(
        {"metadata": {"name": name}, "spec": {"resourceSelectors": list(selectors), "overrideRules": list(rules)}}
    )


def with_hole(manifest: dict[str, Any]) -> dict[str, Any]:
    """Return a manifest whose replicas are still open."""
    spec = manifest.get("spec")
    if isinstance(spec, dict) and isinstance(spec.get("replicas"), int):
        return {**manifest, "spec": {**spec, "replicas": Hole("replicas")}}
    return manifest


def spliced(manifest: Manifest, indexes: Sequence[int]) -> Iterator[bytes]:
    """Yield the bytes of every cluster of a class: emitted once, each cluster's number filled in."""
    emitted = emit_together([manifest])[0]
    if not emitted.holes:
        for _ in indexes:
            yield emitted.segments[0]
        return
    head, tail = emitted.segments
    for index in indexes:
        yield b"%b%d%b" % (head, index % 7, tail)
