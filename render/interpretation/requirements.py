"""The requirements of one replica of a pod template: resources, and the nodes on which it may land.

1. a container's limit stands in for a missing request, resource by resource;
2. containers run together, so their requests add up; init containers run before, so the largest counts;
3. the pod's overhead comes on top;
4. cpu counts in thousandths, everything else in whole units, each rounded up per container, as Karmada does.

Sidecar init containers get no special treatment, and pod-level resources are not read: neither does Karmada.
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from render.quantity import QuantityFormat, amount_rounded_up, format_quantity, milli_value_of_amount, parse_quantity
from render.resources import NodeClaim, ReplicaRequirements

from .fields import error_of_wrong_type, mapping_at, objects_at
from .operations import InterpreterError

Amounts = dict[str, int]
COUNTED = frozenset({"cpu", "memory", "ephemeral-storage", "pods"})
TOLERATION = frozenset({"key", "operator", "value", "effect", "tolerationSeconds"})
BINARY = frozenset({"memory", "ephemeral-storage"})
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def pod_requirements(spec: Mapping[str, Any]) -> ReplicaRequirements | None:
    """Return the requirements of a pod with this spec; None when it asks for nothing."""
    claim, request = node_claim_of_pod(spec), resource_request(spec)
    if claim is None and not request:
        return None
    return ReplicaRequirements(node_claim=claim, resource_request=request)


def node_claim_of_pod(spec: Mapping[str, Any]) -> NodeClaim | None:
    """Return the nodes the pod may land on; None for all. An empty node selector is a claim, as in Karmada."""
    selector = spec.get("nodeSelector")
    tolerations = tuple(
        {field: value for field, value in toleration.items() if field in TOLERATION}
        for toleration in objects_at(spec, "tolerations")
    )
    required = None
    if spec.get("affinity"):
        affinity = mapping_at(spec, "affinity", "nodeAffinity")
        required = None if affinity.get(_REQUIRED) is None else mapping_at(affinity, _REQUIRED)
    if selector is None and not tolerations and required is None:
        return None
    return NodeClaim(
        node_selector=mapping_at(spec, "nodeSelector"), tolerations=tolerations, hard_node_affinity=required
    )


def resource_request(spec: Mapping[str, Any]) -> dict[str, str]:
    """Return the pod's effective request: resource name to canonical quantity, zeros left out."""
    together: Amounts = {}
    for requested in _requests_of_containers(spec, "containers"):
        _add_amounts(together, requested)
    for requested in _requests_of_containers(spec, "initContainers"):
        for name, amount in requested.items():
            together[name] = max(together.get(name, 0), amount)
    if spec.get("overhead"):
        _add_amounts(together, _amounts_of_quantities(mapping_at(spec, "overhead"), "overhead"))
    return {name: _written_amount(name, amount) for name, amount in together.items() if amount > 0}


def _requests_of_containers(spec: Mapping[str, Any], containers: str) -> Iterator[Amounts]:
    for index, container in enumerate(objects_at(spec, containers)):
        try:
            yield _requests_of_container(container)
        except InterpreterError as error:
            raise InterpreterError(f"{containers}[{index}].{error.what}") from error


def _requests_of_container(container: Mapping[str, Any]) -> Amounts:
    resources = container.get("resources")
    if not resources:
        return {}
    requests, limits = mapping_at(resources, "requests"), mapping_at(resources, "limits")
    return _amounts_of_quantities({**limits, **requests} if limits else requests, "resources")


def _amounts_of_quantities(quantities: Mapping[str, Any], where: str) -> Amounts:
    amounts: Amounts = {}
    for name, quantity in quantities.items():
        if quantity is None or not _is_resource_counted(name):
            continue
        if isinstance(quantity, bool) or not isinstance(quantity, str | int | float):
            raise error_of_wrong_type(quantity, "a quantity", (where, name))
        try:
            amount = parse_quantity(quantity if isinstance(quantity, str) else str(quantity))
        except ValueError as error:
            raise InterpreterError(f"{where}.{name}: {error}") from error
        amounts[name] = milli_value_of_amount(amount) if name == "cpu" else amount_rounded_up(amount)
    return amounts


def _add_amounts(total: Amounts, amounts: Amounts) -> None:
    for name, amount in amounts.items():
        total[name] = total.get(name, 0) + amount


@lru_cache(maxsize=512)
def _written_amount(name: str, amount: int) -> str:
    if name == "cpu":
        return f"{amount}m" if amount % 1000 else format_quantity(amount // 1000)
    is_binary = name in BINARY or name.startswith("hugepages-")
    return format_quantity(amount, QuantityFormat.BINARY_SI if is_binary else QuantityFormat.DECIMAL_SI)


@lru_cache(maxsize=512)
def _is_resource_counted(name: str) -> bool:
    """Say whether Kubernetes counts a resource of this name: built in, huge pages, attachable volumes or extended."""
    if name in COUNTED or name.startswith(("hugepages-", "attachable-volumes-")) or "kubernetes.io/" in name:
        return True
    return "/" in name and not name.startswith("requests.")
