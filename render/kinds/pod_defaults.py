"""The values that API servers fill in for pods, wherever a kind specifies some.

A default that depends on another field (``imagePullPolicy``) is a function of what it stands in.
"""

from collections.abc import Mapping
from typing import Any

from render.interpretation.removal import Path

from .kind import Default


def _default_pull_policy(container: Mapping[str, Any]) -> str:
    """Return the default for a container: images without a tag or digest, and ``latest``, are always pulled."""
    image = str(container.get("image") or "")
    name = image.rpartition("/")[2]
    tag = name.partition(":")[2] if "@" not in name else "digest"
    return "Always" if tag in {"", "latest"} else "IfNotPresent"


def _default_service_account(pod: Mapping[str, Any]) -> Any:
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


def defaults_below_path(path: Path, defaults: Mapping[Path, Default]) -> dict[Path, Default]:
    """Return defaults of a part of an object as those of the object that has it at a path."""
    return {(*path, *inner): default for inner, default in defaults.items()}


_CONTAINER: Mapping[Path, Default] = {
    ("imagePullPolicy",): _default_pull_policy,
    ("terminationMessagePath",): "/dev/termination-log",
    ("terminationMessagePolicy",): "File",
    ("resources",): {},
    ("ports", "*", "protocol"): "TCP",
    ("env", "*", "valueFrom", "fieldRef", "apiVersion"): "v1",
    ("env", "*", "valueFrom", "resourceFieldRef", "divisor"): "0",
    **defaults_below_path(("livenessProbe",), _PROBE),
    **defaults_below_path(("readinessProbe",), _PROBE),
    **defaults_below_path(("startupProbe",), _PROBE),
    **defaults_below_path(("lifecycle",), _LIFECYCLE),
}
_MODE = 0o644
POD_DEFAULTS: Mapping[Path, Default] = {
    ("dnsPolicy",): "ClusterFirst",
    ("restartPolicy",): "Always",
    ("schedulerName",): "default-scheduler",
    ("securityContext",): {},
    ("terminationGracePeriodSeconds",): 30,
    ("enableServiceLinks",): True,
    ("serviceAccount",): _default_service_account,
    ("volumes", "*", "configMap", "defaultMode"): _MODE,
    ("volumes", "*", "secret", "defaultMode"): _MODE,
    ("volumes", "*", "downwardAPI", "defaultMode"): _MODE,
    ("volumes", "*", "downwardAPI", "items", "*", "fieldRef", "apiVersion"): "v1",
    ("volumes", "*", "projected", "defaultMode"): _MODE,
    ("volumes", "*", "projected", "sources", "*", "serviceAccountToken", "expirationSeconds"): 3600,
    ("volumes", "*", "projected", "sources", "*", "downwardAPI", "items", "*", "fieldRef", "apiVersion"): "v1",
    ("volumes", "*", "hostPath", "type"): "",
    **defaults_below_path(("containers", "*"), _CONTAINER),
    **defaults_below_path(("initContainers", "*"), _CONTAINER),
}
"""The defaults of a spec of pods, by path."""
