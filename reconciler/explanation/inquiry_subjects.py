"""What an explanation can be about beside objects: clusters, and policies by the names kubectl has for them."""

from collections.abc import Iterable

from reconciler.unknown_names import unknown_name
from render.policy import PropagationPolicy

_CLUSTERS = frozenset({"cluster", "clusters", "clusters.cluster.karmada.io", "cluster.cluster.karmada.io"})
_POLICIES = {
    "policy": (True, False),
    "policies": (True, False),
    **dict.fromkeys(("pp", "propagationpolicy", "propagationpolicies"), (True,)),
    **dict.fromkeys(("cpp", "clusterpropagationpolicy", "clusterpropagationpolicies"), (False,)),
}
_GROUP = ".policy.karmada.io"


def is_cluster_noun(noun: str) -> bool:
    """Whether a noun means member clusters."""
    return noun.lower() in _CLUSTERS


def is_policy_noun(noun: str) -> bool:
    """Whether a noun means propagation policies of either scope."""
    return noun.lower().removesuffix(_GROUP) in _POLICIES


def found_policies(
    noun: str, name: str, namespace: str, policies: Iterable[PropagationPolicy]
) -> tuple[PropagationPolicy, ...]:
    """Return the policies that are meant: of one scope or, for ``policy``, of both; in one namespace or in any."""
    scopes = _POLICIES[noun.lower().removesuffix(_GROUP)]
    namespace = namespace if True in scopes else ""
    known = [each for each in policies if each.is_namespaced in scopes and namespace in {"", each.namespace}]
    named = tuple(each for each in known if each.name == name)
    if not named:
        where = f" in namespace {namespace}" if namespace else ""
        raise unknown_name(f"the source has no {noun} called {name!r}{where}", name, {each.name for each in known})
    return named
