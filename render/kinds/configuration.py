"""Config maps, secrets and service accounts: what pods are given, and what a namespace may use."""

from render.interpretation.progress import LiveState, Progress, status_of
from render.interpretation.retention import Retained
from render.model import Manifest

from .kind import COMMON_MAPS, ApplyStage, BuiltInKind

TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105 - a type's name, no secret


_BOUNDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")


def is_token(secret: Manifest) -> bool:
    """Say whether a secret is a token of a service account, which the member's controller writes."""
    return secret.get("type") == TOKEN_TYPE


def namespace_progress(live: Manifest) -> LiveState | None:
    """Return whether a namespace takes objects."""
    phase = status_of(live).get("phase") or "Active"
    return None if phase == "Active" else LiveState(Progress.IN_PROGRESS, "NotActive", f"its phase is {phase}")


KINDS = (
    BuiltInKind(
        group="",
        kind="Namespace",
        version="v1",
        is_namespaced=False,
        stage=ApplyStage.NAMESPACES,
        takes_others_along=True,
        progress=namespace_progress,
        short_names=("ns",),
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
    ),
    BuiltInKind(
        group="",
        kind="Secret",
        version="v1",
        is_namespaced=True,
        stage=ApplyStage.CONFIGURATION,
        is_recreatable=True,
        maps={"data": "", "stringData": ""},
        retained=(Retained(path=("data",), condition=is_token),),
    ),
    BuiltInKind(
        group="",
        kind="ServiceAccount",
        version="v1",
        is_namespaced=True,
        stage=ApplyStage.RIGHTS,
        short_names=("sa",),
        retained=(
            Retained(path=("secrets",), is_united=True, is_map=True),
            Retained(path=("imagePullSecrets",), is_united=True),
        ),
    ),
    BuiltInKind(
        group="",
        kind="LimitRange",
        version="v1",
        is_namespaced=True,
        stage=ApplyStage.RIGHTS,
        maps={**COMMON_MAPS, **dict.fromkeys(_BOUNDS, "0")},
        short_names=("limits",),
    ),
    BuiltInKind(
        group="",
        kind="ResourceQuota",
        version="v1",
        is_namespaced=True,
        stage=ApplyStage.RIGHTS,
        short_names=("quota",),
    ),
)
"""Namespaces, and the kinds that say what is in one and what its pods may have."""
