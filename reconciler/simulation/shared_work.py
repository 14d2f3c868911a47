"""The outcomes of many losses, decided side by side: each is independent of all others.

The rule: where more than 100,000 decisions are due and this process may use several processors, each of these (at most
eight) gets a process, which begins with all that this one has read, takes every so-many-th loss, and hands back the
outcomes. Where processes cannot be forked, or one decision after the other is quicker, this one does it alone.
"""

import gc
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

from reconciler.console.log import Log
from render.errors import ReconcileError
from render.placement import SpreadField
from render.resilience.losses import Loss, clusters_lost_together, losses_of_fleet

from .loss_outcomes import LossJudge, LossOutcome
from .losses import Losses

_MANY_DECISIONS = 100_000
_MOST_PROCESSES = 8
_SHARES_OF_PROCESS = 8
"""So many shares each process takes, one after the other: how far all of them are is known after each."""
_FORK = "fork"


def outcomes_of_every_loss(losses: Losses, by: SpreadField, count: int, log: Log) -> tuple[LossOutcome, ...]:
    """Return the outcome of each loss of so many clusters, regions, zones or providers of a fleet."""
    together = clusters_lost_together(losses.inputs.desired.clusters, by)
    every = tuple(losses_of_fleet(together, by, count))
    with log.timed("lose clusters"), log.counted("lose clusters", len(every)) as count_one:
        return outcomes_of_losses(LossJudge(losses=losses), every, lambda loss: count_one(" + ".join(loss.names)))


def outcomes_of_losses(
    judge: LossJudge, losses: Sequence[Loss], tell: Callable[[Loss], None] = lambda _loss: None
) -> tuple[LossOutcome, ...]:
    """Return the outcome of each loss, in their order; ``tell`` is told of each that is decided."""
    count = _number_of_processes(judge, losses)
    if count < 2:
        return tuple(_outcomes_counted(map(judge.outcome_of, losses), tell))
    count *= _SHARES_OF_PROCESS
    shares = [losses[number::count] for number in range(count)]
    found: list[LossOutcome | None] = [None] * len(losses)
    judge.read_ahead()
    # What is frozen is not looked at again and again for garbage, and so stays shared with the processes.
    gc.freeze()
    try:
        with ProcessPoolExecutor(
            count // _SHARES_OF_PROCESS,
            mp_context=multiprocessing.get_context(_FORK),
            initializer=_begin,
            initargs=(judge,),
        ) as pool:
            for number, outcomes in enumerate(pool.map(_outcomes_of_share, shares)):
                found[number::count] = _outcomes_counted(outcomes, tell)
    except BrokenProcessPool as error:
        raise ReconcileError(
            "a process that decides about losses ended before it had answered",
            hint="look whether the system ended it for want of memory; --by region asks for fewer losses",
        ) from error
    finally:
        gc.unfreeze()
    return tuple(each for each in found if each is not None)


def _outcomes_counted(outcomes: Iterable[LossOutcome], tell: Callable[[Loss], None]) -> Iterator[LossOutcome]:
    for each in outcomes:
        tell(each.loss)
        yield each


def _number_of_processes(judge: LossJudge, losses: Sequence[Loss]) -> int:
    if _FORK not in multiprocessing.get_all_start_methods() or not hasattr(os, "sched_getaffinity"):
        return 1
    if len(losses) * len(judge.losses.placed) < _MANY_DECISIONS:
        return 1
    return min(len(os.sched_getaffinity(0)), _MOST_PROCESSES, len(losses))


_judge: list[LossJudge] = []
"""The judge of a process that decides about a share of the losses; it has it from the one that forked it."""


def _begin(judge: LossJudge) -> None:
    _judge[:] = [judge]


def _outcomes_of_share(losses: Sequence[Loss]) -> list[LossOutcome]:
    return list(map(_judge[0].outcome_of, losses))
