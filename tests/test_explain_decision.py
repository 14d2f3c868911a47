"""The numbers of an explanation add up to the placement, in every scheduling run recorded from Karmada."""

from collections import Counter
from pathlib import Path

import pytest

from reconciler.explain.capacity import room_in_each_candidate
from render.cluster_index import ClusterIndex
from render.parsing import parse_binding, parse_cluster
from render.scheduling.explanation import ExplainedAttempt, Explanation, explanation_of
from render.scheduling.options import SchedulingOptions
from render.scheduling.replicas import Mode
from render.scheduling.rules import Strategy
from render.scheduling.scheduler import Scheduler
from tests.conformance import Case, cases_in

HERE = Path(__file__).parent
RECORDED = (HERE / "vectors", HERE.parent.parent / "shared" / "conformance")
FILES = [path for folder in RECORDED if (path := folder / "schedule.jsonl.gz").exists()][-1:]  # the first is a sample
MOST_SEATS = 500


def explained(case: Case) -> tuple[Explanation, list[str]]:
    """Explain a recorded run; return the explanation and what does not add up in its capacity."""
    index = ClusterIndex(map(parse_cluster, case["input"]["clusters"]))
    scheduler, bound = Scheduler(index, SchedulingOptions.karmada()), parse_binding(case["input"]["binding"])
    cycle = scheduler.cycle(bound)
    found = explanation_of(cycle, scheduler.decision(cycle), scheduler.state)
    faults = [
        f"room of {each.cluster}"
        for each in room_in_each_candidate(bound, found, scheduler.state)
        if max(each.by_summary - each.taken, 0) + each.held != each.room
    ]
    everything = set(index.names) - set(found.terminating)
    for attempt in found.attempts:
        parts = [*(each.cluster for each in attempt.rejected), *(each.cluster for each in attempt.candidates)]
        if Counter(parts) != Counter(everything):
            faults.append("clusters are neither refused nor candidates, or both")
    return found, faults


def division_faults(found: Explanation, attempt: ExplainedAttempt) -> list[str]:
    """Return what does not add up between the divisions of an attempt and what its candidates get."""
    faults, shares = [], Counter[str]()
    for division in attempt.divisions:
        more = {vote.cluster: vote.more for vote in division.votes}
        shares.update({vote.cluster: vote.base + vote.more for vote in division.votes})
        if division.mode is not Mode.COPY and sum(more.values()) != division.replicas:
            faults.append(f"{division.mode}: {sum(more.values())} of {division.replicas} given")
        if division.replicas <= MOST_SEATS:
            seats = Counter(seat.cluster for seat in division.seats())
            if seats != +Counter(more):
                faults.append(f"{division.mode}: seats {seats}, division {more}")
    got = {each.cluster: each.replicas for each in attempt.candidates if each.replicas}
    if found.strategy is not Strategy.UNDIVIDED and got != dict(+shares):
        faults.append(f"candidates get {got}, divisions say {dict(shares)}")
    return faults


def faults_of(case: Case) -> list[str]:
    found, faults = explained(case)
    last = found.attempts[-1] if found.attempts else None
    if last is None or last.refusal is not None:
        return faults
    targets = {each.name: each.replicas for each in found.decision.targets if each.replicas}
    got = {each.cluster: each.replicas for each in last.candidates if each.replicas}
    if targets != got:
        faults.append(f"targets {targets}, candidates get {got}")
    return faults + division_faults(found, last)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_the_numbers_of_every_explanation_add_up(path: Path) -> None:
    cases = list(cases_in(path))
    faults = {case["id"]: found for case in cases if (found := faults_of(case))}
    assert (faults, bool(cases)) == ({}, True)
