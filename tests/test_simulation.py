"""Hours in the life of a fleet: what failover promises holds at every minute, whatever happens to it."""

from pathlib import Path

from .simulated_rules import Judge
from .simulation import Simulation, Weather

MINUTES = 60


def rough(seed: int) -> Weather:
    """An hour in which more goes wrong than in a month."""
    return Weather.of(seed, days=MINUTES / 1440, clusters=10, workloads=6, roughness=150)


def test_rough_weather_breaks_no_promise_and_partial_passes_commit_what_whole_ones_would(tmp_path: Path) -> None:
    simulation = Simulation.create(tmp_path / "fleet", rough(1))
    whole = simulation.forgetful_twin(tmp_path / "whole")
    judge, rest = Judge(simulation), list[str]()
    for tick, other in zip(simulation.run(MINUTES), whole.run(MINUTES), strict=True):
        judge.see(tick)
        assert (tick.after, tick.said) == (other.after, other.said), f"at minute {tick.minute}"
        assert simulation.next_flip == whole.next_flip, f"at minute {tick.minute}"
        if tick.minute == MINUTES // 2:
            resumed = Simulation.resumed(tmp_path / "resumed", simulation, tick.minute + 1)
        elif tick.minute > MINUTES // 2:
            rest.append(tick.after)
    assert judge.faults == []
    assert judge.evictions > 0
    assert [tick.after for tick in resumed.run(len(rest))] == rest
