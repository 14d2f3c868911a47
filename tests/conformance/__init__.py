"""Run recorded answers of Karmada against this code: one adapter module per kind of case.

A case is ``{"id", "kind", "tags", "input", "expected"}``; its adapter is ``tests.conformance.kind_<kind>`` with
``check(case) -> str | None``, where None means the same answer and a text is a one-line difference. Adapters are looked
up when their kind occurs.
"""

import gzip
import importlib
import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .differences import DIFFERENCES, Difference

Case = dict[str, Any]
Check = Callable[[Case], str | None]


@dataclass(frozen=True, slots=True)
class Failure:
    """A case answered differently: its id, its difference, and the deliberate difference covering it, if one does."""

    id: str
    message: str
    covered_by: Difference | None


@dataclass(slots=True)
class Tally:
    """The number of cases of a kind, and those that failed."""

    kind: str
    total: int = 0
    failures: list[Failure] = field(default_factory=list)

    def count(self, case: Case, message: str | None) -> None:
        """Count a case and its difference, if it has one."""
        self.total += 1
        if message is not None:
            self.failures.append(Failure(case["id"], message, _cover(case, message)))

    @property
    def passed(self) -> int:
        return self.total - len(self.failures)

    @property
    def unexplained(self) -> list[Failure]:
        return [failure for failure in self.failures if failure.covered_by is None]

    @property
    def deliberate(self) -> Counter[str]:
        return Counter(failure.covered_by.name for failure in self.failures if failure.covered_by)


def cases_in(path: Path) -> Iterator[Case]:
    """Yield the cases of a JSON Lines file, gzip'd or not."""
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def has_adapter(kind: str) -> bool:
    """Say whether a module checks this kind."""
    return kind.isidentifier() and importlib.util.find_spec(f"{__name__}.kind_{kind}") is not None


def adapter(kind: str) -> Check:
    """Return the check of a kind of case."""
    if not has_adapter(kind):
        raise LookupError(f"no adapter for cases of kind {kind!r}: write tests/conformance/kind_{kind}.py")
    check: Check = importlib.import_module(f"{__name__}.kind_{kind}").check
    return check


def run(cases: Iterable[Case], *, kind: str = "") -> dict[str, Tally]:
    """Check every case (of one kind, if given) and tally the answers by kind."""
    tallies: dict[str, Tally] = {}
    checks: dict[str, Check] = {}
    for case in cases:
        if kind and case["kind"] != kind:
            continue
        tally = tallies.setdefault(case["kind"], Tally(case["kind"]))
        check = checks.get(tally.kind) or checks.setdefault(tally.kind, adapter(tally.kind))
        tally.count(case, check(case))
    return tallies


def _cover(case: Case, message: str) -> Difference | None:
    return next((rule for rule in DIFFERENCES if rule.kind == case["kind"] and rule.covers(case, message)), None)
