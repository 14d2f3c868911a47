"""Config maps, secrets and service accounts: what pods are given, and what a namespace may use."""

from collections.abc import Mapping
from typing import Any

from render.interpretation.fields import objects_at, text_at
from render.interpretation.operations import Interpretation
from render.model import Manifest

from .kind import BuiltInKind

TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105 - a type's name, no secret


def retain_token(desired: Manifest, observed: Manifest) -> Manifest:
    """Keep a service account token, which the member's controller writes."""
    data = observed.get("data")
    return {**desired, "data": data} if desired.get("type") == TOKEN_TYPE and data is not None else desired


def retain_secrets(desired: Manifest, observed: Manifest) -> Manifest:
    """Keep the secrets a member added to the service account, after the template's own."""
    return {**desired, **{field: _merged(desired, observed, field) for field in ("secrets", "imagePullSecrets")}}


def _merged(desired: Manifest, observed: Manifest, field: str) -> list[Mapping[str, Any]]:
    first_by_name: dict[str, Mapping[str, Any]] = {}
    for reference in (*objects_at(desired, field), *objects_at(observed, field)):
        first_by_name.setdefault(text_at(reference, "name"), reference)
    return list(first_by_name.values())


KINDS = (
    BuiltInKind(group="", kind="Namespace", version="v1", is_namespaced=False, short_names=("ns",)),
    BuiltInKind(group="", kind="ConfigMap", version="v1", is_namespaced=True, short_names=("cm",)),
    BuiltInKind(
        group="", kind="Secret", version="v1", is_namespaced=True, interpretation=Interpretation(retain=retain_token)
    ),
    BuiltInKind(
        group="",
        kind="ServiceAccount",
        version="v1",
        is_namespaced=True,
        short_names=("sa",),
        interpretation=Interpretation(retain=retain_secrets),
    ),
    BuiltInKind(group="", kind="LimitRange", version="v1", is_namespaced=True, short_names=("limits",)),
    BuiltInKind(group="", kind="ResourceQuota", version="v1", is_namespaced=True, short_names=("quota",)),
)
"""Namespaces, and the kinds that say what is in one and what its pods may have."""
