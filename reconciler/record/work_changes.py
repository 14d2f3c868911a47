"""The changes of a Work's status that are worth a commit; equal objects of many clusters are compared once.

Two things are distinguished: its *state* (applied, healthy, a finding) and its *numbers* (the status that it reports,
without times that only say that somebody looked). Either is written at once where it changes, and after pauses where it
changes again and again (``streaks``): a commit in which anything of the kind is written takes all of it along.
"""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.ledger.conditions import condition_of_type, conditions_with_times, new_condition
from reconciler.ledger.work import WorkFile
from reconciler.plans.model import WRITES
from render.documents import SimilarDocuments
from render.expressions import lazy_expression
from render.interpreter import Interpreter
from render.kinds import KUBERNETES
from render.model import Manifest, ObjectRef
from render.words import counted_noun

from .live_scale import manager_of_replicas
from .streaks import Due, Streak
from .work_status import (
    APPLIED,
    HEALTHY,
    STATUS_REFLECTED,
    Health,
    WorkInputs,
    have_equal_work_status,
    inputs_as_read_by_own_rules,
    work_manifest,
    work_status_of,
)

FLAPPING = "Flapping"
_COUNTED_KINDS = frozenset(
    kind.kind for kind in KUBERNETES if kind.pod_spec and kind.interpretation.health and kind.interpretation.reflect
)
"""The workloads of which a status tells numbers, and whether these are as they should be."""
_TIME = lazy_expression(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)")
_PASSING = lazy_expression(r"[0-9a-f]{8,}|\d+(?:\.\d+)?(?:ms|s|m|h)?")
_VERSIONS = frozenset({"resourceVersion", "uid"})
_TELLING_TIMES = frozenset({"lastScaleTime", "lastScheduleTime", "lastSuccessfulTime"})
"""The times of Kubernetes' own kinds at which something was done, and not only looked at."""
_NAMES = (("metadata", "name"), ("status", "manifestStatuses", 0, "identifier", "name"))
"""The paths of the names by which the Works of most objects differ alone."""
MOST_CASES = 8
"""The number of different objects of one identity that are distinguished; a fleet rarely has more."""


class Occasion(Struct, frozen=True, kw_only=True):
    """The conditions under which a change of a Work is looked at.

    ``is_applied``: this pass has written the object, so that whatever changes is no restlessness. ``is_asked_for``: a
    rule of failover reads its health, so that every turn of it is written. ``is_counted``: a move that is under way
    reads how many replicas are ready, so that every change of numbers is a turn. ``has_commit``: other Works are
    written, so that what waits for its turn goes along.
    """

    is_applied: bool = False
    is_asked_for: bool = False
    is_counted: bool = False
    has_commit: bool = False


class _Streaks(NamedTuple):
    """The changes in a row of a Work's state and of its numbers, and the health that was ``seen`` in a flapping one."""

    turns: Streak
    numbers: Streak
    seen: Mapping[str, str]

    @classmethod
    def of(cls, work: Manifest) -> "_Streaks":
        known, observed_at = work.get("streaks") or {}, str(work.get("observedAt") or "")
        return cls(
            turns=Streak.parse(known.get("turns"), observed_at),
            numbers=Streak.parse(known.get("numbers"), observed_at),
            seen=known.get("seen") or {},
        )


def work_to_record(before: Manifest | None, observed: Manifest, now: str, occasion: Occasion | None = None) -> Manifest:
    """Return the Work to record: ``before`` itself when nothing about it changed that is worth a commit."""
    occasion = occasion or Occasion()
    if before is None:
        return _written_work(observed, (), {}, now)
    old = before.get("status") or {}
    status = _status_with_last_reported(old, observed["status"])
    observed = {**observed, "status": status, **_healthy_until(before, observed, now)}
    known, turned, moved = (
        _Streaks.of(before),
        _has_state_changed(before, observed),
        _has_reported_status_changed(before, observed),
    )
    turned |= occasion.is_counted and moved
    if occasion.is_applied and (turned or moved):
        return _written_work(observed, old.get("conditions") or (), {}, now)
    is_scaled = _has_other_scale(before, observed)
    if moved and not turned and is_on_its_way(before) and not is_scaled:
        known = known._replace(numbers=known.numbers.streak_begun_at(time_of_unrecorded_numbers(before)))
    if not _is_to_write(known, now, occasion, turned=turned, moved=moved):
        return before
    is_counting = is_on_its_way(observed) and not is_scaled
    numbers = Streak(since=now, last=now) if is_counting else known.numbers.streak_after_write(now, differs=moved)
    turns = (
        Streak(since=now, last=now) if occasion.is_asked_for else known.turns.streak_after_write(now, differs=turned)
    )
    streaks = {"turns": turns, "numbers": numbers}
    if turns.is_unsettled:
        return _written_work(
            _flapping_work(observed, streaks["turns"]), old.get("conditions") or (), streaks, now, observed
        )
    return _written_work(observed, old.get("conditions") or (), streaks, now)


def _healthy_until(before: Manifest, observed: Manifest, now: str) -> dict[str, str]:
    """Return when an object that is not healthy was last seen healthy, where it ever was."""
    if _first_manifest_status(observed["status"]).get("health") == str(Health.HEALTHY):
        return {}
    seen = _Streaks.of(before).seen or _distinguished_health(before)
    until = now if seen["health"] == str(Health.HEALTHY) else before.get("healthyUntil")
    return {"healthyUntil": str(until)} if until else {}


def is_on_its_way(work: Manifest) -> bool:
    """Say whether a Work is of a workload that is not healthy: its numbers go on moving, and wait from the first."""
    entry = _first_manifest_status(work.get("status") or {})
    kind = (entry.get("identifier") or {}).get("kind")
    return entry.get("health") != str(Health.HEALTHY) and kind in _COUNTED_KINDS


def time_of_unrecorded_numbers(work: Manifest) -> str:
    """Return since when a Work may tell other numbers than its object has; empty where they are as last seen."""
    if "unsettled" in work or not is_on_its_way(work):
        return str(work.get("unsettled") or "")
    if _first_manifest_status(work["status"]).get("status") is None:
        return ""
    return str(condition_of_type(work["status"].get("conditions") or (), HEALTHY).get("lastTransitionTime") or "")


def _is_to_write(known: _Streaks, now: str, occasion: Occasion, *, turned: bool, moved: bool) -> bool:
    """Say whether a Work is written now; while its state waits, its numbers wait as well."""
    numbers = known.numbers.next_due_write(now, differs=moved)
    if occasion.has_commit and numbers is Due.LATER:
        numbers = Due.NOW
    if occasion.is_asked_for:
        return turned or known.turns.is_unsettled or numbers is Due.NOW
    turns = known.turns.next_due_write(now, differs=turned)
    if occasion.has_commit and turns is Due.LATER:
        return True
    if turns is Due.LATER or (known.turns.is_unsettled and turns is Due.NEVER):
        return False
    return Due.NOW in {turns, numbers}


def _written_work(
    work: Manifest,
    conditions: Sequence[Mapping[str, Any]],
    streaks: Mapping[str, Streak],
    now: str,
    seen: Manifest | None = None,
) -> Manifest:
    """Return a Work as it is written now; ``seen`` is what was seen of one that is flapping."""
    status = {**work["status"], "conditions": conditions_with_times(work["status"]["conditions"], conditions, now)}
    longer = {name: streak for name, streak in streaks.items() if streak.times > 1}
    since = [streak.since for streak in longer.values() if streak.is_unsettled]
    kept: dict[str, Any] = {name: streak.plain() for name, streak in longer.items()}
    kept |= {"seen": _distinguished_health(seen)} if seen is not None else {}
    return {
        **work,
        "observedAt": now,
        **({"unsettled": min(since)} if since else {}),
        **({"streaks": kept} if kept else {}),
        "status": status,
    }


def _flapping_work(observed: Manifest, turns: Streak) -> Manifest:
    """Return a Work that turns again and again: its health is not known."""
    status = observed["status"]
    seen = _first_manifest_status(status).get("health")
    message = f"it has turned {counted_noun(turns.times, 'time')} since {turns.since}; when last recorded it was {seen}"
    unknown = new_condition(HEALTHY, "Unknown", FLAPPING, message)
    conditions = [unknown if each["type"] == HEALTHY else each for each in status["conditions"]]
    entries = [{**_first_manifest_status(status), "health": str(Health.UNKNOWN)}]
    return {**observed, "status": {**status, "conditions": conditions, "manifestStatuses": entries}}


def _distinguished_health(work: Manifest) -> dict[str, str]:
    """Return the health that was seen, as far as it is distinguished."""
    healthy = condition_of_type(work["status"]["conditions"], HEALTHY)
    return {
        "health": str(_first_manifest_status(work["status"]).get("health")),
        "status": str(healthy.get("status")),
        "reason": str(healthy.get("reason") or ""),
    }


def _status_with_last_reported(old: Mapping[str, Any], new: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a status with the last reported status of the object, where its interpreter failed now."""
    last = _first_manifest_status(old).get("status")
    if last is None or not condition_of_type(new["conditions"], STATUS_REFLECTED):
        return new
    return {**new, "manifestStatuses": [{**_first_manifest_status(new), "status": last}]}


def _has_state_changed(before: Manifest, observed: Manifest) -> bool:
    """Say whether the state of an object is another one than that which was seen when it was recorded."""
    seen = _Streaks.of(before).seen or _distinguished_health(before)
    is_same = _distinguished_conditions(before["status"].get("conditions") or ()) == _distinguished_conditions(
        observed["status"]["conditions"]
    )
    has_status = [_first_manifest_status(each["status"]).get("status") is not None for each in (before, observed)]
    is_same = is_same and has_status[0] == has_status[1]
    return (
        not is_same
        or any(before.get(key) != observed.get(key) for key in ("rolledOut", "mayBeEarlier"))
        or seen != _distinguished_health(observed)
        or _keys_of_findings(before) != _keys_of_findings(observed)
    )


def _has_reported_status_changed(before: Manifest, observed: Manifest) -> bool:
    """Say whether the reported status of an object, or its replicas there, are others than those that are recorded."""
    reported, now_reported = (
        _first_manifest_status(each.get("status") or {}).get("status") for each in (before, observed)
    )
    return bool(
        data_without_times_and_versions(reported) != data_without_times_and_versions(now_reported)
    ) or _has_other_scale(before, observed)


def _has_other_scale(before: Manifest, observed: Manifest) -> bool:
    """Say whether an object asks for other replicas than are recorded, or another manager set them."""
    return bool(before.get("live") != observed.get("live"))


def data_without_times_and_versions(value: Any) -> Any:
    """Return plain data without object versions, with every time made equal at which nothing was done."""
    if isinstance(value, Mapping):
        return {
            key: inner if key in _TELLING_TIMES else data_without_times_and_versions(inner)
            for key, inner in value.items()
            if key not in _VERSIONS
        }
    if isinstance(value, list | tuple):
        return [data_without_times_and_versions(inner) for inner in value]
    return "time" if isinstance(value, str) and _TIME.fullmatch(value) else value


@lru_cache(maxsize=1024)
def lasting_message_part(text: str) -> str:
    """Return a message without its numbers, durations and hashes, which differ at every observation.

    >>> lasting_message_part("back-off 5m0s restarting pod web-7d4b9c4f5b")
    'back-off # restarting pod web-#'
    """
    return re.sub(r"#+", "#", _PASSING.sub("#", text))


def _distinguished_conditions(conditions: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Return all conditions but that of health as far as they are distinguished."""
    return [
        (
            each["type"],
            each["status"],
            each.get("reason", ""),
            lasting_message_part(each.get("message", "")) if each["type"] == APPLIED else "",
        )
        for each in conditions
        if each["type"] != HEALTHY
    ]


def _keys_of_findings(work: Manifest) -> set[tuple[str, ...]]:
    return {
        (each["about"].partition(" ")[0], each.get("container", ""), each["reason"])
        for each in work.get("findings") or ()
    }


def _first_manifest_status(status: Mapping[str, Any]) -> Mapping[str, Any]:
    return next(iter(status.get("manifestStatuses") or ()), {})


class WrittenWork(NamedTuple):
    """A Work and the file it is written to."""

    manifest: Manifest
    content: bytes


class _Case(NamedTuple):
    inputs: WorkInputs
    manager: str
    before: Manifest | None
    has_commit: bool
    file: WrittenWork | None


class WorkStatuses(Struct):
    """The statuses worked out in a pass so far, the newest case of each object first.

    ``asked`` are the objects whose health a rule of failover reads (None: it may read that of any), ``counted`` those
    of which a move that is under way reads how many replicas are ready.
    """

    interpreter: Interpreter
    now: str
    asked: frozenset[ObjectRef] | None = frozenset()
    counted: frozenset[ObjectRef] = frozenset()
    _cases: dict[ObjectRef, list[_Case]] = field(default_factory=dict)
    _files: SimilarDocuments = field(default_factory=SimilarDocuments)

    def file(self, inputs: WorkInputs, before: Manifest | None, *, has_commit: bool = False) -> WrittenWork | None:
        """Return the file of an object's Work; None where the one recorded stays.

        ``before`` is what is recorded: one value per distinct file. ``has_commit``: other Works are written anyway.
        """
        cases = self._cases.setdefault(inputs.item.ref, [])
        # Who set the replicas stands in managedFields, which no two objects have in common.
        manager = "" if inputs.live is None else manager_of_replicas(inputs.live, self.interpreter)
        inputs = inputs_as_read_by_own_rules(inputs, self.interpreter)
        for case in cases:
            is_same = case.before is before and case.has_commit == has_commit and case.manager == manager
            if is_same and have_equal_work_status(case.inputs, inputs):
                return case.file
        file = self._file(inputs, before, has_commit=has_commit)
        cases.insert(0, _Case(inputs, manager, before, has_commit, file))
        del cases[MOST_CASES:]
        return file

    def _file(self, inputs: WorkInputs, before: Manifest | None, *, has_commit: bool) -> WrittenWork | None:
        ref, action = inputs.item.ref, (inputs.result or inputs.item).action
        occasion = Occasion(
            is_applied=action in WRITES,
            is_asked_for=self.asked is None or ref in self.asked,
            is_counted=ref in self.counted,
            has_commit=has_commit,
        )
        after = work_to_record(before, work_manifest(work_status_of(inputs, self.interpreter)), self.now, occasion)
        return None if after is before else WrittenWork(after, self._files.emit(WorkFile.with_version(after), _NAMES))
