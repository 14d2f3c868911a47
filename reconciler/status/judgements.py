"""The Works that a pass records: objects that are alike in many clusters are judged once.

What a Work says follows from what was planned and done, the object as it is, and what was recorded of it before; a
fleet of equal clusters has few such cases per object, however many clusters there are.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from render.documents import emit
from render.interpreter import Interpreter
from render.model import Manifest, ObjectRef

from .work_changes import work_after
from .work_status import Subject, are_alike, status_of, work_manifest

_MOST_CASES = 8


class _Case(NamedTuple):
    subject: Subject
    before: Manifest | None
    content: bytes | None


@dataclass(slots=True)
class Judgements:
    """What was judged in a pass so far, the newest case of each object first."""

    interpreter: Interpreter
    now: str
    _cases: dict[ObjectRef, list[_Case]] = field(default_factory=dict)

    def file(self, subject: Subject, before: Manifest | None) -> bytes | None:
        """Return the file of an object's Work; None where the one recorded stays.

        ``before`` is what is recorded: one value per distinct file.
        """
        cases = self._cases.setdefault(subject.item.ref, [])
        for case in cases:
            if case.before is before and are_alike(case.subject, subject):
                return case.content
        content = self._judged(subject, before)
        cases.insert(0, _Case(subject, before, content))
        del cases[_MOST_CASES:]
        return content

    def _judged(self, subject: Subject, before: Manifest | None) -> bytes | None:
        after = work_after(before, work_manifest(status_of(subject, self.interpreter)), self.now)
        return None if after is before else emit(after)
