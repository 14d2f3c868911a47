"""The kinds that change what an API server serves, and what it lets pass."""

from render.interpretation.retention import EACH, Retained

from .kind import BuiltInKind, plain_kinds

_CERTIFICATE = ("clientConfig", "caBundle")


def _injected(*path: str) -> tuple[Retained, ...]:
    """Return the one field of a kind that cert-manager and its like write certificates into."""
    return (Retained(path=path, is_injected=True, is_karmadas=False),)


KINDS = (
    BuiltInKind(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        version="v1",
        is_namespaced=False,
        short_names=("crd", "crds"),
        retained=_injected("spec", "conversion", "webhook", *_CERTIFICATE),
    ),
    BuiltInKind(
        group="apiregistration.k8s.io",
        kind="APIService",
        version="v1",
        is_namespaced=False,
        retained=_injected("spec", "caBundle"),
    ),
    BuiltInKind(
        group="admissionregistration.k8s.io",
        kind="ValidatingWebhookConfiguration",
        version="v1",
        is_namespaced=False,
        retained=_injected("webhooks", EACH, *_CERTIFICATE),
    ),
    BuiltInKind(
        group="admissionregistration.k8s.io",
        kind="MutatingWebhookConfiguration",
        version="v1",
        is_namespaced=False,
        retained=_injected("webhooks", EACH, *_CERTIFICATE),
    ),
    *plain_kinds(
        "admissionregistration.k8s.io",
        "InitializerConfiguration MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy"
        " ValidatingAdmissionPolicyBinding",
        is_namespaced=False,
    ),
    *plain_kinds("flowcontrol.apiserver.k8s.io", "FlowSchema PriorityLevelConfiguration", is_namespaced=False),
)
"""Definitions of kinds, aggregated APIs, webhooks, and the rules that admit and queue requests."""
