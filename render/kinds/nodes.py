"""Nodes, what they offer, and what the scheduler and other controllers keep about them."""

from .kind import NO_LIVE_RULES, NO_PODS, NO_RULES, NO_TEMPLATE_RULES, BuiltInKind, built_in_kinds_without_rules

KINDS = (
    BuiltInKind(
        group="scheduling.k8s.io",
        kind="PriorityClass",
        version="v1",
        is_namespaced=False,
        short_names=("pc",),
        has_no=NO_RULES,
    ),
    *built_in_kinds_without_rules("", "Binding", is_namespaced=True, not_written="it is a request to the scheduler"),
    BuiltInKind(
        group="",
        kind="Event",
        version="v1",
        is_namespaced=True,
        short_names=("ev",),
        not_written="it tells what happened",
        is_transient=True,
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage takes_others_along is_recreatable maps",
    ),
    *built_in_kinds_without_rules(
        "", "ComponentStatus", is_namespaced=False, short_names=("cs",), not_written="it is no object"
    ),
    *built_in_kinds_without_rules("", "Node", is_namespaced=False, short_names=("no",), not_written="it is a machine"),
    BuiltInKind(
        group="coordination.k8s.io",
        kind="Lease",
        version="v1",
        is_namespaced=True,
        not_written="controllers hold it",
        is_transient=True,
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage takes_others_along is_recreatable maps",
    ),
    BuiltInKind(
        group="coordination.k8s.io",
        kind="LeaseCandidate",
        version="v1beta1",
        is_namespaced=True,
        not_written="controllers hold it",
        is_transient=True,
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage takes_others_along is_recreatable maps",
    ),
    BuiltInKind(
        group="events.k8s.io",
        kind="Event",
        version="v1",
        is_namespaced=True,
        short_names=("ev",),
        not_written="it tells what happened",
        is_transient=True,
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage takes_others_along is_recreatable maps",
    ),
    *built_in_kinds_without_rules(
        "lifecycle.k8s.io", "EvictionRequest", is_namespaced=True, not_written="it is a request to the cluster"
    ),
    *built_in_kinds_without_rules("node.k8s.io", "RuntimeClass", is_namespaced=False),
    *built_in_kinds_without_rules("policy", "PodSecurityPolicy", is_namespaced=False),
    *built_in_kinds_without_rules(
        "resource.k8s.io",
        "PodScheduling PodSchedulingContext ResourceClaim ResourceClaimParameters ResourceClaimTemplate"
        " ResourceClassParameters",
        is_namespaced=True,
    ),
    *built_in_kinds_without_rules(
        "resource.k8s.io",
        "DeviceClass DeviceTaintRule ResourceClass ResourcePoolStatusRequest",
        is_namespaced=False,
    ),
    *built_in_kinds_without_rules(
        "resource.k8s.io", "ResourceSlice", is_namespaced=False, not_written="drivers write it"
    ),
    *built_in_kinds_without_rules("scheduling.k8s.io", "CompositePodGroup PodGroup Workload", is_namespaced=True),
)
"""The kinds about where pods run, and the records of those who run them."""
