"""Kinds that another control plane acts on and Argosy does not: the warnings about their objects.

Objects of most of them are never propagated, so each is left out. Others may be propagated like any object: their kind
is named once, whether a policy selects them or not.
"""

from collections.abc import Iterable, Iterator, Mapping

from render.federations.unread import unread_federation_of_group
from render.model import ObjectRef, Template

from .manifests import FieldProblem, LocatedManifest

_ACTED_ON_BY_KARMADA = frozenset(
    f"{group}.karmada.io" for group in ("apps", "autoscaling", "config", "networking", "policy", "remedy", "work")
)
_OF_A_HUB = "Karmada wrote it for itself: ignore its file"
_NO_NETWORK = "it needs a network between clusters, which Argosy does not build"
_INSTEAD: Mapping[str, str] = {
    "MultiClusterIngress.networking.karmada.io": _NO_NETWORK,
    "MultiClusterService.networking.karmada.io": _NO_NETWORK,
    "KarmadaInitConfig.config.karmada.io": "karmadactl init alone reads it: ignore its file",
    "ResourceBinding.work.karmada.io": _OF_A_HUB,
    "ClusterResourceBinding.work.karmada.io": _OF_A_HUB,
    "Work.work.karmada.io": "put its manifests into the source, and select them by a policy for that cluster",
}
"""Other means to the end of those of Karmada's kinds that are left out."""

_IN_MEMBERS = "an implementation in the members has to act on {them}"
_IDLE: Mapping[str, tuple[str, str]] = {
    "ServiceExport.multicluster.x-k8s.io": (_IN_MEMBERS, _NO_NETWORK),
    "ServiceImport.multicluster.x-k8s.io": (_IN_MEMBERS, _NO_NETWORK),
    "ResourceRegistry.search.karmada.io": (
        "nothing is cached or searched by {them}",
        "argosy status shows the objects of the fleet in all members",
    ),
}
"""The kinds that may be propagated: what becomes of their objects, and a hint."""


_UNREAD = "where that runs, {title} acts on {them}"
_UNREAD_HINT = "a policy of Karmada says here which clusters get an object"


def _words_on_idle_kind(ref: ObjectRef) -> tuple[str, str] | None:
    """Return what becomes of objects of a kind that nothing here acts on, and a hint; None for any other kind."""
    title = unread_federation_of_group(ref.group)
    if title:
        return _UNREAD.replace("{title}", title), _UNREAD_HINT
    return _IDLE.get(ref.group_kind)


SKIPPED_NAMESPACE = "SkippedNamespace"
"""The kind of the warning about an object that is left out for the namespace it is in alone."""
_SELECTABLE = "spec.skippedNamespaces of argosy.yaml leaves it out: with [] there, policies may select it"


def warning_of_skipped_namespace(place: LocatedManifest, ref: ObjectRef, reason: str) -> FieldProblem:
    """Return the warning about an object in a namespace from which, by a setting, nothing is propagated."""
    return place.problem("", f"{ref} is left out: {reason}", hint=_SELECTABLE, kind=SKIPPED_NAMESPACE)


def warning_of_object_left_out(place: LocatedManifest, ref: ObjectRef, reason: str = "") -> FieldProblem:
    """Return the warning about an object that is never propagated, and that nothing else here is done with."""
    idle = ", and Argosy does not act on them" if ref.group in _ACTED_ON_BY_KARMADA else ""
    because = reason or f"objects of the group {ref.group} are never propagated"
    hint = _INSTEAD.get(ref.group_kind, "") if idle else ""
    return place.problem("", f"{ref} is left out: {because}{idle}", hint=hint)


def warnings_of_idle_kinds(placed: Iterable[tuple[Template, LocatedManifest]]) -> Iterator[FieldProblem]:
    """Yield a warning for each kind of templates that only another control plane acts on, at the first of them."""
    found: dict[str, list[tuple[Template, LocatedManifest]]] = {}
    for template, place in placed:
        if _words_on_idle_kind(template.ref):
            found.setdefault(template.ref.group_kind, []).append((template, place))
    for templates in found.values():
        template, place = templates[0]
        words, hint = _words_on_idle_kind(template.ref) or ("", "")
        more, them = len(templates) - 1, "it" if len(templates) == 1 else "them"
        named = f"{template.ref} and {more} more" if more else str(template.ref)
        yield place.problem("", f"{named}: Argosy does not act on {them}: {words.format(them=them)}", hint=hint)
