"""``python -m tests.bench NAME [ARGUMENTS]``: run ``tests/bench/bench_NAME.py``.

A benchmark yields ``figures(arguments)``, each of which is printed with its bar, or prints by itself in
``main(arguments)``. ``--figures FILE`` appends each figure to a file, as a line of JSON.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from .figures import told

_APPEND = "--figures"


def names() -> list[str]:
    """The benchmarks there are."""
    return sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))


def main(arguments: Sequence[str]) -> int:
    """Run one benchmark; without a known name, list them. 1 where a figure is more than it must be."""
    words = list(arguments)
    if not words or words[0] not in names():
        print(f"usage: python -m tests.bench {{{','.join(names())}}} [arguments]", file=sys.stderr)
        return 2
    module = importlib.import_module(f"tests.bench.bench_{words[0]}")
    if not hasattr(module, "figures"):
        return int(module.main(words[1:]) or 0)
    appended_to = None
    if _APPEND in words[:-1]:
        at = words.index(_APPEND)
        appended_to = Path(words[at + 1])
        del words[at : at + 2]
    return told(module.figures(words[1:]), appended_to)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
