"""Clusters and policies by the names people type; an unknown name is refused with the nearest one there is."""

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from render.errors import UnknownName
from render.words import hint_of_most_similar_words, most_similar_word

if TYPE_CHECKING:  # completion asks for these names, and has no time for more
    from typing import Protocol, TypeVar

    class NamedPolicy(Protocol):
        """A policy of any kind; as text it is named with its kind."""

        @property
        def name(self) -> str:
            """Its name."""

        @property
        def namespace(self) -> str:
            """Its namespace ("": none)."""

    AnyPolicy = TypeVar("AnyPolicy", bound=NamedPolicy)

_CLUSTERS = frozenset({"cluster", "clusters", "clusters.cluster.karmada.io", "cluster.cluster.karmada.io"})
_NOUNS_BY_KIND = {
    "PropagationPolicy": ("pp", "propagationpolicy", "propagationpolicies"),
    "ClusterPropagationPolicy": ("cpp", "clusterpropagationpolicy", "clusterpropagationpolicies"),
    "OverridePolicy": ("op", "overridepolicy", "overridepolicies"),
    "ClusterOverridePolicy": ("cop", "clusteroverridepolicy", "clusteroverridepolicies"),
}
_OTHER_NOUNS_BY_KIND = {
    "RolloutPolicy": ("rolloutpolicy", "rolloutpolicies"),
    "ClusterRolloutPolicy": ("clusterrolloutpolicy", "clusterrolloutpolicies"),
    "ResiliencePolicy": ("resiliencepolicy", "resiliencepolicies"),
    "ClusterResiliencePolicy": ("clusterresiliencepolicy", "clusterresiliencepolicies"),
    "ClusterTaintPolicy": ("clustertaintpolicy", "clustertaintpolicies"),
    "FederatedResourceQuota": ("federatedresourcequota", "federatedresourcequotas"),
    "Freeze": ("freeze", "freezes"),
    "Window": ("window", "windows"),
    "PolicyTest": ("policytest", "policytests"),
}
KINDS_OF_POLICIES = (*_NOUNS_BY_KIND, *_OTHER_NOUNS_BY_KIND)
"""The kinds of all policies: those that place and override, and others."""
_ANY = ("policy", "policies")
_KINDS_BY_NOUN = {
    **dict.fromkeys(_ANY, frozenset(_NOUNS_BY_KIND)),
    **{noun: frozenset({kind}) for kind, nouns in _NOUNS_BY_KIND.items() for noun in nouns},
}
_EVERY_KIND_BY_NOUN = {
    **_KINDS_BY_NOUN,
    **dict.fromkeys(_ANY, frozenset(KINDS_OF_POLICIES)),
    **{noun: frozenset({kind}) for kind, nouns in _OTHER_NOUNS_BY_KIND.items() for noun in nouns},
}
_WITHOUT_NAMESPACE = frozenset(
    {
        *(kind for kind in KINDS_OF_POLICIES if kind.startswith("Cluster")),
        "Freeze",
        "Window",
        "PolicyTest",
    }
)
_GROUPS = (".policy.karmada.io", ".argosy.dev")
_VERSION = ".v1alpha1"


def error_of_unknown_name(message: str, name: str, known: Collection[str]) -> UnknownName:
    """Return the error for a name that is not among those known; the hint is the nearest of them, or a few of these."""
    if near := most_similar_word(name, known):
        return UnknownName(message, hint=f"did you mean {near!r}?")
    return UnknownName(message, hint=hint_of_most_similar_words(name, known) if known else "")


def error_of_unknown_cluster(name: str, known: Collection[str]) -> UnknownName:
    """Return the error for a cluster that the source does not have."""
    if not known:
        return UnknownName("the source has no clusters", hint="argosy cluster join NAME makes one")
    return error_of_unknown_name(f"the source has no cluster called {name!r}", name, known)


def refuse_unknown_clusters(names: Iterable[str], known: Collection[str]) -> None:
    """Raise UnknownName for the first name that is no cluster's."""
    for name in names:
        if name not in known:
            raise error_of_unknown_cluster(name, known)


def is_cluster_noun(noun: str) -> bool:
    """Say whether a noun means member clusters."""
    return noun.lower() in _CLUSTERS


def is_policy_noun(noun: str) -> bool:
    """Say whether a noun means propagation or override policies, of either scope."""
    return _normalized_noun(noun) in _KINDS_BY_NOUN


def is_noun_of_any_policy(noun: str) -> bool:
    """Say whether a noun means policies of any kind, also of those that neither place nor override."""
    return _normalized_noun(noun) in _EVERY_KIND_BY_NOUN


def policy_kinds_meant_by(noun: str) -> frozenset[str]:
    """Return the kinds of policies that a noun means; none if it means something else."""
    return _KINDS_BY_NOUN.get(_normalized_noun(noun), frozenset())


def _normalized_noun(noun: str) -> str:
    plain = noun.lower()
    for group in _GROUPS:
        plain = plain.removesuffix(group)
    return plain.removesuffix(_VERSION)


def policies_meant_by(noun: str, name: str, namespace: str, policies: "Iterable[AnyPolicy]") -> "tuple[AnyPolicy, ...]":
    """Return the policies that are meant: of one kind or, for ``policy``, of all; in one namespace or in any.

    For a noun that means cluster-scoped policies alone the namespace counts for nothing, as for kubectl.
    """
    kinds = _EVERY_KIND_BY_NOUN[_normalized_noun(noun)]
    namespace = "" if kinds <= _WITHOUT_NAMESPACE else namespace
    known = [each for each in policies if _policy_kind_name(each) in kinds and namespace in {"", each.namespace}]
    named = tuple(each for each in known if each.name == name)
    if not named:
        where = f" in namespace {namespace}" if namespace else ""
        raise error_of_unknown_name(
            f"the source has no {noun} called {name!r}{where}", name, {each.name for each in known}
        )
    return named


def _policy_kind_name(policy: "NamedPolicy") -> str:
    return str(policy).partition(" ")[0]
