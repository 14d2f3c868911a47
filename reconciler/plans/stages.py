"""The order in which objects are applied and deleted: what others need is applied first and deleted last.

Applied: Namespaces; CRDs (until established); classes, accounts and rights; configuration, storage and services;
workloads and everything else; what intercepts writes - webhooks, aggregated APIs - last. Deleted: the interceptors
first, for a webhook without its backend blocks every write; custom resources before the controllers that finalize
them.
"""

from render.kinds import BUILT_IN, KUBERNETES
from render.kinds.kind import ApplyStage
from render.model import ObjectRef

CRD = "CustomResourceDefinition.apiextensions.k8s.io"
"""The kind, with its group, of the objects that define kinds."""

_RIGHTS_GROUP = "rbac.authorization.k8s.io"
_ADMISSION_GROUP = "admissionregistration.k8s.io"
_COMPILED_IN = frozenset(kind.group for kind in KUBERNETES)
_SERVED_BY_KUBERNETES = frozenset({"", "apps", "batch", "autoscaling", "policy", "extensions", "events"})


def stage_of(ref: ObjectRef) -> ApplyStage:
    """Return the stage in which an object is applied.

    >>> stage_of(ObjectRef("", "Namespace", "", "shop")), stage_of(ObjectRef("apps", "Deployment", "shop", "web"))
    (<ApplyStage.NAMESPACES: 0>, <ApplyStage.WORKLOADS: 4>)
    """
    kind = BUILT_IN.get((ref.group, ref.kind))
    if kind is not None and kind.stage is not None:
        return kind.stage
    if ref.group == _ADMISSION_GROUP:
        return ApplyStage.INTERCEPTORS
    if ref.group == _RIGHTS_GROUP or (ref.kind.endswith("Class") and is_builtin(ref.group)):
        return ApplyStage.RIGHTS
    return ApplyStage.WORKLOADS


def deletion_wave(ref: ObjectRef) -> int:
    """Return the wave in which an object is deleted; waves follow each other, lowest first."""
    stage = stage_of(ref)
    if stage is ApplyStage.INTERCEPTORS:
        return 0
    if stage is ApplyStage.WORKLOADS:
        return 2 if is_builtin(ref.group) else 1
    # Below workloads the order of applying is reversed: configuration, then rights, CRDs, and Namespaces last.
    return 6 - stage


def is_interceptor(ref: ObjectRef) -> bool:
    """Return whether an object stands between others and their server: it can keep these from being written or read.

    >>> is_interceptor(ObjectRef("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "guard"))
    True
    """
    return stage_of(ref) is ApplyStage.INTERCEPTORS


def is_builtin(group: str) -> bool:
    """Return whether an API group is Kubernetes' own."""
    return group in _SERVED_BY_KUBERNETES or group.endswith(".k8s.io")


def is_kubernetes_own(group: str) -> bool:
    """Return whether the kinds of an API group are compiled into every API server.

    Groups of CustomResourceDefinitions may end alike: ``gateway.networking.k8s.io``.
    """
    return group in _COMPILED_IN


def needs_confirmation(ref: ObjectRef) -> bool:
    """Return whether deleting an object of this kind may take far more with it than the object."""
    kind = BUILT_IN.get((ref.group, ref.kind))
    return kind is not None and kind.takes_others_along


def confirmation_of(ref: ObjectRef) -> str:
    """Return the word by which somebody confirms that just this object may be deleted.

    >>> confirmation_of(ObjectRef("", "PersistentVolumeClaim", "shop", "disk"))
    'PersistentVolumeClaim/shop/disk'
    """
    return "/".join(filter(None, (ref.kind, ref.namespace, ref.name)))


def sort_key_by_stage(ref: ObjectRef) -> tuple[int, str, str, str, str]:
    """Order objects by stage, then by themselves."""
    return stage_of(ref), ref.group, ref.kind, ref.namespace, ref.name
