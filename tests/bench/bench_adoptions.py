"""Objects that others made beside manifests that may want the same: adopted if, and only if, no value changes.

``--pairs`` is how many there are. Each object that was adopted or left alone wrongly is printed.
"""

import argparse
import json
import time

from tests.clusters import members_of_a_fleet
from tests.edits.adoptions import AdoptionOutcome, Adoptions


def main(arguments: list[str]) -> int:
    """Run the comparison; 1 where anything is wrong."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench adoptions")
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    chosen = parser.parse_args(arguments)
    began = time.monotonic()
    with members_of_a_fleet(("ours", "trial")) as ((ours, trial), folder):
        outcome = Adoptions(ours, trial, folder, seed=chosen.seed, pairs=chosen.pairs).run()
    print(told(outcome), end="")
    print(
        f"seed {chosen.seed}: {outcome.pairs} pairs, {outcome.adopted} adopted, {len(outcome.misfits)} wrongly judged"
    )
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if outcome.misfits else 0


def told(outcome: AdoptionOutcome) -> str:
    """Return the lines about the objects that were wrongly judged."""
    lines = []
    for each in outcome.misfits:
        lines += [f"{each.name} ({each.way}): {each.what}", f"  made:   {json.dumps(each.made, sort_keys=True)}"]
        lines += [f"  wanted: {json.dumps(each.wanted, sort_keys=True)}"]
    return "".join(f"{line}\n" for line in lines)
