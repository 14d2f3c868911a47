"""Changes of a Work's status that are worth a commit; objects that are alike in many clusters are compared once."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from reconciler.observe.cluster_status import seconds_between
from reconciler.observe.conditions import condition_of_type, with_times
from render.documents import emit
from render.interpreter import Interpreter
from render.model import Manifest, ObjectRef

from .work_status import APPLIED, STATUS_REFLECTED, WorkInputs, have_equal_status, status_of, work_manifest

STALE_SECONDS = 600.0
_COUNTED_KINDS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_PASSING = re.compile(r"[0-9a-f]{8,}|\d+(?:\.\d+)?(?:ms|s|m|h)?")
_VERSIONS = frozenset({"resourceVersion", "uid"})


_MOST_CASES = 8


def work_after(before: Manifest | None, seen: Manifest, now: str) -> Manifest:
    """Return the Work to record: ``before`` itself when nothing about it changed that is worth a commit."""
    old_status = before.get("status") or {} if before else {}
    new_status = seen["status"]
    old_conditions = old_status.get("conditions") or []
    if before is not None:
        new_status = _with_last_reported(old_status, new_status)
        seen = {**seen, "status": new_status}
        if not _is_worth_it(before, seen, now):
            return before
    conditions = with_times(new_status["conditions"], old_conditions, now)
    return {**seen, "observedAt": now, "status": {**new_status, "conditions": conditions}}


def _with_last_reported(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a status with what was last reported of an object, where it cannot be told now."""
    last = _entry(old).get("status")
    if last is None or not condition_of_type(new["conditions"], STATUS_REFLECTED):
        return new
    return {**new, "manifestStatuses": [{**_entry(new), "status": last}]}


def _is_worth_it(before: Manifest, seen: Manifest, now: str) -> bool:
    old, new = before["status"], seen["status"]
    if _spoken(old.get("conditions") or ()) != _spoken(new["conditions"]):
        return True
    if _found(before) != _found(seen) or _entry(old).get("health") != _entry(new).get("health"):
        return True
    reported, now_reported = _entry(old).get("status"), _entry(new).get("status")
    if without_times(reported) == without_times(now_reported):
        return False
    if _generation(reported) != _generation(now_reported) or (reported is None) != (now_reported is None):
        return True
    is_settled = _entry(new).get("health") == "Healthy" and _kind(new) in _COUNTED_KINDS
    return is_settled or seconds_between(str(before.get("observedAt")), now) >= STALE_SECONDS


def without_times(value: Any) -> Any:
    """Return plain data with every time and object version made equal."""
    if isinstance(value, Mapping):
        return {key: without_times(part) for key, part in value.items() if key not in _VERSIONS}
    if isinstance(value, list | tuple):
        return [without_times(part) for part in value]
    return "time" if isinstance(value, str) and _TIME.fullmatch(value) else value


def lasting(text: str) -> str:
    """Return a message without its numbers, durations and hashes, which differ from one moment to the next.

    >>> lasting("back-off 5m0s restarting pod web-7d4b9c4f5b")
    'back-off # restarting pod web-#'
    """
    return re.sub(r"#+", "#", _PASSING.sub("#", text))


def _spoken(conditions: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            each["type"],
            each["status"],
            each.get("reason", ""),
            lasting(each.get("message", "")) if each["type"] == APPLIED else "",
        )
        for each in conditions
    ]


def _found(work: Manifest) -> set[tuple[str, ...]]:
    return {
        (each["about"].partition(" ")[0], each.get("container", ""), each["reason"])
        for each in work.get("findings") or ()
    }


def _entry(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(iter(status.get("manifestStatuses") or ()), {})


def _kind(status: Mapping[str, Any]) -> str:
    return str((_entry(status).get("identifier") or {}).get("kind"))


def _generation(reported: Any) -> Any:
    if not isinstance(reported, Mapping):
        return None
    return reported.get("generation"), reported.get("observedGeneration")


class _Case(NamedTuple):
    subject: WorkInputs
    before: Manifest | None
    content: bytes | None


@dataclass(slots=True)
class WorkStatuses:
    """What was judged in a pass so far, the newest case of each object first."""

    interpreter: Interpreter
    now: str
    _cases: dict[ObjectRef, list[_Case]] = field(default_factory=dict)

    def file(self, subject: WorkInputs, before: Manifest | None) -> bytes | None:
        """Return the file of an object's Work; None where the one recorded stays.

        ``before`` is what is recorded: one value per distinct file.
        """
        cases = self._cases.setdefault(subject.item.ref, [])
        for case in cases:
            if case.before is before and have_equal_status(case.subject, subject):
                return case.content
        content = self._judged(subject, before)
        cases.insert(0, _Case(subject, before, content))
        del cases[_MOST_CASES:]
        return content

    def _judged(self, subject: WorkInputs, before: Manifest | None) -> bytes | None:
        after = work_after(before, work_manifest(status_of(subject, self.interpreter)), self.now)
        return None if after is before else emit(after)
