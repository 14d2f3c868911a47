"""ClusterTaintPolicies from admitted objects."""

from render.model import Manifest
from render.taint_policy import ClusterTaintPolicy, MatchCondition

from .clusters import taint
from .selectors import cluster_affinity


def cluster_taint_policy(manifest: Manifest, *, path: str = "", document: int = 0) -> ClusterTaintPolicy:
    """Return the value of an admitted ClusterTaintPolicy."""
    metadata, spec = manifest["metadata"], manifest["spec"]
    targets = spec.get("targetClusters")
    return ClusterTaintPolicy(
        name=metadata["name"],
        created=metadata.get("creationTimestamp") or "",
        targets=None if targets is None else cluster_affinity(targets),
        add_on=tuple(map(_match_condition, spec.get("addOnConditions") or ())),
        remove_on=tuple(map(_match_condition, spec.get("removeOnConditions") or ())),
        taints=tuple(map(taint, spec.get("taints") or ())),
        path=path,
        document=document,
    )


def _match_condition(plain: Manifest) -> MatchCondition:
    return MatchCondition(
        condition_type=plain["conditionType"],
        operator=plain["operator"],
        status_values=tuple(plain.get("statusValues") or ()),
    )
