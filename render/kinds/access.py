"""Roles, and the requests by which servers answer who somebody is and what he may do."""

from collections.abc import Mapping
from typing import Any

from render.interpretation.retention import Retained

from .kind import (
    NO_DELIVERY_RULES,
    NO_LIVE_RULES,
    NO_PODS,
    NO_RULES,
    NO_TEMPLATE_RULES,
    BuiltInKind,
    built_in_kinds_without_rules,
)

_ROLES = "rbac.authorization.k8s.io"


def is_aggregated(role: Mapping[str, Any]) -> bool:
    """Say whether a controller gathers a ClusterRole's rules from other roles, whatever its manifest has."""
    return bool(role.get("aggregationRule"))


def remove_aggregated_rules(role: dict[str, Any]) -> None:
    """Take out the rules that a controller gathers from other roles."""
    if is_aggregated(role):
        role.pop("rules", None)


KINDS = (
    BuiltInKind(group=_ROLES, kind="Role", version="v1", is_namespaced=True, has_no=NO_RULES),
    BuiltInKind(
        group=_ROLES,
        kind="ClusterRole",
        version="v1",
        is_namespaced=False,
        clean=remove_aggregated_rules,
        retained=(Retained(path=("rules",), condition=is_aggregated, is_karmadas=False),),
        has_no=f"{NO_PODS} interpretation progress {NO_DELIVERY_RULES} defaults filled_in prune pruned_fields",
    ),
    BuiltInKind(
        group=_ROLES,
        kind="RoleBinding",
        version="v1",
        is_namespaced=True,
        is_recreatable=True,
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage takes_others_along maps is_transient",
    ),
    BuiltInKind(
        group=_ROLES,
        kind="ClusterRoleBinding",
        version="v1",
        is_namespaced=False,
        is_recreatable=True,
        has_no=f"{NO_PODS} {NO_LIVE_RULES} {NO_TEMPLATE_RULES} stage takes_others_along maps is_transient",
    ),
    *built_in_kinds_without_rules("authentication.k8s.io", "SelfSubjectReview TokenReview", is_namespaced=False),
    *built_in_kinds_without_rules("authorization.k8s.io", "LocalSubjectAccessReview", is_namespaced=True),
    *built_in_kinds_without_rules(
        "authorization.k8s.io",
        "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
        is_namespaced=False,
    ),
    *built_in_kinds_without_rules(
        "certificates.k8s.io",
        "CertificateSigningRequest",
        is_namespaced=False,
        short_names=("csr",),
        not_written="it is a request to the cluster",
    ),
    *built_in_kinds_without_rules(
        "certificates.k8s.io", "PodCertificateRequest", is_namespaced=True, not_written="it is a request to the cluster"
    ),
    *built_in_kinds_without_rules("certificates.k8s.io", "ClusterTrustBundle", is_namespaced=False),
)
"""The kinds about who may do what."""
