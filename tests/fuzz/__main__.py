"""``python -m tests.fuzz [--seed N] [--cases N]``: as many cases each way; what differs is printed, with the seed."""

import argparse
import sys
from random import Random, SystemRandom

from . import emitting, reading


def main() -> int:
    """Fuzz both ways and say what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(2**32))
    parser.add_argument("--cases", type=int, default=6000)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    wrong = 0
    for name, found in (
        ("reading", read(options.seed, options.cases)),
        ("emitting", emitted(options.seed, options.cases)),
    ):
        for difference in found:
            print(*difference, sep="\n    ")
        print(f"{name}: {len(found)} wrong of {options.cases}")
        wrong += len(found)
    return 1 if wrong else 0


def read(seed: int, cases: int) -> list[reading.Difference]:
    """Read random files: single scalars, wild structures, ordinary ones, JSON."""
    rng = Random(f"read {seed}")
    kinds = (reading.scalar_file, reading.structure_file, reading.ordinary_file, reading.json_file)
    return list(reading.differences([kinds[number % len(kinds)](rng, number) for number in range(cases)]))


def emitted(seed: int, cases: int) -> list[emitting.Difference]:
    """Emit random manifests."""
    rng = Random(f"emit {seed}")
    return list(emitting.differences([emitting.manifest(rng, number) for number in range(cases)]))


if __name__ == "__main__":
    sys.exit(main())
