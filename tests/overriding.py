"""Builders of override policies and the fleet they run on."""

from typing import Any

from overrides.engine import OverrideEngine
from overrides.parsing import parse_override_policy
from overrides.policy import OverridePolicy
from render.bits import indexes_of_mask
from render.cluster import Cluster
from render.model import Manifest

CLUSTERS = (
    Cluster(name="eu-1", labels={"env": "prod"}, region="eu", zones=("z1", "z2"), provider="aws"),
    Cluster(name="eu-2", labels={"env": "test"}, region="eu"),
    Cluster(name="us-1", labels={"env": "prod"}, region="us", zones=("z3",)),
)
EVERY = 0b111


def a_rule(*, on: Any = None, **overriders: Any) -> dict[str, Any]:
    """One rule; ``on`` is its target cluster or the name of one."""
    target = {"clusterNames": [on]} if isinstance(on, str) else on
    return {"overriders": overriders, **({} if target is None else {"targetCluster": target})}


def labelled(*, on: Any = None, **labels: str) -> dict[str, Any]:
    """A rule that adds labels."""
    return a_rule(on=on, labelsOverrider=[{"operator": "add", "value": labels}])


def patching(path: str, *value: Any, operator: str = "replace", on: Any = None) -> dict[str, Any]:
    """A rule of one plaintext operation."""
    return a_rule(on=on, plaintext=[{"path": path, "operator": operator, **({"value": value[0]} if value else {})}])


def selecting(**selector: Any) -> list[dict[str, Any]]:
    """The selector of a Deployment, with more conditions."""
    return [{"apiVersion": "apps/v1", "kind": "Deployment", **selector}]


def an_override(
    name: str, *rules: dict[str, Any], namespace: str = "", selectors: Any = None, path: str = "", **spec: Any
) -> OverridePolicy:
    """A ClusterOverridePolicy, or an OverridePolicy where a namespace is given."""
    manifest = {
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"resourceSelectors": selectors, "overrideRules": list(rules), **spec},
    }
    return parse_override_policy(manifest, path=path or f"overrides/{name}.yaml")


def results(policies: list[OverridePolicy], manifest: Manifest, clusters: int = EVERY) -> dict[str, Any]:
    """Return the manifest of each cluster, or the error as text."""
    engine = OverrideEngine(policies, CLUSTERS)
    return {
        CLUSTERS[index].name: str(overridden.error) if overridden.error else overridden.manifest
        for overridden in engine.override(manifest, clusters)
        for index in indexes_of_mask(overridden.clusters)
    }
