"""What every object must have to be one: a harmless name, and metadata of the right types.

A member's API server would refuse most of what is refused here, but only after the commit is made.
"""

import re
from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.metadata import NameFault, check_metadata
from render.admission.syntax import dns_label_fault, quoted, subdomain_fault
from render.model import Manifest, group_of

_KIND = re.compile(r"[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?", re.ASCII)
_VERSION = re.compile(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_MAX_NAME = 253
_TEXTS, _MAPS = ("name", "generateName", "namespace", "uid"), ("labels", "annotations")
_STRICT_GROUPS = frozenset({"", "apps", "autoscaling", "batch", "policy", "networking.k8s.io", "apiextensions.k8s.io"})


def check_identity(manifest: Manifest, findings: Findings) -> None:
    """Find what is wrong with a manifest's apiVersion, kind and metadata, unknown fields aside."""
    _check_type(manifest, findings)
    metadata = manifest.get("metadata")
    if metadata is None:
        findings.required("metadata.name")
    elif not isinstance(metadata, dict):
        findings.wrong_type("metadata", metadata, "an object")
    elif _has_right_types(metadata, findings):
        check_metadata(metadata, findings, _name_fault_of(manifest))


def _check_type(manifest: Manifest, findings: Findings) -> None:
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    group, slash, version = api_version.rpartition("/")
    if (slash and subdomain_fault(group)) or not _VERSION.fullmatch(version):
        findings.problem("apiVersion", f"{quoted(api_version)} is no API version", hint="such as 'v1' or 'apps/v1'")
    if not _KIND.fullmatch(kind) or len(kind) > _MAX_NAME:
        findings.problem("kind", f"{quoted(kind)} is no kind", hint="such as 'ConfigMap'")


def _has_right_types(metadata: Mapping[str, Any], findings: Findings) -> bool:
    count = len(findings.problems)
    for name in _TEXTS:
        if not isinstance(metadata.get(name), str | None):
            findings.wrong_type(f"metadata.{name}", metadata[name], "a string", hint="put it in quotes")
    for name in _MAPS:
        value = metadata.get(name)
        if not isinstance(value, dict | None):
            findings.wrong_type(f"metadata.{name}", value, "an object")
            continue
        for key, text in (value or {}).items():
            if not isinstance(text, str):
                findings.wrong_type(f"metadata.{name}[{key}]", text, "a string", hint="put it in quotes")
    return len(findings.problems) == count


def _name_fault_of(manifest: Manifest) -> NameFault:
    """Return the rule for names of a kind: most are DNS names; some, such as roles, need only be harmless in a path."""
    group = group_of(manifest["apiVersion"])
    if manifest["kind"] == "Namespace" and not group:
        return dns_label_fault
    return subdomain_fault if group in _STRICT_GROUPS else path_segment_fault


def path_segment_fault(name: str) -> str:
    """Say why a name cannot be part of a path, as Kubernetes asks of all names."""
    if len(name.encode("utf-8", "surrogatepass")) > _MAX_NAME:
        return f"{quoted(name)} is longer than {_MAX_NAME} characters"
    if name in {".", ".."} or not name.isprintable() or not {"/", "%"}.isdisjoint(name):
        return f"{quoted(name)} may not be '.' or '..' or have '/', '%' or a control character"
    return ""
