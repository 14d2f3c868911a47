"""``python -m tests.bench NAME [ARGUMENTS]``: import ``tests.bench.bench_NAME`` and call its ``main(arguments)``."""

import importlib
import sys
from pathlib import Path


def names() -> list[str]:
    """The benchmarks there are."""
    return sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def main(arguments: list[str]) -> int:
    """Run one benchmark; without a known name, list them."""
    if not arguments or arguments[0] not in names():
        print(f"usage: python -m tests.bench {{{','.join(names())}}} [arguments]", file=sys.stderr)
        return 2
    module = importlib.import_module(f"tests.bench.bench_{arguments[0]}")
    return int(module.main(arguments[1:]) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
