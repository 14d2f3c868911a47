"""The plan of a rollout: which clusters each wave takes, and when it can begin at the earliest."""

from collections.abc import Iterator

from msgspec import Struct

from .state import RolloutState

_UNITS = ((86400, "d"), (3600, "h"), (60, "m"), (1, "s"))


class PlannedWave(Struct, frozen=True, kw_only=True):
    """A wave with its clusters in the order in which they are given the change, and those that have been.

    ``earliest`` is how many seconds after the beginning of the rollout it can begin, if all clusters before it are well
    at once. ``at_once`` clusters of it may be under way (0: all of them). The next one begins once ``needed`` of them
    are through (0: all of them).
    """

    name: str
    clusters: tuple[str, ...]
    given: tuple[str, ...] = ()
    earliest: int = 0
    at_once: int = 0
    is_approval_required: bool = False
    approvals: int = 0
    needed: int = 0


def planned_waves(state: RolloutState) -> tuple[PlannedWave, ...]:
    """Return the waves of a rollout that take clusters, in their order."""
    return tuple(_planned_waves(state))


def _planned_waves(state: RolloutState) -> Iterator[PlannedWave]:
    given, earliest = {each.cluster for each in state.given}, 0
    for wave in (*state.plan.waves, state.plan.implicit_wave):
        clusters = tuple(name for name, seat in state.seats.items() if seat == wave.name)
        if not clusters:
            continue
        limit = wave.max_concurrent
        at_once = 0 if limit is None else limit.of_total(len(clusters), at_least=1)
        share = wave.gate.share
        needed = len(clusters) if share is None else share.needed_of_total(len(clusters))
        yield PlannedWave(
            name=wave.name,
            clusters=clusters,
            given=tuple(name for name in clusters if name in given),
            earliest=earliest,
            at_once=at_once if at_once < len(clusters) else 0,
            is_approval_required=wave.is_approval_required,
            approvals=wave.approvals,
            needed=needed if needed < len(clusters) else 0,
        )
        rounds = -(-needed // at_once) if at_once else 1
        earliest += rounds * wave.gate.healthy_for


def words_of_planned_wave(wave: PlannedWave, clusters: str) -> str:
    """Return a wave in words; ``clusters`` are its clusters as they are listed.

    >>> words_of_planned_wave(PlannedWave(name="rest", clusters=("a", "b"), earliest=5400, at_once=1), "a, b")
    'wave rest: a, b, 1 at once, 1h30m after the beginning at the earliest'
    >>> words_of_planned_wave(PlannedWave(name="first", clusters=("a", "b"), needed=1), "a, b")
    'wave first: a, b, the next one once 1 of them are through'
    """
    parts = (
        f"wave {wave.name}: {clusters}",
        f"{wave.at_once} at once" if wave.at_once else "",
        _words_of_approval(wave),
        f"the next one once {wave.needed} of them are through" if wave.needed else "",
        f"{duration_text(wave.earliest)} after the beginning at the earliest" if wave.earliest else "",
    )
    return ", ".join(filter(None, parts))


def _words_of_approval(wave: PlannedWave) -> str:
    if wave.approvals > 1:
        return f"once {wave.approvals} persons have approved it"
    return "once it is approved" if wave.is_approval_required else ""


def duration_text(seconds: int) -> str:
    """Return a number of seconds as people write it.

    >>> duration_text(90061), duration_text(0)
    ('1d1h1m1s', '0s')
    """
    text = ""
    for size, unit in _UNITS:
        count, seconds = divmod(seconds, size)
        text += f"{count}{unit}" if count else ""
    return text or "0s"
