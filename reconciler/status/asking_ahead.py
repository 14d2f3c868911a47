"""Asking webhooks about the objects of all clusters at once, before they are judged one by one.

Whoever asks remembers what was answered, so that judging finds every answer there already: this decides how long a pass
takes and nothing else. As in judging, objects that are alike in many clusters are one case.
"""

from collections.abc import Iterable, Iterator

from reconciler.delivery.cluster_report import ClusterReport
from reconciler.members.parallel import in_parallel
from render.interpreter import Interpreter, Layer, Operation
from render.model import ObjectRef

from .work_status import Subject, are_alike, status_of, subjects

AT_ONCE = 16
_MOST_CASES = 8
_ASKED = (Operation.INTERPRET_HEALTH, Operation.INTERPRET_STATUS)


def ask_ahead(reports: Iterable[ClusterReport], interpreter: Interpreter) -> None:
    """Ask for the health and the status of every object that a webhook interprets."""
    if interpreter.webhooks:
        in_parallel(lambda subject: status_of(subject, interpreter), _cases(reports, interpreter), limit=AT_ONCE)


def _cases(reports: Iterable[ClusterReport], interpreter: Interpreter) -> Iterator[Subject]:
    known: dict[ObjectRef, list[Subject]] = {}
    for report in reports:
        for subject in subjects(report):
            cases = known.setdefault(subject.item.ref, [])
            if _is_asked(subject, interpreter) and not any(are_alike(case, subject) for case in cases[-_MOST_CASES:]):
                cases.append(subject)
                yield subject


def _is_asked(subject: Subject, interpreter: Interpreter) -> bool:
    live = subject.live
    return live is not None and any(interpreter.layer(operation, live) is Layer.WEBHOOK for operation in _ASKED)
