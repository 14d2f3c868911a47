"""The changes of an object's status that are worth a commit, and those that are not."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from reconciler.record.work_changes import work_after

from .tables import each_row

BEFORE, NOW, MUCH_LATER = "2026-11-21T12:00:00Z", "2026-11-21T12:09:59Z", "2026-11-21T12:10:00Z"


def work(
    *,
    kind: str = "Deployment",
    healthy: str = "True",
    reason: str = "Healthy",
    message: str = "",
    applied: str = "",
    status: Any = None,
    findings: tuple[Mapping[str, str], ...] = (),
) -> dict[str, Any]:
    word = "False" if applied else "True"
    conditions = [
        {"type": "Applied", "status": word, "reason": "R", "message": applied},
        {"type": "Healthy", "status": healthy, "reason": reason, "message": message},
    ]
    health = "Healthy" if healthy == "True" else "Unhealthy"
    entry = {"identifier": {"kind": kind}, "health": health, "status": status}
    return {"status": {"conditions": conditions, "manifestStatuses": [entry]}, "findings": list(findings)}


class Change(NamedTuple):
    why: str
    before: dict[str, Any]
    after: dict[str, Any]
    now: str
    recorded: bool


ILL: dict[str, Any] = {"healthy": "False", "reason": "CrashLoopBackOff"}
CRASH = {"about": "Pod web-a", "container": "web", "reason": "CrashLoopBackOff", "message": "back-off 10s"}
CHANGES = [
    Change("health that turns", work(), work(**ILL), NOW, True),
    Change("a reason that changes", work(**ILL), work(healthy="False", reason="OOMKilled"), NOW, True),
    Change(
        "a reason told in other words", work(**ILL, message="back-off 10s"), work(**ILL, message="up 20s"), NOW, False
    ),
    Change("being refused", work(), work(applied="forbidden"), NOW, True),
    Change("being refused for something else", work(applied="quota"), work(applied="forbidden"), NOW, True),
    Change("being refused at another number", work(applied="retry in 10s"), work(applied="retry in 25s"), NOW, False),
    Change(
        "another pod of the same ill",
        work(**ILL, findings=(CRASH,)),
        work(**ILL, findings=({**CRASH, "about": "Pod web-b"},)),
        MUCH_LATER,
        False,
    ),
    Change(
        "another ill", work(**ILL, findings=(CRASH,)), work(**ILL, findings=({**CRASH, "reason": "Error"},)), NOW, True
    ),
    Change("an ill that is over", work(findings=(CRASH,)), work(), NOW, True),
    Change(
        "counts on the way",
        work(**ILL, status={"readyReplicas": 1}),
        work(**ILL, status={"readyReplicas": 2}),
        NOW,
        False,
    ),
    Change(
        "counts on the way, ten minutes later",
        work(**ILL, status={"readyReplicas": 1}),
        work(**ILL, status={"readyReplicas": 2}),
        MUCH_LATER,
        True,
    ),
    Change(
        "counts of what is healthy, as an autoscaler left them",
        work(status={"replicas": 3}),
        work(status={"replicas": 5}),
        NOW,
        True,
    ),
    Change(
        "counts nobody knows the meaning of",
        work(kind="Thing", status={"done": 3}),
        work(kind="Thing", status={"done": 4}),
        NOW,
        False,
    ),
    Change(
        "the same, ten minutes later",
        work(kind="Thing", status={"done": 3}),
        work(kind="Thing", status={"done": 4}),
        MUCH_LATER,
        True,
    ),
    Change("a new generation", work(**ILL, status={"generation": 1}), work(**ILL, status={"generation": 2}), NOW, True),
    Change("a first status", work(kind="Thing"), work(kind="Thing", status={"done": 1}), NOW, True),
    Change(
        "times alone, ever",
        work(kind="Thing", status={"at": [{"t": BEFORE, "v": 1}]}),
        work(kind="Thing", status={"at": [{"t": "2026-11-22T00:00:00.5+01:00", "v": 1}]}),
        MUCH_LATER,
        False,
    ),
    Change(
        "versions of other objects",
        work(kind="Thing", status={"ref": {"resourceVersion": "1"}}),
        work(kind="Thing", status={"ref": {"resourceVersion": "2"}}),
        MUCH_LATER,
        False,
    ),
]


@each_row("case", CHANGES, ids=lambda case: case.why)
def test_work_after(case: Change) -> None:
    before = work_after(None, case.before, BEFORE)
    after = work_after(before, case.after, case.now)
    assert (after is not before) == case.recorded


def test_a_condition_keeps_its_time_while_it_says_the_same() -> None:
    before = work_after(None, work(), BEFORE)
    after = work_after(before, work(**ILL), NOW)
    times = [(each["type"], each["lastTransitionTime"]) for each in after["status"]["conditions"]]
    assert (times, after["observedAt"]) == ([("Applied", BEFORE), ("Healthy", NOW)], NOW)


def test_what_cannot_be_told_now_stays_as_it_was_told_last() -> None:
    before = work_after(None, work(kind="Thing", status={"done": 3}), BEFORE)
    untold = {"type": "StatusReflected", "status": "False", "reason": "ReflectStatusFailed", "message": "it is down"}
    seen = work(kind="Thing")
    seen["status"]["conditions"].append(untold)
    after = work_after(before, seen, NOW)
    assert after["status"]["manifestStatuses"] == before["status"]["manifestStatuses"]
    assert after["status"]["conditions"][2] == {**untold, "lastTransitionTime": NOW}
    assert work_after(after, seen, MUCH_LATER) is after
    again = work_after(after, work(kind="Thing", status={"done": 4}), MUCH_LATER)
    assert [each["type"] for each in again["status"]["conditions"]] == ["Applied", "Healthy"]
