"""Going back after failures or an abort, to the version that was completed last: at once, or by waves in reverse.

1. Clusters go back that stand at other bytes than that version: those that were given the change, and those that an
   earlier one had reached which it took the place of.
2. By reverse waves the last of them goes back first. The one before follows when all that went back are well again, as
   far as they can be asked; one that is not by the deadline of its wave holds up nobody else, for the version before is
   the one that is known to be well.
3. Never more of a wave are on their way back at once than may be under way. Those that cannot be asked about go with
   their wave.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from render.timing import Flip
from render.words import first_few

from .barriers import StepOutcome
from .policy import RollbackOrder
from .positions import Positions, deadline_of_cluster
from .room import clusters_with_room
from .state import Given, RolloutFacts, RolloutPhase, RolloutReason, RolloutState


class WayBack(Struct, frozen=True, kw_only=True):
    """The way back after a step: those that have gone it and are not all well yet, and those that are to go it.

    ``wave`` is the one that goes back ("": none any more). ``outcome`` is what the rollout waits for.
    """

    back: tuple[Given, ...] = ()
    remaining: frozenset[str] = frozenset()
    wave: str = ""
    outcome: StepOutcome
    flips: tuple[Flip, ...] = ()


def way_back(state: RolloutState, positions: Positions, facts: RolloutFacts, stop: StepOutcome) -> WayBack:
    """Return the way back of a rollout that is held; ``stop`` says by what, and what ends it."""
    if state.plan.rollback is RollbackOrder.AT_ONCE:
        return WayBack(outcome=stop)
    back = {each.cluster: each for each in state.back if each.cluster in positions.clusters}
    remaining = (facts.away & positions.clusters) - back.keys()
    unwell = {name for name, each in back.items() if _is_to_be_well_again(each, positions, facts)}
    wave = ""
    for each in reversed(positions.waves):
        leaving = [name for name in each.clusters if name in remaining]
        asked = [name for name in leaving if name in positions.asked]
        going = {*clusters_with_room(each, asked, unwell, positions.fleet), *(set(leaving) - positions.asked)}
        back |= {name: Given(cluster=name, at=facts.now) for name in sorted(going)}
        unwell |= going & positions.asked
        remaining -= going
        if unwell.intersection(each.clusters):
            wave = each.wave.name
            break
    if not wave:
        return WayBack(outcome=stop)
    next_step = f"waits for {first_few(sorted(unwell))} to be well again with the version before"
    return WayBack(
        back=tuple(back[name] for name in sorted(back)),
        remaining=remaining,
        wave=wave,
        outcome=StepOutcome(RolloutPhase.HELD, RolloutReason.ROLLING_BACK, next_step),
        flips=tuple(_ends_of_waiting((back[name] for name in sorted(unwell)), positions)),
    )


def _is_to_be_well_again(given: Given, positions: Positions, facts: RolloutFacts) -> bool:
    """Say whether the others have to wait for a cluster that went back."""
    name = given.cluster
    if name not in positions.asked or facts.observed[name].well_since is not None:
        return False
    ends = deadline_of_cluster(given, positions.wave_of_cluster(name).gate)
    return ends is None or facts.now < ends


def _ends_of_waiting(unwell: Iterable[Given], positions: Positions) -> Iterator[Flip]:
    """Yield when clusters are waited for no longer."""
    for given in unwell:
        ends = deadline_of_cluster(given, positions.wave_of_cluster(given.cluster).gate)
        if ends is not None:
            yield Flip(ends, f"{given.cluster} is waited for no longer")
