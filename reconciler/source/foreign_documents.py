"""Documents that look like Kubernetes objects and are none: configuration of tools, and text that is not there yet.

kubeconfigs, files for kind, kubeadm, the kubelet, audit policies and their like carry apiVersion and kind, because
their programs use the same machinery; no API server stores them.
"""

from typing import Any

from render.kinds import BUILT_IN
from render.model import ARGOSY_GROUP, group_of

from .files import Reason

_CONFIGURATION_GROUPS = frozenset(
    {
        "apiserver.config.k8s.io",
        "apiserver.k8s.io",
        "audit.k8s.io",
        "backstage.io",
        "chainsaw.kyverno.io",
        "cli.kyverno.io",
        "client.authentication.k8s.io",
        "clusterctl.cluster.x-k8s.io",
        "controller-runtime.sigs.k8s.io",
        "credentialprovider.kubelet.k8s.io",
        "eksctl.io",
        "fn.kpt.dev",
        "goabout.com",
        "imagepolicy.k8s.io",
        "k0sctl.k0sproject.io",
        "k3d.io",
        "kind.sigs.k8s.io",
        "kind.x-k8s.io",
        "kpt.dev",
        "krew.googlecontainertools.github.com",
        "kubeadm.k8s.io",
        "kubelet.config.k8s.io",
        "kubeproxy.config.k8s.io",
        "kubescheduler.config.k8s.io",
        "kustomize.config.k8s.io",
        "kuttl.dev",
        "meta.gateway-api.x-k8s.io",
        "meta.pkg.crossplane.io",
        "minikube.k8s.io",
        "pod-security.admission.config.k8s.io",
        "scorecard.operatorframework.io",
        "skaffold",
        "viaduct.ai",
    }
)
"""Groups of documents that programs read from files."""

_CONFIGURATION_KINDS = frozenset({("policy.open-cluster-management.io", "PolicyGenerator")})
"""Kinds that programs read from files, of groups that have objects as well."""

_NAMELESS_CONFIGURATION_KINDS = frozenset({("config.karmada.io", "KarmadaInitConfig")})
"""Kinds that a program reads from files, and that a server would take if they had a name."""

_KUSTOMIZE_PLUGINS = "builtin"
"""The apiVersion of what configures a generator or a transformer that is part of kustomize."""

_FUNCTION_ANNOTATIONS = frozenset({"config.kubernetes.io/function", "config.k8s.io/function"})
"""The annotations that name the program, a plug-in of kustomize or kpt, which a document configures."""

_KUBERNETES_KINDS = frozenset(
    kind for group, kind in BUILT_IN if group != ARGOSY_GROUP and not group.endswith(".karmada.io")
)
_LOGIN_GROUPS = frozenset({"apiserver.config.k8s.io", "client.authentication.k8s.io", "kubeadm.k8s.io"})
_CREDENTIALS = frozenset(
    {
        *("token", "password", "client-key-data", "id-token", "refresh-token", "access-token", "client-secret"),
        *("clientKeyData", "certificateKey", "secret"),
    }
)
"""Fields that hold credentials in configurations that log in somewhere, or that keep keys."""
_ENCRYPTED = "ENC["
_TEMPLATE = "{{"


def reason_not_kubernetes_object(manifest: Any, *, is_built_in: bool) -> Reason | None:
    """Return why a document with apiVersion and kind is no Kubernetes object; None if it is one, or meant to be.

    ``is_built_in``: the kind is one of Kubernetes, Karmada or Argosy, so that without metadata it is a slip.
    """
    api_version, kind = manifest["apiVersion"], manifest["kind"]
    if _ENCRYPTED in api_version[:4] or _ENCRYPTED in kind[:4]:
        return Reason.ENCRYPTED
    metadata = manifest.get("metadata")
    if any(_TEMPLATE in text for text in (api_version, kind, *_name_and_namespace(metadata))):
        return Reason.TEMPLATE
    if _is_plugin_configuration(manifest, metadata):
        return Reason.NO_OBJECT
    if group_of(api_version) in _CONFIGURATION_GROUPS or _is_kubeconfig(manifest):
        return Reason.CREDENTIALS if holds_credentials(manifest) else Reason.NO_OBJECT
    return Reason.NO_OBJECT if metadata is None and not is_built_in else None


def _is_plugin_configuration(manifest: Any, metadata: Any) -> bool:
    """Say whether a document configures karmadactl, or a plug-in of kustomize or kpt."""
    kind = group_of(manifest["apiVersion"]), manifest["kind"]
    if manifest["apiVersion"] == _KUSTOMIZE_PLUGINS or kind in _CONFIGURATION_KINDS:
        return True
    if kind in _NAMELESS_CONFIGURATION_KINDS and not (isinstance(metadata, dict) and metadata.get("name")):
        return True
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    return isinstance(annotations, dict) and not _FUNCTION_ANNOTATIONS.isdisjoint(annotations)


def holds_credentials(value: Any) -> bool:
    """Say whether a document is the configuration of a tool and holds credentials that everybody can read."""
    if not isinstance(value, dict) or not {"apiVersion", "kind"} <= value.keys():
        return False
    is_login = group_of(str(value["apiVersion"])) in _LOGIN_GROUPS or _is_kubeconfig(value)
    return is_login and _has_credentials(value)


def _has_credentials(value: Any) -> bool:
    if isinstance(value, list):
        return any(map(_has_credentials, value))
    if not isinstance(value, dict):
        return False
    return any(
        (key in _CREDENTIALS and isinstance(inner, str) and _is_credential_in_clear_text(inner))
        or _has_credentials(inner)
        for key, inner in value.items()
    )


def _is_credential_in_clear_text(text: str) -> bool:
    return bool(text) and not any(mark in text for mark in (_ENCRYPTED, _TEMPLATE, "${"))


def is_half_manifest(value: Any) -> bool:
    """Say whether a document was meant to be a Kubernetes object, and lacks its apiVersion or its kind.

    The index of a chart repository, what Grafana is provisioned with, and pipelines have one of both, and no metadata.
    """
    if not isinstance(value, dict) or value.keys().isdisjoint({"apiVersion", "kind"}):
        return False
    kind = value.get("kind")
    return "metadata" in value or (isinstance(kind, str) and kind in _KUBERNETES_KINDS)


def is_wholly_encrypted(value: Any) -> bool:
    """Say whether a document is what SOPS makes of a file that it encrypts without leaving anything readable."""
    if not isinstance(value, dict) or not isinstance(value.get("sops"), dict):
        return False
    return all(_ENCRYPTED in str(text)[:4] for key, text in value.items() if key in {"apiVersion", "kind", "data"})


def _name_and_namespace(metadata: Any) -> list[str]:
    found = (metadata.get("name"), metadata.get("namespace")) if isinstance(metadata, dict) else ()
    return [text for text in found if isinstance(text, str)]


def _is_kubeconfig(manifest: Any) -> bool:
    is_config = (manifest["apiVersion"], manifest["kind"]) == ("v1", "Config")
    return is_config and not {"clusters", "contexts", "users"}.isdisjoint(manifest)
