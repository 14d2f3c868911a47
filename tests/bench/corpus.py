"""A corpus of ordinary manifests: eight kinds in turn, about 2 KB each, the same for the same seed."""

import random
from collections.abc import Callable, Mapping
from typing import Any

Build = Callable[[random.Random, str], dict[str, Any]]

TEAMS = ("checkout", "search", "payments", "identity", "catalog", "shipping", "analytics")
REGISTRIES = ("registry.example.com", "ghcr.io/example", "docker.io/library")


def manifests(count: int, *, seed: int = 1) -> list[dict[str, Any]]:
    """Return ``count`` manifests: two Deployments and one each of six other kinds, over and over."""
    rng = random.Random(seed)
    return [KINDS[number % len(KINDS)](rng, f"{rng.choice(TEAMS)}-{number}") for number in range(count)]


def metadata(rng: random.Random, name: str, *, namespaced: bool = True) -> dict[str, Any]:
    """Metadata with the usual labels and two annotations."""
    labels = {
        "app.kubernetes.io/name": name,
        "app.kubernetes.io/instance": f"{name}-{rng.randrange(9)}",
        "app.kubernetes.io/version": f"{rng.randrange(5)}.{rng.randrange(20)}",
        "app.kubernetes.io/managed-by": "argosy",
        "team": name.partition("-")[0],
    }
    annotations = {
        "example.com/owner": f"{name.partition('-')[0]}@example.com",
        "example.com/description": f"Serves {name}; see the runbook: https://wiki.example.com/{name}#alerts",
    }
    namespace = {"namespace": name.partition("-")[0]} if namespaced else {}
    return {"name": name, **namespace, "labels": labels, "annotations": annotations}


def probe(path: str, port: int) -> dict[str, Any]:
    """An HTTP probe."""
    return {"httpGet": {"path": path, "port": port}, "initialDelaySeconds": 5, "periodSeconds": 10}


def container(rng: random.Random, name: str) -> dict[str, Any]:
    """A container with environment, resources, probes and mounts."""
    port = rng.randrange(8000, 9000)
    return {
        "name": name,
        "image": f"{rng.choice(REGISTRIES)}/{name}:{rng.randrange(3)}.{rng.randrange(30)}.{rng.randrange(10)}",
        "args": ["--listen", f":{port}", f"--log-level={rng.choice(('info', 'debug'))}", "--ratio=1e3"],
        "ports": [{"name": "http", "containerPort": port, "protocol": "TCP"}],
        "env": [
            {"name": "LOG_LEVEL", "value": rng.choice(("info", "debug", "warn"))},
            {"name": "RATIO", "value": rng.choice(("1e3", "0.5", "on", "08"))},
            {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": f"{name}-token", "key": "token"}}},
        ],
        "resources": {
            "requests": {"cpu": f"{rng.randrange(1, 10) * 50}m", "memory": f"{rng.randrange(1, 9) * 64}Mi"},
            "limits": {"cpu": str(rng.randrange(1, 4)), "memory": f"{rng.randrange(1, 9)}Gi"},
        },
        "readinessProbe": probe("/readyz", port),
        "livenessProbe": probe("/healthz", port),
        "volumeMounts": [{"name": "config", "mountPath": "/etc/app", "readOnly": True}],
        "securityContext": {"runAsNonRoot": True, "runAsUser": rng.randrange(1000, 9999)},
    }


def pod_template(rng: random.Random, name: str) -> dict[str, Any]:
    """A pod template of one container."""
    return {
        "metadata": {"labels": {"app": name}, "annotations": {"prometheus.io/scrape": "true"}},
        "spec": {
            "serviceAccountName": name,
            "containers": [container(rng, name)],
            "volumes": [{"name": "config", "configMap": {"name": f"{name}-config"}}],
            "topologySpreadConstraints": [
                {
                    "maxSkew": 1,
                    "topologyKey": "topology.kubernetes.io/zone",
                    "whenUnsatisfiable": "ScheduleAnyway",
                    "labelSelector": {"matchLabels": {"app": name}},
                }
            ],
        },
    }


def a_deployment(rng: random.Random, name: str) -> dict[str, Any]:
    """A Deployment."""
    spec = {
        "replicas": rng.randrange(1, 40),
        "selector": {"matchLabels": {"app": name}},
        "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}},
        "template": pod_template(rng, name),
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata(rng, name), "spec": spec}


def a_stateful_set(rng: random.Random, name: str) -> dict[str, Any]:
    """A StatefulSet with one volume claim."""
    claim = {
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": "standard",
            "resources": {"requests": {"storage": f"{rng.randrange(1, 50)}Gi"}},
        },
    }
    spec = {
        "replicas": rng.randrange(1, 9),
        "serviceName": name,
        "selector": {"matchLabels": {"app": name}},
        "template": pod_template(rng, name),
        "volumeClaimTemplates": [claim],
    }
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata(rng, name), "spec": spec}


def a_service(rng: random.Random, name: str) -> dict[str, Any]:
    """A Service of several ports."""
    ports = [
        {"name": f"port-{number}", "port": rng.randrange(1, 9999), "targetPort": "http", "protocol": "TCP"}
        for number in range(rng.randrange(2, 12))
    ]
    spec = {"type": "ClusterIP", "selector": {"app": name}, "ports": ports, "sessionAffinity": "None"}
    return {"apiVersion": "v1", "kind": "Service", "metadata": metadata(rng, name), "spec": spec}


def a_config_map(rng: random.Random, name: str) -> dict[str, Any]:
    """A ConfigMap with hazardous scalars and two files."""
    settings = {f"SETTING_{number}": rng.choice(("1e3", "y", "08", "off", "1:30", "~", "")) for number in range(12)}
    lines = [f"server_{number} = {rng.randrange(10**6)}  # comment" for number in range(rng.randrange(10, 40))]
    files = {"app.ini": "[main]\n" + "\n".join(lines) + "\n", "motd": f"Welcome to {name} \n\n  indented\n"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata(rng, name), "data": {**settings, **files}}


def an_ingress(rng: random.Random, name: str) -> dict[str, Any]:
    """An Ingress of several hosts."""
    rules = [
        {
            "host": f"{name}-{number}.example.com",
            "http": {
                "paths": [
                    {
                        "path": "/",
                        "pathType": "Prefix",
                        "backend": {"service": {"name": name, "port": {"number": rng.randrange(80, 9000)}}},
                    }
                ]
            },
        }
        for number in range(rng.randrange(2, 7))
    ]
    spec = {"ingressClassName": "nginx", "rules": rules, "tls": [{"hosts": ["example.com"], "secretName": name}]}
    return {"apiVersion": "networking.k8s.io/v1", "kind": "Ingress", "metadata": metadata(rng, name), "spec": spec}


def an_autoscaler(rng: random.Random, name: str) -> dict[str, Any]:
    """A HorizontalPodAutoscaler."""
    metrics = [
        {
            "type": "Resource",
            "resource": {"name": resource, "target": {"type": "Utilization", "averageUtilization": rng.randrange(100)}},
        }
        for resource in ("cpu", "memory")
    ]
    policies = [{"type": "Percent", "value": rng.randrange(100), "periodSeconds": 60}]
    spec = {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
        "minReplicas": 1,
        "maxReplicas": rng.randrange(2, 99),
        "metrics": metrics,
        "behavior": {"scaleDown": {"stabilizationWindowSeconds": 300, "policies": policies}},
    }
    version = "autoscaling/v2"
    return {
        "apiVersion": version,
        "kind": "HorizontalPodAutoscaler",
        "metadata": metadata(rng, name),
        "spec": spec,
    }


def a_crd(rng: random.Random, name: str) -> dict[str, Any]:
    """A CustomResourceDefinition with a schema."""
    fields: Mapping[str, Any] = {
        f"field{number}": {"type": rng.choice(("string", "integer")), "description": f"Field {number}: what it says."}
        for number in range(rng.randrange(6, 24))
    }
    spec_schema = {"type": "object", "required": ["field0"], "properties": dict(fields)}
    schema = {"type": "object", "properties": {"spec": spec_schema, "status": {"type": "object"}}}
    plural = name.replace("-", "")
    spec = {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"kind": plural.title(), "plural": plural, "singular": plural, "shortNames": ["y", "on"]},
        "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": metadata(rng, f"{plural}.example.com", namespaced=False),
        "spec": spec,
    }


KINDS: tuple[Build, ...] = (
    a_deployment,
    a_stateful_set,
    a_service,
    a_deployment,
    a_config_map,
    an_ingress,
    an_autoscaler,
    a_crd,
)
