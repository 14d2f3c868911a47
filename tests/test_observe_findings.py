"""The ailments of a workload: a word per container, and no more than anybody reads."""

from typing import Any, NamedTuple

from reconciler.observe.findings import Finding, findings_in_pods_and_events

from .tables import each_row

BACK_OFF = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}}


def a_pod(name: str, *containers: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, "status": {"containerStatuses": list(containers), **status}}


def a_container(state: dict[str, Any], *, name: str = "web", last: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "state": state, "lastState": {"terminated": last} if last else {}}


def a_warning(reason: str, message: str, *, at: str, kind: str = "Pod", name: str = "web-1") -> dict[str, Any]:
    about = {"kind": kind, "name": name}
    return {"reason": reason, "message": message, "lastTimestamp": at, "involvedObject": about}


class Case(NamedTuple):
    why: str
    pods: list[dict[str, Any]]
    events: list[dict[str, Any]]
    want: list[str]


CASES = [
    Case("a pod that runs ails of nothing", [a_pod("web-1", a_container({"running": {}}))], [], []),
    Case(
        "a container that is only being made neither",
        [a_pod("web-1", a_container({"waiting": {"reason": "ContainerCreating"}}))],
        [],
        [],
    ),
    Case(
        "a crash is told with how the last run ended",
        [a_pod("web-1", a_container(BACK_OFF, last={"exitCode": 137, "reason": "OOMKilled"}))],
        [],
        ["Pod web-1, container web: CrashLoopBackOff: back-off 10s; last exit code 137 (OOMKilled)"],
    ),
    Case(
        "an init container may be the one",
        [a_pod("web-1", initContainerStatuses=[a_container({"waiting": {"reason": "ErrImagePull"}}, name="init")])],
        [],
        ["Pod web-1, container init: ErrImagePull"],
    ),
    Case("a container that ended well is fine", [a_pod("web-1", a_container({"terminated": {"exitCode": 0}}))], [], []),
    Case(
        "one that did not says how",
        [a_pod("web-1", a_container({"terminated": {"exitCode": 2, "reason": "Error"}}))],
        [],
        ["Pod web-1, container web: Error: last exit code 2 (Error)"],
    ),
    Case(
        "a pod without a node says why",
        [
            a_pod(
                "web-1",
                conditions=[
                    {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no  room\n"}
                ],
            )
        ],
        [],
        ["Pod web-1: Unschedulable: no room"],
    ),
    Case(
        "the same ill of many pods is told once, by the first name",
        [a_pod("web-2", a_container(BACK_OFF)), a_pod("web-1", a_container(BACK_OFF))],
        [],
        ["Pod web-1, container web: CrashLoopBackOff: back-off 10s"],
    ),
    Case(
        "a pod that was evicted",
        [a_pod("web-1", phase="Failed", reason="Evicted", message="disk pressure")],
        [],
        ["Pod web-1: Evicted: disk pressure"],
    ),
    Case(
        "of warnings the newest of a kind counts",
        [],
        [
            a_warning("BackOff", "old", at="2026-01-01T00:00:00Z"),
            a_warning("BackOff", "new", at="2026-01-02T00:00:00Z"),
        ],
        ["Pod web-1: BackOff: new"],
    ),
    Case(
        "what a pod's state says already is not told again",
        [a_pod("web-1", a_container(BACK_OFF))],
        [a_warning("BackOff", "back-off 10s", at="")],
        ["Pod web-1, container web: CrashLoopBackOff: back-off 10s"],
    ),
    Case(
        "events that were put together are told as one",
        [],
        [a_warning("FailedCreate", "(combined from similar events): quota", at="", kind="ReplicaSet", name="web")],
        ["ReplicaSet web: FailedCreate: quota"],
    ),
    Case(
        "five warnings are enough",
        [],
        [a_warning(f"Reason{number}", "x", at=f"2026-01-0{number}T00:00:00Z") for number in range(1, 8)],
        [f"Pod web-1: Reason{number}: x" for number in (7, 6, 5, 4, 3)],
    ),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_findings(case: Case) -> None:
    assert list(map(str, findings_in_pods_and_events(case.pods, case.events))) == case.want


def test_a_long_message_is_cut() -> None:
    (found,) = findings_in_pods_and_events([], [a_warning("Long", "x" * 600, at="")])
    assert found == Finding(about="Pod web-1", reason="Long", message="x" * 497 + "...")
