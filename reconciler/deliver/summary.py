"""From a command's options to a run of applying, and from its reports to what is said and the exit code."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import click

from reconciler.console.log import Log
from reconciler.console.text import table
from reconciler.members.exchange import FailureKind
from reconciler.members.identity import Impersonation
from reconciler.members.opening import MemberAccess, Members
from reconciler.members.options import AccessOptions, reached_members
from reconciler.names.subjects import check_clusters
from reconciler.plans.inventory import ApplyOutcome
from reconciler.plans.values import Action, PlanOptions
from reconciler.repository.trailers import engine_version
from render.errors import ClusterError
from render.fleet import OTHERS, Fleet
from render.selectors import LabelSelector, Requirement
from render.words import counted, listed

from .delivery import Delivery, FleetContext, Run, chosen_members, unreached_members
from .options import DeliveryOptions
from .results import ClusterReport

_UNREACHABLE = frozenset(
    {
        FailureKind.UNREACHABLE,
        FailureKind.DEADLINE,
        FailureKind.CERTIFICATE,
        FailureKind.CREDENTIALS,
        FailureKind.UNAUTHORIZED,
        FailureKind.UNAVAILABLE,
    }
)
_QUIET = frozenset({Action.UNCHANGED, Action.KEPT})


def asked_of(fleetwide: FleetContext, options: AccessOptions, log: Log) -> Delivery:
    """Return which members the options that a look takes are about, and how long one may take; say who is left out."""
    check_clusters(filter(None, [options.in_cluster]), {cluster.name for cluster in fleetwide.members})
    delivery = Delivery(
        clusters=options.clusters,
        reached=reached_members(fleetwide.fleet, options) or None,
        selector=label_selector(options.selector),
        shard=options.shard,
        max_parallel=options.max_parallel,
        timeout=options.timeout,
    )
    if left := unreached_members(fleetwide.members, delivery):
        log.info(f"left alone, for argosy.yaml does not say how to reach them: {listed(left)}")
    elif not chosen_members(fleetwide.members, delivery):
        log.info("no cluster is chosen")
    return delivery


def delivery_of(asked: Delivery, options: DeliveryOptions, allowed: Mapping[str, int]) -> Delivery:
    """Return the delivery to the members that are asked, as a command's options describe it."""
    return replace(
        asked,
        rehearse=options.rehearse,
        allow_older=options.allow_older,
        allowed=allowed,
        plan=PlanOptions(
            prune=not options.no_prune,
            orphans=options.orphans,
            confirm_all=options.confirm_all,
            migrate_from=frozenset(options.migrate_from),
            take_from=frozenset(options.take_from),
            remove_foreign=options.remove_foreign,
        ),
        confirmed=options.confirmed,
    )


def label_selector(text: str) -> LabelSelector | None:
    """Read kubectl's ``key=value,key!=value,key,!key``; a usage error names what it cannot be."""
    if not text:
        return None
    return LabelSelector(match_expressions=tuple(_requirement(part.strip()) for part in text.split(",")))


def _requirement(text: str) -> Requirement:
    for sign, operator in (("!=", "NotIn"), ("==", "In"), ("=", "In")):
        key, found, value = text.partition(sign)
        if found:
            return Requirement(key=key.strip(), operator=operator, values=(value.strip(),))
    name = text.removeprefix("!").strip()
    if not name or " " in name:
        raise click.UsageError(f"--selector: {text!r} is no label expression; write key=value, key!=value, key or !key")
    return Requirement(key=name, operator="DoesNotExist" if text.startswith("!") else "Exists")


def member_access(fleet: Fleet, options: AccessOptions, untrusted: str) -> MemberAccess:
    """Return how members are reached: the command's options, then argosy.yaml.

    A kubeconfig that is named stands in for the usual one and for what argosy.yaml says of many members at once.
    """
    named = options.kubeconfig
    user, groups = options.as_user, options.as_groups
    return MemberAccess(
        clusters=tuple(access for access in fleet.clusters if not named or access.name != OTHERS),
        kubeconfig=named,
        folder=options.kubeconfigs or ("" if named else fleet.kubeconfigs),
        in_cluster=options.in_cluster,
        untrusted=untrusted,
        impersonate=Impersonation(user=user, groups=groups) if user or groups else None,
        user_agent=f"argosy/{engine_version()}",
    )


def deliver(
    fleetwide: FleetContext, commit: str, delivery: Delivery, access: MemberAccess, log: Log
) -> tuple[ClusterReport, ...]:
    """Apply a commit to the chosen members, saying what changes as it happens."""
    total = Counter[str]()

    def report(done: ClusterReport) -> None:
        total["done"] += 1
        for line in lines_of(done):
            log.info(line)
        log.progress(f"{counted(total['done'], 'cluster')} done")

    run = Run(fleetwide=fleetwide, commit=commit, delivery=delivery, open_client=Members(access).open, report=report)
    reports = run.reports()
    log.progress("")
    return reports


def lines_of(report: ClusterReport) -> list[str]:
    """Return a line for everything that changed or failed in a cluster, and for what stopped it."""
    name = report.cluster
    found = []
    if report.applied is not None:
        found = [f"{name}: {result}" for result in report.applied.results if result.action not in _QUIET]
    elif report.plan is not None and not report.plan.refusal:
        items = [*report.plan.objects, *report.plan.deletions]
        found = [
            f"{name}: {item.ref}: {item.action}" + (f" ({item.reason})" if item.reason else "")
            for item in items
            if item.action not in _QUIET
        ]
    if report.applied is not None and report.applied.hold:
        found.append(f"{name}: nothing is pruned: {report.applied.hold}")
    if report.failure is not None:
        hint = f"\n  hint: {report.failure.hint}" if report.failure.hint else ""
        found.append(f"{name}: {report.failure.kind}: {report.failure.message}{hint}")
    return found


_HEADER = ("CLUSTER", "UNCHANGED", "WRITTEN", "DELETED", "FAILED", "STATE")


def summary_table(reports: Iterable[ClusterReport]) -> str:
    """Return a table with a line for each cluster."""
    return table(_HEADER, [summary_row(report) for report in reports])


def summary_row(report: ClusterReport) -> tuple[str, ...]:
    """Return a cluster's line of the table: what was done, and how it ended."""
    counts = counts_of(report)
    written = counts["created"] + counts["configured"] + counts["adopted"]
    failed = counts["failed"] + counts["conflict"] + counts["blocked"]
    deleted = counts["deleted"] + counts["handedOff"]
    return (report.cluster, str(counts["unchanged"]), str(written), str(deleted), str(failed), state_of(report))


def counts_of(report: ClusterReport) -> Counter[str]:
    """Count a cluster's objects by what was done with them, or would be."""
    if report.applied is not None:
        return Counter(str(result.action) for result in report.applied.results)
    if report.plan is not None:
        return Counter(str(item.action) for item in (*report.plan.objects, *report.plan.deletions))
    return Counter()


def state_of(report: ClusterReport) -> str:
    """Return how a cluster ended, in one word."""
    if report.failure is not None:
        return str(report.failure.kind)
    return str(report.applied.outcome) if report.applied is not None else "Planned"


def exit_code(reports: Iterable[ClusterReport]) -> int:
    """Return 0 when all converged, 1 when an object failed, 7 when all that could be reached converged.

    ClusterError when there was something to reach and nothing could be.
    """
    found = tuple(reports)
    unreachable = [report for report in found if report.failure is not None and report.failure.kind in _UNREACHABLE]
    if found and len(unreachable) == len(found):
        raise ClusterError("no cluster could be used", hint="argosy doctor; the lines above say what each answered")
    reached = [report for report in found if report not in unreachable]
    if any(not _is_converged(report) for report in reached):
        return 1
    return 7 if unreachable else 0


def _is_converged(report: ClusterReport) -> bool:
    if report.failure is not None:
        return False
    return report.applied is None or report.applied.outcome is ApplyOutcome.CONVERGED


def plain_reports(reports: Iterable[ClusterReport]) -> dict[str, Any]:
    """Return what came of a run as plain data, by cluster."""
    return {report.cluster: _plain(report) for report in reports}


def _plain(report: ClusterReport) -> dict[str, Any]:
    failure = report.failure
    results = report.applied.results if report.applied is not None else ()
    return {
        "state": state_of(report),
        "seconds": round(report.seconds, 3),
        "counts": dict(counts_of(report)),
        **({"failure": {"reason": str(failure.kind), "message": failure.message}} if failure else {}),
        **({"hold": report.applied.hold} if report.applied is not None and report.applied.hold else {}),
        "objects": [
            {
                "object": str(result.ref),
                "action": str(result.action),
                "reason": result.reason,
                "message": result.message,
                "warnings": list(result.warnings),
            }
            for result in results
            if result.action is not Action.UNCHANGED
        ],
    }
