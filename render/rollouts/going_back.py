"""Going back after failures or an abort, to the version that was completed last: at once, or by waves in reverse.

1. Clusters go back that stand at other bytes than that version: those that were given the change, and those that an
   earlier one had reached which it took the place of.
2. By reverse waves the last of them goes back first. The one before follows when all that went back are well again, as
   far as they can be asked; one that is not by the deadline of its wave holds up nobody else, for the version before is
   the one that is known to be well.
3. Never more of a wave are on their way back at once than may be under way. Those that cannot be asked about go with
   their wave.
"""

from collections.abc import Container, Iterable, Iterator

from msgspec import Struct

from render.timing import Flip, Timed
from render.words import first_few

from .barriers import StepOutcome
from .policy import RollbackOrder
from .positions import Positions, deadline_of_cluster
from .room import clusters_with_room
from .state import Given, RolloutFacts, RolloutPhase, RolloutReason, RolloutState
from .status_ages import StatusAge


class WayBack(Struct, frozen=True, kw_only=True):
    """The way back after a step: those that have gone it and are not all well yet, and those that are to go it.

    ``wave`` is the one that goes back ("": none any more). ``outcome`` is what the rollout waits for.
    """

    back: tuple[Given, ...] = ()
    remaining: frozenset[str] = frozenset()
    wave: str = ""
    outcome: StepOutcome
    flips: tuple[Flip, ...] = ()
    status_ages: tuple[StatusAge, ...] = ()


def way_back(state: RolloutState, positions: Positions, facts: RolloutFacts, stop: StepOutcome) -> WayBack:
    """Return the way back of a rollout that is held; ``stop`` says by what, and what ends it."""
    if state.plan.rollback is RollbackOrder.AT_ONCE:
        return WayBack(outcome=stop)
    back = {each.cluster: each for each in state.back if each.cluster in positions.clusters}
    remaining = (facts.away & positions.clusters) - back.keys()
    ages = tuple(_ages_of_statuses(back, positions, facts))
    answers = tuple(age.answer for age in ages)
    old = {each.cluster for each in answers if each.is_too_old}
    unwell = {name for name, each in back.items() if _is_to_be_well_again(each, positions, facts, old)}
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
        return WayBack(outcome=stop, status_ages=answers)
    next_step = f"waits for {first_few(sorted(unwell))} to be well again with the version before"
    return WayBack(
        back=tuple(back[name] for name in sorted(back)),
        remaining=remaining,
        wave=wave,
        outcome=StepOutcome(RolloutPhase.HELD, RolloutReason.ROLLING_BACK, next_step),
        flips=(
            *_ends_of_waiting((back[name] for name in sorted(unwell)), positions),
            *(age.flip for age in ages if age.flip is not None),
        ),
        status_ages=answers,
    )


def _ages_of_statuses(back: Iterable[str], positions: Positions, facts: RolloutFacts) -> Iterator[Timed[StatusAge]]:
    """Yield how old the status is of each cluster that went back and is well by it, where a gate asks for that."""
    for name in sorted(positions.asked.intersection(back)):
        seconds = positions.wave_of_cluster(name).gate.max_status_age
        if seconds is not None and facts.observed[name].well_since is not None:
            yield facts.looks.age_of(name, seconds, facts.now)


def _is_to_be_well_again(given: Given, positions: Positions, facts: RolloutFacts, old: Container[str]) -> bool:
    """Say whether the others have to wait for a cluster that went back; ``old`` are those with a status too old."""
    name = given.cluster
    if name not in positions.asked or (facts.observed[name].well_since is not None and name not in old):
        return False
    ends = deadline_of_cluster(given, positions.wave_of_cluster(name).gate)
    return ends is None or facts.now < ends


def _ends_of_waiting(unwell: Iterable[Given], positions: Positions) -> Iterator[Flip]:
    """Yield when clusters are waited for no longer."""
    for given in unwell:
        ends = deadline_of_cluster(given, positions.wave_of_cluster(given.cluster).gate)
        if ends is not None:
            yield Flip(ends, f"{given.cluster} is waited for no longer")
