"""RBAC manifests that grant what passes over a member need, and no more.

1. what lives in namespaces is granted by a Role in each of them, and the rest by name in one ClusterRole; or all of it
   by kind, for every namespace and every name (``RoleScope.CLUSTER``), so that a new namespace needs nothing;
2. needs that agree in everything but their verbs, resources or names are one rule;
3. a Namespace of the tree comes with its Role, which cannot be made before it.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import Any

from msgspec import Struct

from reconciler.plans.model import ClusterDesired
from render.model import Manifest, ObjectRef

from .permissions import IDENTITY, Need

RBAC = "rbac.authorization.k8s.io"
_DISCOVERY = (
    *("/api", "/api/*", "/apis", "/apis/*", "/healthz"),
    *("/openapi/v3", "/openapi/v3/*", "/readyz", "/version"),
)
"""The paths by which a server says how it is and what it serves; most clusters let everybody read them."""
_REVIEWS = ("selfsubjectaccessreviews", "selfsubjectrulesreviews")
_ORDER = ("get", "list", "watch", "create", "update", "patch", "delete", "bind", "escalate")
_ROLE_OF_BINDING = {"ClusterRoleBinding": "clusterroles", "RoleBinding": "roles"}
_ROLES = {"ClusterRole": "clusterroles", "Role": "roles"}


class RoleScope(StrEnum):
    """The extent of what is granted: namespace by namespace, or the whole cluster."""

    NAMESPACE = "Namespace"
    CLUSTER = "Cluster"


class Account(Struct, frozen=True, kw_only=True):
    """The ServiceAccount that rights are granted to, in the namespace of the ApplySet; ``has_token``: with a Secret."""

    name: str
    namespace: str
    has_token: bool = False

    @property
    def subject(self) -> Manifest:
        """The account as a binding names it."""
        return {"kind": "ServiceAccount", "name": self.name, "namespace": self.namespace}


def needs_to_write_roles(desired: ClusterDesired) -> Iterator[Need]:
    """Yield what it takes to write the roles and bindings of a tree.

    A server lets nobody grant more than he may do himself, unless he may ``escalate`` that role or ``bind`` to it.
    """
    for item in desired.objects:
        if item.ref.group != RBAC:
            continue
        namespace = item.ref.namespace
        if item.ref.kind in _ROLES:
            yield Need(namespace, RBAC, _ROLES[item.ref.kind], "escalate", item.ref.name)
        elif item.ref.kind in _ROLE_OF_BINDING:
            reference = item.manifest.get("roleRef") or {}
            plural = _ROLES.get(str(reference.get("kind")), _ROLE_OF_BINDING[item.ref.kind])
            yield Need(namespace, RBAC, plural, "bind", str(reference.get("name") or ""))


def needs_across_namespaces(needs: Iterable[Need], own_namespace: str) -> frozenset[Need]:
    """Return needs for every namespace and every name; what Argosy keeps for itself stays where it is.

    The right to bind to a role, or to write more into one than one has, stays with that name.
    """
    return frozenset(
        need
        if need.namespace == own_namespace
        else need._replace(namespace="", name=need.name if need.verb in {"bind", "escalate"} else "")
        for need in needs
    )


def role_manifests(needs: Iterable[Need], account: Account, namespaces: Iterable[Manifest]) -> tuple[Manifest, ...]:
    """Return the account, and the roles and bindings that grant it these needs, in the order they can be made in."""
    by_namespace: dict[str, set[Need]] = defaultdict(set)
    for need in needs:
        by_namespace[need.namespace].add(need)
    made = [
        _manifest_of_namespace(account.namespace),
        *namespaces,
        _manifest_for_account("v1", "ServiceAccount", account, account.namespace),
    ]
    if account.has_token:
        made.append(_token_of_account(account))
    rules = [
        {"nonResourceURLs": list(_DISCOVERY), "verbs": ["get"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": list(_REVIEWS), "verbs": ["create"]},
        *rules_that_grant(by_namespace.pop("", ())),
    ]
    made += _role_and_binding("ClusterRole", rules, account, "")
    for namespace, each in sorted(by_namespace.items()):
        made += _role_and_binding("Role", list(rules_that_grant(each)), account, namespace)
    return tuple(made)


def rules_that_grant(needs: Iterable[Need]) -> Iterator[dict[str, Any]]:
    """Yield the rules that grant needs of one scope: by group, then by resource.

    >>> list(
    ...     rules_that_grant(
    ...         [Need("", "", "pods", "list"), Need("", "", "nodes", "list"), Need("", "", "nodes", "get", "n")]
    ...     )
    ... )
    ... # doctest: +NORMALIZE_WHITESPACE
    [{'apiGroups': [''], 'resources': ['nodes'], 'resourceNames': ['n'], 'verbs': ['get']},
     {'apiGroups': [''], 'resources': ['nodes', 'pods'], 'verbs': ['list']}]
    """
    names: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for need in needs:
        names[need.group, need.plural, need.verb].add(need.name)
    verbs: dict[tuple[str, str, tuple[str, ...]], set[str]] = defaultdict(set)
    for (group, plural, verb), named in names.items():
        # Who may do something to all objects may do it to each.
        verbs[group, plural, () if "" in named else tuple(sorted(named))].add(verb)
    resources: dict[tuple[str, tuple[str, ...], tuple[str, ...]], set[str]] = defaultdict(set)
    for (group, plural, named_only), allowed in verbs.items():
        resources[group, named_only, tuple(sorted(allowed, key=_ORDER.index))].add(plural)
    for (group, named_only, allowed_verbs), plurals in sorted(
        resources.items(), key=lambda item: (item[0][0], sorted(item[1]), item[0])
    ):
        rule: dict[str, Any] = {"apiGroups": [group], "resources": sorted(plurals)}
        yield {**rule, **({"resourceNames": list(named_only)} if named_only else {}), "verbs": list(allowed_verbs)}


def _role_and_binding(kind: str, rules: list[dict[str, Any]], account: Account, namespace: str) -> Iterator[Manifest]:
    """Yield a role and the binding that gives it to the account."""
    api_version = f"{RBAC}/v1"
    yield {**_manifest_for_account(api_version, kind, account, namespace), "rules": rules}
    yield {
        **_manifest_for_account(api_version, f"{kind}Binding", account, namespace),
        "roleRef": {"apiGroup": RBAC, "kind": kind, "name": account.name},
        "subjects": [account.subject],
    }


def _manifest_for_account(api_version: str, kind: str, account: Account, namespace: str) -> Manifest:
    metadata = {"name": account.name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def _manifest_of_namespace(name: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _token_of_account(account: Account) -> Manifest:
    """Return the Secret that the cluster fills with a token that does not expire."""
    metadata = {
        "name": f"{account.name}-token",
        "namespace": account.namespace,
        "annotations": {"kubernetes.io/service-account.name": account.name},
    }
    kind = "kubernetes.io/service-account-token"
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind}


def tree_namespaces(desired: ClusterDesired, own_namespace: str) -> tuple[Manifest, ...]:
    """Return the Namespaces of a tree that a Role has to be made in, as the tree has them."""
    used = {item.ref.namespace for item in desired.objects}
    found: dict[ObjectRef, Manifest] = {
        item.ref: item.manifest for item in desired.objects if item.ref.group_kind == "Namespace"
    }
    return tuple(found[ref] for ref in sorted(found) if ref.name in used and ref.name not in {own_namespace, IDENTITY})
