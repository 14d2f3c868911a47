"""The order in which objects are applied and deleted: what others need is applied first and deleted last.

Applied: Namespaces; CRDs (until established); classes, accounts and rights; configuration, storage and services;
workloads and everything else; what intercepts writes - webhooks, aggregated APIs - last. Deleted: the interceptors
first, for a webhook without its backend blocks every write; custom resources before the controllers that finalize
them.
"""

from render.model import ObjectRef

CRD = "CustomResourceDefinition.apiextensions.k8s.io"
"""The kind, with its group, of the objects that define kinds."""

CRDS = 1
INTERCEPTORS = 5

_STAGE_BY_GROUP_KIND = {
    "Namespace": 0,
    CRD: CRDS,
    "ServiceAccount": 2,
    "ResourceQuota": 2,
    "LimitRange": 2,
    "ConfigMap": 3,
    "Secret": 3,
    "PersistentVolume": 3,
    "PersistentVolumeClaim": 3,
    "Service": 3,
    "Endpoints": 3,
    "EndpointSlice.discovery.k8s.io": 3,
    "APIService.apiregistration.k8s.io": INTERCEPTORS,
}
_RIGHTS_GROUP = "rbac.authorization.k8s.io"
_ADMISSION_GROUP = "admissionregistration.k8s.io"
_WORKLOADS = 4
_NEVER_UNASKED = frozenset(
    {
        "Namespace",
        CRD,
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass.storage.k8s.io",
    }
)
_COMPILED_IN = frozenset(
    {
        *("", "apps", "autoscaling", "batch", "extensions", "policy"),
        *("admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io", "authentication.k8s.io"),
        *("authorization.k8s.io", "certificates.k8s.io", "coordination.k8s.io", "discovery.k8s.io", "events.k8s.io"),
        *("flowcontrol.apiserver.k8s.io", "networking.k8s.io", "node.k8s.io", "rbac.authorization.k8s.io"),
        *("resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io", "storagemigration.k8s.io"),
    }
)
_SERVED_BY_KUBERNETES = frozenset({"", "apps", "batch", "autoscaling", "policy", "extensions", "events"})


def stage_of(ref: ObjectRef) -> int:
    """Return the stage in which an object is applied.

    >>> stage_of(ObjectRef("", "Namespace", "", "shop")), stage_of(ObjectRef("apps", "Deployment", "shop", "web"))
    (0, 4)
    """
    stage = _STAGE_BY_GROUP_KIND.get(ref.group_kind)
    if stage is not None:
        return stage
    if ref.group == _ADMISSION_GROUP:
        return INTERCEPTORS
    if ref.group == _RIGHTS_GROUP or (ref.kind.endswith("Class") and is_builtin(ref.group)):
        return 2
    return _WORKLOADS


def deletion_wave(ref: ObjectRef) -> int:
    """Return the wave in which an object is deleted; waves follow each other, lowest first."""
    stage = stage_of(ref)
    if stage == INTERCEPTORS:
        return 0
    if stage == _WORKLOADS:
        return 2 if is_builtin(ref.group) else 1
    # Below workloads the order of applying is reversed: configuration, then rights, CRDs, and Namespaces last.
    return 6 - stage


def intercepts(ref: ObjectRef) -> bool:
    """Return whether an object stands between others and their server: it can keep these from being written or read.

    >>> intercepts(ObjectRef("admissionregistration.k8s.io", "ValidatingWebhookConfiguration", "", "guard"))
    True
    """
    return stage_of(ref) == INTERCEPTORS


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
    return ref.group_kind in _NEVER_UNASKED


def confirmation_of(ref: ObjectRef) -> str:
    """Return the word by which somebody confirms that just this object may be deleted.

    >>> confirmation_of(ObjectRef("", "PersistentVolumeClaim", "shop", "disk"))
    'PersistentVolumeClaim/shop/disk'
    """
    return "/".join(filter(None, (ref.kind, ref.namespace, ref.name)))


def sort_key(ref: ObjectRef) -> tuple[int, str, str, str, str]:
    """Order objects by stage, then by themselves."""
    return stage_of(ref), ref.group, ref.kind, ref.namespace, ref.name
