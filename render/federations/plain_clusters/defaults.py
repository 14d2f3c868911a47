"""The values that API servers fill in for Kubernetes' own kinds, by the path of the field.

A field that has its default is left out of a template: the server fills it in again, whoever owns the object. A default
that depends on another field (``imagePullPolicy``) is a function of what it stands in.
"""

from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from render.model import Manifest, group_of

Path = tuple[str, ...]
Default = Any
"""The value, or a function that returns it for the object that the field stands in."""


def _pull_policy(container: Mapping[str, Any]) -> str:
    """Return the default for a container: images without a tag or digest, and ``latest``, are always pulled."""
    image = str(container.get("image") or "")
    name = image.rpartition("/")[2]
    tag = name.partition(":")[2] if "@" not in name else "digest"
    return "Always" if tag in {"", "latest"} else "IfNotPresent"


def _same_port(port: Mapping[str, Any]) -> Any:
    return port.get("port")


def _same_account(pod: Mapping[str, Any]) -> Any:
    return pod.get("serviceAccountName")


_PROBE: Mapping[Path, Default] = {
    ("timeoutSeconds",): 1,
    ("periodSeconds",): 10,
    ("successThreshold",): 1,
    ("failureThreshold",): 3,
    ("httpGet", "scheme"): "HTTP",
    ("grpc", "service"): "",
}
_LIFECYCLE: Mapping[Path, Default] = {(hook, "httpGet", "scheme"): "HTTP" for hook in ("postStart", "preStop")}


def _below(path: Path, defaults: Mapping[Path, Default]) -> dict[Path, Default]:
    return {(*path, *inner): default for inner, default in defaults.items()}


_CONTAINER: Mapping[Path, Default] = {
    ("imagePullPolicy",): _pull_policy,
    ("terminationMessagePath",): "/dev/termination-log",
    ("terminationMessagePolicy",): "File",
    ("resources",): {},
    ("ports", "*", "protocol"): "TCP",
    ("env", "*", "valueFrom", "fieldRef", "apiVersion"): "v1",
    ("env", "*", "valueFrom", "resourceFieldRef", "divisor"): "0",
    **_below(("livenessProbe",), _PROBE),
    **_below(("readinessProbe",), _PROBE),
    **_below(("startupProbe",), _PROBE),
    **_below(("lifecycle",), _LIFECYCLE),
}
_MODE = 0o644
_POD: Mapping[Path, Default] = {
    ("dnsPolicy",): "ClusterFirst",
    ("restartPolicy",): "Always",
    ("schedulerName",): "default-scheduler",
    ("securityContext",): {},
    ("terminationGracePeriodSeconds",): 30,
    ("enableServiceLinks",): True,
    ("serviceAccount",): _same_account,
    ("volumes", "*", "configMap", "defaultMode"): _MODE,
    ("volumes", "*", "secret", "defaultMode"): _MODE,
    ("volumes", "*", "downwardAPI", "defaultMode"): _MODE,
    ("volumes", "*", "downwardAPI", "items", "*", "fieldRef", "apiVersion"): "v1",
    ("volumes", "*", "projected", "defaultMode"): _MODE,
    ("volumes", "*", "projected", "sources", "*", "serviceAccountToken", "expirationSeconds"): 3600,
    ("volumes", "*", "projected", "sources", "*", "downwardAPI", "items", "*", "fieldRef", "apiVersion"): "v1",
    ("volumes", "*", "hostPath", "type"): "",
    **_below(("containers", "*"), _CONTAINER),
    **_below(("initContainers", "*"), _CONTAINER),
}
_TEMPLATE = _below(("spec", "template", "spec"), _POD)
_CLAIM: Mapping[Path, Default] = {("spec", "volumeMode"): "Filesystem"}
_JOB: Mapping[Path, Default] = {
    ("backoffLimit",): 6,
    ("completionMode",): "NonIndexed",
    ("suspend",): False,
    ("podReplacementPolicy",): "TerminatingOrFailed",
    ("manualSelector",): False,
}
_HOOKS: Mapping[Path, Default] = {
    ("webhooks", "*", "timeoutSeconds"): 10,
    ("webhooks", "*", "matchPolicy"): "Equivalent",
    ("webhooks", "*", "failurePolicy"): "Fail",
    ("webhooks", "*", "namespaceSelector"): {},
    ("webhooks", "*", "objectSelector"): {},
    ("webhooks", "*", "reinvocationPolicy"): "Never",
    ("webhooks", "*", "rules", "*", "scope"): "*",
    ("webhooks", "*", "clientConfig", "service", "port"): 443,
}

DEFAULTS: Mapping[tuple[str, str], Mapping[Path, Default]] = {
    ("apps", "Deployment"): {
        ("spec", "progressDeadlineSeconds"): 600,
        ("spec", "revisionHistoryLimit"): 10,
        ("spec", "strategy", "rollingUpdate", "maxSurge"): "25%",
        ("spec", "strategy", "rollingUpdate", "maxUnavailable"): "25%",
        ("spec", "strategy", "type"): "RollingUpdate",
        **_TEMPLATE,
    },
    ("apps", "StatefulSet"): {
        ("spec", "podManagementPolicy"): "OrderedReady",
        ("spec", "revisionHistoryLimit"): 10,
        ("spec", "updateStrategy", "rollingUpdate", "partition"): 0,
        ("spec", "updateStrategy", "type"): "RollingUpdate",
        ("spec", "persistentVolumeClaimRetentionPolicy"): {"whenDeleted": "Retain", "whenScaled": "Retain"},
        ("spec", "volumeClaimTemplates", "*", "spec", "volumeMode"): "Filesystem",
        **_TEMPLATE,
    },
    ("apps", "DaemonSet"): {
        ("spec", "revisionHistoryLimit"): 10,
        ("spec", "updateStrategy", "rollingUpdate", "maxSurge"): 0,
        ("spec", "updateStrategy", "rollingUpdate", "maxUnavailable"): 1,
        ("spec", "updateStrategy", "type"): "RollingUpdate",
        **_TEMPLATE,
    },
    ("apps", "ReplicaSet"): _TEMPLATE,
    ("", "ReplicationController"): _TEMPLATE,
    ("batch", "Job"): {**_below(("spec",), _JOB), **_TEMPLATE},
    ("batch", "CronJob"): {
        ("spec", "concurrencyPolicy"): "Allow",
        ("spec", "suspend"): False,
        ("spec", "successfulJobsHistoryLimit"): 3,
        ("spec", "failedJobsHistoryLimit"): 1,
        **_below(("spec", "jobTemplate", "spec"), _JOB),
        **_below(("spec", "jobTemplate", "spec", "template", "spec"), _POD),
    },
    ("", "Service"): {
        ("spec", "type"): "ClusterIP",
        ("spec", "sessionAffinity"): "None",
        ("spec", "internalTrafficPolicy"): "Cluster",
        ("spec", "externalTrafficPolicy"): "Cluster",
        ("spec", "allocateLoadBalancerNodePorts"): True,
        ("spec", "ports", "*", "protocol"): "TCP",
        ("spec", "ports", "*", "targetPort"): _same_port,
    },
    ("", "PersistentVolumeClaim"): _CLAIM,
    ("", "PersistentVolume"): {**_CLAIM, ("spec", "persistentVolumeReclaimPolicy"): "Retain"},
    ("autoscaling", "HorizontalPodAutoscaler"): {("spec", "minReplicas"): 1},
    ("networking.k8s.io", "NetworkPolicy"): {
        ("spec", way, "*", "ports", "*", "protocol"): "TCP" for way in ("ingress", "egress")
    },
    ("apiextensions.k8s.io", "CustomResourceDefinition"): {("spec", "conversion"): {"strategy": "None"}},
    ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"): _HOOKS,
    ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"): _HOOKS,
}
"""The defaults of each kind, by its group and name."""


def without_defaults(manifest: Manifest) -> dict[str, Any]:
    """Return a copy of an object without the fields that have their defaults; what they alone stood in goes as well."""
    kept = deepcopy(dict(manifest))
    kind = group_of(str(manifest["apiVersion"])), str(manifest["kind"])
    for path, default in DEFAULTS.get(kind, {}).items():
        take_out(kept, path, _has(default))
    return kept


def _has(default: Default) -> "Goes":
    def is_default(value: Any, holder: Mapping[str, Any]) -> bool:
        wanted = default(holder) if callable(default) else default
        return bool(type(value) is type(wanted) and value == wanted)

    return is_default


Goes = Callable[[Any, Mapping[str, Any]], bool]
"""Say of a value, and of the object that it stands in, whether it goes."""


def _always(_value: Any, _holder: Mapping[str, Any]) -> bool:
    return True


def take_out(manifest: dict[str, Any], path: Path, goes: Goes = _always) -> None:
    """Take a field out of an object that is the caller's, and the objects that it leaves empty; ``*`` is each item."""
    for trail in _trails(manifest, path, []):
        holder, name = trail[-1]
        if not goes(holder[name], holder):
            continue
        for above, key in reversed(trail):
            del above[key]
            if above:
                break


Trail = list[tuple[dict[str, Any], str]]
"""The objects on the way to a field, each with the name of the next."""


def _trails(value: Any, path: Path, trail: Trail) -> Iterator[Trail]:
    """Yield the way to each field of a path; it begins anew at the items of a list, for these stay where they are."""
    name, rest = path[0], path[1:]
    if name == "*":
        for item in value if isinstance(value, list) else ():
            yield from _trails(item, rest, [])
    elif isinstance(value, dict) and name in value:
        here = [*trail, (value, name)]
        if rest:
            yield from _trails(value[name], rest, here)
        else:
            yield here
