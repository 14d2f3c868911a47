"""The checks of members that pull, from what is recorded of their agents."""

from typing import Any, NamedTuple

from reconciler.check.agents import agent_checks
from reconciler.check.prerequisites import Check
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.record.cluster_files import ObjectReason

from .tables import each_row

CURE = "argosy cluster agent far | kubectl --context far apply -f -"


def record(**words: Any) -> ClusterRecord:
    ready = words.pop("ready", "True")
    conditions = [{"type": "Ready", "status": ready, "message": "nothing was heard of it"}]
    return ClusterRecord(state=ClusterState(name="far", status={"conditions": conditions}), **words)


def failed(message: str, *names: str, reason: str = "AppliedFailed") -> tuple[ObjectReason, ...]:
    return tuple(
        ObjectReason(cluster="far", object=f"ConfigMap shop/{name}", reason=reason, since="", message=message)
        for name in names or ("a",)
    )


class Told(NamedTuple):
    why: str
    record: ClusterRecord | None
    unwell: tuple[ObjectReason, ...]
    is_well: bool
    state: str
    hint: str = ""


TOLD = [
    Told("it is well", record(outcome="Converged"), (), True, "its agent reports Converged"),
    Told(
        "a workload that is not healthy is none of its agent's troubles",
        record(outcome="Converged"),
        failed("it waits", reason="ProgressDeadlineExceeded"),
        True,
        "its agent reports Converged",
    ),
    Told("it never reported", None, (), False, "its agent has not reported yet", f"start it: {CURE}"),
    Told("only a pass knows it", record(), (), False, "its agent has not reported yet", f"start it: {CURE}"),
    Told(
        "it is silent",
        record(outcome="Converged", ready="Unknown"),
        (),
        False,
        "its agent is silent: nothing was heard of it",
        "see its log, and whether it reaches Git",
    ),
    Told(
        "it refuses its mirror",
        record(outcome="Converged", refused="it was rewound", refused_hint="run --accept-rewind"),
        (),
        False,
        "its agent refuses the newest commit: it was rewound",
        "run --accept-rewind",
    ),
    Told(
        "its cluster cannot be used",
        record(outcome="Unreachable", message="it refuses connections", hint="see whether it is up"),
        (),
        False,
        "its agent reports Unreachable; it refuses connections",
        "see whether it is up",
    ),
    Told(
        "a right is missing",
        record(outcome="Incomplete"),
        failed("Forbidden: not there", "a", "b", "c", "d"),
        False,
        "its agent reports Incomplete; ConfigMap shop/a: Forbidden: not there; ConfigMap shop/b: Forbidden: not there;"
        " ConfigMap shop/c: Forbidden: not there; and 1 object more",
        f"grant what is missing: {CURE}",
    ),
]


@each_row("case", TOLD, ids=lambda case: case.why)
def test_the_troubles_of_an_agent_are_told(case: Told) -> None:
    records = {} if case.record is None else {"far": case.record}
    assert agent_checks(["far"], records, case.unwell) == (
        Check(name="agent", member="far", is_well=case.is_well, state=case.state, hint=case.hint),
    )


def test_the_objects_of_other_members_are_none_of_an_agents() -> None:
    others = tuple(ObjectReason(cluster="eu", object="x", reason="AppliedFailed", since="") for _ in range(2))
    (check,) = agent_checks(["far"], {"far": record(outcome="Converged")}, others)
    assert check.is_well
