"""Config maps, secrets and service accounts: what pods are given, and what a namespace may use."""

from typing import Any

from render.interpretation.fields import manifest_without_value, objects_at, text_at
from render.interpretation.progress import LiveState, Progress, status_of
from render.interpretation.retention import Retained
from render.model import Manifest

from .kind import COMMON_MAPS, NO_LIVE_RULES, NO_PODS, NO_TEMPLATE_RULES, ApplyStage, BuiltInKind

TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105 - a type's name, no secret


_BOUNDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def is_service_account_token(secret: Manifest) -> bool:
    """Say whether a secret is a token of a service account, which the member's controller writes."""
    return secret.get("type") == TOKEN_TYPE


def namespace_progress(live: Manifest) -> LiveState | None:
    """Return whether a namespace takes objects."""
    phase = status_of(live).get("phase") or "Active"
    return None if phase == "Active" else LiveState(Progress.IN_PROGRESS, "NotActive", f"its phase is {phase}")


def secret_without_token(manifest: Manifest) -> Manifest:
    """Drop the content of a token, which each member writes for itself."""
    if manifest.get("type") != TOKEN_TYPE:
        return manifest
    manifest = manifest_without_value(manifest, "metadata", "annotations", "kubernetes.io/service-account.uid")
    return {**manifest, "data": None} if "data" in manifest else manifest


def account_without_generated_secrets(manifest: Manifest) -> Manifest:
    """Drop generated token secrets; of two side by side Karmada drops the first, and so do we."""
    secrets = list(objects_at(manifest, "secrets"))
    prefix = f"{text_at(manifest, 'metadata', 'name')}-token-"
    index = 0
    while index < len(secrets):
        if text_at(secrets[index], "name").startswith(prefix):
            del secrets[index]
        index += 1
    return {**manifest, "secrets": secrets} if "secrets" in manifest else manifest


def remove_empty_token_list(account: dict[str, Any]) -> None:
    """Take out a list of tokens that is empty."""
    if not account.get("secrets", True):
        del account["secrets"]


KINDS = (
    BuiltInKind(
        group="",
        kind="Namespace",
        version="v1",
        is_namespaced=False,
        filled_in=(("spec",), ("metadata", "labels", "kubernetes.io/metadata.name")),
        stage=ApplyStage.NAMESPACES,
        takes_others_along=True,
        progress=namespace_progress,
        short_names=("ns",),
        has_no=f"{NO_PODS} interpretation retained defaults clean prune is_recreatable maps is_transient pruned_fields",
    ),
    BuiltInKind(
        group="",
        kind="ConfigMap",
        version="v1",
        is_namespaced=True,
        stage=ApplyStage.CONFIGURATION,
        is_recreatable=True,
        maps={"data": "", "binaryData": ""},
        short_names=("cm",),
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} takes_others_along is_transient",
    ),
    BuiltInKind(
        group="",
        kind="Secret",
        version="v1",
        is_namespaced=True,
        prune=secret_without_token,
        stage=ApplyStage.CONFIGURATION,
        is_recreatable=True,
        maps={"data": "", "stringData": ""},
        retained=(Retained(path=("data",), condition=is_service_account_token),),
        has_no=f"{NO_PODS} interpretation progress defaults filled_in clean"
        " takes_others_along is_transient pruned_fields",
    ),
    BuiltInKind(
        group="",
        kind="ServiceAccount",
        version="v1",
        is_namespaced=True,
        clean=remove_empty_token_list,
        prune=account_without_generated_secrets,
        stage=ApplyStage.RIGHTS,
        short_names=("sa",),
        retained=(
            Retained(path=("secrets",), is_united=True, is_map=True),
            Retained(path=("imagePullSecrets",), is_united=True),
        ),
        has_no=f"{NO_PODS} interpretation progress defaults filled_in"
        " takes_others_along is_recreatable is_transient maps pruned_fields",
    ),
    BuiltInKind(
        group="",
        kind="LimitRange",
        version="v1",
        is_namespaced=True,
        stage=ApplyStage.RIGHTS,
        maps={**COMMON_MAPS, **dict.fromkeys(_BOUNDS, "0")},
        short_names=("limits",),
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} takes_others_along is_recreatable is_transient",
    ),
    BuiltInKind(
        group="",
        kind="ResourceQuota",
        version="v1",
        is_namespaced=True,
        stage=ApplyStage.RIGHTS,
        short_names=("quota",),
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} takes_others_along is_recreatable maps is_transient",
    ),
)
"""Namespaces, and the kinds that say what is in one and what its pods may have."""
