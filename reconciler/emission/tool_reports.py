"""The reports of Argo CD and Flux on what they applied to clusters, read from the status of their objects.

1. A cluster has up to a few objects: each applies a part of its folder, and tells of that part (``PartReport``).
2. What is under way tells nothing yet. Otherwise the cluster's report (``ToolReport``) is what its parts agree on: the
   commit they have, or the first of what keeps them from it.
3. Whoever writes such objects is not trusted: what is of another shape counts as not told.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from render.expressions import lazy_expression
from render.model import Manifest, ObjectRef, list_or_empty, mapping_or_empty
from render.settings.emission import Deployer

CLUSTER_LABEL = "argosy.dev/cluster"
CONVERGED, INCOMPLETE = "Converged", "Incomplete"
_COMMIT = lazy_expression(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_HEALTHY = "Healthy"
_LONGEST = 4000


class ReportedObject(Struct, frozen=True, kw_only=True):
    """An object that a tool told of: whether it is applied, its health ("": not told) and why, in the tool's words."""

    ref: ObjectRef
    version: str = ""
    is_applied: bool = True
    health: str = _HEALTHY
    message: str = ""


class PartReport(Struct, frozen=True, kw_only=True):
    """The report of one object of a tool: ``commit`` is the one it compared its part with ("": none yet).

    ``outcome`` is empty while the tool is at it; ``heard`` is the newest time in the status.
    """

    name: str
    commit: str = ""
    outcome: str = ""
    message: str = ""
    heard: str = ""
    objects: tuple[ReportedObject, ...] = ()


class ToolReport(Struct, frozen=True, kw_only=True):
    """The reports of a tool on all parts of a cluster's folder.

    ``source_fault`` says why the tool cannot read the branch, as a reason and a message; it knows no newer commit then.
    """

    cluster: str
    deployer: Deployer
    parts: tuple[PartReport, ...] = ()
    source_fault: tuple[str, str] = ("", "")

    @property
    def is_over(self) -> bool:
        """True where no part is under way."""
        return all(part.outcome for part in self.parts)

    @property
    def newest_report_time(self) -> str:
        """The newest time that the tool told."""
        return max((part.heard for part in self.parts), default="")

    @property
    def worst_part(self) -> PartReport | None:
        """The part that is furthest from being applied; None where there is none."""
        ranks = {CONVERGED: 2, INCOMPLETE: 1}
        return min(self.parts, key=lambda part: ranks.get(part.outcome, 0), default=None)

    @property
    def objects(self) -> Mapping[ObjectRef, ReportedObject]:
        """Everything that parts told of."""
        return {each.ref: each for part in self.parts for each in part.objects}


def parse_tool_reports(
    deployer: Deployer, objects: Iterable[Manifest], branches: Iterable[str], prefix: str
) -> list[ToolReport]:
    """Return the reports on clusters, given the objects found where the tool runs.

    ``branches`` are those that the fleet's clusters are delivered from, ``prefix`` begins the names of its objects:
    what another fleet emitted, or somebody else made, is not looked at.
    """
    by_cluster: dict[str, list[PartReport]] = {}
    found, wanted = list(objects), frozenset(branches)
    for each in found:
        cluster = _text_or_empty(_value_at(each, "metadata", "labels", CLUSTER_LABEL))
        if cluster and _delivers_our_branch(deployer, each, wanted, prefix):
            by_cluster.setdefault(cluster, []).append(_PART_OF[deployer](each))
    fault = _fault_of_flux_source(found, prefix)
    return [
        ToolReport(
            cluster=name,
            deployer=deployer,
            parts=tuple(sorted(parts, key=lambda part: part.name)),
            source_fault=fault,
        )
        for name, parts in sorted(by_cluster.items())
    ]


def _delivers_our_branch(deployer: Deployer, found: Manifest, branches: frozenset[str], prefix: str) -> bool:
    if deployer is Deployer.FLUX:
        return found.get("kind") == "Kustomization" and _value_at(found, "spec", "sourceRef", "name") == prefix
    return found.get("kind") == "Application" and _value_at(found, "spec", "source", "targetRevision") in branches


def _fault_of_flux_source(objects: Iterable[Manifest], prefix: str) -> tuple[str, str]:
    """Return why Flux cannot read the branch; empty texts where it can, and for Argo CD, whose Applications say so."""
    for each in objects:
        if each.get("kind") == "GitRepository" and _value_at(each, "metadata", "name") == prefix:
            ready = _condition_of_type(each, "Ready")
            if ready.get("status") == "False":
                return _text_or_empty(ready.get("reason")) or "SourceFailed", _text_or_empty(ready.get("message"))
    return "", ""


def _part_of_kustomization(found: Manifest) -> PartReport:
    """Return what a Kustomization tells: it names a commit as applied once all that it applied is healthy."""
    ready, status = _condition_of_type(found, "Ready"), mapping_or_empty(found.get("status"))
    part = PartReport(name=_name_of_manifest(found), heard=_newest_time(_times_in_flux_status(status)))
    applied, attempted = (
        _commit_of_revision(status.get(key)) for key in ("lastAppliedRevision", "lastAttemptedRevision")
    )
    is_stale = _number_or_zero(_value_at(found, "metadata", "generation")) > _number_or_zero(
        ready.get("observedGeneration")
    )
    if _value_at(found, "spec", "suspend") is True:
        message = "its Kustomization is suspended"
        return _part_with_outcome(part, applied, INCOMPLETE, message, _objects_in_flux_inventory(status, "", ""))
    if is_stale or str(ready.get("status")) not in {"True", "False"}:
        return part
    reason, message = _text_or_empty(ready.get("reason")), _text_or_empty(ready.get("message"))
    if ready["status"] == "True":
        return _part_with_outcome(part, applied, CONVERGED, "", _objects_in_flux_inventory(status, _HEALTHY, ""))
    if reason == "HealthCheckFailed":
        return _part_with_outcome(part, attempted, CONVERGED, "", _objects_in_flux_inventory(status, "", message))
    is_applied = reason in {"ReconciliationFailed", "PruneFailed", "DependencyNotReady"}
    outcome = INCOMPLETE if is_applied else reason or "NotReady"
    return _part_with_outcome(part, attempted or applied, outcome, message, _objects_in_flux_inventory(status, "", ""))


def _objects_in_flux_inventory(status: Manifest, health: str, message: str) -> Iterator[ReportedObject]:
    """Yield the objects that Flux has applied; ``message`` names those that are not healthy."""
    for entry in list_or_empty(_value_at(status, "inventory", "entries")):
        parts = _text_or_empty(mapping_or_empty(entry).get("id")).split("_", 1)
        name, *rest = parts[1].rsplit("_", 2) if len(parts) == 2 else ("",)
        if len(rest) != 2:
            continue
        # Flux writes a colon in a name as two underscores, which no name has.
        ref = ObjectRef(rest[0], rest[1], parts[0], name.replace("__", ":"))
        is_named = "/".join(filter(None, (ref.kind, ref.namespace, ref.name))) + " " in message
        yield ReportedObject(
            ref=ref,
            version=_text_or_empty(mapping_or_empty(entry).get("v")),
            health="Unhealthy" if is_named else health,
            message="its health check failed" if is_named else "",
        )


def _times_in_flux_status(status: Manifest) -> Iterator[Any]:
    yield from (mapping_or_empty(each).get("lastTransitionTime") for each in list_or_empty(status.get("conditions")))
    yield from (mapping_or_empty(each).get("lastReconciled") for each in list_or_empty(status.get("history")))


def _part_of_application(found: Manifest) -> PartReport:
    """Return what an Application tells, by what it compared last and by its last operation."""
    status = mapping_or_empty(found.get("status"))
    operation, sync = mapping_or_empty(status.get("operationState")), mapping_or_empty(status.get("sync"))
    times = (status.get("reconciledAt"), operation.get("finishedAt"))
    part = PartReport(name=_name_of_manifest(found), heard=_newest_time(times))
    compared, last = (
        _commit_of_revision(sync.get("revision")),
        _commit_of_revision(_value_at(operation, "syncResult", "revision")),
    )
    objects = tuple(_objects_of_application(status, operation))
    if sync.get("status") == "Synced" or _differs_only_by_unpruned(found, status):
        return _part_with_outcome(part, compared, CONVERGED, "", objects)
    errors = (mapping_or_empty(each) for each in list_or_empty(status.get("conditions")))
    error = next((each for each in errors if _text_or_empty(each.get("type")).endswith("Error")), {})
    if sync.get("status") != "OutOfSync":
        return _part_with_outcome(
            part, compared, _text_or_empty(error.get("type")), _text_or_empty(error.get("message")), objects
        )
    # One that is tried again without end is told as running; how often it was says that it failed.
    is_failed = str(operation.get("phase")) in {"Failed", "Error"} or _number_or_zero(operation.get("retryCount")) > 0
    if is_failed and last == compared and operation.get("phase") != "Succeeded":
        return _part_with_outcome(part, compared, INCOMPLETE, _text_or_empty(operation.get("message")), objects)
    if operation.get("phase") == "Succeeded" and last == compared:
        unequal = sum(not each.is_applied for each in objects)
        return _part_with_outcome(
            part, compared, INCOMPLETE, f"OutOfSync: {unequal} of {len(objects)} objects differ", objects
        )
    return part


def _differs_only_by_unpruned(found: Manifest, status: Manifest) -> bool:
    """Return whether all that differs is what has left the folder, and this Application prunes nothing."""
    differs = [
        each for each in map(mapping_or_empty, list_or_empty(status.get("resources"))) if each.get("status") != "Synced"
    ]
    is_kept = _value_at(found, "spec", "syncPolicy", "automated", "prune") is False
    return is_kept and bool(differs) and all(each.get("requiresPruning") is True for each in differs)


def _objects_of_application(status: Manifest, operation: Manifest) -> Iterator[ReportedObject]:
    """Yield the objects of an Application; where it tells no health of each, they are well if the whole is."""
    failed = {
        _ref_of_reported_object(each): _text_or_empty(each.get("message"))
        for each in map(mapping_or_empty, list_or_empty(_value_at(operation, "syncResult", "resources")))
        if str(each.get("status")) in {"SyncFailed", "PruneSkipped"}
    }
    has_health = status.get("resourceHealthSource") != "appTree"
    whole = _text_or_empty(_value_at(status, "health", "status"))
    for each in map(mapping_or_empty, list_or_empty(status.get("resources"))):
        ref, health = _ref_of_reported_object(each), mapping_or_empty(each.get("health"))
        if not (ref.kind and ref.name) or each.get("requiresPruning") is True:
            continue
        is_synced = each.get("status") == "Synced"
        health_unless_known = _HEALTHY if has_health or whole == _HEALTHY else ""
        yield ReportedObject(
            ref=ref,
            version=_text_or_empty(each.get("version")),
            is_applied=is_synced,
            health=_text_or_empty(health.get("status")) or health_unless_known,
            message=_text_or_empty(health.get("message"))
            if is_synced
            else failed.get(ref, "") or _text_or_empty(each.get("status")),
        )


_PART_OF = {Deployer.FLUX: _part_of_kustomization, Deployer.ARGO_CD: _part_of_application}


def _part_with_outcome(
    part: PartReport, commit: str, outcome: str, message: str, objects: Iterable[ReportedObject]
) -> PartReport:
    return PartReport(
        name=part.name, heard=part.heard, commit=commit, outcome=outcome, message=message, objects=tuple(objects)
    )


def _commit_of_revision(revision: Any) -> str:
    """Return the commit that a revision names, as Argo CD (the bare id) or Flux writes it; empty for anything else.

    >>> (
    ...     _commit_of_revision("argosy/rendered@sha1:" + "a" * 40) == _commit_of_revision("a" * 40),
    ...     _commit_of_revision("argosy/rendered"),
    ... )
    (True, '')
    """
    name = re.split(r"[:/]", _text_or_empty(revision))[-1]
    return name if _COMMIT.fullmatch(name) else ""


def _ref_of_reported_object(found: Mapping[str, Any]) -> ObjectRef:
    group, kind, namespace, name = (_text_or_empty(found.get(key)) for key in ("group", "kind", "namespace", "name"))
    return ObjectRef(group, kind, namespace, name)


def _name_of_manifest(found: Manifest) -> str:
    return _text_or_empty(_value_at(found, "metadata", "name"))


def _newest_time(times: Iterable[Any]) -> str:
    return max(map(_text_or_empty, times), default="")


def _condition_of_type(found: Manifest, kind: str) -> Mapping[str, Any]:
    conditions = map(mapping_or_empty, list_or_empty(_value_at(found, "status", "conditions")))
    return next((each for each in conditions if each.get("type") == kind), {})


def _value_at(value: Any, *keys: str) -> Any:
    for key in keys:
        value = mapping_or_empty(value).get(key)
    return value


def _text_or_empty(value: Any) -> str:
    return value[:_LONGEST] if isinstance(value, str) else ""


def _number_or_zero(value: Any) -> int:
    return value if type(value) is int else 0
