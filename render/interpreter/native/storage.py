"""Persistent volumes, their claims, secrets and service accounts, with the fields that members fill in themselves."""

from collections.abc import Mapping
from typing import Any

from render.interpretation.fields import objects_at, text_at, value_at, with_value
from render.interpretation.operations import Interpretation, Items
from render.interpretation.statuses import collected
from render.model import Manifest

TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105 - a type's name, no secret
VOLUME_PHASES = ("Failed", "Pending", "Available", "Bound", "Released")


def retain_volume_name(desired: Manifest, observed: Manifest) -> Manifest:
    """Keep the volume a member bound the claim to."""
    name = text_at(observed, "spec", "volumeName")
    return with_value(desired, name, "spec", "volumeName") if name else desired


def aggregated_claim(_template: Manifest, items: Items) -> Any:
    """Return Lost if any is lost, else the last phase that is not Bound, else Bound - even with nothing collected."""
    phase = "Bound"
    for _, status in collected(items):
        member = text_at(status, "phase")
        if member == "Lost":
            return {"phase": member}
        if member != "Bound":
            phase = member
    return {"phase": phase} if phase else {}


def is_bound(observed: Manifest) -> bool:
    """Say whether the claim has its volume."""
    return text_at(observed, "status", "phase") == "Bound"


def retain_claim(desired: Manifest, observed: Manifest) -> Manifest:
    """Keep the claim a member's volume is bound to."""
    claim = value_at(observed, "spec", "claimRef")
    return with_value(desired, claim, "spec", "claimRef") if claim is not None else desired


def aggregated_volume(_template: Manifest, items: Items) -> Any:
    """Take the worst phase; a volume not reported yet is pending."""
    phases = {text_at(item, "status", "phase") if item.get("status") is not None else "Pending" for item in items or ()}
    phase = next((phase for phase in VOLUME_PHASES if phase in phases), "")
    return {"phase": phase} if phase else {}


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


KINDS: Mapping[tuple[str, str], Interpretation] = {
    ("v1", "PersistentVolumeClaim"): Interpretation(
        retain=retain_volume_name, aggregate=aggregated_claim, health=is_bound
    ),
    ("v1", "PersistentVolume"): Interpretation(retain=retain_claim, aggregate=aggregated_volume),
    ("v1", "Secret"): Interpretation(retain=retain_token),
    ("v1", "ServiceAccount"): Interpretation(retain=retain_secrets),
}
"""The interpretation of each kind, by apiVersion and kind."""
