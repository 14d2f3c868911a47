"""Rules about pods and what they are made of."""

from collections.abc import Iterator, Mapping
from typing import Any

from render.admission.findings import Findings
from render.schemas.steps import Steps, path_of_steps
from render.syntax import fault_of_dns_subdomain, quoted_text

from .selectors import check_selectors
from .texts import (
    Rule,
    amount_or_none,
    check_duplicates,
    check_exactly_one_field,
    check_labels,
    check_name,
    check_numbers_are_at_least,
    check_port,
    check_port_name,
)

_CORE = "io.k8s.api.core.v1."
_LISTS = ("initContainers", "containers")
_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
_HOOKS = ("exec", "httpGet", "sleep", "tcpSocket")
_COUNTS = ("failureThreshold", "initialDelaySeconds", "periodSeconds", "successThreshold", "timeoutSeconds")
_MOST_MODE = 0o777
_RESOURCES = frozenset({"cpu", "memory", "ephemeral-storage"})


def containers_of(pod: Mapping[str, Any], steps: Steps) -> Iterator[tuple[Mapping[str, Any], Steps]]:
    """Yield the containers of a pod with the steps to each."""
    for name in _LISTS:
        for number, container in enumerate(pod.get(name) or ()):
            if container is not None:
                yield container, ((steps, name), number)


def _check_pod(pod: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    if not pod.get("containers"):
        findings.required(path_of_steps((steps, "containers")))
    initial = {each.get("name") for each in pod.get("initContainers") or () if each}
    for number, container in enumerate(pod.get("containers") or ()):
        if container and container.get("name") in initial:
            message = "an initContainer has this name as well"
            findings.problem(path_of_steps((((steps, "containers"), number), "name")), message, kind="Duplicate")
    check_labels(pod.get("nodeSelector"), (steps, "nodeSelector"), findings)
    if fault := fault_of_dns_subdomain(pod.get("serviceAccountName") or "default"):
        findings.problem(path_of_steps((steps, "serviceAccountName")), fault)
    if pod.get("hostNetwork"):
        for container, place in containers_of(pod, steps):
            _check_host_ports(container, place, findings)


def _check_host_ports(container: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    for number, port in enumerate(container.get("ports") or ()):
        if port and port.get("hostPort") and port["hostPort"] != port.get("containerPort"):
            place = (((steps, "ports"), number), "hostPort")
            findings.problem(path_of_steps(place), "must be as containerPort, as the pod is in the host's network")


def _check_container(container: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    if not container.get("image"):
        findings.required(path_of_steps((steps, "image")))
    check_name(container.get("name"), (steps, "name"), findings)
    ports = list(enumerate(container.get("ports") or ()))
    check_duplicates(((port.get("name"), (((steps, "ports"), n), "name")) for n, port in ports if port), findings)
    for name in ("livenessProbe", "startupProbe"):
        if (container.get(name) or {}).get("successThreshold") not in {None, 0, 1}:
            findings.problem(path_of_steps(((steps, name), "successThreshold")), "must be 1")
    if container.get("resources"):
        _check_resources(container["resources"], (steps, "resources"), findings)


def _check_resources(resources: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    """Report unknown resources, amounts below nothing, and requests beyond limits."""
    limits = resources.get("limits") or {}
    for table in ("limits", "requests"):
        for name, value in (resources.get(table) or {}).items():
            place = ((steps, table), name)
            size = amount_or_none(value)
            if name not in _RESOURCES and "/" not in name and not name.startswith("hugepages-"):
                hint = "write cpu, memory or ephemeral-storage, or the whole name, such as example.com/gpu"
                findings.problem(path_of_steps(place), f"{quoted_text(name)} is no resource of a container", hint=hint)
            if size is not None and size < 0:
                findings.problem(path_of_steps(place), "must be at least 0")
            most = amount_or_none(limits.get(name)) if table == "requests" else None
            if most is not None and size is not None and size > most:
                findings.problem(path_of_steps(place), "must not be more than the limit")


def _check_container_port(port: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_port(port.get("containerPort"), (steps, "containerPort"), findings)
    if port.get("hostPort"):
        check_port(port["hostPort"], (steps, "hostPort"), findings)
    if port.get("name"):
        check_port_name(port["name"], (steps, "name"), findings)


def _check_environment_variable(variable: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    name = variable.get("name")
    if not name:
        findings.required(path_of_steps((steps, "name")))
    elif "=" in name:
        findings.problem(path_of_steps((steps, "name")), f"{quoted_text(name)} is no name of a variable: it has an '='")
    if variable.get("value") and variable.get("valueFrom") is not None:
        findings.problem(path_of_steps((steps, "valueFrom")), "may not stand beside a value", hint="keep one of them")


def _check_variable_source(source: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    names = ("configMapKeyRef", "fieldRef", "fileKeyRef", "resourceFieldRef", "secretKeyRef")
    check_exactly_one_field(source, names, "source of the value", (steps, findings))


def _check_env_from_source(source: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    names = ("configMapRef", "secretRef")
    check_exactly_one_field(source, names, "source of variables", (steps, findings))
    for name in names:
        if source.get(name) is not None and not source[name].get("name"):
            findings.required(path_of_steps(((steps, name), "name")))


def _check_probe(probe: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_exactly_one_field(probe, _HANDLERS, "handler", (steps, findings))
    check_numbers_are_at_least(0, probe, _COUNTS, (steps, findings))


def _check_lifecycle_hook(hook: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_exactly_one_field(hook, _HOOKS, "handler", (steps, findings))


def _check_probe_target(target: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_port(target.get("port"), (steps, "port"), findings)


def _check_volume(volume: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_name(volume.get("name"), (steps, "name"), findings)
    given = [name for name, value in volume.items() if name != "name" and value is not None]
    if len(given) > 1:
        message = f"has more than one source: {', '.join(given)}"
        findings.problem(path_of_steps(steps), message, hint="keep one of them")
    for name, key in (("configMap", "name"), ("secret", "secretName")):
        source = volume.get(name)
        if source is not None and not source.get(key):
            findings.required(path_of_steps(((steps, name), key)))


def _check_file_mode(source: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    for name in ("defaultMode", "mode"):
        mode = source.get(name)
        if type(mode) is int and not 0 <= mode <= _MOST_MODE:
            hint = "file modes are octal: write 0644, or 420"
            findings.problem(path_of_steps((steps, name)), "must be from 0 to 0777", hint=hint)


def _check_toleration(toleration: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    operator = toleration.get("operator") or "Equal"
    if operator == "Exists" and toleration.get("value"):
        findings.problem(path_of_steps((steps, "value")), "must be empty with the operator 'Exists'")
    if operator == "Equal" and not toleration.get("key"):
        findings.problem(path_of_steps((steps, "operator")), "must be 'Exists' without a key")
    if toleration.get("tolerationSeconds") is not None and toleration.get("effect") != "NoExecute":
        findings.problem(path_of_steps((steps, "effect")), "must be 'NoExecute' beside tolerationSeconds")


def _check_security_context(context: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_numbers_are_at_least(0, context, ("runAsGroup", "runAsUser"), (steps, findings))
    if context.get("allowPrivilegeEscalation") is False and context.get("privileged"):
        message = "must be true in a privileged container"
        findings.problem(path_of_steps((steps, "allowPrivilegeEscalation")), message)


def _check_weight_of_term(term: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    weight = term.get("weight")
    if type(weight) is int and not 1 <= weight <= 100:
        findings.problem(path_of_steps((steps, "weight")), "must be from 1 to 100")


def _check_topology_key(term: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    if not term.get("topologyKey"):
        findings.required(path_of_steps((steps, "topologyKey")))


def _check_node_selector_term(term: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    _check_topology_key(term, steps, findings)
    check_selectors(term, ("labelSelector", "namespaceSelector"), steps, findings)


def _check_topology_spread(spread: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_numbers_are_at_least(1, spread, ("maxSkew",), (steps, findings))
    _check_topology_key(spread, steps, findings)
    check_selectors(spread, ("labelSelector",), steps, findings)


def _check_volume_mount(mount: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    for name in ("subPath", "subPathExpr"):
        path = mount.get(name) or ""
        if path.startswith("/") or ".." in path.split("/"):
            message = "must be a path inside the volume, without '..' and a '/' in front"
            findings.problem(path_of_steps((steps, name)), message)


POD_RULES: Mapping[str, Rule] = {
    f"{_CORE}{name}": rule
    for name, rule in {
        "ConfigMapVolumeSource": _check_file_mode,
        "Container": _check_container,
        "ContainerPort": _check_container_port,
        "EnvFromSource": _check_env_from_source,
        "EnvVar": _check_environment_variable,
        "EnvVarSource": _check_variable_source,
        "HTTPGetAction": _check_probe_target,
        "KeyToPath": _check_file_mode,
        "LifecycleHandler": _check_lifecycle_hook,
        "PodAffinityTerm": _check_node_selector_term,
        "PodSpec": _check_pod,
        "PreferredSchedulingTerm": _check_weight_of_term,
        "Probe": _check_probe,
        "ProjectedVolumeSource": _check_file_mode,
        "SecretVolumeSource": _check_file_mode,
        "SecurityContext": _check_security_context,
        "TCPSocketAction": _check_probe_target,
        "Toleration": _check_toleration,
        "TopologySpreadConstraint": _check_topology_spread,
        "Volume": _check_volume,
        "VolumeMount": _check_volume_mount,
        "WeightedPodAffinityTerm": _check_weight_of_term,
    }.items()
}
