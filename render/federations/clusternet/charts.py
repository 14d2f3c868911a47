"""HelmCharts of Clusternet as Flux's HelmRelease and HelmRepository: the objects that members with Flux install."""

from collections.abc import Mapping
from typing import Any

from render.model import Manifest

_INTERVAL = "10m"
_INSTALL = {"replace": "replace", "disableHooks": "disableHooks"}


def helm_release_of(chart: Manifest, values: Any) -> dict[str, Any]:
    """Return the HelmRelease of a chart with values, by the chart's own name and namespace."""
    spec, metadata = chart.get("spec") or {}, chart["metadata"]
    wanted = {"chart": spec.get("chart"), "version": spec.get("version")}
    install = {mine: spec[its] for its, mine in _INSTALL.items() if spec.get(its)}
    install |= {"createNamespace": spec.get("createNamespace", True)} | (
        {"crds": "Skip"} if spec.get("skipCRDs") else {}
    )
    fields: dict[str, Any] = {
        "releaseName": metadata["name"],
        "targetNamespace": spec.get("targetNamespace"),
        "interval": _INTERVAL,
        "timeout": f"{spec['timeoutSeconds']}s" if spec.get("timeoutSeconds") else None,
        "chart": {
            "spec": {key: value for key, value in wanted.items() if value}
            | {"sourceRef": {"kind": "HelmRepository", "name": metadata["name"]}}
        },
        "install": install,
        "values": values,
    }
    return {
        "apiVersion": "helm.toolkit.fluxcd.io/v2",
        "kind": "HelmRelease",
        "metadata": _name_and_namespace_of(metadata),
        "spec": {key: value for key, value in fields.items() if value not in (None, "")},
    }


def helm_repository_of(chart: Manifest) -> dict[str, Any]:
    """Return the HelmRepository of a chart."""
    spec = chart.get("spec") or {}
    url = str(spec.get("repo") or "")
    kind = {"type": "oci"} if url.startswith("oci://") else {}
    secret = (spec.get("chartPullSecret") or {}).get("name")
    return {
        "apiVersion": "source.toolkit.fluxcd.io/v1",
        "kind": "HelmRepository",
        "metadata": _name_and_namespace_of(chart["metadata"]),
        "spec": {"url": url, "interval": _INTERVAL, **kind} | ({"secretRef": {"name": secret}} if secret else {}),
    }


def _name_and_namespace_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {key: metadata[key] for key in ("name", "namespace") if metadata.get(key)}
