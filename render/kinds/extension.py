"""The kinds that change what an API server serves, and what it lets pass."""

from collections.abc import Mapping

from render.interpretation.progress import LiveState, live_condition, state_of_broken_object, state_under_way
from render.interpretation.removal import Path
from render.interpretation.retention import EACH, Retained
from render.model import Manifest

from .kind import (
    NO_DELIVERY_RULES,
    NO_PODS,
    NO_TEMPLATE_RULES,
    ApplyStage,
    BuiltInKind,
    Default,
    built_in_kinds_without_rules,
)

_CERTIFICATE = ("clientConfig", "caBundle")

_HOOKS: Mapping[Path, Default] = {
    ("webhooks", "*", "timeoutSeconds"): 10,
    ("webhooks", "*", "matchPolicy"): "Equivalent",
    ("webhooks", "*", "failurePolicy"): "Fail",
    ("webhooks", "*", "namespaceSelector"): {},
    ("webhooks", "*", "objectSelector"): {},
    ("webhooks", "*", "reinvocationPolicy"): "Never",
    ("webhooks", "*", "rules", "*", "scope"): "*",
    ("webhooks", "*", "clientConfig", "service", "port"): 443,
}


def _injected_ca_bundle(*path: str) -> tuple[Retained, ...]:
    """Return the one field of a kind that cert-manager and its like write certificates into."""
    return (Retained(path=path, is_injected=True, is_karmadas=False),)


def definition_progress(live: Manifest) -> LiveState | None:
    """Return whether a definition is served."""
    names = live_condition(live, "NamesAccepted")
    if names.get("status") == "False":
        return state_of_broken_object(names)
    established = live_condition(live, "Established")
    if established.get("status") == "True":
        return None
    is_broken = established.get("status") == "False" and established.get("reason") != "Installing"
    return state_of_broken_object(established) if is_broken else state_under_way(established)


def api_service_progress(live: Manifest) -> LiveState | None:
    """Return whether an aggregated API answers."""
    available = live_condition(live, "Available")
    return None if available.get("status") == "True" else state_under_way(available)


KINDS = (
    BuiltInKind(
        group="apiextensions.k8s.io",
        kind="CustomResourceDefinition",
        version="v1",
        is_namespaced=False,
        defaults={("spec", "conversion"): {"strategy": "None"}},
        filled_in=(("metadata", "annotations", "api-approved.kubernetes.io/bound"),),
        stage=ApplyStage.DEFINITIONS,
        takes_others_along=True,
        maps={},
        progress=definition_progress,
        short_names=("crd", "crds"),
        retained=_injected_ca_bundle("spec", "conversion", "webhook", *_CERTIFICATE),
        has_no=f"{NO_PODS} interpretation clean prune is_recreatable is_transient pruned_fields",
    ),
    BuiltInKind(
        group="apiregistration.k8s.io",
        kind="APIService",
        version="v1",
        is_namespaced=False,
        not_written="a cluster registers its APIs by itself",
        stage=ApplyStage.INTERCEPTORS,
        progress=api_service_progress,
        retained=_injected_ca_bundle("spec", "caBundle"),
        has_no=f"{NO_PODS} {NO_TEMPLATE_RULES} interpretation takes_others_along is_recreatable maps is_transient",
    ),
    BuiltInKind(
        group="admissionregistration.k8s.io",
        kind="ValidatingWebhookConfiguration",
        version="v1",
        is_namespaced=False,
        defaults=_HOOKS,
        retained=_injected_ca_bundle("webhooks", EACH, *_CERTIFICATE),
        has_no=f"{NO_PODS} {NO_DELIVERY_RULES} interpretation progress filled_in clean prune pruned_fields",
    ),
    BuiltInKind(
        group="admissionregistration.k8s.io",
        kind="MutatingWebhookConfiguration",
        version="v1",
        is_namespaced=False,
        defaults=_HOOKS,
        retained=_injected_ca_bundle("webhooks", EACH, *_CERTIFICATE),
        has_no=f"{NO_PODS} {NO_DELIVERY_RULES} interpretation progress filled_in clean prune pruned_fields",
    ),
    *built_in_kinds_without_rules(
        "admissionregistration.k8s.io",
        "InitializerConfiguration MutatingAdmissionPolicy MutatingAdmissionPolicyBinding ValidatingAdmissionPolicy"
        " ValidatingAdmissionPolicyBinding",
        is_namespaced=False,
    ),
    *built_in_kinds_without_rules(
        "flowcontrol.apiserver.k8s.io",
        "FlowSchema PriorityLevelConfiguration",
        is_namespaced=False,
        not_written="an API server makes it for itself",
    ),
)
"""Definitions of kinds, aggregated APIs, webhooks, and the rules that admit and queue requests."""
