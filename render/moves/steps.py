"""One step of a move: how many replicas each cluster gets now, between those that it has and those it is to end with.

1. Clusters with more than they are to end with are lowered first. What is not ready goes at once, for nobody misses it.
   What is ready goes only as far as others that are known to be ready make up for it. Where nobody knows, replicas
   count for nothing as successors; they may go only while enough others are known to be ready without them.
2. Then the others are raised, as far as no more stand than are asked for, and the surge. Clusters that are not known to
   be well get nothing more and count for nothing there: what they have may be gone, and holds up no replacement.

Of an object of which each cluster has all, a copy goes as a whole, once what is ready of all others is enough.

No cluster is lowered below, or raised above, what it is to end with, so that steps end. Without any cluster that gains,
and no move under way, an object is scaled: that nobody knows of its health does not hold that up.
"""

from collections.abc import Mapping

from msgspec import Struct

from render.settings.moves import MoveSettings


class Move(Struct, frozen=True, kw_only=True):
    """A move of replicas, or of whole copies (``is_whole``), which no surge limits.

    ``asked`` are the replicas that each cluster is to end with, ``given`` those that the previous commit gave it, and
    ``ready`` those that were seen ready there (no entry: nobody knows). ``ailing`` are clusters in which some are known
    not to be ready, however many, ``unwell`` those that are not known to be well themselves. ``is_ordered``: replicas
    go in an order of their own, and not those first that are not ready.
    ``is_under_way``: there was a step of it before.
    """

    asked: Mapping[str, int]
    given: Mapping[str, int]
    ready: Mapping[str, int]
    ailing: frozenset[str] = frozenset()
    unwell: frozenset[str] = frozenset()
    is_whole: bool = False
    is_ordered: bool = False
    is_under_way: bool = False

    @property
    def total(self) -> int:
        """The replicas that are asked for."""
        return sum(self.asked.values())

    @property
    def is_scaling(self) -> bool:
        """Say whether no cluster gains anything, nor did in a step before."""
        return not self.is_under_way and all(count <= self.given.get(name, 0) for name, count in self.asked.items())

    @property
    def known_ready(self) -> Mapping[str, int]:
        """The replicas that are known to be ready in clusters, and that the previous commit gave them.

        Where an object is scaled, they count as ready unless something is known against it.
        """
        known = {name: count for name, count in self.ready.items() if name not in self.unwell}
        if self.is_scaling:
            doubtful = self.ailing | self.unwell
            known = {**{name: count for name, count in self.given.items() if name not in doubtful}, **known}
        return {name: min(known[name], count) for name, count in self.given.items() if name in known}


def replicas_of_next_step(move: Move, settings: MoveSettings) -> dict[str, int]:
    """Return the replicas that each cluster gets now; one that gets none yet, or none any more, is left out."""
    surge, unavailable = limits_of_move(move.total, settings)
    if move.is_whole:
        return _copies_of_next_step(move, unavailable)
    lowered = _lowered_replicas(move, unavailable)
    raised = _raised_replicas(move, lowered, move.total + surge)
    return {name: count for name, count in raised.items() if count or move.asked.get(name) == 0}


def limits_of_move(total: int, settings: MoveSettings) -> tuple[int, int]:
    """Return how many replicas more than asked for may stand, and how many fewer may be healthy.

    >>> from render.limits import Limit
    >>> limits_of_move(6, MoveSettings()), limits_of_move(6, MoveSettings(surge=Limit(0)))
    ((2, 0), (1, 0))
    """
    unavailable = settings.max_unavailable.of_total(total)
    surge = settings.surge
    more = -(-total * surge.amount // 100) if surge.is_percentage else surge.amount
    # Without room for a single one nothing would ever move, and to break nothing comes first.
    return (more or (0 if unavailable else 1)), unavailable


def clusters_waited_for(move: Move, replicas: Mapping[str, int]) -> tuple[str, ...]:
    """Return the clusters of which more replicas have to get ready before the next step."""
    known = move.known_ready
    return tuple(sorted(name for name in move.asked if name in replicas and known.get(name, 0) < replicas[name]))


def _copies_of_next_step(move: Move, unavailable: int) -> dict[str, int]:
    """Return the copies of clusters: those that are asked for, and of those that leave as many as are needed."""
    known = {name: min(count, move.asked.get(name, count)) for name, count in move.known_ready.items()}
    spare = sum(known.values()) - (move.total - unavailable)
    copies = dict(move.asked)
    for name, count in sorted(move.given.items()):
        if name in move.asked:
            continue
        lost = known.get(name, 0)
        if lost <= max(spare, 0) and (name in known or spare >= 0):
            spare -= lost
        else:
            copies[name] = count
    return copies


def _lowered_replicas(move: Move, unavailable: int) -> dict[str, int]:
    """Return the replicas that clusters keep: as few as the health of all others allows, but what they end with."""
    known = move.known_ready
    spare = sum(known.values()) - (move.total - unavailable)
    kept = dict(move.given)
    for name, count in sorted(move.given.items()):
        surplus = count - move.asked.get(name, 0)
        if surplus <= 0:
            continue
        if name not in known:
            kept[name] -= surplus if spare >= 0 else 0
            continue
        ready = known[name]
        free = _replicas_nobody_misses(surplus, count, ready, spare, is_ordered=move.is_ordered)
        lost = min(surplus - free, max(spare, 0))
        kept[name] -= free + lost
        spare -= lost
    return kept


def _replicas_nobody_misses(surplus: int, count: int, ready: int, spare: int, *, is_ordered: bool) -> int:
    """Return how many of a surplus may go whatever others have: those that are not ready, if these go first."""
    if not is_ordered:
        return min(surplus, count - ready)
    # Any of them may be the ready ones: that all of these may be lost has to be affordable, or none is there.
    return max(surplus - ready, 0) if ready <= max(spare, 0) else 0


def _raised_replicas(move: Move, kept: Mapping[str, int], most: int) -> dict[str, int]:
    """Return the replicas of clusters after those that are to end with more have got what there is room for."""
    raised = {name: max(count, kept.get(name, 0)) for name, count in move.asked.items()}
    every = {**kept, **raised}
    if sum(every.values()) <= most:
        return every
    room = most - sum(count for name, count in kept.items() if name not in move.unwell)
    wanted = {
        name: count - kept.get(name, 0)
        for name, count in raised.items()
        if count > kept.get(name, 0) and name not in move.unwell
    }
    found = {**dict.fromkeys(move.asked, 0), **kept}
    for names in _clusters_by_need_of_health(move, wanted):
        for name, share in _even_shares(room, {name: wanted[name] for name in names}).items():
            found[name] += share
            room -= share
    return found


def _clusters_by_need_of_health(move: Move, wanted: Mapping[str, int]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the clusters in which all that they were given is ready, then all others: these may never get there."""
    known = move.known_ready
    waiting = {name for name in wanted if known.get(name, 0) < move.given.get(name, 0)}
    return tuple(sorted(wanted.keys() - waiting)), tuple(sorted(waiting))


def _even_shares(room: int, wanted: Mapping[str, int]) -> dict[str, int]:
    """Divide room as evenly as wishes allow; the small ones are met first, and the first names get what is left.

    >>> _even_shares(4, {"a": 9, "b": 1, "c": 9})
    {'b': 1, 'a': 2, 'c': 1}
    """
    shares: dict[str, int] = {}
    left = max(room, 0)
    ordered = sorted(wanted.items(), key=lambda each: (each[1], each[0]))
    for place, (name, wish) in enumerate(ordered):
        shares[name] = min(wish, -(-left // (len(ordered) - place)))
        left -= shares[name]
    return shares
