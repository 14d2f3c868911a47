"""``python -m tests.conformance.sample FILE BYTES OUT``: pick a committed sample, rarest features first.

Cases are taken round by round: each round takes, for every tag, the first case not yet taken, until the compressed
sample would pass BYTES. The result is the same for the same input.
"""

import gzip
import json
import sys
import zlib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from . import Case, cases_in


def sampled(cases: list[Case], size: int) -> list[Case]:
    """Return cases whose compressed JSON Lines stay near ``size`` bytes, in their original order."""
    squeezed, used, chosen = zlib.compressobj(9), 0, []
    for index in _by_rarity(cases):
        used += len(squeezed.compress(_line(cases[index])))
        if used > size:
            break
        chosen.append(index)
    return [cases[index] for index in sorted(chosen)]


def _by_rarity(cases: list[Case]) -> Iterator[int]:
    indexes_by_tag = defaultdict(list)
    for index, case in enumerate(cases):
        for tag in case["tags"]:
            indexes_by_tag[tag].append(index)
    queues = [iter(indexes) for _, indexes in sorted(indexes_by_tag.items(), key=lambda item: (len(item[1]), item[0]))]
    taken: set[int] = set()
    while queues:
        for queue in list(queues):
            untaken = next((index for index in queue if index not in taken), None)
            if untaken is None:
                queues.remove(queue)
                continue
            taken.add(untaken)
            yield untaken


def _line(case: Case) -> bytes:
    return json.dumps(case, separators=(",", ":"), sort_keys=True).encode() + b"\n"


def main(source: str, size: str, target: str) -> None:
    cases = sampled(list(cases_in(Path(source))), int(size))
    with Path(target).open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.writelines(map(_line, cases))
    print(f"{len(cases)} cases")


if __name__ == "__main__":
    main(*sys.argv[1:])
