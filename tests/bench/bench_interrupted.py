"""Passes that are killed at random moments, or that run out of space or may not write, over fleets of a size.

After each, the branch is where it was or at the next commit, ``git fsck`` finds nothing, and the next pass comes to its
end; now and then its tree is compared with that of a pass over everything. What a pass says has to name the reason.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from .bars import FEWER
from .bench_apply import compile_modules
from .figures import Figure, figure
from .interrupted import PARTS, add_options, in_folder, on_a_small_disk

_WORDS = {"kills": "passes killed", "full": "full disks", "read-only": "read-only disks"}


def figures(arguments: Sequence[str]) -> Iterator[Figure]:
    """Yield how many faults each part found."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench interrupted", description=__doc__)
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help="all unless some are named")
    add_options(parser)
    given = parser.parse_args(arguments)
    compile_modules()
    scenario = f"interrupted, {given.clusters} clusters x {given.templates} templates"
    for part in given.part or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            found = (in_folder if part == "kills" else on_a_small_disk)(part, Path(folder), given)
        print(*found["faults"], sep="\n", end="\n" if found["faults"] else "")
        for said, count in found["said"].items():
            print(f"{count} times: {said}")
        done = found["count"] if part == "kills" else found["turns"]
        left = ", ".join(found["left"]) or "nothing"
        remark = f"{found['count']} interrupted of {found['turns']} turns, seed {given.seed}; left: {left}"
        yield figure(scenario, f"faults of {_WORDS[part]}", len(found["faults"]), "", remark=remark)
        yield figure(scenario, f"{_WORDS[part]}, {FEWER}", given.times - done, "", remark=f"{done} of {given.times}")
