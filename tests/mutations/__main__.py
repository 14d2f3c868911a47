"""``python -m tests.mutations [--seed N] [--count N] [PATH...]``: break lines, run tests, name what nobody noticed."""

import argparse
import os
import signal
import sys
from pathlib import Path
from random import SystemRandom

from .trial import Options, tried

ROOT = Path(__file__).parent.parent.parent


def main() -> int:
    """Try mutants and say which survived."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutations",
        description="Break random production lines, one at a time in a copy, and name those that no test notices.",
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="folders or files to break; everything without one")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6))
    parser.add_argument("--count", type=int, default=40, help="how many lines (40)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many at once (one a core)")
    parser.add_argument("--quick", action="store_true", help="let only those tests try that reach the function")
    given = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)  # either way, what runs is ended and the copies go
    print(f"seed {given.seed}", flush=True)
    options = Options(count=given.count, seed=given.seed, jobs=given.jobs, wide=not given.quick)
    caught = survived = 0
    for verdict in tried(ROOT, given.paths, options):
        where = f"{verdict.mutant.path}:{verdict.mutant.line}"
        if verdict.caught_by:
            caught += 1
            print(f"caught    {where} by {verdict.caught_by}", flush=True)
        else:
            survived += 1
            print(f"SURVIVED  {where}, {verdict.reached} tests come by\n{verdict.difference}", flush=True)
    print(f"{caught} of {caught + survived} caught, {survived} survived")
    return 1 if survived else 0


if __name__ == "__main__":
    sys.exit(main())
