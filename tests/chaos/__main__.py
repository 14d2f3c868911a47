"""``python -m tests.chaos [PART ...]``: kills, faults, and a day of the controller; 1 where something is wrong."""

import argparse
import sys
import time

from tests.bench import bench_kills

from .day import run_day
from .faults import run_faults
from .fleet import chaos_fleet

_PARTS = ("kills", "faults", "day")


def main(arguments: list[str]) -> int:
    """Run the parts, and say what each found."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description=__doc__)
    parser.add_argument("parts", nargs="*", default=_PARTS, metavar="PART", help=f"of {', '.join(_PARTS)}")
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1200.0, help="how long the day of the controller is")
    parser.add_argument("--only", default="", help="only faults whose name has these words")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args(arguments)
    print(f"seed {chosen.seed}", flush=True)
    found = []
    if "kills" in chosen.parts and bench_kills.main(["--kills", str(chosen.kills), "--seed", str(chosen.seed)]):
        found.append("kills: see above")
    if "faults" in chosen.parts:
        with chaos_fleet() as fleet:
            fleet.begin()
            first = fleet.run("--bootstrap")
            assert first.code == 0, first.said
            found += run_faults(fleet, chosen.only)
    if "day" in chosen.parts:
        with chaos_fleet() as fleet:
            found += run_day(fleet, chosen.seconds, chosen.seed)
    print(*found, f"{len(found)} found", sep="\n", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
