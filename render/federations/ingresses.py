"""Ingresses of before networking.k8s.io/v1, as today's API servers take them."""

from collections.abc import Mapping
from typing import Any

from render.model import Manifest

from .decoding import WrongShape, struct
from .shapes import fields, list_of
from .units import Remark, approximate

_INGRESS = fields(
    backend=struct,
    rules=list_of(fields(http=fields(paths=list_of(fields(backend=struct))))),
)


def is_old_ingress(manifest: Manifest) -> bool:
    """Say whether the backends of an Ingress are written as before networking.k8s.io/v1; its shape is checked."""
    spec = manifest.get("spec")
    if manifest.get("kind") != "Ingress" or not isinstance(spec, dict):
        return False
    try:
        _INGRESS(spec, "spec")
    except WrongShape:
        return False
    paths = [path for rule in spec.get("rules") or () for path in (rule.get("http") or {}).get("paths") or ()]
    backends = [spec.get("backend") or {}, *(path.get("backend") or {} for path in paths)]
    return any("serviceName" in each for each in backends)


def upgraded_ingress(manifest: dict[str, Any]) -> tuple[dict[str, Any], list[Remark]]:
    """Return an Ingress of networking.k8s.io/v1, and what was made up for it."""
    spec = dict(manifest.get("spec") or {})
    if "backend" in spec:
        spec["defaultBackend"] = _backend(spec.pop("backend"))
    if spec.get("rules"):
        spec["rules"] = [_rule(each) for each in spec["rules"]]
    what = "its paths have become networking.k8s.io/v1's, with pathType ImplementationSpecific"
    made = {**manifest, "apiVersion": "networking.k8s.io/v1", "spec": spec}
    return made, [approximate("ingress-upgraded", what)]


def _rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    http = rule.get("http")
    if not isinstance(http, dict):
        return dict(rule)
    paths = [
        {"pathType": "ImplementationSpecific", **each, "backend": _backend(each.get("backend") or {})}
        for each in http.get("paths") or ()
    ]
    return {**rule, "http": {**http, "paths": paths}}


def _backend(plain: Mapping[str, Any]) -> dict[str, Any]:
    if "serviceName" not in plain:
        return dict(plain)
    port = plain.get("servicePort")
    named = {"name": port} if isinstance(port, str) else {"number": port}
    return {"service": {"name": plain["serviceName"], "port": named}}
