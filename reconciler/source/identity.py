"""The identity of manifests: their apiVersion, kind and name, which must be harmless, and the counts that we divide.

API servers would refuse most of these names, too, but only after the commit is made.
"""

import re
from collections.abc import Mapping
from typing import Any

from render.admission.findings import Findings
from render.admission.metadata import NameFault, check_metadata
from render.expressions import lazy_expression
from render.kinds import BUILT_IN
from render.model import Manifest, group_of, is_encrypted_by_sops
from render.syntax import fault_of_dns_label, fault_of_dns_subdomain, quoted_text

_KIND = lazy_expression(r"[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?", re.ASCII)
_VERSION = lazy_expression(r"[a-z]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_MAX_NAME = 253
_TEXTS, _MAPS = ("name", "generateName", "namespace", "uid"), ("labels", "annotations")
_STRICT_GROUPS = frozenset({"", "apps", "autoscaling", "batch", "policy", "networking.k8s.io", "apiextensions.k8s.io"})
"""Groups whose kinds all have DNS names; RBAC and custom resources may have other names."""
_MAX_COUNT = 2**31 - 1


def check_identity(manifest: Manifest, findings: Findings) -> None:
    """Find what is wrong with a manifest's apiVersion, kind and metadata, unknown fields aside."""
    _check_api_version_and_kind(manifest, findings)
    metadata = manifest.get("metadata")
    if metadata is None:
        findings.required("metadata.name")
    elif not isinstance(metadata, dict):
        findings.wrong_type("metadata", metadata, "an object")
    elif _has_right_types(metadata, findings):
        check_metadata(metadata, findings, _name_rule_of_kind(manifest))


def _check_api_version_and_kind(manifest: Manifest, findings: Findings) -> None:
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    group, slash, version = api_version.rpartition("/")
    if (slash and fault_of_dns_subdomain(group)) or not _VERSION.fullmatch(version):
        findings.problem(
            "apiVersion", f"{quoted_text(api_version)} is no API version", hint="such as 'v1' or 'apps/v1'"
        )
    if not _KIND.fullmatch(kind) or len(kind) > _MAX_NAME:
        findings.problem("kind", f"{quoted_text(kind)} is no kind", hint="such as 'ConfigMap'")


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
    _check_finalizers(metadata.get("finalizers"), findings)
    return len(findings.problems) == count


def _check_finalizers(finalizers: Any, findings: Findings) -> None:
    if not isinstance(finalizers, list | None):
        findings.wrong_type("metadata.finalizers", finalizers, "a list")
        return
    for number, each in enumerate(finalizers or ()):
        if not isinstance(each, str):
            findings.wrong_type(f"metadata.finalizers[{number}]", each, "a string", hint="put it in quotes")


def _name_rule_of_kind(manifest: Manifest) -> NameFault:
    """Return the rule for names of a kind: most are DNS names; some, such as roles, need only be harmless in a path."""
    group = group_of(manifest["apiVersion"])
    if manifest["kind"] == "Namespace" and not group:
        return fault_of_dns_label
    return fault_of_dns_subdomain if group in _STRICT_GROUPS else fault_of_path_segment


def fault_of_path_segment(name: str) -> str:
    """Say why a name cannot be part of a path, as Kubernetes asks of all names."""
    if len(name.encode("utf-8", "surrogatepass")) > _MAX_NAME:
        return f"{quoted_text(name)} is longer than {_MAX_NAME} characters"
    if name in {".", ".."} or not name.isprintable() or not {"/", "%"}.isdisjoint(name):
        return f"{quoted_text(name)} may not be '.' or '..' or have '/', '%' or a control character"
    return ""


def check_counts(manifest: Manifest, findings: Findings) -> None:
    """Find the counts that are no whole number of at least 0."""
    fields = count_fields_of_kind(manifest)
    spec = manifest.get("spec") or {}
    if fields and not isinstance(spec, dict):
        findings.wrong_type("spec", spec, "an object")
        return
    for name in fields:
        value = spec.get(name)
        if value is None:
            continue
        if isinstance(value, str) and value.startswith("ENC[") and is_encrypted_by_sops(manifest):
            hint = "leave it readable: --encrypted-regex says what SOPS encrypts"
            findings.problem(f"spec.{name}", "SOPS encrypted it, and nothing decrypts what is divided", hint=hint)
        elif type(value) is not int:
            hint = "write it without quotes" if isinstance(value, str) and value.isdecimal() else ""
            findings.wrong_type(f"spec.{name}", value, "a whole number", hint=hint)
        elif not 0 <= value <= _MAX_COUNT:
            findings.problem(f"spec.{name}", f"must be from 0 to {_MAX_COUNT}")


def count_fields_of_kind(manifest: Manifest) -> tuple[str, ...]:
    """Return the counts that objects of the kind of a manifest have."""
    kind = BUILT_IN.get((group_of(manifest["apiVersion"]), manifest["kind"]))
    return kind.counts if kind else ()
