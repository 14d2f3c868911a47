"""The facts that are worth a commit."""

from typing import Any, NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from reconciler.ledger.facts import ClusterFacts
from reconciler.observe.fact_changes import facts_to_write
from reconciler.source.facts import clusters_corrected_by_facts
from render.cluster import Cluster, ResourceModel, ResourceModelRange, Taint

from .tables import each_row


def facts(*, ready: str = "True", kinds: tuple[str, ...] = ("Pod",), cpu: str = "10", **used: str) -> ClusterFacts:
    """Facts of a cluster of 10 CPUs; ``used`` by allocated and allocating."""
    summary: dict[str, Any] = {"allocatable": {"cpu": cpu, "pods": "100"}}
    summary |= {part: {"cpu": amount} for part, amount in used.items()}
    enablements = [{"groupVersion": "v1", "resources": [{"name": kind, "kind": kind} for kind in kinds]}]
    conditions = [{"type": "Ready", "status": ready}]
    status = {"conditions": conditions, "apiEnablements": enablements, "resourceSummary": summary}
    return ClusterFacts(name="m1", status=status)


class Change(NamedTuple):
    why: str
    before: ClusterFacts
    after: ClusterFacts
    age: float
    written: bool


CHANGES = [
    Change("readiness counts at once", facts(), facts(ready="False"), 0, True),
    Change("a served kind counts at once", facts(), facts(kinds=("Pod", "Job")), 0, True),
    Change("what is allocatable counts to the last thousandth", facts(), facts(cpu="10001m"), 0, True),
    Change("a tenth of what is allocatable is not enough", facts(), facts(allocated="1"), 599, False),
    Change("more than a tenth is", facts(), facts(allocated="1001m"), 0, True),
    Change("and so it is the other way", facts(allocated="5001m"), facts(allocated="4"), 0, True),
    Change("pods being allocated count as well", facts(), facts(allocating="1001m"), 0, True),
    Change(
        "what moves from allocating to allocated is still taken", facts(allocating="5"), facts(allocated="5"), 0, False
    ),
    Change("the last bit counts", facts(allocated="9500m"), facts(allocated="10"), 0, True),
    Change("so does the first", facts(allocated="10"), facts(allocated="9999m"), 0, True),
    Change("more than all is no more than all", facts(allocated="10"), facts(allocated="10500m"), 0, False),
    Change("a small move counts after ten minutes", facts(), facts(allocated="1m"), 600, True),
    Change("nothing is nothing, however old", facts(), facts(), 10**6, False),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_facts_to_write(case: Change) -> None:
    assert facts_to_write(case.before, case.after, case.age) is (case.after if case.written else case.before)


class Grades(NamedTuple):
    why: str
    before: tuple[int, ...]
    after: tuple[int, ...]
    written: bool


MODELS = tuple(
    ResourceModel(grade=grade, ranges=(ResourceModelRange(name="cpu", min=least, max=most),))
    for grade, (least, most) in enumerate([("0", "500m"), ("500m", "1"), ("1", "2"), ("2", "9999")])
)
GRADES = [
    Grades("nothing is nothing", (0, 0, 1, 1), (0, 0, 1, 1), False),
    Grades("pods that found another node move what grades amount to", (0, 0, 0, 1), (1, 0, 0, 0), True),
    Grades("a tenth of what is allocatable is not enough", (0, 0, 1, 1), (0, 0, 2, 0), False),
    Grades("more than a tenth is", (0, 0, 2, 2), (0, 1, 3, 0), True),
    Grades("the last room counts", (1, 1, 0, 0), (2, 0, 0, 0), True),
    Grades("a grade without room says nothing", (1, 0, 1, 0), (5, 0, 1, 0), False),
]


@each_row("case", GRADES, ids=lambda case: case.why)
def test_where_nodes_are_graded_the_grades_count(case: Grades) -> None:
    """Placement goes by them, and by the sums no more."""

    def graded(counts: tuple[int, ...]) -> ClusterFacts:
        made = facts(allocated="5")
        listed = [{"grade": grade, "count": count} for grade, count in enumerate(counts)]
        summary = {**made.status["resourceSummary"], "allocatableModelings": listed}
        return ClusterFacts(name="m1", status={**made.status, "resourceSummary": summary})

    before, after = graded(case.before), graded(case.after)
    assert (facts_to_write(before, after, 0, MODELS) is after) is case.written
    assert facts_to_write(before, after, 0) is before


def test_facts_never_recorded_are_written() -> None:
    assert facts_to_write(None, facts(), 0) == facts()


@given(st.lists(st.integers(min_value=0, max_value=12_000), min_size=1, max_size=30))
def test_what_is_recorded_is_never_more_than_a_tenth_off(moves: list[int]) -> None:
    recorded: ClusterFacts | None = None
    for move in moves:
        recorded = facts_to_write(recorded, facts(allocated=f"{move}m"), 60)
        told = int(str(recorded.status["resourceSummary"]["allocated"]["cpu"]).removesuffix("m"))
        assert abs(told - move) <= 1000
        assert (told < 10_000) == (move < 10_000)


class Tainted(NamedTuple):
    why: str
    ready: str
    taints: tuple[str, ...]
    want: tuple[str, ...]


NOT_READY, UNREACHABLE = "cluster.karmada.io/not-ready:NoSchedule", "cluster.karmada.io/unreachable:NoSchedule"
TAINTED = [
    Tainted("a ready cluster has none of them", "True", (), ()),
    Tainted("one that is not ready", "False", (), (NOT_READY,)),
    Tainted("one nobody has heard of", "Unknown", (), (UNREACHABLE,)),
    Tainted("its own taints stay", "False", ("team=a:NoSchedule",), ("team=a:NoSchedule", NOT_READY)),
    Tainted("a taint left in the source by somebody goes when the cluster is ready", "True", (NOT_READY,), ()),
    Tainted(
        "an evicting taint is not ours to remove",
        "True",
        ("cluster.karmada.io/not-ready:NoExecute",),
        ("cluster.karmada.io/not-ready:NoExecute",),
    ),
]


def taint(text: str) -> Taint:
    left, effect = text.rsplit(":", 1)
    key, _, value = left.partition("=")
    return Taint(key=key, value=value, effect=effect)


@each_row("case", TAINTED, ids=lambda case: case.why)
def test_health_taints(case: Tainted) -> None:
    cluster = Cluster(name="m1", taints=tuple(map(taint, case.taints)))
    (found,) = clusters_corrected_by_facts([cluster], {"m1": facts(ready=case.ready)})
    assert tuple(map(str, found.taints)) == case.want


def test_facts_are_read_back_as_they_were_written() -> None:
    written = ClusterFacts(name="m1", status=facts().status, observed_at="2026-11-21T12:00:00Z")
    assert ClusterFacts.read("", written.content()) == written
