"""One pass in a process of its own: a job comes in on stdin, and a report goes out on stdout.

A pass that hangs or grows can be killed without the controller's other fleets noticing, and its memory goes with it.
Log lines go to the controller's own stderr. stdin stays open for as long as the controller lives: at its end the pass
stops as if it had been told to, so that nothing goes on unwatched.

SIGTERM stops a pass. One that is not at its members yet ends at once, for it has written nothing that counts. One that
is begins no further member, finishes those it is at, and records them. SIGUSR1 has it do so for a newer commit, once it
is at its members, and leave slow ones.
"""

import atexit
import gc
import os
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.console.bugs import lines_naming_bug
from reconciler.console.log import Log
from reconciler.console.printing import LogFormat, print_data
from reconciler.passes.options import ReconcileOptions
from reconciler.run.pass_job import ClusterEnd, PassJob, PassReport, RolloutEnd, line_telling_source
from render.errors import GitError, ReconcileError

if TYPE_CHECKING:
    from reconciler.branches.checkpoint import BranchNames
    from reconciler.branches.status_branch import StatusBranch
    from reconciler.deliver.results import ClusterReport
    from reconciler.passes.refused_pass import RefusedPass
    from reconciler.passes.repeated_report import RepeatedReport
    from reconciler.passes.result import PassResult
    from reconciler.repository import Repository

_MOST_TEXT = 20_000


class Stopping(Struct):
    """The wish that a pass stops: asked for at its members, and an interruption before that."""

    is_asked_for: bool = False
    is_heeded: bool = False

    def __call__(self) -> bool:
        """Return whether to stop; whoever asks this once will stop by itself."""
        self.is_heeded = True
        return self.is_asked_for

    def ask_to_stop(self, *_: Any) -> None:
        """Ask the pass to stop."""
        is_first, self.is_asked_for = not self.is_asked_for, True
        if is_first and not self.is_heeded:
            raise KeyboardInterrupt


class Steps(Struct):
    """The steps of a pass: their seconds, how often each was done, and those that failed."""

    seconds: dict[str, float] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)
    failed: set[str] = field(default_factory=set)

    def add(self, step: str, seconds: float, went_well: bool) -> None:
        """Add a step, or to a step that was done before."""
        self.seconds[step] = self.seconds.get(step, 0.0) + seconds
        self.counts[step] += 1
        if not went_well:
            self.failed.add(step)

    @property
    def conflicts(self) -> int:
        """The number of times that the pass was done again: each begins by reading the previous commit."""
        return max(0, self.counts["read previous"] - 1)


def main() -> None:
    """Run the pass of stdin's job, print its report, and end the process; without a job, its parent is gone."""
    gc.disable()
    stopping, making_way = Stopping(), threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: making_way.set())
    line = sys.stdin.readline()
    if not line.endswith("\n"):
        return
    job = PassJob.from_json(line)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    report = run_pass_and_report(job, stopping, making_way.is_set)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    _write_line_to_controller(report.to_json())
    # As in an ordinary run: files that held credentials go now, and nothing else is worth taking apart.
    atexit._run_exitfuncs()  # noqa: SLF001 - what an ordinary exit calls
    os._exit(0)


def _write_line_to_controller(line: str) -> None:
    """Tell the controller something; one that was killed hears nothing, and the end of stdin stops the pass."""
    with suppress(BrokenPipeError):
        print_data(line + "\n")


def _stop_with_parent() -> None:
    while sys.stdin.read(1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def run_pass_and_report(job: PassJob, stopping: Stopping, is_making_way: Callable[[], bool]) -> PassReport:
    """Run a pass and return its report, however it ends."""
    steps, begun = Steps(), time.monotonic()
    try:
        signal.signal(signal.SIGTERM, stopping.ask_to_stop)
        options = ReconcileOptions(
            bootstrap=job.bootstrap,
            accepted_settings=job.accepted_settings,
            delivery=job.delivery,
            is_stopping=stopping,
            is_making_way=is_making_way,
            on_source=lambda commit: _write_line_to_controller(line_telling_source(commit)),
        )
        report = _run_pass_catching_errors(job, options, steps)
        # From here on there is nothing left to interrupt.
        stopping.is_heeded = True
    except KeyboardInterrupt:
        report = PassReport(code=130, message="the pass was stopped")
    return replace(
        report,
        seconds=time.monotonic() - begun,
        steps=steps.seconds,
        failed_steps=tuple(sorted(steps.failed)),
        conflicts=steps.conflicts,
    )


def _run_pass_catching_errors(job: PassJob, options: ReconcileOptions, steps: Steps) -> PassReport:
    log = Log(
        stream=sys.stderr,
        level=job.log_level,
        format=LogFormat(job.log_format),
        color=job.is_colored,
        repository=job.repository,
        fleet=job.fleet,
        on_step=steps.add,
    )
    try:
        return _run_pass_with_log(job, options, log)
    except ReconcileError as error:
        return PassReport(code=error.exit_code, message=error.message[:_MOST_TEXT], hint=error.hint)
    except OSError as error:
        said = f"{error.filename}: " if isinstance(error.filename, str) else ""
        return PassReport(code=GitError.exit_code, message=f"{said}{os.strerror(error.errno or 0).lower()}")
    except Exception as error:  # noqa: BLE001 - a bug in one pass ends no other fleet
        return PassReport(code=ReconcileError.exit_code, message="\n".join(lines_naming_bug(error)))


def _run_pass_with_log(job: PassJob, options: ReconcileOptions, log: Log) -> PassReport:
    from reconciler.branches.place import check_place_of_pass
    from reconciler.branches.publication import publication_of
    from reconciler.passes.repeated_report import read_repeated_report
    from reconciler.repository import open_repository

    with open_repository(job.repository) as repository:
        check_place_of_pass(repository)
        repeated = read_repeated_report(repository, options, log)
        if repeated is not None:
            report = _report_of_repeated_pass(repeated, log)
            return (
                _report_after_unsent_notices(report, job, repository, repeated.names, log) if job.has_unsent else report
            )
        from reconciler.branches.status_branch import StatusBranch
        from reconciler.passes.logged_apply import log_problems
        from reconciler.passes.pass_lines import commit_line, warning_lines
        from reconciler.passes.reconcile_pass import reconcile_fleet
        from reconciler.passes.result import PassResult

        def tell_and_report_commit(result: PassResult) -> None:
            is_news = result.commit or (result.proposal is not None and result.proposal.is_new)
            say = log.info if is_news else log.detail
            say(commit_line(result, dry_run=False))
            log.warn_of(warning_lines(result))

        result = reconcile_fleet(repository, options, log, tell_and_report_commit)
        log_problems(result.reports or (), log)
        if isinstance(result, PassResult):
            fleet, publication = result.outcome.source.desired.fleet, result.publication
            report = _report_of_result(result, log)
        else:
            fleet, report = result.good.fleet, _report_of_refusal(result)
            publication = publication_of(repository, fleet)
        branch = StatusBranch(publication=publication, branch=fleet.status_branch)
        return _report_after_sending_notices(report, job, branch, log)


def _report_of_repeated_pass(repeated: "RepeatedReport", log: Log) -> PassReport:
    """Return the report of a pass that would find what the last one found, after saying again what is not well."""
    for line in () if log.tells_each else repeated.problems:
        log.info(line)
    return PassReport(
        code=repeated.code,
        source=repeated.source,
        rendered=repeated.rendered,
        is_unchanged=True,
        next_wall=repeated.next_wall,
        waits_for_clusters=repeated.waits_for_clusters,
    )


def _report_after_unsent_notices(
    report: PassReport, job: PassJob, repository: "Repository", names: "BranchNames", log: Log
) -> PassReport:
    """Tell what waits for another try, where nothing is new."""
    from reconciler.branches.publication import Publication
    from reconciler.branches.status_branch import StatusBranch

    publication = Publication(repository=repository, remote=names.publish_remote)
    branch = names.status_ref.removeprefix("refs/heads/")
    return _report_after_sending_notices(report, job, StatusBranch(publication=publication, branch=branch), log)


def _report_after_sending_notices(report: PassReport, job: PassJob, status: "StatusBranch", log: Log) -> PassReport:
    if not job.channels:
        return report
    from reconciler.branches.publication import address_of_source_remote
    from reconciler.members.opening import members_for_delivery
    from reconciler.run.notices.channels import Channel, send_to_channel
    from reconciler.run.notices.telling import Telling

    channels = [Channel.parse(each) for each in job.channels]
    send = partial(send_to_channel, open_cluster=members_for_delivery(job.delivery).open)
    remote = address_of_source_remote(status.repository)
    return Telling(
        fleet=job.fleet, status=status, remote=remote, channels=channels, log=log, send=send
    ).report_after_sending(report)


def _report_of_result(result: "PassResult", log: Log) -> PassReport:
    """Return the report of a pass that went to its end; a guard may have held clusters back, or a forge refused."""
    from reconciler.passes.ending import end_of_pass
    from reconciler.rendering.problems import problems_by_object
    from render.cluster import is_applied_by_own_agent

    end, flip = end_of_pass(result), result.flip
    report = PassReport(
        code=end.code,
        source=result.outcome.source.commit,
        rendered=result.rendered or "",
        is_committed=result.commit is not None,
        unplaced=(*_lines_of_objects_left_out(result), *map(str, problems_by_object(result.outcome))),
        held={name: str(hold) for name, hold in result.holds.items()},
        ended_holds={name: str(each) for name, each in result.ended_holds.items()},
        moved=_count_of_moved_replicas(result),
        next_wall=flip.at.timestamp() - result.behind if flip else None,
        waits_for_clusters=result.waits_for_clusters,
        rollouts=_rollouts_after_pass(result),
        emergencies=_emergencies_after_pass(result),
    )
    if result.reports is not None:
        members = tuple(
            each.name for each in result.outcome.source.desired.clusters if not is_applied_by_own_agent(each)
        )
        clusters = _end_by_cluster(result.reports, is_new=result.commit is not None)
        report = _report_with_health(replace(report, members=members, clusters=clusters), result.reports)
    if end.error is None:
        return report
    log.detail(end.error.message)
    return replace(report, message=end.error.message[:_MOST_TEXT], hint=end.error.hint)


def _report_with_health(report: PassReport, reports: "tuple[ClusterReport, ...]") -> PassReport:
    """Return a report that says whether somebody has to look how what was written gets on."""
    from reconciler.plans.model import WRITES

    results = (result for each in reports if each.applied is not None for result in each.applied.results)
    return replace(
        report,
        has_written=any(result.action in WRITES for result in results),
        has_unwell=any(each.has_unwell for each in reports),
    )


def _lines_of_objects_left_out(result: "PassResult") -> tuple[str, ...]:
    return tuple(str(replace(each, hint="")) for each in result.outcome.source.objects_left_out)


def _count_of_moved_replicas(result: "PassResult") -> int:
    from reconciler.pipeline.movements import movements_between

    outcome = result.outcome
    if outcome.previous is None or result.commit is None:
        return 0
    after = {binding.ref: binding for binding in outcome.rendered.built.bindings}
    before = {ref: binding for ref, binding in outcome.previous.bindings.items() if ref in after}
    members = {cluster.name for cluster in outcome.source.desired.clusters}
    return sum(movement.moved_replicas for movement in movements_between(before, after, members))


def _report_of_refusal(refused: "RefusedPass") -> PassReport:
    step = refused.step
    flip = step.flip if step is not None else None
    is_committed = refused.rendered != refused.good.previous.commit
    report = PassReport(
        code=refused.error.exit_code,
        message=refused.error.message[:_MOST_TEXT],
        hint=refused.error.hint,
        source=refused.refusal.source,
        rendered=refused.rendered,
        is_committed=is_committed,
        refused=refused.refusal.message,
        clusters=_end_by_cluster(refused.reports, is_new=is_committed),
        next_wall=flip.at.timestamp() - step.behind if flip and step else None,
        waits_for_clusters=step is not None and step.waits_for_clusters,
        rollouts=_rollouts_after_pass(step) if step is not None else None,
        emergencies=_emergencies_after_pass(step) if step is not None else None,
    )
    return _report_with_health(report, refused.reports)


def _emergencies_after_pass(result: "PassResult") -> dict[str, int]:
    """Return how many emergencies nobody has confirmed, by whether somebody still has the time for it."""
    from render.rollouts.emergencies import seconds_to_confirm

    outcome = result.outcome
    seconds = seconds_to_confirm(outcome.source.desired.fleet.rollouts)
    found = outcome.rendered.built.rolled.emergencies
    late = sum(outcome.now is not None and each.ends(seconds) <= outcome.now for each in found)
    return {"unconfirmed": len(found) - late, "overdue": late}


def _rollouts_after_pass(result: "PassResult") -> dict[str, RolloutEnd]:
    """Return the rollouts of the fleet as a pass left them."""
    return {
        name: RolloutEnd(
            change=state.change,
            phase=state.phase,
            reason=state.reason,
            next_step=state.next_step,
            wave=state.wave,
            clusters=len(state.seats),
            given=len(state.given),
            through=sum(each.is_through for each in state.given),
            is_of_calendar=state.plan.is_of_fleet,
        )
        for name, state in result.outcome.rendered.built.rolled.states.items()
    }


def _end_by_cluster(reports: "tuple[ClusterReport, ...]", *, is_new: bool) -> dict[str, ClusterEnd]:
    return {each.cluster: _end_in_cluster(each, is_new=is_new) for each in reports}


def _end_in_cluster(report: "ClusterReport", *, is_new: bool) -> ClusterEnd:
    from reconciler.ledger.inventory import ApplyOutcome
    from reconciler.members.exchange import UNREACHABLE
    from reconciler.plans.model import WRITES

    actions, failure = report.applied.actions if report.applied else Counter[str](), report.failure
    return ClusterEnd(
        state=report.state,
        is_reached=report.failure is None or report.failure.kind not in UNREACHABLE,
        is_converged=report.state == ApplyOutcome.CONVERGED,
        unseen=report.unseen
        or (str(failure.kind) if failure is not None and failure.is_without_sight_of_member else ""),
        drifted=0 if is_new else sum(actions[str(action)] for action in WRITES),
        seconds=report.seconds,
        actions=dict(actions),
    )
