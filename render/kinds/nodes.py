"""Nodes, what they offer, and what the scheduler and other controllers keep about them."""

from .kind import NO_RULES, BuiltInKind, plain_kinds

KINDS = (
    BuiltInKind(
        group="scheduling.k8s.io",
        kind="PriorityClass",
        version="v1",
        is_namespaced=False,
        short_names=("pc",),
        has_no=NO_RULES,
    ),
    *plain_kinds("", "Binding", is_namespaced=True),
    *plain_kinds("", "Event", is_namespaced=True, short_names=("ev",)),
    *plain_kinds("", "ComponentStatus", is_namespaced=False, short_names=("cs",)),
    *plain_kinds("", "Node", is_namespaced=False, short_names=("no",)),
    *plain_kinds("coordination.k8s.io", "Lease LeaseCandidate", is_namespaced=True),
    *plain_kinds("events.k8s.io", "Event", is_namespaced=True, short_names=("ev",)),
    *plain_kinds("lifecycle.k8s.io", "EvictionRequest", is_namespaced=True),
    *plain_kinds("node.k8s.io", "RuntimeClass", is_namespaced=False),
    *plain_kinds("policy", "PodSecurityPolicy", is_namespaced=False),
    *plain_kinds(
        "resource.k8s.io",
        "PodScheduling PodSchedulingContext ResourceClaim ResourceClaimParameters ResourceClaimTemplate"
        " ResourceClassParameters",
        is_namespaced=True,
    ),
    *plain_kinds(
        "resource.k8s.io",
        "DeviceClass DeviceTaintRule ResourceClass ResourcePoolStatusRequest ResourceSlice",
        is_namespaced=False,
    ),
    *plain_kinds("scheduling.k8s.io", "CompositePodGroup PodGroup Workload", is_namespaced=True),
)
"""The kinds about where pods run, and the records of those who run them."""
