"""KubeFed v2: where a federated object goes, what each cluster is sent, and how replicas are divided."""

from render.federations.federation import Federation
from render.model import Manifest

_GROUPS = (".kubefed.io", ".kubefed.k8s.io", ".federation.k8s.io")


def _is_of_kubefed_group(group: str, _kind: str) -> bool:
    return group == "kubefed.io" or group.endswith(_GROUPS)


def _is_federated(manifest: Manifest) -> bool:
    """Say whether a document is of a federated kind, which people and KubeSphere have of groups of their own."""
    spec = manifest.get("spec")
    return isinstance(spec, dict) and "placement" in spec and "template" in spec


KUBEFED = Federation(
    name="kubefed",
    title="KubeFed",
    about="federated objects of any kind, and what belongs to them",
    setting="KubeFed",
    is_of_type=_is_of_kubefed_group,
    is_marked=_is_federated,
    marked_kinds="Federated",
    rules={
        "unknown-cluster": "KF-02",
        "nowhere": "KF-05",
        "namespace-not-federated": "KF-09",
        "override-fails": "KF-11",
        "override-identity": "KF-12",
        "template-annotations-dropped": "KF-13",
        "template-finalizers-dropped": "KF-13",
        "ftc-unknown-kind": "KF-16",
        "rsp-read": "KF-18",
        "rsp-pinned": "KF-20",
        "rsp-intersect-empty": "KF-22",
    },
)
