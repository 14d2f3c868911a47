"""Services, ingresses and imported services."""

from collections.abc import Mapping, Sequence
from typing import Any

from render.interpretation.fields import (
    count_at,
    manifest_with_value,
    manifest_without_value,
    mapping_at,
    objects_at,
    text_at,
    value_at,
)
from render.interpretation.operations import Interpretation, Items
from render.interpretation.progress import LiveState, Progress, status_of
from render.interpretation.retention import Retained
from render.interpretation.statuses import statuses_by_cluster
from render.model import Manifest
from render.resources import DependentObject

from .kind import (
    COMMON_MAPS,
    NO_DELIVERY_RULES,
    NO_LIVE_RULES,
    NO_PODS,
    NO_TEMPLATE_RULES,
    ApplyStage,
    BuiltInKind,
    PrunedField,
    built_in_kinds_without_rules,
)

BALANCED = "LoadBalancer"
CLASS_NOTE = "kubernetes.io/ingress.class"


def reflect_service(observed: Manifest) -> Any:
    """Report the load balancer of a service that has one."""
    if value_at(observed, "spec", "type") != BALANCED or observed.get("status") is None:
        return None
    return {"loadBalancer": mapping_at(observed, "status", "loadBalancer")}


def aggregated_service(template: Manifest, items: Items) -> Any:
    """Collect the members' addresses; only a load balancer has any."""
    if value_at(template, "spec", "type") != BALANCED:
        return template.get("status")
    return _load_balancer_status_of_members(template, items, ("hostname", "ip", "ipMode"))


def aggregated_ingress(template: Manifest, items: Items) -> Any:
    """Collect the members' addresses."""
    return _load_balancer_status_of_members(template, items, ("hostname", "ip"))


def _load_balancer_status_of_members(template: Manifest, items: Items, identity: Sequence[str]) -> Any:
    merged: dict[tuple[str, ...], dict[str, Any]] = {}
    for _, status in statuses_by_cluster(items):
        for address in objects_at(status, "loadBalancer", "ingress"):
            key = tuple(text_at(address, field) for field in identity)
            known = merged.setdefault(key, {field: value for field, value in address.items() if value})
            if ports := [*objects_at(known, "ports"), *objects_at(address, "ports")]:
                known["ports"] = _distinct_ports(ports)
    # An address without a hostname sorts last, and among equals one without an ipMode.
    by_rank = sorted(
        merged.items(), key=lambda entry: [entry[0][0] == "", *entry[0][:2], *map(_last_part_of_path, entry[0][2:])]
    )
    return manifest_with_value(
        mapping_at(template, "status"), [address for _, address in by_rank], "loadBalancer", "ingress"
    )


def _last_part_of_path(text: str) -> str:
    return text or "\U0010ffff"


def _distinct_ports(ports: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    by_identity = {
        (count_at(port, "port"), text_at(port, "protocol"), text_at(port, "error")): port for port in reversed(ports)
    }
    return [port for _, port in sorted(by_identity.items(), key=lambda entry: entry[0])]


def has_load_balancer_address(observed: Manifest) -> bool:
    """Say whether any address was given out."""
    return any(
        address.get("hostname") or address.get("ip")
        for address in objects_at(observed, "status", "loadBalancer", "ingress")
    )


def missing_address(ingress: Manifest) -> tuple[str, str] | None:
    """Say that no controller gave an address to an ingress, and which one should."""
    if has_load_balancer_address(ingress):
        return None
    name, noted = text_at(ingress, "spec", "ingressClassName"), text_at(ingress, "metadata", "annotations", CLASS_NOTE)
    of_class = f"class {noted}, by its annotation {CLASS_NOTE}," if noted else "default IngressClass"
    controller = f"the controller of the {f'IngressClass {name}' if name else of_class}"
    return "NoAddress", f"it has no address: {controller} has not given it one"


def is_service_healthy(observed: Manifest) -> bool:
    """Say whether the service needs no address, or has one."""
    return value_at(observed, "spec", "type") != BALANCED or has_load_balancer_address(observed)


def ingress_dependencies(ingress: Manifest) -> set[DependentObject]:
    """Return the secrets of spec.tls, a name left out included: every entry must have one."""
    namespace = text_at(ingress, "metadata", "namespace")
    names = {text_at(entry, "secretName") for entry in objects_at(ingress, "spec", "tls")}
    return {DependentObject(api_version="v1", kind="Secret", namespace=namespace, name=name) for name in names}


def service_progress(live: Manifest) -> LiveState | None:
    """Return whether a load balancer has its address."""
    if (live.get("spec") or {}).get("type") != "LoadBalancer":
        return None
    addresses = (status_of(live).get("loadBalancer") or {}).get("ingress")
    return None if addresses else LiveState(Progress.IN_PROGRESS, "NoAddress", "its load balancer has no address yet")


def service_without_addresses(manifest: Manifest) -> Manifest:
    """Drop allocated addresses; a headless service keeps its None."""
    spec: Mapping[str, Any] = mapping_at(manifest, "spec")
    if "clusterIP" not in spec or spec["clusterIP"] == "None":
        return manifest
    return manifest_without_value(manifest_without_value(manifest, "spec", "clusterIP"), "spec", "clusterIPs")


def _default_target_port(port: Mapping[str, Any]) -> Any:
    return port.get("port")


def remove_allocated_addresses(service: dict[str, Any]) -> None:
    """Take out the addresses and families that the cluster chose."""
    spec = service.get("spec")
    if not isinstance(spec, dict):
        return
    is_headless = spec.get("clusterIP") == "None"
    spec.pop("clusterIPs", None)
    if not is_headless:
        spec.pop("clusterIP", None)
    # One family is what the cluster has; two are a wish.
    if spec.get("ipFamilyPolicy") == "SingleStack":
        spec.pop("ipFamilyPolicy")
        spec.pop("ipFamilies", None)


KINDS = (
    BuiltInKind(
        group="",
        kind="Service",
        version="v1",
        is_namespaced=True,
        pruned_fields=(
            PrunedField(
                path="spec.clusterIP",
                why="each cluster gives the Service an address of its own",
                hint="for a headless Service, write None",
            ),
        ),
        defaults={
            ("spec", "type"): "ClusterIP",
            ("spec", "sessionAffinity"): "None",
            ("spec", "internalTrafficPolicy"): "Cluster",
            ("spec", "externalTrafficPolicy"): "Cluster",
            ("spec", "allocateLoadBalancerNodePorts"): True,
            ("spec", "ports", "*", "protocol"): "TCP",
            ("spec", "ports", "*", "targetPort"): _default_target_port,
        },
        filled_in=(("spec", "healthCheckNodePort"), ("spec", "ports", "*", "nodePort")),
        clean=remove_allocated_addresses,
        prune=service_without_addresses,
        stage=ApplyStage.CONFIGURATION,
        maps={**COMMON_MAPS, "selector": ""},
        progress=service_progress,
        short_names=("svc",),
        interpretation=Interpretation(reflect=reflect_service, aggregate=aggregated_service, health=is_service_healthy),
        retained=(
            Retained(path=("spec", "healthCheckNodePort"), read=count_at, is_fixed=True),
            Retained(path=("spec", "clusterIP"), read=text_at, is_fixed=True),
            Retained(path=("spec", "clusterIPs"), is_fixed=True, is_karmadas=False),
        ),
        has_no=f"{NO_PODS} takes_others_along is_recreatable is_transient",
    ),
    BuiltInKind(
        group="",
        kind="Endpoints",
        version="v1",
        is_namespaced=True,
        not_written="controllers write it",
        is_transient=True,
        stage=ApplyStage.CONFIGURATION,
        short_names=("ep",),
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} takes_others_along is_recreatable maps",
    ),
    BuiltInKind(
        group="discovery.k8s.io",
        kind="EndpointSlice",
        version="v1",
        is_namespaced=True,
        not_written="controllers write it",
        stage=ApplyStage.CONFIGURATION,
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} takes_others_along is_recreatable maps is_transient",
    ),
    BuiltInKind(
        group="networking.k8s.io",
        kind="Ingress",
        version="v1",
        is_namespaced=True,
        short_names=("ing",),
        interpretation=Interpretation(
            aggregate=aggregated_ingress,
            health=has_load_balancer_address,
            dependencies=ingress_dependencies,
            lacking=missing_address,
        ),
        has_no=f"{NO_PODS} {NO_TEMPLATE_RULES} {NO_DELIVERY_RULES} retained progress",
    ),
    BuiltInKind(
        group="networking.k8s.io",
        kind="NetworkPolicy",
        version="v1",
        is_namespaced=True,
        defaults={("spec", way, "*", "ports", "*", "protocol"): "TCP" for way in ("ingress", "egress")},
        short_names=("netpol",),
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_DELIVERY_RULES} filled_in clean prune pruned_fields",
    ),
    *built_in_kinds_without_rules("extensions", "Ingress NetworkPolicy", is_namespaced=True),
    *built_in_kinds_without_rules(
        "networking.k8s.io",
        "IPAddress",
        is_namespaced=False,
        short_names=("ip",),
        not_written="an API server writes it",
    ),
    *built_in_kinds_without_rules("networking.k8s.io", "ClusterCIDR IngressClass", is_namespaced=False),
    *built_in_kinds_without_rules(
        "networking.k8s.io", "ServiceCIDR", is_namespaced=False, not_written="an API server writes it"
    ),
)
"""The kinds by which pods are reached; those of ``extensions`` are served no more."""
