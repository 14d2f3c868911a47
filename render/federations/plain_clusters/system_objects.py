"""Objects that a cluster makes for itself, or a controller of another object, and the reason why each is left out."""

from collections.abc import Mapping

from render.federations.units import Remark, approximate_remark, exact_remark
from render.kinds import KUBERNETES
from render.model import Manifest, ObjectRef

KINDS_LEFT_OUT: Mapping[str, str] = {
    **{kind.group_kind: kind.not_written for kind in KUBERNETES if kind.not_written},
    "NodeMetrics.metrics.k8s.io": "it is a measurement",
    "PodMetrics.metrics.k8s.io": "it is a measurement",
}
"""The kinds whose objects no person writes, by kind and group; nobody asks a cluster for them."""
METADATA_ALONE = frozenset({"Pod", "Secret"})
"""The kinds of which the metadata is enough to say why they are left out: contents of Secrets are never asked for."""
_SYSTEM_NAMESPACES = ("kube-",)
OWN_NAMESPACE = "argosy-system"
_MADE_BY_NAME = frozenset(
    {
        ("ConfigMap", "istio-ca-root-cert"),
        ("ConfigMap", "kube-root-ca.crt"),
        ("ConfigMap", "openshift-service-ca.crt"),
        ("Namespace", "default"),
        ("PriorityClass.scheduling.k8s.io", "system-cluster-critical"),
        ("PriorityClass.scheduling.k8s.io", "system-node-critical"),
    }
)
_ROLES = "rbac.authorization.k8s.io"
_BOOTSTRAPPING = "kubernetes.io/bootstrapping"
_ADDON = "addonmanager.kubernetes.io/mode"
_TOKEN_OF = "kubernetes.io/service-account.name"  # noqa: S105 - the name of an annotation
_PROVISIONED = "pv.kubernetes.io/provisioned-by"
_HELM_RECORD = "sh.helm.release.v1."

OWNED = exact_remark("controller-made", "a controller makes it of another object")
_OF_THE_CLUSTER = exact_remark("cluster-made", "every cluster makes it for itself")
_OF_THE_SYSTEM = exact_remark("of-the-system", "it belongs to the cluster itself")
_TERMINATING = exact_remark("being-deleted", "it is being deleted")
_TOKEN = exact_remark("token", "the cluster makes tokens by itself, and they are never copied")
_HELM = exact_remark("helm-record", "Helm remembers a release by it")
_SECRET = approximate_remark(
    "secret-left-out",
    "the values of a Secret are not copied; it stays there as it is, and goes to no other cluster until it is written"
    " anew, encrypted, beside the others",
)
_POD = approximate_remark(
    "pod-left-out",
    "what the cluster wrote into a Pod cannot be distinguished from what a person wrote; it stays there as it is",
)


def is_system_namespace(namespace: str) -> bool:
    """Say whether a namespace is one of a cluster's own, or that of Argosy's records."""
    return namespace.startswith(_SYSTEM_NAMESPACES) or namespace == OWN_NAMESPACE


def reason_to_leave_out(manifest: Manifest, *, with_system: bool = False) -> Remark | None:
    """Return the reason for which a live object becomes no template; None for one that does.

    ``with_system``: somebody asked for the namespaces of the system.
    """
    ref, metadata = ObjectRef.of(manifest), manifest["metadata"]
    if metadata.get("deletionTimestamp"):
        return _TERMINATING
    if metadata.get("ownerReferences") or _is_provisioned_by_controller(ref, metadata):
        return OWNED
    if (ref.group_kind, ref.name) in _MADE_BY_NAME or _is_made_in_every_cluster(ref, manifest):
        return _OF_THE_CLUSTER
    place = ref.name if ref.group_kind == "Namespace" else ref.namespace
    is_foreign = place == OWN_NAMESPACE if with_system else is_system_namespace(place)
    if is_foreign or _is_part_of_cluster(ref, metadata.get("labels") or {}):
        return _OF_THE_SYSTEM
    if ref.group_kind == "Secret":
        return _reason_to_leave_out_secret(ref, metadata.get("annotations") or {})
    return _POD if ref.group_kind == "Pod" else None


def _is_provisioned_by_controller(ref: ObjectRef, metadata: Manifest) -> bool:
    return ref.group_kind == "PersistentVolume" and _PROVISIONED in (metadata.get("annotations") or {})


def _reason_to_leave_out_secret(ref: ObjectRef, annotations: Mapping[str, str]) -> Remark:
    if _TOKEN_OF in annotations:
        return _TOKEN
    return _HELM if ref.name.startswith(_HELM_RECORD) else _SECRET


def _is_made_in_every_cluster(ref: ObjectRef, manifest: Manifest) -> bool:
    """Say whether an object is made in every cluster, or namespace, as it stands."""
    if (ref.group_kind, ref.namespace, ref.name) == ("Service", "default", "kubernetes"):
        return True
    if (ref.group_kind, ref.name) != ("ServiceAccount", "default"):
        return False
    metadata = manifest["metadata"]
    return not (manifest.get("imagePullSecrets") or metadata.get("annotations") or metadata.get("labels"))


def _is_part_of_cluster(ref: ObjectRef, labels: Mapping[str, str]) -> bool:
    """Say whether an object came with the cluster: its roles, and what its addon manager keeps."""
    is_role = ref.group == _ROLES and (_BOOTSTRAPPING in labels or ref.name.startswith("system:"))
    return is_role or _ADDON in labels
