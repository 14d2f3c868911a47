"""The pace of a FederatedHPA: recommendations are stabilised over windows, and changes limited for each period.

Without ``behavior`` the highest recommendation of five minutes counts, and replicas at most double. With it, each
direction has its window and its policies. Karmada keeps all that in memory; here it is a value. No pass asks this, only
the recordings of Karmada: a pass keeps replicas within the bounds alone.
"""

import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace

_FEW = 4


class PolicySelection(StrEnum):
    """The policy that counts of several: that of the largest change, of the smallest, or none at all."""

    MAX = "Max"
    MIN = "Min"
    DISABLED = "Disabled"


class ScalingPolicy(Struct, frozen=True, kw_only=True):
    """A limit of change in a period: so many pods, or so many percent."""

    is_percent: bool
    value: int
    period: timedelta


class ScalingRules(Struct, frozen=True, kw_only=True):
    """The window and the policies of one direction."""

    window: timedelta
    selection: PolicySelection
    policies: tuple[ScalingPolicy, ...]


class ScalingPace(Struct, frozen=True, kw_only=True):
    """The bounds of an autoscaler, and its rules for each direction (None: those without ``behavior``)."""

    minimum: int
    maximum: int
    down_window: timedelta = timedelta(minutes=5)
    up: ScalingRules | None = None
    down: ScalingRules | None = None


class TimedNumber(Struct, frozen=True):
    """A number and its time: a recommendation, or a change of replicas."""

    value: int
    at: datetime


class ScalingMemory(Struct, frozen=True, kw_only=True):
    """The memory of an autoscaler: recommendations, and how much was added and removed."""

    recommendations: tuple[TimedNumber, ...] = ()
    added: tuple[TimedNumber, ...] = ()
    removed: tuple[TimedNumber, ...] = ()


class PacedReplicas(Struct, frozen=True, kw_only=True):
    """The replicas to go to, the reasons of the conditions AbleToScale and ScalingLimited, and the memory."""

    replicas: int
    memory: ScalingMemory
    able: str = ""
    limited: str = ""
    is_limited: bool = False


class _Limit(Struct, frozen=True):
    replicas: int
    reason: str


def paced(pace: ScalingPace, memory: ScalingMemory, current: int, wanted: int, now: datetime) -> PacedReplicas:
    """Return where to go from the current replicas, with metrics that ask for others.

    Replicas beyond the bounds of the autoscaler are set to the bound before any metric is asked.
    """
    if not memory.recommendations:
        memory = replace(memory, recommendations=(TimedNumber(current, now),))
    stable, reason, memory = _stabilised(pace, memory, current, wanted, now)
    able = "ReadyForNewScale" if stable == wanted else reason
    limit = (
        _rate_limit(pace, memory, current, stable, now)
        if pace.up and pace.down
        else _plain_limit(pace, current, stable)
    )
    done = PacedReplicas(
        replicas=limit.replicas,
        memory=memory,
        able=able,
        limited=limit.reason,
        is_limited=limit.replicas != stable,
    )
    return _scaled(pace, done, current, now)


def _scaled(pace: ScalingPace, done: PacedReplicas, current: int, now: datetime) -> PacedReplicas:
    """Remember a change of replicas, where policies need to know of it."""
    change = done.replicas - current
    if change == 0:
        return done
    memory = done.memory
    if pace.up and change > 0:
        memory = replace(memory, added=(*memory.added, TimedNumber(change, now)))
    elif pace.up:
        memory = replace(memory, removed=(*memory.removed, TimedNumber(-change, now)))
    return replace(done, memory=memory)


def _stabilised(
    pace: ScalingPace, memory: ScalingMemory, current: int, wanted: int, now: datetime
) -> tuple[int, str, ScalingMemory]:
    known = memory.recommendations
    if pace.up is None or pace.down is None:
        cutoff = now - pace.down_window
        highest = max((wanted, *(each.value for each in known if each.at >= cutoff)))
        after = _recommended(known, TimedNumber(wanted, now), cutoff)
        return highest, "ScaleDownStabilized", replace(memory, recommendations=after)
    up_cutoff, down_cutoff = now - pace.up.window, now - pace.down.window
    low = min((wanted, *(each.value for each in known if each.at > up_cutoff)))
    high = max((wanted, *(each.value for each in known if each.at > down_cutoff)))
    after = _recommended(known, TimedNumber(wanted, now), min(up_cutoff, down_cutoff))
    reason = "ScaleUpStabilized" if wanted >= current else "ScaleDownStabilized"
    return min(max(current, low), high), reason, replace(memory, recommendations=after)


def _recommended(known: tuple[TimedNumber, ...], new: TimedNumber, cutoff: datetime) -> tuple[TimedNumber, ...]:
    """Return recommendations with a new one, in the place of the last that is too old, if one is."""
    old = [index for index, each in enumerate(known) if each.at < cutoff]
    if not old:
        return (*known, new)
    return (*known[: old[-1]], new, *known[old[-1] + 1 :])


def _plain_limit(pace: ScalingPace, current: int, wanted: int) -> _Limit:
    fastest = max(2 * current, _FEW)
    upper = _Limit(fastest, "ScaleUpLimit") if pace.maximum > fastest else _Limit(pace.maximum, "TooManyReplicas")
    if wanted < pace.minimum:
        return _Limit(pace.minimum, "TooFewReplicas")
    return upper if wanted > upper.replicas else _Limit(wanted, "DesiredWithinRange")


def _rate_limit(pace: ScalingPace, memory: ScalingMemory, current: int, wanted: int, now: datetime) -> _Limit:
    within = _Limit(wanted, "DesiredWithinRange")
    if wanted > current and pace.up:
        fastest = max(_up_limit(pace.up, memory, current, now), current)
        upper = _Limit(fastest, "ScaleUpLimit") if pace.maximum > fastest else _Limit(pace.maximum, "TooManyReplicas")
        return upper if wanted > upper.replicas else within
    if wanted < current and pace.down:
        fastest = min(_down_limit(pace.down, memory, current, now), current)
        lower = _Limit(fastest, "ScaleDownLimit") if pace.minimum < fastest else _Limit(pace.minimum, "TooFewReplicas")
        return lower if wanted < lower.replicas else within
    return within


def _up_limit(rules: ScalingRules, memory: ScalingMemory, current: int, now: datetime) -> int:
    if rules.selection is PolicySelection.DISABLED:
        return current
    choose = min if rules.selection is PolicySelection.MIN else max
    return choose(_highest_after(each, _begun(each, memory, current, now)) for each in rules.policies)


def _down_limit(rules: ScalingRules, memory: ScalingMemory, current: int, now: datetime) -> int:
    if rules.selection is PolicySelection.DISABLED:
        return current
    choose = max if rules.selection is PolicySelection.MIN else min
    return choose(_lowest_after(each, _begun(each, memory, current, now)) for each in rules.policies)


def _begun(policy: ScalingPolicy, memory: ScalingMemory, current: int, now: datetime) -> int:
    """Return the replicas at the beginning of a policy's period."""
    cutoff = now - policy.period
    return current - _sum_since(memory.added, cutoff) + _sum_since(memory.removed, cutoff)


def _sum_since(changes: Iterable[TimedNumber], cutoff: datetime) -> int:
    return sum(each.value for each in changes if each.at > cutoff)


def _highest_after(policy: ScalingPolicy, begun: int) -> int:
    return math.ceil(begun * (1 + policy.value / 100)) if policy.is_percent else begun + policy.value


def _lowest_after(policy: ScalingPolicy, begun: int) -> int:
    return int(begun * (1 - policy.value / 100)) if policy.is_percent else begun - policy.value
