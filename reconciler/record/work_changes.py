"""The changes of a Work's status that are worth a commit; equal objects of many clusters are compared once.

A change of state is worth one at once: applied, healthy, a finding, a generation. Counters and times that go on moving
are not, or every pass over a busy fleet would make a commit: they are written once a workload is healthy, or when the
record is stale.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.observe.cluster_status import seconds_between
from reconciler.observe.conditions import condition_of_type, with_times
from render.documents import SimilarDocuments
from render.interpreter import Interpreter
from render.model import Manifest, ObjectRef

from .work_status import APPLIED, STATUS_REFLECTED, WorkInputs, have_equal_status, status_of, work_manifest

STALE_SECONDS = 600.0
_COUNTED_KINDS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"})
_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_PASSING = re.compile(r"[0-9a-f]{8,}|\d+(?:\.\d+)?(?:ms|s|m|h)?")
_VERSIONS = frozenset({"resourceVersion", "uid"})
_NAMES = (("metadata", "name"), ("status", "manifestStatuses", 0, "identifier", "name"))
"""The paths of the names by which the Works of most objects differ alone."""
MOST_CASES = 8
"""The number of different objects of one identity that are told apart; a fleet rarely has more."""


def work_after(before: Manifest | None, observed: Manifest, now: str) -> Manifest:
    """Return the Work to record: ``before`` itself when nothing about it changed that is worth a commit."""
    old_status = before.get("status") or {} if before else {}
    new_status = observed["status"]
    old_conditions = old_status.get("conditions") or []
    if before is not None:
        new_status = _with_last_reported(old_status, new_status)
        observed = {**observed, "status": new_status}
        if not _is_worth_a_commit(before, observed, now):
            return before
    conditions = with_times(new_status["conditions"], old_conditions, now)
    return {**observed, "observedAt": now, "status": {**new_status, "conditions": conditions}}


def _with_last_reported(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a status with the last reported status of the object, where its interpreter failed now."""
    last = _entry(old).get("status")
    if last is None or not condition_of_type(new["conditions"], STATUS_REFLECTED):
        return new
    return {**new, "manifestStatuses": [{**_entry(new), "status": last}]}


def _is_worth_a_commit(before: Manifest, observed: Manifest, now: str) -> bool:
    old, new = before["status"], observed["status"]
    if _without_volatile(old.get("conditions") or ()) != _without_volatile(new["conditions"]):
        return True
    if _finding_keys(before) != _finding_keys(observed) or _entry(old).get("health") != _entry(new).get("health"):
        return True
    reported, now_reported = _entry(old).get("status"), _entry(new).get("status")
    if without_times(reported) == without_times(now_reported):
        return False
    if _generation(reported) != _generation(now_reported) or (reported is None) != (now_reported is None):
        return True
    # A healthy workload's counters stay as they are now, so that these are worth writing down.
    is_finished = _entry(new).get("health") == "Healthy" and _kind(new) in _COUNTED_KINDS
    return is_finished or seconds_between(str(before.get("observedAt")), now) >= STALE_SECONDS


def without_times(value: Any) -> Any:
    """Return plain data with every time and object version made equal."""
    if isinstance(value, Mapping):
        return {key: without_times(inner) for key, inner in value.items() if key not in _VERSIONS}
    if isinstance(value, list | tuple):
        return [without_times(inner) for inner in value]
    return "time" if isinstance(value, str) and _TIME.fullmatch(value) else value


@lru_cache(maxsize=1024)
def lasting(text: str) -> str:
    """Return a message without its numbers, durations and hashes, which differ at every observation.

    >>> lasting("back-off 5m0s restarting pod web-7d4b9c4f5b")
    'back-off # restarting pod web-#'
    """
    return re.sub(r"#+", "#", _PASSING.sub("#", text))


def _without_volatile(conditions: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    return [
        (
            each["type"],
            each["status"],
            each.get("reason", ""),
            lasting(each.get("message", "")) if each["type"] == APPLIED else "",
        )
        for each in conditions
    ]


def _finding_keys(work: Manifest) -> set[tuple[str, ...]]:
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


class WorkFile(NamedTuple):
    """A Work and the file it is written to."""

    manifest: Manifest
    content: bytes


class _Case(NamedTuple):
    inputs: WorkInputs
    before: Manifest | None
    file: WorkFile | None


class WorkStatuses(Struct):
    """The statuses worked out in a pass so far, the newest case of each object first."""

    interpreter: Interpreter
    now: str
    _cases: dict[ObjectRef, list[_Case]] = field(default_factory=dict)
    _files: SimilarDocuments = field(default_factory=SimilarDocuments)

    def file(self, inputs: WorkInputs, before: Manifest | None) -> WorkFile | None:
        """Return the file of an object's Work; None where the one recorded stays.

        ``before`` is what is recorded: one value per distinct file.
        """
        cases = self._cases.setdefault(inputs.item.ref, [])
        for case in cases:
            if case.before is before and have_equal_status(case.inputs, inputs):
                return case.file
        file = self._file(inputs, before)
        cases.insert(0, _Case(inputs, before, file))
        del cases[MOST_CASES:]
        return file

    def _file(self, inputs: WorkInputs, before: Manifest | None) -> WorkFile | None:
        after = work_after(before, work_manifest(status_of(inputs, self.interpreter)), self.now)
        return None if after is before else WorkFile(after, self._files.emit(after, _NAMES))
