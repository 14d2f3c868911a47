"""Kinds of Karmada and of ours under an apiVersion or a name that is not theirs.

A policy that nobody recognises would be taken for one more template, and have no effect.
"""

from collections.abc import Iterable, Iterator
from functools import cache

from render.model import group_of
from render.suggestions import nearest

from .desired_documents import Found, Placed
from .desired_karmada import source_kinds
from .desired_templates import IsNamespaced
from .scope import BUILT_IN

_PROJECTS = ("karmada.io", "argosy.dev")
_SLIP = 0.9
_COMMON = frozenset({"Cluster", "Fleet"})
"""Kinds that other projects have as well: theirs, unless the group is all but ours."""


def misnamed_kinds(places: Iterable[Placed], is_namespaced: IsNamespaced) -> Iterator[Found]:
    """Yield a problem for each manifest that must have meant another kind; what is defined or declared means itself."""
    for place in places:
        group, kind = group_of(place.manifest["apiVersion"]), place.manifest["kind"]
        found = _found(place, group, kind)
        if found is not None and is_namespaced(group, kind) is None:
            yield found


def _found(place: Placed, group: str, kind: str) -> Found | None:
    if (group, kind) in BUILT_IN:
        return None
    home = _homes().get(kind)
    if home is not None and (kind not in _COMMON or _is_near(group)):
        message = f"there is no {kind} in {place.manifest['apiVersion']!r}"
        return place.found("apiVersion", message, hint=f"write {home!r}", kind="NotSupported")
    known = _kinds_by_group().get(group)
    if known is None:
        return None
    near = nearest(kind, known)
    hint = f"did you mean {near!r}?" if near else f"known here: {', '.join(known)}"
    return place.found("kind", f"there is no {kind!r} in {group}", hint=hint, kind="NotSupported")


def _is_near(group: str) -> bool:
    """Whether a group must have meant one of Karmada's or ours."""
    return bool(nearest(group, _kinds_by_group(), cutoff=_SLIP)) or any(name in group for name in ("karmada", "argosy"))


@cache
def _homes() -> dict[str, str]:
    """Return the apiVersion of each kind that means something to us."""
    homes = {name: kind.api_version for name, kind in source_kinds().items()}
    return {**homes, "ResourceInterpreterWebhookConfiguration": "config.karmada.io/v1alpha1"}


@cache
def _kinds_by_group() -> dict[str, list[str]]:
    """Return the kinds of Karmada's groups and of ours."""
    kinds: dict[str, list[str]] = {}
    for group, kind in BUILT_IN:
        if group.endswith(_PROJECTS):
            kinds.setdefault(group, []).append(kind)
    return {group: sorted(names) for group, names in kinds.items()}
