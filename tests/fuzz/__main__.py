"""Random files: read and written as kubectl does, or read by all of Argosy.

``python -m tests.fuzz [--seed N] [--cases N]`` reads and emits as many YAML files; what differs from kubectl is
printed, with the seed. ``python -m tests.fuzz --minutes M [--kinds source,registries]`` edits files and answers of
every kind for so long, and prints what ends in a bug.
"""

import argparse
import sys
from random import Random, SystemRandom

from . import emitting, files, reading


def main() -> int:
    """Fuzz both ways and say what was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--seed", type=int, default=SystemRandom().randrange(2**32))
    parser.add_argument("--cases", type=int, default=6000)
    parser.add_argument("--minutes", type=float)
    parser.add_argument("--kinds", default=",".join(files.KINDS))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    if options.minutes:
        return edited(options.minutes, options.seed, options.kinds.split(","))
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


def edited(minutes: float, seed: int, kinds: list[str]) -> int:
    """Edit files of these kinds, and print each bug once."""
    known: set[str] = set()
    for found in files.found_in(minutes, seed, kinds):
        if isinstance(found, int):
            print(f"{found} cases: {len(known)} bugs")
        elif found.error[-120:] not in known:
            known.add(found.error[-120:])
            print(f"{found.kind} {found.case}: {found.error}")
    return 1 if known else 0


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
