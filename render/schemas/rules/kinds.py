"""Rules about services, ingresses, autoscalers, roles, data and what else a fleet has."""

from collections.abc import Mapping
from functools import partial
from ipaddress import ip_address, ip_network
from typing import Any

from render.admission.findings import Findings
from render.schemas.steps import Steps, path_of_steps
from render.syntax import fault_of_dns_subdomain, quoted_text

from .selectors import check_selectors
from .texts import (
    Rule,
    amount_or_none,
    check_data_keys,
    check_duplicates,
    check_exactly_one_field,
    check_labels,
    check_metadata,
    check_name,
    check_number_or_percentage,
    check_port,
)

_CORE, _NETWORK, _RBAC = "io.k8s.api.core.v1.", "io.k8s.api.networking.v1.", "io.k8s.api.rbac.v1."
_MOST_PRIORITY = 1_000_000_000
_RBAC_GROUP = "rbac.authorization.k8s.io"
_KEYS_BY_TYPE = {
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
}


def _check_service(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    ports, kind = spec.get("ports") or (), spec.get("type") or "ClusterIP"
    check_labels(spec.get("selector"), (steps, "selector"), findings)
    if kind == "ExternalName":
        if not spec.get("externalName"):
            findings.required(path_of_steps((steps, "externalName")))
        return
    if not ports and spec.get("clusterIP") != "None":
        findings.required(path_of_steps((steps, "ports")))
    for number, network in enumerate(spec.get("loadBalancerSourceRanges") or ()):
        _check_cidr(network or "", ((steps, "loadBalancerSourceRanges"), number), findings)
    for number, port in enumerate(ports):
        place = ((steps, "ports"), number)
        if port and len(ports) > 1 and not port.get("name"):
            hint = "name each port where there are several"
            findings.required(path_of_steps((place, "name")), hint=hint)
        if port and port.get("nodePort") and kind == "ClusterIP":
            findings.problem(path_of_steps((place, "nodePort")), "does not go with the type 'ClusterIP'")
    named = ((port.get("name"), (((steps, "ports"), n), "name")) for n, port in enumerate(ports) if port)
    check_duplicates(named, findings)


def _check_service_port(port: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_name(port.get("name"), (steps, "name"), findings)
    check_port(port.get("port"), (steps, "port"), findings)
    if port.get("targetPort"):
        check_port(port["targetPort"], (steps, "targetPort"), findings)


def _check_ingress(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    if not spec.get("rules") and spec.get("defaultBackend") is None:
        findings.problem(path_of_steps(steps), "has neither rules nor a defaultBackend", kind="Required")


def _check_ingress_rule(rule: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    _check_host_name(rule.get("host"), (steps, "host"), findings)


def _check_ingress_tls(tls: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    for number, host in enumerate(tls.get("hosts") or ()):
        _check_host_name(host, ((steps, "hosts"), number), findings)


def _check_host_name(host: str | None, steps: Steps, findings: Findings) -> None:
    if not host:
        return
    if fault_of_dns_subdomain(host.removeprefix("*.")):
        hint = "write it in lower case, without a scheme, port or path"
        findings.problem(path_of_steps(steps), f"{quoted_text(host)} is no DNS name", hint=hint)
    elif _is_ip_address(host):
        findings.problem(path_of_steps(steps), "must be a DNS name, not an address")


def _is_ip_address(text: str) -> bool:
    # Of nearly all names the last letter tells, in a hundredth of the time.
    if not text[-1:].isdigit() and ":" not in text:
        return False
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _check_ingress_path(entry: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    path = entry.get("path") or ""
    is_free = entry.get("pathType") == "ImplementationSpecific"
    if not path.startswith("/") and (path or not is_free):
        findings.problem(path_of_steps((steps, "path")), "must begin with '/'")


def _check_ingress_backend(backend: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_exactly_one_field(backend, ("resource", "service"), "backend", (steps, findings))
    service = backend.get("service")
    if service is None:
        return
    place = (steps, "service")
    if not service.get("name"):
        findings.required(path_of_steps((place, "name")))
    port = service.get("port") or {}
    given = {name: port[name] for name in ("name", "number") if port.get(name)}
    check_exactly_one_field(given, ("name", "number"), "port", ((place, "port"), findings))


def _check_autoscaler(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    least, most = spec.get("minReplicas"), spec.get("maxReplicas")
    if type(most) is int and most < 1:
        findings.problem(path_of_steps((steps, "maxReplicas")), "must be at least 1")
    elif type(most) is int and type(least) is int and least > most:
        findings.problem(path_of_steps((steps, "minReplicas")), "must not be more than maxReplicas")


def _check_autoscaler_metric(metric: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    kind = metric.get("type") or ""
    field = kind[:1].lower() + kind[1:]
    if field and metric.get(field) is None:
        findings.required(path_of_steps((steps, field)), hint=f"the type is {kind!r}")


def _check_disruption_budget(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    names = ("maxUnavailable", "minAvailable")
    check_selectors(spec, ("selector",), steps, findings)
    if all(spec.get(name) is not None for name in names):
        findings.problem(path_of_steps(steps), "has both minAvailable and maxUnavailable", hint="keep one of them")
    for name in names:
        check_number_or_percentage(spec.get(name), (steps, name), findings, is_at_most_all=True)


def _check_role(is_namespaced: bool, role: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    for number, rule in enumerate(role.get("rules") or ()):
        if rule:
            _check_role_rule(rule, ((steps, "rules"), number), findings, is_namespaced=is_namespaced)


def _check_role_rule(rule: Mapping[str, Any], steps: Steps, findings: Findings, *, is_namespaced: bool) -> None:
    if not rule.get("verbs"):
        findings.required(path_of_steps((steps, "verbs")))
    urls = rule.get("nonResourceURLs")
    if urls and is_namespaced:
        findings.problem(path_of_steps((steps, "nonResourceURLs")), "goes only with a ClusterRole")
    elif urls and (rule.get("resources") or rule.get("apiGroups")):
        findings.problem(
            path_of_steps((steps, "nonResourceURLs")), "may not stand beside resources", hint="write two rules"
        )
    elif not urls:
        for name in ("apiGroups", "resources"):
            if not rule.get(name):
                hint = "write '' for the core group" if name == "apiGroups" else ""
                findings.required(path_of_steps((steps, name)), hint=hint)


def _check_binding_subject(subject: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    kind, group = subject.get("kind"), subject.get("apiGroup") or ""
    if kind not in {"Group", "ServiceAccount", "User"}:
        hint = "write 'Group', 'ServiceAccount' or 'User'"
        findings.problem(
            path_of_steps((steps, "kind")), "none of the values it may have", hint=hint, kind="NotSupported"
        )
    elif group and group != ("" if kind == "ServiceAccount" else _RBAC_GROUP):
        hint = "leave it out" if kind == "ServiceAccount" else f"write {_RBAC_GROUP!r}"
        findings.problem(
            path_of_steps((steps, "apiGroup")), "none of the values it may have", hint=hint, kind="NotSupported"
        )


def _check_role_ref(kinds: tuple[str, ...], binding: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    reference = binding.get("roleRef") or {}
    if reference.get("apiGroup") not in {None, "", _RBAC_GROUP}:
        place = ((steps, "roleRef"), "apiGroup")
        hint = f"write {_RBAC_GROUP!r}"
        findings.problem(path_of_steps(place), "none of the values it may have", hint=hint, kind="NotSupported")
    if reference.get("kind") not in kinds:
        place = ((steps, "roleRef"), "kind")
        hint = f"write {' or '.join(map(repr, kinds))}"
        findings.problem(path_of_steps(place), "none of the values it may have", hint=hint, kind="NotSupported")


def _check_config_map(config: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    texts, raw = config.get("data") or {}, config.get("binaryData") or {}
    check_data_keys(texts, (steps, "data"), findings)
    check_data_keys(raw, (steps, "binaryData"), findings)
    for key in texts.keys() & raw.keys():
        findings.problem(path_of_steps(((steps, "data"), key)), "stands in binaryData, too", kind="Duplicate")


def _check_secret(secret: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    tables = {name: secret.get(name) or {} for name in ("data", "stringData")}
    for name, table in tables.items():
        check_data_keys(table, (steps, name), findings)
    given = tables["data"].keys() | tables["stringData"].keys()
    for key in _KEYS_BY_TYPE.get(secret.get("type") or "", ()):
        if key not in given:
            findings.required(path_of_steps(((steps, "data"), key)), hint=f"the type is {secret['type']!r}")


def _check_persistent_volume_claim(spec: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_selectors(spec, ("selector",), steps, findings)
    if not spec.get("accessModes"):
        findings.required(path_of_steps((steps, "accessModes")))
    place = (((steps, "resources"), "requests"), "storage")
    requests = (spec.get("resources") or {}).get("requests") or {}
    size = amount_or_none(requests.get("storage"))
    if requests.get("storage") is None:
        findings.required(path_of_steps(place))
    elif size is not None and size <= 0:
        findings.problem(path_of_steps(place), "must be more than 0")


def _check_network_policy_port(port: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    if port.get("port") is not None:
        check_port(port["port"], (steps, "port"), findings)


def _check_network_policy_peer(peer: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    check_selectors(peer, ("namespaceSelector", "podSelector"), steps, findings)
    if all(value is None for value in peer.values()):
        hint = "write ipBlock, namespaceSelector or podSelector"
        findings.problem(path_of_steps(steps), "names no peer", hint=hint, kind="Required")


def _check_ip_block(block: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    _check_cidr(block.get("cidr") or "", (steps, "cidr"), findings)
    for number, each in enumerate(block.get("except") or ()):
        _check_cidr(each or "", ((steps, "except"), number), findings)


def _check_cidr(text: str, steps: Steps, findings: Findings) -> None:
    text = text.strip()
    if "/" not in text or not _is_ip_network(text):
        findings.problem(path_of_steps(steps), f"{quoted_text(text)} is no network", hint="such as '10.9.8.0/24'")


def _is_ip_network(text: str) -> bool:
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return True


def _check_priority_class(priority: Mapping[str, Any], steps: Steps, findings: Findings) -> None:
    value = priority.get("value")
    if type(value) is int and value > _MOST_PRIORITY:
        findings.problem(path_of_steps((steps, "value")), f"must be at most {_MOST_PRIORITY}")


KIND_RULES: Mapping[str, Rule] = {
    "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta": check_metadata,
    "io.k8s.api.autoscaling.v1.HorizontalPodAutoscalerSpec": _check_autoscaler,
    "io.k8s.api.autoscaling.v2.HorizontalPodAutoscalerSpec": _check_autoscaler,
    "io.k8s.api.autoscaling.v2.MetricSpec": _check_autoscaler_metric,
    "io.k8s.api.policy.v1.PodDisruptionBudgetSpec": _check_disruption_budget,
    "io.k8s.api.scheduling.v1.PriorityClass": _check_priority_class,
    f"{_CORE}ConfigMap": _check_config_map,
    f"{_CORE}PersistentVolumeClaimSpec": _check_persistent_volume_claim,
    f"{_CORE}Secret": _check_secret,
    f"{_CORE}ServicePort": _check_service_port,
    f"{_CORE}ServiceSpec": _check_service,
    f"{_NETWORK}HTTPIngressPath": _check_ingress_path,
    f"{_NETWORK}IPBlock": _check_ip_block,
    f"{_NETWORK}IngressBackend": _check_ingress_backend,
    f"{_NETWORK}IngressRule": _check_ingress_rule,
    f"{_NETWORK}IngressSpec": _check_ingress,
    f"{_NETWORK}IngressTLS": _check_ingress_tls,
    f"{_NETWORK}NetworkPolicyPeer": _check_network_policy_peer,
    f"{_NETWORK}NetworkPolicyPort": _check_network_policy_port,
    f"{_RBAC}ClusterRole": partial(_check_role, False),
    f"{_RBAC}ClusterRoleBinding": partial(_check_role_ref, ("ClusterRole",)),
    f"{_RBAC}Role": partial(_check_role, True),
    f"{_RBAC}RoleBinding": partial(_check_role_ref, ("ClusterRole", "Role")),
    f"{_RBAC}Subject": _check_binding_subject,
}
