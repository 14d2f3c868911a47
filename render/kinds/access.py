"""Roles, and the requests by which servers answer who somebody is and what he may do."""

from .kind import plain_kinds

KINDS = (
    *plain_kinds("rbac.authorization.k8s.io", "Role RoleBinding", is_namespaced=True),
    *plain_kinds("rbac.authorization.k8s.io", "ClusterRole ClusterRoleBinding", is_namespaced=False),
    *plain_kinds("authentication.k8s.io", "SelfSubjectReview TokenReview", is_namespaced=False),
    *plain_kinds("authorization.k8s.io", "LocalSubjectAccessReview", is_namespaced=True),
    *plain_kinds(
        "authorization.k8s.io",
        "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
        is_namespaced=False,
    ),
    *plain_kinds("certificates.k8s.io", "CertificateSigningRequest", is_namespaced=False, short_names=("csr",)),
    *plain_kinds("certificates.k8s.io", "ClusterTrustBundle", is_namespaced=False),
)
"""The kinds about who may do what."""
