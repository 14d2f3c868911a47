"""OverridePolicies and ClusterOverridePolicies from admitted objects."""

from render.model import Manifest
from render.parsing.selectors import parse_cluster_affinity, parse_resource_selectors

from .overriders import OVERRIDER_TYPES
from .policy import OverridePolicy, OverriderList, Overriders, RuleWithCluster


def parse_override_policy(manifest: Manifest, *, path: str = "", document: int = 0) -> OverridePolicy:
    """Return the value of an admitted policy of either kind.

    Without ``overrideRules`` the deprecated ``targetCluster`` and ``overriders`` are its one rule.
    """
    metadata, spec = manifest["metadata"], manifest["spec"]
    rules = [
        _parse_rule_with_cluster(plain, path=f"spec.overrideRules[{index}]")
        for index, plain in enumerate(spec.get("overrideRules") or ())
    ]
    return OverridePolicy(
        name=metadata["name"],
        namespace=metadata.get("namespace") or "",
        resource_selectors=parse_resource_selectors(spec.get("resourceSelectors")),
        rules=tuple(rules or [_parse_rule_with_cluster(spec, path="spec")]),
        path=path,
        document=document,
        spec=spec,
    )


def _parse_rule_with_cluster(plain: Manifest, *, path: str) -> RuleWithCluster:
    target = plain.get("targetCluster")
    return RuleWithCluster(
        overriders=_parse_overriders(plain.get("overriders") or {}),
        target_cluster=None if target is None else parse_cluster_affinity(target),
        path=path,
    )


def _parse_overriders(plain: Manifest) -> Overriders:
    lists = (OverriderList(each, tuple(map(each.parse, plain.get(each.name) or ()))) for each in OVERRIDER_TYPES)
    return Overriders(tuple(each for each in lists if each.overriders))
