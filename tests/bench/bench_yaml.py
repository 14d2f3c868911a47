"""YAML in and out against PyYAML's C classes: CPU per document, and the bars (load at least 2x, emit at least 10x).

Every round times all contenders one after the other on the same documents, so that a busy machine slows all of them;
figures and ratios are medians over the rounds. Before anything is timed, every result is compared with its manifest.
"""

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from operator import truediv
from typing import Any, NamedTuple

import yaml

from render.documents import building, emit, outline, parse_documents

from .corpus import manifests

LOAD_BAR, EMIT_BAR = 2.0, 10.0


class Contender(NamedTuple):
    """One way to do a job for all documents; ``against`` names the contender it is compared with."""

    name: str
    job: Callable[[], Any]
    against: str = ""
    bar: float = 0.0


def main(arguments: list[str]) -> int:
    """Print the table; fail if a bar is missed."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench yaml")
    parser.add_argument("--documents", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args(arguments)
    values = manifests(options.documents)
    texts = [emit(value) for value in values]
    check(values, texts)
    print(f"{len(values)} documents, {sum(map(len, texts)) / len(texts):.0f} bytes each, {options.rounds} rounds")
    return report(contenders(values, texts), len(values), options.rounds)


def check(values: list[dict[str, Any]], texts: list[bytes]) -> None:
    """Compare what is read with what was written, document by document, PyYAML's reading too."""
    for value, text in zip(values, texts, strict=True):
        (document,) = parse_documents(text)
        if not document.value == value == yaml.load(text, yaml.CSafeLoader):
            raise SystemExit(f"{value['kind']} {value['metadata']['name']} is not read back as it was")


def contenders(values: list[dict[str, Any]], texts: list[bytes]) -> list[Contender]:
    """Everything that is timed."""
    together = b"---\n".join(texts)
    return [
        Contender("CSafeLoader", lambda: [yaml.load(text, yaml.CSafeLoader) for text in texts]),
        Contender("load, first time", lambda: first_time(texts), "CSafeLoader", LOAD_BAR),
        Contender("load, again", lambda: [*map(parse_documents, texts)], "CSafeLoader", LOAD_BAR),
        Contender("load, one file", lambda: parse_documents(together), "CSafeLoader", LOAD_BAR),
        Contender("CSafeDumper", lambda: [yaml.dump(value, Dumper=yaml.CSafeDumper) for value in values]),
        Contender("emit", lambda: [*map(emit, values)], "CSafeDumper", EMIT_BAR),
    ]


def first_time(texts: list[bytes]) -> list[Any]:
    """Read as a new process does."""
    for memo in (building._VALUES, building._KEYS, outline._LINES):
        memo.clear()
    outline._LINES.keys_by_text.clear()
    outline._LINES.values_by_text.clear()
    building._KEYS["<<"] = building._MERGE
    return [*map(parse_documents, texts)]


def report(table: list[Contender], documents: int, rounds: int) -> int:
    """Time the contenders in turn and print one line for each."""
    seconds: dict[str, list[float]] = {contender.name: [] for contender in table}
    for _ in range(rounds):
        for contender in table:
            seconds[contender.name].append(cpu_seconds(contender.job))
    micros = {name: statistics.median(times) / documents * 1e6 for name, times in seconds.items()}
    missed = 0
    for contender in table:
        line = f"{contender.name:18}{micros[contender.name]:9.1f} us/document"
        if contender.against:
            ratio = statistics.median(map(truediv, seconds[contender.against], seconds[contender.name]))
            missed += ratio < contender.bar
            verdict = "" if ratio >= contender.bar else ", MISSED"
            line += f"{ratio:7.1f}x {contender.against} (bar {contender.bar:g}x{verdict})"
        print(line)
    return int(missed > 0)


def cpu_seconds(job: Callable[[], Any]) -> float:
    """The CPU time of one run, after the garbage of the last one is gone."""
    gc.collect()
    start = time.process_time()
    job()
    return time.process_time() - start
