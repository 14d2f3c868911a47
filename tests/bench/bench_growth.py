"""The time that hostile input takes, and how it grows with the input: ten times as much in under fifteen times."""

import argparse
import gc

from tests.growth import BUDGETS, Budget, seconds_of

MOST = 15.0
_LEAST_SECONDS = 0.005
"""Seconds below which a measurement is too rough to be compared."""


def main(arguments: list[str]) -> int:
    """Print seconds of a size and of ten times that, and the ratio; 1 when one grows faster than it may."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench growth")
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args(arguments)
    grown = 0
    print(f"{'input':36} {'size':>7} {'seconds':>9} {'10 x':>9} {'ratio':>7}")
    for budget in BUDGETS:
        small, large = (best_of(budget, size, options.runs) for size in (budget.size, 10 * budget.size))
        ratio = large / max(small, _LEAST_SECONDS)
        grown += ratio >= MOST
        verdict = "  GROWS TOO FAST" if ratio >= MOST else ""
        print(f"{budget.row:36} {budget.size:7} {small:9.4f} {large:9.4f} {ratio:7.1f}{verdict}")
    return min(grown, 1)


def best_of(budget: Budget, size: int, runs: int) -> float:
    """Return the seconds of the quickest run."""
    work = budget.work(size)
    gc.collect()
    gc.disable()  # its runs depend on everything else that is alive
    try:
        return min(seconds_of(work) for _ in range(runs))
    finally:
        gc.enable()
