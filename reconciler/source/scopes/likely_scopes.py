"""Guesses at the scope of a kind that nothing tells: lines for argosy.yaml, which whoever pastes them checks."""

from collections.abc import Iterable

from render.kinds import GroupKind


def likely_scope_of_kind(kind: str) -> str:
    """Return the scope that a kind of this name has most likely.

    >>> likely_scope_of_kind("ClusterIssuer"), likely_scope_of_kind("Cluster"), likely_scope_of_kind("Issuer")
    ('Cluster', 'Namespaced', 'Namespaced')
    """
    rest = kind.removeprefix("Cluster")
    return "Cluster" if rest != kind and rest[:1].isupper() else "Namespaced"


def hint_declaring_scopes(kinds: Iterable[GroupKind]) -> str:
    """Return a hint with the lines for argosy.yaml that declare kinds; empty without a kind."""
    lines = [
        f"      - {{group: {group}, kind: {kind}, scope: {likely_scope_of_kind(kind)}}}"
        for group, kind in sorted({*kinds})
    ]
    if not lines:
        return ""
    head = "add CustomResourceDefinitions, or say it in argosy.yaml, once these guesses are checked:"
    return "\n".join((head, "    spec:", "      kinds:", *lines))
