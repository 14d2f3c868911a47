"""ResourceInterpreterWebhookConfiguration: its schema, and the rules of Karmada's webhook for it.

It has no ``spec``: its webhooks stand at the root.
"""

import base64
import binascii
from collections.abc import Iterable, Mapping
from typing import Any

from render.interpretation.operations import Operation
from render.interpreter.webhooks import SECRET
from render.model import Manifest
from render.syntax import fault_of_dns_subdomain, quoted_text

from .findings import Findings
from .policy_warnings import WITHOUT_COMPONENTS
from .schema import ListOf, Record
from .shared_schema import INTEGER32, TEXT, TEXTS
from .urls import parse_url_address
from .walking import Reading, walk_for_node

ANY, VERSION = "*", "v1alpha1"
_ROOT = ("apiVersion", "kind", "metadata", "webhooks")
_STATUS = "status"
_LISTS = ("operations", "apiGroups", "apiVersions", "kinds")
_OPERATIONS = (ANY, *map(str, Operation))
_SERVICE = Record({"namespace!": TEXT, "name!": TEXT, "path": TEXT, "port": INTEGER32})
WEBHOOKS = ListOf(
    Record(
        {
            "name!": TEXT,
            "clientConfig!": Record({"url": TEXT, "service": _SERVICE, "caBundle": TEXT}),
            "rules": ListOf(Record({f"{name}!": TEXTS for name in _LISTS})),
            "timeoutSeconds": INTEGER32,
            "interpreterContextVersions!": TEXTS,
        }
    )
)
_walk = walk_for_node(WEBHOOKS, Reading(is_typed=False))


def check_webhooks(configuration: Manifest, findings: Findings) -> None:
    """Report mistakes in a configuration's webhooks, and warn of rules by which they are never asked."""
    for name in configuration:
        if name not in (*_ROOT, _STATUS):
            findings.unknown(name, name, _ROOT)
    if configuration.get("webhooks") is None:
        findings.required("webhooks")
        return
    count = len(findings.problems)
    webhooks = _walk(configuration["webhooks"], "webhooks", findings)
    if len(findings.problems) > count:
        return
    names: set[str] = set()
    for index, webhook in enumerate(webhooks):
        path = f"webhooks[{index}]"
        _check_name(webhook["name"], names, f"{path}.name", findings)
        _check_timeout(webhook.get("timeoutSeconds"), f"{path}.timeoutSeconds", findings)
        _check_client_config(webhook["clientConfig"], f"{path}.clientConfig", findings)
        _check_versions(webhook["interpreterContextVersions"], f"{path}.interpreterContextVersions", findings)
        for number, rule in enumerate(webhook.get("rules") or ()):
            _check_rule_of_webhook(rule, f"{path}.rules[{number}]", findings)


def _check_name(name: str, names: set[str], path: str, findings: Findings) -> None:
    if name in names:
        findings.problem(path, f"another webhook here is called {quoted_text(name)}", kind="Duplicate")
    names.add(name)
    fault = fault_of_dns_subdomain(name)
    if not fault and "." not in name:
        fault = f"{quoted_text(name)} has no dot: write a full name, such as {name}.example.com"
    if fault:
        findings.problem(path, fault)


def _check_timeout(seconds: int | None, path: str, findings: Findings) -> None:
    if seconds is not None and not 1 <= seconds <= 30:
        findings.problem(path, f"must be from 1 to 30 seconds, not {seconds}")


def _check_client_config(client: Mapping[str, Any], path: str, findings: Findings) -> None:
    if ("url" in client) == ("service" in client):
        findings.problem(path, "exactly one of url and service is required", kind="Required")
    elif "url" in client:
        _check_url(client["url"], f"{path}.url", findings)
    else:
        _check_service(client["service"], f"{path}.service", findings)
    if bundle := client.get("caBundle"):
        _check_ca_bundle(bundle, f"{path}.caBundle", findings)


def _check_url(url: str, path: str, findings: Findings) -> None:
    address = parse_url_address(url)
    faults = {
        address.fault: address.fault,
        "it must begin with https://": address.scheme != "https",
        "it names no host": not address.host,
        "a user or password must not stand in it": address.has_user,
        "what follows a '?' is not passed on": address.query,
        "what follows a '#' is not passed on": address.fragment,
    }
    # An address that cannot be parsed has no parts, so no other rule can be checked.
    if fault := next((text for text, is_so in faults.items() if is_so), ""):
        findings.problem(path, f"no address of a webhook: {fault}")


def _check_service(service: Mapping[str, Any], path: str, findings: Findings) -> None:
    for name in ("namespace", "name"):
        if not service[name]:
            findings.required(f"{path}.{name}")
    if not 1 <= service.get("port", 443) <= 65535:
        findings.problem(f"{path}.port", f"must be from 1 to 65535, not {service['port']}")
    below = service.get("path") or "/"
    steps = below[1:].removesuffix("/").split("/") if below != "/" else []
    if not below.startswith("/") or any(fault_of_dns_subdomain(step) for step in steps):
        findings.problem(f"{path}.path", f"{quoted_text(below)} is no path: write one such as '/interpret'")


def _check_ca_bundle(bundle: str, path: str, findings: Findings) -> None:
    try:
        text = base64.b64decode("".join(bundle.split()), validate=True)
    except binascii.Error:
        findings.problem(path, "is no base64", hint="write what 'base64 -w0 ca.crt' prints")
        return
    if b"-----BEGIN CERTIFICATE-----" not in text:
        findings.problem(path, "holds no certificate in PEM form", hint="write what 'base64 -w0 ca.crt' prints")


def _check_versions(versions: Iterable[str], path: str, findings: Findings) -> None:
    seen: set[str] = set()
    for index, version in enumerate(versions):
        if version in seen:
            findings.problem(f"{path}[{index}]", f"{quoted_text(version)} stands here twice", kind="Duplicate")
        seen.add(version)
    if VERSION not in seen:
        findings.problem(path, f"must contain {VERSION!r}, the only version there is")


def _check_operations(operations: Iterable[str], path: str, findings: Findings) -> None:
    for index, operation in enumerate(operations):
        if operation and operation not in _OPERATIONS:
            findings.not_supported(f"{path}[{index}]", operation, _OPERATIONS)
        elif operation == Operation.INTERPRET_COMPONENT:
            findings.warning(f"{path}[{index}]", f"is asked for nothing {WITHOUT_COMPONENTS}")


def _check_rule_of_webhook(rule: Mapping[str, list[str]], path: str, findings: Findings) -> None:
    for name in _LISTS:
        words = rule[name]
        if not words:
            findings.required(f"{path}.{name}")
        if len(words) > 1 and ANY in words:
            findings.problem(f"{path}.{name}", f"{ANY!r} is everything and must stand alone")
        if name != "apiGroups" and "" in words:
            findings.required(f"{path}.{name}[{words.index('')}]")
    _check_operations(rule["operations"], f"{path}.operations", findings)
    version, secret = SECRET
    if secret in rule["kinds"] and {"", ANY} & {*rule["apiGroups"]} and {version, ANY} & {*rule["apiVersions"]}:
        findings.warning(f"{path}.kinds", "no webhook is asked about Secrets: their content would leave the fleet")
