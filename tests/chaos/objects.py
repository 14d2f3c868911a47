"""The objects of the fleet of chaos: kinds of every sort, and what comes and goes inside them from turn to turn."""

from collections.abc import Mapping
from typing import Any

from tests.build import a_config_map, a_deployment

SPACE = "chaos"
KINDS = (
    "configmaps",
    "secrets",
    "serviceaccounts",
    "services",
    "deployments.apps",
    "networkpolicies.networking.k8s.io",
    "ingresses.networking.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "poddisruptionbudgets.policy",
    "horizontalpodautoscalers.autoscaling",
    "routes.chaos.example.com",
)
SELECTORS = [
    {"apiVersion": version, "kind": kind}
    for version, kind in (
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "ServiceAccount"),
        ("v1", "Service"),
        ("apps/v1", "Deployment"),
        ("networking.k8s.io/v1", "NetworkPolicy"),
        ("networking.k8s.io/v1", "Ingress"),
        ("rbac.authorization.k8s.io/v1", "Role"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding"),
        ("policy/v1", "PodDisruptionBudget"),
        ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ("chaos.example.com/v1", "Route"),
    )
]


def custom_definition() -> dict[str, Any]:
    """Return the CustomResourceDefinition of Routes, whose lists have no keys and are one piece each."""
    rule = {
        "type": "object",
        "properties": {
            "host": {"type": "string"},
            "weight": {"type": "integer", "default": 1},
            "headers": {"type": "object", "additionalProperties": {"type": "string"}},
        },
    }
    spec = {"type": "object", "properties": {"rules": {"type": "array", "items": rule}}}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": spec}}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "routes.chaos.example.com"},
        "spec": {
            "group": "chaos.example.com",
            "scope": "Namespaced",
            "names": {"plural": "routes", "singular": "route", "kind": "Route", "listKind": "RouteList"},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": schema}],
        },
    }


def objects_of(turn: int) -> dict[str, dict[str, Any]]:
    """Return the objects of a turn by name: what is odd comes and goes, what is even is always there."""
    odd, third = bool(turn % 2), turn % 3
    labels = {"app": "web"} | ({"tier": "front"} if odd else {})
    made = [
        *(a_config_map(f"always-{number}", namespace=SPACE, turn=str(turn)) for number in range(8)),
        *(a_config_map(f"turn-{turn % 2}-{number}", namespace=SPACE, turn=str(turn)) for number in range(4)),
        _an_object("v1", "Secret", "key", data={"a": "MQ=="} | ({"b": "Mg=="} if odd else {})),
        _an_object("v1", "ServiceAccount", "robot"),
        _an_object("v1", "Service", "web", spec={"selector": labels, "ports": _ports(third)}),
        _web(turn, odd=odd),
        _an_object("networking.k8s.io/v1", "NetworkPolicy", "web", spec=_walls(labels, third)),
        _an_object("networking.k8s.io/v1", "Ingress", "web", spec=_way_in(odd=odd)),
        _an_object("rbac.authorization.k8s.io/v1", "Role", "reader", rules=[_right(odd=odd, third=third)]),
        _an_object(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "reader",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            subjects=[{"kind": "ServiceAccount", "name": "robot", "namespace": SPACE}][: 1 + third],
        ),
        _an_object("policy/v1", "PodDisruptionBudget", "web", spec={"minAvailable": 1, "selector": _matching(labels)}),
        _an_object("autoscaling/v2", "HorizontalPodAutoscaler", "other", spec=_scale(odd=odd)),
        _an_object("chaos.example.com/v1", "Route", "web", spec={"rules": _rules(odd=odd, third=third)}),
    ]
    return {f"{each['kind']}-{each['metadata']['name']}.yaml": each for each in made}


def _an_object(version: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": SPACE}, **content}


def _matching(labels: Mapping[str, str]) -> dict[str, Any]:
    return {"matchLabels": dict(labels)}


def _ports(third: int) -> list[dict[str, Any]]:
    return [{"name": f"p{number}", "port": 8000 + number} for number in range(1 + third)]


def _web(turn: int, *, odd: bool) -> dict[str, Any]:
    web = a_deployment("web", namespace=SPACE, image=f"nginx:{turn}")
    pod = web["spec"]["template"]["spec"]
    pod["nodeSelector"] = {"disk": "ssd"} | ({"zone": "a"} if odd else {})
    pod["containers"][0]["args"] = ["--turn"] + (["--odd"] if odd else [])
    pod["containers"][0]["resources"] = {"limits": {"cpu": "1000m"} | ({"memory": "1024Mi"} if odd else {})}
    return web


def _walls(labels: Mapping[str, str], third: int) -> dict[str, Any]:
    ports = [{"port": 8000 + number} for number in range(1 + third)]
    return {"podSelector": _matching(labels), "ingress": [{"ports": ports}]}


def _way_in(*, odd: bool) -> dict[str, Any]:
    back = {"service": {"name": "web", "port": {"number": 8000}}}
    rule: dict[str, Any] = {"http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": back}]}}
    return {"rules": [rule | ({"host": "web.example.com"} if odd else {})]}


def _right(*, odd: bool, third: int) -> dict[str, Any]:
    right: dict[str, Any] = {
        "apiGroups": [""],
        "resources": ["configmaps"],
        "verbs": ["get", "list", "watch"][: 1 + third],
    }
    return right | ({"resourceNames": ["always-1"]} if odd else {})


def _scale(*, odd: bool) -> dict[str, Any]:
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "elsewhere"}
    chosen = {"name": "queue"} | ({"selector": _matching({"queue": "a"} | ({"part": "b"} if odd else {}))})
    metric = {"type": "External", "external": {"metric": chosen, "target": {"type": "Value", "value": "1000m"}}}
    return {"minReplicas": 1, "maxReplicas": 4, "scaleTargetRef": target, "metrics": [metric]}


def _rules(*, odd: bool, third: int) -> list[dict[str, Any]]:
    headers = {"headers": {"a": "1"} | ({"b": "2"} if third else {})}
    first = {"host": "one.example.com", **headers} | ({"weight": 5} if odd else {})
    return [first, *({"host": f"n{number}.example.com"} for number in range(third))]
