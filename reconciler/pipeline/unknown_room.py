"""The policies of a source that divide workloads by room among clusters of which no capacity is known."""

from collections.abc import Mapping, Sequence

from reconciler.source.desired import Desired, interpreter_of_source
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.interpreter import Interpreter, Operation
from render.model import Manifest, ObjectRef
from render.policy import PropagationPolicy
from render.scheduling.unknown_capacity import clusters_of_unknown_capacity, clusters_of_unknown_room

PolicyWithClusters = tuple[PropagationPolicy, tuple[str, ...]]


def policies_of_unknown_room(
    desired: Desired, clusters: Sequence[Cluster], claims: Mapping[ObjectRef, PropagationPolicy]
) -> list[PolicyWithClusters]:
    """Return these policies, each with the clusters; one that claims no workload asks for room nowhere.

    ``clusters`` are those of the source as far as they are known, ``claims`` the policies that claim its templates.
    """
    index = ClusterIndex(clusters)
    unknown = clusters_of_unknown_capacity(index)
    asking = ((policy, clusters_of_unknown_room(policy.placement, index, unknown)) for policy in desired.policies)
    found = [(policy, names) for policy, names in asking if names]
    if not found:
        return []
    interpreter = interpreter_of_source(desired, members=clusters)
    claimed = {
        str(policy)
        for template in desired.templates
        if (policy := claims.get(template.ref)) is not None and _has_replicas(template.manifest, interpreter)
    }
    return [(policy, names) for policy, names in found if str(policy) in claimed]


def _has_replicas(manifest: Manifest, interpreter: Interpreter) -> bool:
    """Say whether an object is of a kind that has replicas, of which it may ask for none at present."""
    return any(interpreter.has(each, manifest) for each in (Operation.INTERPRET_REPLICA, Operation.INTERPRET_COMPONENT))
