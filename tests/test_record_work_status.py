"""Objects with equal statuses in many clusters are interpreted once; all others are interpreted by themselves."""

from copy import deepcopy
from typing import Any, NamedTuple

from reconciler.deliver.results import ObjectResult
from reconciler.observe.findings import Finding
from reconciler.plans.model import Action, PlannedObject
from reconciler.record.work_changes import WorkStatuses
from reconciler.record.work_status import WorkInputs, have_equal_work_status
from render.documents import parse_documents
from render.interpreter import Interpreter
from render.model import ObjectRef

from .build import a_deployment
from .tables import each_row

REF = ObjectRef("apps", "Deployment", "default", "web")
NOW = "2027-01-15T08:00:00Z"


def live(**metadata: Any) -> dict[str, Any]:
    """A Deployment as a member has it."""
    made = a_deployment("web", replicas=1)
    own = {"uid": "uid-1", "resourceVersion": "1", "managedFields": [{"time": NOW}], "creationTimestamp": NOW}
    made["metadata"] |= {**own, "generation": 1, **metadata}
    counters = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {**made, "status": {**dict.fromkeys(counters, 1), "observedGeneration": 1}}


def subject(manifest: dict[str, Any] | None = None, **known: Any) -> WorkInputs:
    item = PlannedObject(ref=REF, action=Action.UNCHANGED, reason=known.pop("reason", ""))
    return WorkInputs(item, known.pop("result", None), live() if manifest is None else manifest, **known)


def with_status(**status: Any) -> dict[str, Any]:
    changed = deepcopy(live())
    changed["status"] |= status
    return changed


class Alike(NamedTuple):
    why: str
    other: WorkInputs
    want: bool


OWN = {"uid": "uid-2", "resourceVersion": "7", "managedFields": [], "creationTimestamp": "2026-01-01T00:00:00Z"}
ILL = Finding(about="Pod web-1", reason="CrashLoopBackOff")
CASES = [
    Alike("what is any object's own does not count", subject(live(**OWN)), True),
    Alike("labels could be read by a rule", subject(live(labels={"tier": "front"})), False),
    Alike("a status of its own", subject(with_status(readyReplicas=0)), False),
    Alike("a field the other has not", subject({**live(), "extra": 1}), False),
    Alike("an object being deleted", subject(live(deletionTimestamp=NOW)), False),
    Alike("one that failed", subject(result=ObjectResult(ref=REF, action=Action.FAILED, message="no")), False),
    Alike("one that is suspended", subject(reason="SuspendDispatching"), False),
    Alike("what ails its pods", subject(findings=(ILL,)), False),
    Alike("one that is not there", WorkInputs(PlannedObject(ref=REF, action=Action.UNCHANGED), None, None), False),
]


@each_row("case", CASES, ids=lambda case: case.why)
def test_are_alike(case: Alike) -> None:
    assert have_equal_work_status(subject(), case.other) is have_equal_work_status(case.other, subject()) is case.want


def test_equal_objects_share_one_file_and_are_told_apart_by_what_was_recorded() -> None:
    judgements = WorkStatuses(Interpreter(), NOW)
    first = judgements.file(subject(), None)
    assert first is not None
    assert judgements.file(subject(live(**OWN)), None) is first
    recorded = parse_documents(first.content)[0].value
    assert judgements.file(subject(), recorded) is None
    assert judgements.file(subject(live(**OWN)), None) is first
