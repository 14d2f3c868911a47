"""The members that a pass leaves idle, for the next pass to skip them while they are so.

Remembered is only a member of which a pass that finds the same cannot decide otherwise: every object as it has to be,
nothing about it written, and nothing asked for that is done once. What depends on time sets an end to it: a status
that changes again and again, and is written after pauses.
"""

import re
import time
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.checkpoint import BranchTips, read_checkpoint
from reconciler.branches.status_branch import StatusBranch
from reconciler.deliver.grouped_problems import problem_lines
from reconciler.deliver.report_rows import ReportRows
from reconciler.deliver.reports import exit_code_of_reports, report_lines, report_rows
from reconciler.deliver.results import ClusterReport, live_objects
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.members.boundary import result_or_failure
from reconciler.members.exchange import Failure
from reconciler.members.options import AccessOptions, DeliveryOptions, names_of_reached_members
from reconciler.members.visits import MemberReach, Visit, Visits
from reconciler.observe.idle_members import IdleMember, idle_member
from reconciler.observe.members import MOST_SECONDS
from reconciler.plans.model import Action
from reconciler.record.streaks import LEAST_PAUSE, LONGEST_PAUSE
from reconciler.source.desired import Desired
from render.cluster import is_applied_by_own_agent
from render.expressions import lazy_expression
from render.timing import epoch_text

from .idle_pass import ended_visits, plain_options
from .remembered_members import RememberedFleet, RememberedMember, RememberedMembers

_OBSERVED_AT = lazy_expression(rb'^observedAt: "?([0-9TZ:-]+)"?\n(unsettled: )?', re.MULTILINE)


def remembered_members(
    desired: Desired, options: DeliveryOptions, status: StatusBranch, tips: BranchTips
) -> RememberedMembers:
    """Return the members that the last pass with these options left idle, over a source alike but for templates.

    ``tips`` are those of this pass, before it records anything.
    """
    checkpoint = read_checkpoint(status.repository)
    if checkpoint is None or checkpoint.contents.source_digest != desired.source_digest:
        return RememberedMembers()
    fleet = RememberedFleet.parse(checkpoint.members)
    if fleet.options != plain_options(options):
        return RememberedMembers()
    recorded_folders = status.object_folders(tips.status) if checkpoint.tips == tips else None
    return RememberedMembers(members=fleet.by_name(), recorded_folders=recorded_folders)


class EndedPass(Struct, frozen=True, kw_only=True):
    """A pass that has recorded its reports: its source, its options, and its status branch now and ``before`` it.

    ``known`` are the members that were idle before it, ``failures`` why members could not be observed. ``is_idle``:
    it wrote nothing.
    """

    reports: tuple[ClusterReport, ...]
    desired: Desired
    options: DeliveryOptions
    reach: MemberReach
    status: StatusBranch
    before: str | None
    known: Mapping[str, RememberedMember]
    failures: Mapping[str, str]
    is_idle: bool

    def remembered_fleet(self) -> RememberedFleet:
        """Return the fleet as the pass leaves it, with the members that are idle."""
        if not (_are_options_ordinary(self.options) and _rests_on_member_answers_alone(self.desired, self.options)):
            return RememberedFleet()
        members = sorted((*self._skipped_members(), *self._newly_idle_members()), key=lambda member: member.cluster)
        failed = self._failures_by_member()
        answering = [member for member in members if member.cluster not in failed]
        is_idle = self.is_idle and bool(answering) and len(answering) + len(failed) == len(self.reports)
        lines = tuple(line for report in self.reports for line in report_lines(report)) if is_idle else ()
        return RememberedFleet(
            fleet_path=self.desired.fleet.path,
            options=plain_options(self.options),
            members=tuple(members),
            models={each.name: each.resource_models for each in self.desired.clusters},
            lines=lines,
            problems=problem_lines(self.reports) if is_idle else (),
            rows=report_rows(self.reports) if is_idle else ReportRows(),
            is_idle=is_idle,
            failed=failed,
            code=exit_code_of_reports(self.reports) if is_idle else 0,
        )

    def _failures_by_member(self) -> dict[str, str]:
        """Return the members that could not be observed and were not applied to, with the reason."""
        names = (report.cluster for report in self.reports if report.applied is None and report.failure is not None)
        return {name: self.failures[name] for name in names if name in self.failures}

    def _skipped_members(self) -> Iterator[RememberedMember]:
        """Yield the members that were idle: those that still are hold this commit now, others did not answer."""
        for report in self.reports:
            known = self.known.get(report.cluster)
            if known is not None and report.is_repeated and report.applied is not None:
                yield replace(known, commit=report.applied.commit)
            elif known is not None and report.applied is None:
                yield known

    def _newly_idle_members(self) -> Iterator[RememberedMember]:
        """Yield the members that this pass found idle, and recorded nothing new of."""
        before, after = (self.status.folders("works", commit) for commit in (self.before, self.status.tip()))
        idle = {
            report.cluster: report
            for report in self.reports
            if _was_member_idle(report) and before.get(report.cluster) == after.get(report.cluster)
        }
        visits: Visits[IdleMember | Failure | None] = self.reach.visits(
            lambda visit: result_or_failure(lambda: _remembered_member(visit, idle[visit.name], self.reach)), idle
        )
        for visit in ended_visits(visits, time.monotonic):
            if isinstance(visit.result, IdleMember):
                works = after.get(visit.name, "")
                until = _time_of_next_record(self.status, works, time.time())
                yield RememberedMember.of(idle[visit.name], visit.result, works, until)


def _remembered_member(visit: Visit[Any], report: ClusterReport, reach: MemberReach) -> IdleMember | None:
    client = reach.open(report.cluster, MOST_SECONDS)
    if isinstance(client, Failure) or report.observed is None:
        return None
    results = report.applied.results if report.applied is not None else ()
    has_answers = any(result.answer_id for result in results)
    heard, live = visit.heard_through(client), live_objects(report)
    return idle_member(heard, report.observed, live, report.findings, has_answers=has_answers)


def _are_options_ordinary(options: DeliveryOptions) -> bool:
    """Return whether a run is as any other: options that ask for something unusual are for once."""
    unusual = set(DeliveryOptions.__struct_fields__) - set(AccessOptions.names())
    usual = DeliveryOptions()
    return all(getattr(options, name) == getattr(usual, name) for name in unusual)


def _rests_on_member_answers_alone(desired: Desired, options: AccessOptions) -> bool:
    """Return whether all depends on what members answer: no agent tells of one, no webhook of an object."""
    reached = names_of_reached_members(desired.fleet, options)
    is_reached = reached is None or all(cluster.name in reached for cluster in desired.clusters)
    return is_reached and not desired.webhooks and not any(map(is_applied_by_own_agent, desired.clusters))


def _was_member_idle(report: ClusterReport) -> bool:
    """Return whether a pass found a member as it has to be, in every respect."""
    plan, applied = report.plan, report.applied
    if report.failure is not None or plan is None or applied is None:
        return False
    is_converged = applied.outcome is ApplyOutcome.CONVERGED and not applied.prune_hold and not applied.left
    is_unchanged = all(result.action is Action.UNCHANGED for result in applied.results)
    return is_converged and is_unchanged and not plan.writes and plan.former is None and plan.members == plan.recorded


def _time_of_next_record(status: StatusBranch, works: str, now: float) -> str:
    """Return when the first record of an object may be written anew that waits for its turn; empty where none does.

    One that is unsettled waits until it has settled. A workload on its way may wait for the longest pause.
    """
    contents = status.contents(bytes.fromhex(works)) if works else ()
    found = {each.groups() for content in contents if (each := _OBSERVED_AT.search(content))}
    seen = {(datetime.fromisoformat(time.decode()).timestamp(), bool(mark)) for time, mark in found}
    ends = {max(at + LEAST_PAUSE, now) for at, is_unsettled in seen if is_unsettled}
    ends |= {at + LONGEST_PAUSE for at, is_unsettled in seen if not is_unsettled}
    return min((epoch_text(end) for end in ends if end >= now), default="")
