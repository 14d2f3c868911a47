"""Objects as people keep them in clusters, of many kinds, and what became of them in tests that take clusters over."""

import json
from collections.abc import Sequence
from copy import deepcopy
from typing import Any

from render.federations.patches import operations_between

from .clusters import Member

SPACE = "takeover"


def _object(version: str, kind: str, name: str, **content: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": SPACE}, **content}


def _pod(image: str = "registry.example.com/shop/web:1", **spec: Any) -> dict[str, Any]:
    container = {
        "name": "web",
        "image": image,
        "ports": [{"containerPort": 8080, "name": "http"}],
        "env": [
            {"name": "LEVEL", "value": "info"},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "CPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        ],
        "resources": {"limits": {"cpu": "1000m", "memory": "1024Mi"}},
        "readinessProbe": {"httpGet": {"path": "/ready", "port": "http"}},
        "livenessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 20},
        "volumeMounts": [{"name": "settings", "mountPath": "/etc/web"}],
    }
    volumes = [{"name": "settings", "configMap": {"name": "settings"}}]
    labels = {"app": "web"}
    return {"metadata": {"labels": labels}, "spec": {"containers": [container], "volumes": volumes, **spec}}


def _workload(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    selector = {"matchLabels": {"app": "web"}}
    return _object("apps/v1", kind, name, spec={"selector": selector, "template": _pod(), **spec})


def everyday_objects() -> list[dict[str, Any]]:
    """Return the objects of a small shop, of every kind that teams usually have."""
    batch = {"template": _pod("registry.example.com/tool", restartPolicy="Never")}
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    cpu = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}}}
    backend = {"service": {"name": "web", "port": {"number": 80}}}
    paths = [{"path": "/", "pathType": "Prefix", "backend": backend}]
    return [
        _object("v1", "ConfigMap", "settings", data={"level": "info", "on": "yes", "1e3": "08"}),
        _object("v1", "Secret", "password", stringData={"key": "hunter2"}),
        _object("v1", "ServiceAccount", "web", imagePullSecrets=[{"name": "registry"}]),
        _workload("Deployment", "web", replicas=3),
        _workload("Deployment", "scaled", replicas=2, strategy={"rollingUpdate": {"maxUnavailable": 1}}),
        _workload("Deployment", "recreated", replicas=0, strategy={"type": "Recreate"}),
        _workload(
            "StatefulSet",
            "store",
            serviceName="store",
            volumeClaimTemplates=[{"metadata": {"name": "data"}, "spec": claim}],
        ),
        _workload("DaemonSet", "agent"),
        _object("batch/v1", "Job", "load", spec=batch),
        _object("batch/v1", "CronJob", "clean", spec={"schedule": "0 4 * * *", "jobTemplate": {"spec": batch}}),
        _object("v1", "Service", "web", spec={"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": 8080}]}),
        _object("v1", "Service", "store", spec={"clusterIP": "None", "ports": [{"port": 5432}]}),
        _object("v1", "Service", "door", spec={"type": "NodePort", "ports": [{"name": "http", "port": 80}]}),
        _object("v1", "PersistentVolumeClaim", "files", spec=claim),
        _object(
            "autoscaling/v2",
            "HorizontalPodAutoscaler",
            "scaled",
            spec={"scaleTargetRef": {**web, "name": "scaled"}, "maxReplicas": 5, "metrics": [cpu]},
        ),
        _object("policy/v1", "PodDisruptionBudget", "web", spec={"minAvailable": 1, "selector": {}}),
        _object(
            "networking.k8s.io/v1", "Ingress", "web", spec={"rules": [{"host": "a.example", "http": {"paths": paths}}]}
        ),
        _object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            "web",
            spec={"podSelector": {}, "ingress": [{"ports": [{"port": 8080}]}]},
        ),
        _object(
            "rbac.authorization.k8s.io/v1",
            "Role",
            "reader",
            rules=[{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}],
        ),
        _object(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            "reader",
            roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"},
            subjects=[{"kind": "ServiceAccount", "name": "web"}],
        ),
        _object("v1", "ResourceQuota", "pods", spec={"hard": {"pods": "100", "requests.cpu": "40000m"}}),
        _object("v1", "LimitRange", "pods", spec={"limits": [{"type": "Container", "max": {"cpu": "2000m"}}]}),
    ]


def elsewhere(objects: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the same objects as another cluster may have them: another image, other counts, labels, and less."""
    other = {f"{each['kind']}/{each['metadata']['name']}": each for each in deepcopy(objects)}
    web = other["Deployment/web"]
    web["spec"]["replicas"] = 7
    web["metadata"]["labels"] = {"tier": "front"}
    web["spec"]["template"]["spec"]["containers"][0]["image"] = "mirror.example.org/shop/web:2"
    web["spec"]["template"]["metadata"]["annotations"] = {"example.com/b_c": "é 😀"}
    other["ConfigMap/settings"]["data"] = {"level": "debug", "on": "yes", "extra": "x"}
    other["Deployment/scaled"]["spec"]["replicas"] = 4
    other["Service/door"]["spec"]["ports"].append({"name": "https", "port": 443})
    del other["CronJob/clean"], other["PodDisruptionBudget/web"]
    return list(other.values())


LISTED = (
    "configmaps,secrets,serviceaccounts,services,persistentvolumeclaims,resourcequotas,limitranges,deployments,"
    "replicasets,statefulsets,daemonsets,jobs,cronjobs,pods,horizontalpodautoscalers,poddisruptionbudgets,ingresses,"
    "networkpolicies,roles,rolebindings"
)
_NOTES = {"resourceVersion", "managedFields", "creationTimestamp"}
_LAST = "kubectl.kubernetes.io/last-applied-configuration"


def _listed(member: Member, space: str, kinds: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(member.kubectl("-n", space, "get", kinds, "-o", "json"))["items"]
    return found


def has_settled(member: Member, space: str) -> bool:
    """Say whether the controllers of a member have made all the Pods that its workloads ask for."""
    asked = {"Deployment": ("replicas", "replicas"), "Job": ("parallelism", "active")}
    found = _listed(member, space, "deployments,statefulsets,jobs")
    return all(_has_pods(each, *asked.get(each["kind"], ("replicas", "replicas"))) for each in found)


def _has_pods(workload: dict[str, Any], wanted: str, made: str) -> bool:
    return bool(workload["spec"][wanted] == workload["status"].get(made, 0))


def contents(member: Member, space: str) -> dict[str, Any]:
    """Return the objects of a namespace but for their status, and the notes of who owns them."""
    return {f"{each['kind']}/{each['metadata']['name']}": _content(each) for each in _listed(member, space, LISTED)}


def _content(manifest: dict[str, Any]) -> dict[str, Any]:
    metadata = {key: value for key, value in manifest["metadata"].items() if key not in _NOTES}
    labels, annotations = (dict(metadata.get(part) or {}) for part in ("labels", "annotations"))
    labels.pop("applyset.kubernetes.io/part-of", None)
    annotations.pop(_LAST, None)
    kept = {key: value for key, value in manifest.items() if key not in {"status", "metadata"}}
    return {**kept, "metadata": {**metadata, "labels": labels, "annotations": annotations}}


def changed(before: Sequence[dict[str, Any]], members: Sequence[Member], space: str) -> list[str]:
    """Return what is not as it was, each field by its path."""
    after = [contents(each, space) for each in members]
    return [f"{each['operator']} {each['path']}" for each in operations_between(list(before), after)]
