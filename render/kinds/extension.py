"""The kinds that change what an API server serves, and what it lets pass."""

from .kind import BuiltInKind, plain_kinds

KINDS = (
    BuiltInKind(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        version="v1",
        is_namespaced=False,
        short_names=("crd", "crds"),
    ),
    BuiltInKind(group="apiregistration.k8s.io", kind="APIService", version="v1", is_namespaced=False),
    BuiltInKind(
        group="admissionregistration.k8s.io",
        kind="ValidatingWebhookConfiguration",
        version="v1",
        is_namespaced=False,
    ),
    BuiltInKind(
        group="admissionregistration.k8s.io", kind="MutatingWebhookConfiguration", version="v1", is_namespaced=False
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
