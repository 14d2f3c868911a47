"""Ingresses of before networking.k8s.io/v1, as today's API servers take them."""

from collections.abc import Mapping
from typing import Any

from render.model import Manifest

from .decoding import WrongShape, decode_object
from .shapes import reader_of_fields, reader_of_list
from .units import Remark, approximate_remark

_INGRESS = reader_of_fields(
    backend=decode_object,
    rules=reader_of_list(
        reader_of_fields(http=reader_of_fields(paths=reader_of_list(reader_of_fields(backend=decode_object))))
    ),
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
        spec["defaultBackend"] = _upgraded_backend(spec.pop("backend"))
    if spec.get("rules"):
        spec["rules"] = [_upgraded_rule(each) for each in spec["rules"]]
    what = "its paths have become networking.k8s.io/v1's, with pathType ImplementationSpecific"
    made = {**manifest, "apiVersion": "networking.k8s.io/v1", "spec": spec}
    return made, [approximate_remark("ingress-upgraded", what)]


def _upgraded_rule(rule: Mapping[str, Any]) -> dict[str, Any]:
    http = rule.get("http")
    if not isinstance(http, dict):
        return dict(rule)
    paths = [
        {"pathType": "ImplementationSpecific", **each, "backend": _upgraded_backend(each.get("backend") or {})}
        for each in http.get("paths") or ()
    ]
    return {**rule, "http": {**http, "paths": paths}}


def _upgraded_backend(plain: Mapping[str, Any]) -> dict[str, Any]:
    if "serviceName" not in plain:
        return dict(plain)
    port = plain.get("servicePort")
    named = {"name": port} if isinstance(port, str) else {"number": port}
    return {"service": {"name": plain["serviceName"], "port": named}}
