"""``python -m tests.kubernetes [PROGRAM ...]``: make sure the programs are there, and print where each one is."""

import sys

from .programs import PROGRAMS, NotBuilt, obtain


def main(names: list[str]) -> int:
    """Obtain the programs named, or all of them; 1 when one cannot be had."""
    unknown = sorted(set(names) - set(PROGRAMS))
    if unknown:
        print(f"unknown: {', '.join(unknown)}; one of {', '.join(PROGRAMS)}", file=sys.stderr)
        return 2
    try:
        places = obtain(names or PROGRAMS)
    except NotBuilt as error:
        print(error, file=sys.stderr)
        return 1
    for name, path in places.items():
        print(f"{name}\t{path}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
