"""The movement guard: what a commit does to placed workloads, and whether that is more than argosy.yaml allows.

1. The replicas that move must stay within the budget of the fleet and of each workload, those among them that are
   placed anew because their cluster is disconnected.
2. A workload that loses clusters keeps at least the minimum of clusters and regions; one that never had them may stay.
3. Pinned objects never leave the clusters they are pinned to. A cluster that left the source keeps what it holds, so
   nothing leaves it.

A first pass has nothing placed and breaks nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from reconciler.repository.trailers import ALLOW_MOVEMENT
from render.binding import Binding
from render.errors import GuardRefused
from render.model import ObjectRef
from render.settings.movement_guard import MovementBudget, MovementGuard, PinnedObject
from render.words import counted_noun

from .allowances import EACH, MovementAllowance, hint_to_allow
from .removal_guard import NOTHING_COMMITTED

if TYPE_CHECKING:
    from reconciler.pipeline.movements import Movement

_LISTED = 5
_FEW, _MOST = 3, 20


class Breach(Struct, frozen=True, kw_only=True):
    """A limit that a change breaks: by which object (``*``: the fleet), by how much, and in words.

    ``is_pin``: only an allowance that names the object lets it pass.
    """

    subject: str
    count: int
    message: str
    is_pin: bool = False


class Placements(Struct, frozen=True, kw_only=True):
    """The bindings before and after a change, and the regions of the clusters the source has after it."""

    before: Mapping[ObjectRef, Binding]
    after: Mapping[ObjectRef, Binding]
    region_by_cluster: Mapping[str, str]


def breaches_of_limits(placements: Placements, guard: MovementGuard) -> tuple[Breach, ...]:
    """Return every limit that a change breaks: the fleet's first, then by object."""
    if guard == MovementGuard():
        return ()
    from reconciler.pipeline.movements import movements_between

    movements = movements_between(placements.before, placements.after, placements.region_by_cluster)
    return (
        *_fleet_breaches(movements, placements, guard.fleet),
        *(breach for movement in movements for breach in _workload_breaches(movement, guard.workload)),
        *_minimum_breaches(movements, placements, guard),
        *_breaches_of_pins(placements, guard),
    )


def _fleet_breaches(
    movements: Iterable["Movement"], placements: Placements, budget: MovementBudget
) -> Iterator[Breach]:
    moved = sum(movement.displaced_replicas for movement in movements)
    total = sum(binding.total_replicas for binding in placements.before.values())
    if over := _words_of_broken_limits(moved, total, budget):
        yield Breach(subject=EACH, count=moved, message=f"the fleet: {_movement_text(moved, total)} ({over})")


def _workload_breaches(movement: "Movement", budget: MovementBudget) -> Iterator[Breach]:
    if over := _words_of_broken_limits(movement.displaced_replicas, movement.before, budget):
        where = [str(change) for change in movement.changes]
        more = f" and {len(where) - _LISTED} more" if len(where) > _LISTED else ""
        moved = _movement_text(movement.displaced_replicas, movement.before)
        message = f"{movement.ref}: {moved} ({over}): {', '.join(where[:_LISTED])}"
        yield Breach(subject=str(movement.ref), count=movement.displaced_replicas, message=message + more)


def _movement_text(moved: int, total: int) -> str:
    return f"{moved} of {counted_noun(total, 'replica')} {'moves' if moved == 1 else 'move'}"


def _words_of_broken_limits(moved: int, total: int, budget: MovementBudget) -> str:
    """Return which limits of a budget are broken, empty when none is."""
    limits = []
    if budget.replicas is not None and moved > budget.replicas:
        limits.append(f"more than {budget.replicas}")
    if budget.percent is not None and moved * 100 > total * budget.percent:
        limits.append(f"more than {budget.percent} %")
    return ", ".join(limits)


def _minimum_breaches(
    movements: Iterable["Movement"], placements: Placements, guard: MovementGuard
) -> Iterator[Breach]:
    from reconciler.pipeline.movements import replicas_of

    for movement in movements:
        after = placements.after.get(movement.ref)
        if after is None or after.is_leaving:
            continue
        old = replicas_of(placements.before.get(movement.ref)).keys()
        new = replicas_of(after).keys()
        lost = len(old - new)
        for what, minimum, had, has in (
            ("cluster", guard.minimum_clusters, len(old), len(new)),
            (
                "region",
                guard.minimum_regions,
                len(_regions_of_clusters(old, placements)),
                len(_regions_of_clusters(new, placements)),
            ),
        ):
            if has < minimum and has < had:
                message = f"{movement.ref}: in {counted_noun(has, what)}, at least {minimum} are asked for"
                yield Breach(subject=str(movement.ref), count=lost, message=message)


def _regions_of_clusters(clusters: Iterable[str], placements: Placements) -> set[str]:
    return {region for name in clusters if (region := placements.region_by_cluster.get(name))}


def _breaches_of_pins(placements: Placements, guard: MovementGuard) -> Iterator[Breach]:
    for ref, binding in sorted(placements.before.items()):
        pins = [pin for pin in guard.pinned if _is_object_pinned(ref, pin)]
        if not pins or binding.is_leaving:  # which was judged when it began to
            continue
        after = placements.after.get(ref)
        left = _clusters_of_binding(binding) - _clusters_of_binding(None if after and after.is_leaving else after)
        left &= placements.region_by_cluster.keys()
        pinned_clusters = sorted(name for name in left if any(not pin.clusters or name in pin.clusters for pin in pins))
        if pinned_clusters:
            message = f"{ref}: leaves {', '.join(pinned_clusters)}, where it is pinned"
            yield Breach(subject=str(ref), count=len(pinned_clusters), message=message, is_pin=True)


def _is_object_pinned(ref: ObjectRef, pin: PinnedObject) -> bool:
    pairs = ((pin.group, ref.group), (pin.kind, ref.kind), (pin.namespace, ref.namespace), (pin.name, ref.name))
    return all(not wanted or wanted == found for wanted, found in pairs)


def _clusters_of_binding(binding: Binding | None) -> set[str]:
    if binding is None:
        return set()
    required = {target.name for snapshot in binding.required_by for target in snapshot.clusters}
    return required | {target.name for target in binding.targets}


def _is_breach_allowed(breach: Breach, allowance: MovementAllowance) -> bool:
    is_meant = allowance.subject == breach.subject or (allowance.subject == EACH and not breach.is_pin)
    return is_meant and allowance.count >= breach.count


def check_movements(
    found: Iterable[Breach], allowances: Iterable[MovementAllowance], consequence: str = NOTHING_COMMITTED
) -> None:
    """Raise GuardRefused when a limit is broken and no allowance covers it."""
    allowed = tuple(allowances)
    refused = [breach for breach in found if not any(_is_breach_allowed(breach, allowance) for allowance in allowed)]
    if not refused:
        return
    lines = [f"this change moves too much at once{consequence}"]
    lines += [f"  {each.message}" for each in refused[:_MOST]]
    if len(refused) > _MOST:
        lines.append(f"  and {len(refused) - _MOST} more")
    trailers = [f"{ALLOW_MOVEMENT}: {subject} {count}" for subject, count in _needed_allowances(refused).items()]
    raise GuardRefused("\n".join(lines), hint=hint_to_allow(trailers, "pass --allow-movement"))


def _needed_allowances(refused: Iterable[Breach]) -> dict[str, int]:
    """Return what would let breaches pass, by subject: each of a few, or one word for all but what is pinned."""
    wanted: dict[str, int] = {}
    summed: dict[str, int] = {}
    for each in refused:
        wanted[each.subject] = max(wanted.get(each.subject, 0), each.count)
        subject = each.subject if each.is_pin else EACH
        summed[subject] = max(summed.get(subject, 0), each.count)
    return wanted if len(wanted) <= _FEW else summed
