"""``python -m tests.conformance [--kind K] [--fleet FOLDER] [FILE...]``: compare with Karmada's recorded answers.

Exits with 1 when a failure is not covered by a rule in ``differences.py``, with 2 when a file cannot be run.
"""

import argparse
import sys
from itertools import chain
from pathlib import Path

from . import Tally, cases_in, run
from .differences import DIFFERENCES
from .fleets import run_fleets


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance")
    parser.add_argument("--kind", default="", help="only cases of this kind")
    parser.add_argument("--show", type=int, default=10, help="how many differences to print for each kind")
    parser.add_argument("--fleet", type=Path, metavar="FOLDER", help="a folder of whole repositories")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE", help="JSON Lines, plain or .gz")
    options = parser.parse_args(arguments)
    if not options.files and options.fleet is None:
        parser.error("name a FILE, or a folder with --fleet")
    try:
        tallies = run(chain.from_iterable(map(cases_in, options.files)), kind=options.kind)
        if options.fleet is not None:
            tallies["fleet"] = run_fleets(options.fleet)
    except (LookupError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    for tally in tallies.values():
        _print(tally, options.show)
    return 1 if any(tally.unexplained for tally in tallies.values()) else 0


def _print(tally: Tally, show: int) -> None:
    print(f"{tally.kind} {tally.passed}/{tally.total}")
    why = {rule.name: rule.why for rule in DIFFERENCES}
    for name, count in sorted(tally.deliberate.items()):
        print(f"  {count} deliberately different, {name}: {why[name]}")
    for failure in tally.unexplained[:show]:
        print(f"  {failure.id}: {failure.message}")
    if len(tally.unexplained) > show:
        print(f"  ... and {len(tally.unexplained) - show} more")


if __name__ == "__main__":
    sys.exit(main())
