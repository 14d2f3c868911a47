"""One object, or one cluster, as the status branch describes it: the chain of reasons from policy to container."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict, replace

from reconciler.console.cluster_lists import OVERRIDDEN, OVERRIDDEN_NOTE
from reconciler.console.tables import text_table
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.holds import release_hint
from reconciler.ledger.work import LiveReplicas
from reconciler.pipeline.dependencies import NOT_SCHEDULED
from reconciler.pipeline.pending import SUSPENDED, WAITS_FOR_WAVE
from reconciler.pipeline.under_way import moving_words
from reconciler.record.binding_status import FULLY_APPLIED, expected_clusters
from reconciler.record.cluster_files import ObjectReason
from reconciler.record.recorded_status import RecordedStatus, reason_in_work
from reconciler.record.work_changes import time_of_unrecorded_numbers
from reconciler.record.work_status import APPLIED
from render.binding import Binding
from render.layout import object_path
from render.model import Manifest
from render.words import first_few

from .live_replicas import UNKNOWN, has_other_replicas, lines_of_owners
from .staleness import MemberProgress, time_since_in_words
from .state_tables import table_of_deviations

NOT_APPLIED_YET = "NotAppliedYet"
SEEN = "SEEN"
"""The heading of the age of what changes more often than it is recorded."""


class ObjectIn(ObjectReason, frozen=True, kw_only=True):
    """An object in one cluster: applied and healthy or not, the reason, since when, and findings.

    ``observed_at`` is when it was seen as it is described, ``unsettled`` since when it changes more often than it is
    recorded ("": it was just so when it was last looked at). ``is_withheld``: it is not there, for dispatching to the
    cluster is suspended. ``is_overridden``: an override sets its replicas there. ``live`` are the replicas that it asks
    for there (None: nobody knows them now, or it has none).
    """

    UNSHOWN = ("status",)

    replicas: int | None = None
    applied: str = ""
    health: str = "Unknown"
    observed_at: str = ""
    unsettled: str = ""
    status: Any = None
    findings: tuple[Mapping[str, str], ...] = ()
    is_withheld: bool = False
    is_overridden: bool = False
    live: LiveReplicas | None = None

    @property
    def is_scaled_otherwise(self) -> bool:
        """True where it has what its tree says, and yet asks for other replicas."""
        return self.applied != "Unknown" and has_other_replicas(self.live, self.replicas)

    @property
    def ready(self) -> str:
        """Ready of wanted replicas, where the object counts them."""
        if not isinstance(self.status, Mapping) or "replicas" not in self.status:
            return ""
        return f"{self.status.get('readyReplicas', 0)}/{self.status['replicas']}"

    @property
    def is_well(self) -> bool:
        """True where it is applied and healthy, or is not to be there: dispatching to the cluster is suspended."""
        return self.is_withheld or (self.applied == "True" and self.health == "Healthy")


def object_in_cluster(cluster: str, work: Manifest | None, replicas: int | None = None) -> ObjectIn:
    """Return what a Work says; one that does not exist belongs to an object nothing is known of yet."""
    if work is None:
        return ObjectIn(cluster=cluster, replicas=replicas, applied="Unknown", reason=NOT_APPLIED_YET)
    status = work.get("status") or {}
    applied = condition_of_type(status.get("conditions"), APPLIED)
    entry: Mapping[str, Any] = next(iter(status.get("manifestStatuses") or ()), {})
    return ObjectIn(
        **asdict(reason_in_work(work, cluster)),
        replicas=replicas,
        applied=str(applied.get("status") or "Unknown"),
        health=str(entry.get("health") or "Unknown"),
        observed_at=str(work.get("observedAt") or ""),
        unsettled=time_of_unrecorded_numbers(work),
        status=entry.get("status"),
        findings=tuple(work.get("findings") or ()),
        live=LiveReplicas.of_work(work),
    )


def objects_of_binding(
    binding: Binding, recorded: RecordedStatus, members: Mapping[str, MemberProgress]
) -> tuple[ObjectIn, ...]:
    """Return an object in every member it should be in; in disconnected clusters it is not observed."""
    replicas, absent, overridden = binding.placed_replicas, binding.undispatched_clusters, binding.overridden_replicas
    outdated = {name for each in binding.kept if each.is_outdated for name in each.clusters}
    below = "/".join(object_path(binding.ref))
    found = []
    for name in expected_clusters(binding):
        if name in absent:
            reason = WAITS_FOR_WAVE if name in binding.clusters_before_delivery else SUSPENDED
            message = binding.why_not_delivered(name)
            found.append(ObjectIn(cluster=name, applied="False", reason=reason, message=message, is_withheld=True))
        elif name in members:
            work = recorded.manifest(f"works/{name}/{below}")
            each = _object_as_known(
                object_in_cluster(name, work, replicas.get(name) or (0 if name in overridden else None)), members[name]
            )
            each = replace(each, is_overridden=True) if name in overridden else each
            found.append(replace(each, reason=SUSPENDED) if name in outdated and each.is_well else each)
    return tuple(found)


def objects_in_cluster(cluster: str, recorded: RecordedStatus, progress: MemberProgress) -> tuple[ObjectIn, ...]:
    """Return every object of a cluster; why nothing is known of them is the cluster's to say, once."""
    works = (recorded.manifest(path) for path in recorded.paths_below(f"works/{cluster}"))
    silent = replace(progress, message="")
    return tuple(_object_as_known(object_in_cluster(cluster, work), silent) for work in works if work is not None)


def _object_as_known(each: ObjectIn, progress: MemberProgress) -> ObjectIn:
    """Return an object as it is known: of a cluster that was not looked at or applied to, nobody knows how it is."""
    if progress.is_reached:
        return each
    reason, message, since = progress.reason, progress.message, progress.since
    late = replace(each, applied="Unknown", reason=reason, message=message, since=since)
    if not progress.is_known:
        return replace(late, health="Unknown", findings=(), live=None)
    if each.is_well or each.reason == NOT_APPLIED_YET:
        return late
    # What ails it did before the newest commit got there, and says more than that this is so.
    words = f"{reason}: {message}" if message else ""
    return replace(each, applied="Unknown", message="; ".join(filter(None, (each.message, words))))


def object_text(
    binding: Binding, recorded: RecordedStatus, members: Mapping[str, MemberProgress], *, now: float
) -> Iterator[str]:
    """Yield all that is known of an object: policy, binding, clusters, and what ails it where."""
    objects = objects_of_binding(binding, recorded, members)
    lines = [str(binding.ref), *lines_about_policy_and_needs(binding)]
    for each in conditions_of(binding, recorded, members):
        if each.get("reason") == NOT_SCHEDULED.reason:
            continue  # it was never to be scheduled: it follows what requires it
        lines.append(_condition_in_words(each))
        if each.get("status") != "True" and each.get("message"):
            lines.append(f"  {each['message']}")
    is_aged = any(each.unsettled for each in objects)
    has_replicas = any(each.replicas or each.live is not None for each in objects)
    live = ("LIVE",) if has_replicas else ()
    seen = (SEEN,) if is_aged else ()
    header = ("CLUSTER", "REPLICAS", *live, "READY", "APPLIED", "HEALTH", "REASON", "SINCE", *seen)
    rows = [
        (
            each.cluster,
            f"{each.replicas}{OVERRIDDEN}" if each.is_overridden else str(each.replicas or ""),
            *((str(each.live.replicas) if each.live is not None else UNKNOWN,) if has_replicas else ()),
            each.ready,
            each.applied,
            each.health,
            each.reason if each.reason != each.health else "",
            each.since,
            *((_age_of_numbers(each, now),) if is_aged else ()),
        )
        for each in objects
    ]
    left = [name for name in expected_clusters(binding) if name not in members]
    lines += [f"disconnected, left as it was in: {', '.join(left)}"] if left else []
    yield "\n".join(lines) + "\n"
    if rows:
        yield "\n"
        yield text_table(header, rows)
    yield f"\n{OVERRIDDEN_NOTE}\n" if any(each.is_overridden for each in objects) else ""
    yield from (f"\n{line}" for line in _lines_about_live(objects))
    yield from _lines_of_causes(objects)


def _lines_about_live(objects: Iterable[ObjectIn]) -> Iterator[str]:
    """Yield who owns the replicas where an object asks for others than its tree says, a line for each manager."""
    clusters: dict[str, list[str]] = {}
    for each in objects:
        if each.live is not None and each.is_scaled_otherwise:
            clusters.setdefault(each.live.manager, []).append(each.cluster)
    return lines_of_owners(clusters)


def lines_about_policy_and_needs(binding: Binding) -> Iterator[str]:
    """Yield the policy that claims an object, and the objects that require it."""
    is_following = binding.ref.group_kind == "Namespace" and not (binding.policy or binding.conditions)
    yield f"policy: {binding.policy or 'none'}" + (", it is propagated with the objects in it" if is_following else "")
    if moved := moving_words(binding):
        yield f"moved: {moved[:1].lower()}{moved[1:]}"
    if binding.required_by:
        yield f"required by: {', '.join(f'{each.namespace}/{each.name}' for each in binding.required_by)}"


def _lines_of_causes(objects: Iterable[ObjectIn]) -> Iterator[str]:
    """Yield, for each cluster where all is not well, why, and what was found there."""
    for each in objects:
        if each.is_well:
            continue
        message = f": {each.message}" if each.message and not each.findings else ""
        yield f"\n{each.cluster}: {each.reason}{message}\n"
        yield from (f"  {finding_on_one_line(finding)}\n" for finding in each.findings)


def finding_on_one_line(finding: Mapping[str, str]) -> str:
    """Return a finding on one line."""
    where = finding["about"] + (f", container {finding['container']}" if finding.get("container") else "")
    return f"{where}: {finding['reason']}" + (f": {finding['message']}" if finding.get("message") else "")


def conditions_of(
    binding: Binding, recorded: RecordedStatus, members: Mapping[str, MemberProgress]
) -> list[Mapping[str, Any]]:
    """Return the conditions of a binding; that it is fully applied counts only where every cluster is known."""
    known = recorded.binding(binding.ref)
    if known is not None:
        late = [name for name in expected_clusters(binding) if name in members and not members[name].is_reached]
        conditions: Iterable[Mapping[str, Any]] = (known.get("status") or {}).get("conditions") or ()
        return [_condition_as_known(each, late) for each in conditions]
    return [
        {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
        for each in binding.conditions
    ]


def _condition_as_known(condition: Mapping[str, Any], late: Sequence[str]) -> Mapping[str, Any]:
    """Return a condition that was recorded, unknown if it says that the object is applied where nobody knows now."""
    if not late or condition.get("type") != FULLY_APPLIED or condition.get("status") != "True":
        return condition
    message = f"it was applied when that was last known; it is not known of {first_few(late)}"
    return {"type": FULLY_APPLIED, "status": "Unknown", "reason": "NotKnown", "message": message}


def _condition_in_words(condition: Mapping[str, Any]) -> str:
    """Return a condition, as far as whoever wrote it says what it is."""
    since = f", since {condition['lastTransitionTime']}" if condition.get("lastTransitionTime") else ""
    said = f"{condition['type']}: {condition.get('status') or 'Unknown'} {condition.get('reason') or ''}"
    return f"{said.rstrip()}{since}" if since else said.rstrip()


def cluster_text(
    cluster: str,
    recorded: RecordedStatus,
    progress: MemberProgress,
    *,
    now: float,
    every: bool = False,
    tells_each: bool = False,
) -> Iterator[str]:
    """Yield all that is known of a cluster: its conditions, room, and the objects that are not well (or all)."""
    record = recorded.clusters()[cluster]
    status = record.state.status
    objects = objects_in_cluster(cluster, recorded, progress)
    lines = [*_lines_about_cluster(cluster, recorded, progress, now), f"objects: {len(objects)}"]
    unwell = [each for each in objects if each.applied != "True" or each.health != "Healthy"]
    listed = objects if every else unwell if progress.is_reached else ()
    yield "\n".join(lines) + "\n"
    ago = time_since_in_words(time_of_recorded_capacity(cluster, recorded), now)
    yield from _capacity_table(status.get("resourceSummary") or {}, ago)
    yield from _objects_table(listed, now)
    yield from _lines_of_findings(listed)
    yield from table_of_deviations((("", each) for each in record.deviations), tells_each=every or tells_each)


def _lines_about_cluster(cluster: str, recorded: RecordedStatus, progress: MemberProgress, now: float) -> list[str]:
    """Return the conditions of a cluster, and what the last run over it did."""
    record = recorded.clusters()[cluster]
    status = record.state.status
    lines = [f"cluster {cluster} {record.version}".rstrip()]
    lines += map(_condition_in_words, status.get("conditions") or ())
    if record.state.failing_since:
        lines.append(f"does not answer since {record.state.failing_since}")
    if nodes := status.get("nodeSummary"):
        lines.append(f"nodes: {nodes.get('readyNum', 0)} of {nodes.get('totalNum', 0)} ready")
    if record.deployer:
        lines.append(f"applied by: {record.deployer}")
    converged = recorded.converged_commit(cluster)
    ago = f", {time_since_in_words(record.since, now)}" if record.since else ""
    lines.append(
        f"holds: {converged[:12] or 'nothing yet'}; last pass: {record.outcome or 'none'} since {record.since}{ago}"
    )
    if not progress.is_reached:
        lines.append(f"not applied: {progress.message}{progress.hint_line}")
    elif progress.hold is not None:
        lines.append(f"{progress.hold}\n  hint: {release_hint(progress.hold, cluster)}")
    return lines


def _lines_of_findings(objects: Iterable[ObjectIn]) -> Iterator[str]:
    for each in objects:
        if each.findings:
            yield f"\n{each.object}\n"
            yield from (f"  {finding_on_one_line(finding)}\n" for finding in each.findings)


def time_of_recorded_capacity(cluster: str, recorded: RecordedStatus) -> str:
    """Return when the room of a cluster was recorded; smaller moves of it wait for ten minutes."""
    facts = recorded.facts().get(cluster)
    return facts.observed_at if facts is not None else ""


def _capacity_table(summary: Mapping[str, Mapping[str, str]], ago: str) -> Iterator[str]:
    parts = [summary.get(part) or {} for part in ("allocatable", "allocated", "allocating")]
    rows = [(name, *(str(part.get(name, "0")) for part in parts)) for name in sorted(parts[0])]
    if rows:
        yield f"\nroom as it was {ago} ago; by now it may differ\n" if ago else ""
        yield "\n"
        yield text_table(("RESOURCE", "ALLOCATABLE", "ALLOCATED", "ALLOCATING"), rows)


def _objects_table(objects: Sequence[ObjectIn], now: float) -> Iterator[str]:
    is_aged = any(each.unsettled for each in objects)
    rows = [
        (
            *(each.object, each.ready, each.applied, each.health, each.reason, each.since),
            *((_age_of_numbers(each, now),) if is_aged else ()),
            _reason_not_applied(each),
        )
        for each in objects
    ]
    seen = (SEEN,) if is_aged else ()
    header = ("OBJECT", "READY", "APPLIED", "HEALTH", "REASON", "SINCE", *seen, "MESSAGE")
    if rows:
        yield "\n"
        yield text_table(header, rows)


def _age_of_numbers(each: ObjectIn, now: float) -> str:
    """Return how long ago an object was seen that changes more often than it is recorded; empty for any other."""
    return f"{time_since_in_words(each.observed_at, now)} ago" if each.unsettled else ""


def _reason_not_applied(each: ObjectIn) -> str:
    """Return why an object is not applied; what ails it otherwise stands in its findings."""
    return each.message if each.applied != "True" else ""
