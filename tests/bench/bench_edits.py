"""Random edits of every kind of object, by ``kubectl apply --server-side`` and by whole passes: both the same.

``--pairs`` is how many edits are made in all. Each difference is printed with the edit that led to it.
"""

import argparse
import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from tests.clusters import members_of_a_fleet
from tests.edits.both_ways import BothWays, Difference, Outcome


def main(arguments: list[str]) -> int:
    """Run the comparison; 1 where anything differs."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench edits")
    parser.add_argument("--pairs", type=int, default=2000)
    parser.add_argument("--copies", type=int, default=4, help="objects of each kind, edited in one pass")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", nargs="+", default=(), help="names of objects: edit these alone, by the same edits")
    chosen = parser.parse_args(arguments)
    with members_of_a_fleet(("ours", "theirs")) as ((ours, theirs), folder):
        began = time.monotonic()
        both = BothWays(ours, theirs, folder, seed=chosen.seed, copies=chosen.copies, only=chosen.only)
        outcomes = list(_batches(both, chosen.pairs))
        unrest = both.unrest()
    pairs, refused = sum(each.pairs for each in outcomes), sum(each.refused for each in outcomes)
    differences = sum(len(each.differences) for each in outcomes)
    print(*unrest, sep="\n")
    print(f"seed {chosen.seed}: {pairs} pairs, {refused} of them refused by kubectl, {differences} differences")
    print(f"{time.monotonic() - began:.0f} s; a pass with nothing to do does {'something' if unrest else 'nothing'}")
    return 1 if differences or unrest else 0


def _batches(both: BothWays, pairs: int) -> Iterator[Outcome]:
    outcome, done = both.first(), 0
    while True:
        done += outcome.pairs
        print(f"{done} pairs", flush=True)
        for each in outcome.differences:
            print(told(each), flush=True)
        yield outcome
        if done >= pairs or not both.current:
            return
        outcome = both.batch()


def told(difference: Difference) -> str:
    """Return the lines about an edit that did not come to the same."""
    return "\n".join(_lines(difference))


def _lines(difference: Difference) -> Iterator[str]:
    yield f"{difference.name}: {difference.what}"
    if difference.why:
        yield f"  {difference.why}"
    if difference.before:
        yield "  the edit:"
        yield from _changes(difference.before, difference.after)
    yield "  kubectl's object -> Argosy's:"
    yield from _changes(difference.theirs, difference.ours)


def _changes(one: Any, other: Any) -> Iterator[str]:
    before, after = dict(_leaves(one, ())), dict(_leaves(other, ()))
    for path in sorted({*before, *after}):
        if before.get(path) != after.get(path):
            yield f"    {path}: {before.get(path, 'nothing')} -> {after.get(path, 'nothing')}"


def _leaves(value: Any, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Yield the innermost values; a map or a list in which there is nothing is one."""
    items: Any = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    inside = list(items)
    for step, item in inside:
        yield from _leaves(item, (*path, str(step)))
    if not inside:
        yield ".".join(path), json.dumps(value)
