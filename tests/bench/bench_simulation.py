"""A month in the life of a fleet, at a pass a minute: what a tick costs, and whether failover keeps its promises.

Clusters go down, flap and come back, half of the fleet once at the same time, copies of workloads fall ill, and the
clock is set forward and back (``tests.simulation``). Ticks that commit nothing are told by what they found: nothing
new, so that the pass answered from its checkpoint, or news that change no answer. Times are CPU of the pass alone. At
the end of each day the run goes on a second time, for an hour, from the commits of that day alone.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterable
from pathlib import Path

from tests.simulated_rules import Judge
from tests.simulation import DAY, Simulation, Tick, Weather

HOUR = 60


def main(arguments: list[str]) -> int:
    """Run the simulation; 1 where a rule was broken, or a second run went on otherwise."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench simulation")
    parser.add_argument("--days", type=int, default=30)
    parser.add_argument("--clusters", type=int, default=100)
    parser.add_argument("--workloads", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    weather = Weather.of(given.seed, days=given.days, clusters=given.clusters, workloads=given.workloads)
    with tempfile.TemporaryDirectory() as folder:
        simulation = Simulation.create(Path(folder) / "fleet", weather)
        judge, faults, told = Judge(simulation), list[str](), 0
        ticks: list[tuple[str, float]] = []
        for day in range(given.days):
            resumed = Simulation.resumed(Path(folder) / f"day-{day}", simulation, day * DAY) if day else None
            hour = _seen(judge, simulation.run(HOUR), ticks)
            if resumed and [tick.after for tick in resumed.run(HOUR)] != hour:
                faults.append(f"day {day}: a second run goes on otherwise")
            _seen(judge, simulation.run(DAY - HOUR), ticks)
            broken = [*judge.faults, *faults]
            counts = f"{judge.commits} commits, {judge.evictions} evictions by taints, {len(broken)} faults"
            print(f"after day {day + 1}: {counts}", *broken[told:], sep="\n", flush=True)
            told = len(broken)
        _tell(ticks)
    return 1 if judge.faults or faults else 0


def _seen(judge: Judge, run: Iterable[Tick], ticks: list[tuple[str, float]]) -> list[str]:
    """Judge the ticks of a run and note what each cost; return the commits they ended at."""
    commits = []
    for tick in run:
        judge.see(tick)
        commits.append(tick.after)
        what = "nothing new" if tick.is_repeated else "news that change no answer"
        ticks.append(("an answer flips" if tick.is_committed else what, tick.seconds))
    return commits


def _tell(ticks: list[tuple[str, float]]) -> None:
    for what in sorted({what for what, _ in ticks}):
        costs = [1000 * seconds for kind, seconds in ticks if kind == what]
        print(f"{what}: {len(costs)} ticks, median {statistics.median(costs):.1f} ms, max {max(costs):.1f} ms")
