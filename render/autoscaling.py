"""The bounds of a FederatedHPA: what its workload has at least and at most, whatever metrics say.

A pass keeps replicas within the bounds alone. Metrics change by the second and are in no commit; members' own
autoscalers follow them better.
"""

from msgspec import Struct

from render.model import Manifest, ObjectRef, group_of

AUTOSCALING_GROUP, FEDERATED_HPA = "autoscaling.karmada.io", "FederatedHPA"


class ReplicaBounds(Struct, frozen=True, kw_only=True):
    """The least and the most replicas of a workload."""

    minimum: int
    maximum: int

    def clamped_replicas(self, replicas: int) -> int:
        """Return the number of replicas within the bounds; none stay none, for that switches an autoscaler off."""
        return min(max(replicas, self.minimum), self.maximum) if replicas else 0


class FederatedAutoscaler(Struct, frozen=True, kw_only=True):
    """A FederatedHPA of the source: what it scales, its bounds, and where it stands."""

    ref: ObjectRef
    target: ObjectRef
    bounds: ReplicaBounds
    path: str = ""
    document: int = 0


def federated_autoscaler(manifest: Manifest, *, path: str = "", document: int = 0) -> FederatedAutoscaler:
    """Return the value of an admitted FederatedHPA; what it scales is in its own namespace."""
    ref, spec = ObjectRef.of(manifest), manifest["spec"]
    target = spec["scaleTargetRef"]
    return FederatedAutoscaler(
        ref=ref,
        target=ObjectRef(group_of(target.get("apiVersion") or ""), target["kind"], ref.namespace, target["name"]),
        bounds=ReplicaBounds(minimum=spec["minReplicas"], maximum=spec["maxReplicas"]),
        path=path,
        document=document,
    )
