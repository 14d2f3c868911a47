"""The refusal of removals: which clusters lose too much at once, and what would let that pass."""

from collections.abc import Iterable, Mapping, Sequence

from reconciler.pipeline.cluster_removals import Removal
from reconciler.repository.trailers import ALLOW_REMOVAL
from render.errors import GuardRefused
from render.words import counted_noun

from .allowances import EACH, RemovalAllowance, count_of_allowed_removals, hint_to_allow

_LISTED = 5
_FEW, _MOST = 3, 20
NOTHING_COMMITTED = "; nothing was committed"
"""The end of a refusal's first line, where there was something to commit."""
_WHERE_PLACES_ARE_LOST = "argosy validate says what no cluster meets; to remove an object, delete its template"


def check_removals(found: Iterable[Removal], allowed: Mapping[str, int], consequence: str = NOTHING_COMMITTED) -> None:
    """Raise GuardRefused when a cluster loses too much and its count (``*``: each one's) allows less."""
    refused = [removal for removal in found if removal.is_refused(count_of_allowed_removals(allowed, removal.cluster))]
    if refused:
        raise removal_refusal(refused, consequence)


def removal_refusal(refused: Sequence[Removal], consequence: str) -> GuardRefused:
    """Return the refusal of removals, its first line ending in ``consequence``, with what would let them pass."""
    lines = [f"this change removes too much at once{consequence}", *map(_removal_line, refused[:_MOST])]
    if len(refused) > _MOST:
        lines.append(f"  and {len(refused) - _MOST} more clusters")
    hint = removal_hint({item.cluster: len(item.paths) for item in refused})
    if any(item.loses_places for item in refused):
        hint = f"{_WHERE_PLACES_ARE_LOST}\n  hint: {hint}"
    return GuardRefused("\n".join(lines), hint=hint)


def removal_hint(counts: Mapping[str, int]) -> str:
    """Return what to do to let so many objects leave clusters, if it is meant."""
    trailers = [f"{ALLOW_REMOVAL}: {each.cluster} {each.count}" for each in _needed_allowances(counts)]
    return hint_to_allow(trailers, "pass --allow-removal")


def _needed_allowances(counts: Mapping[str, int]) -> Iterable[RemovalAllowance]:
    """Return what would let removals pass: an allowance for each of a few clusters, or one for all of many."""
    if len(counts) > _FEW:
        return (RemovalAllowance(cluster=EACH, count=max(counts.values())),)
    return (RemovalAllowance(cluster=cluster, count=count) for cluster, count in counts.items())


def _removal_line(removal: Removal) -> str:
    names = ", ".join(removal.paths[:_LISTED])
    more = f" and {len(removal.paths) - _LISTED} more" if len(removal.paths) > _LISTED else ""
    return (
        f"  {removal.cluster}: {len(removal.paths)} of {counted_noun(removal.count_before, 'object')}"
        f" ({'; '.join(removal.reasons)}): {names}{more}"
    )
