"""The report of the last pass, told again where nothing is new since then.

Where no member is reached this reads branches alone: nothing of the pipeline is imported, so that an idle fleet costs
its cron job nothing. Where members are reached, all of them have to be as that pass left them, and those that did not
answer have to fail the same way.
"""

from msgspec import Struct

from reconciler.branches.checkpoint import BranchNames, Checkpoint, are_branches_as_left, read_checkpoint
from reconciler.branches.left_out import PUSH_FIRST, warn_of_uncommitted, warn_of_unpushed
from reconciler.console.clock import given_or_current_time
from reconciler.console.idle_options import is_option_given
from reconciler.console.log import Log
from reconciler.deliver.report_rows import ReportRows
from reconciler.guards.allowances import Allowed
from reconciler.repository import Repository
from render.timing import instant_text, parse_instant

from .options import ReconcileOptions


class RepeatedReport(Struct, frozen=True, kw_only=True):
    """The report of a pass that would do nothing: its commits and branches, its exit code, its first line and its rows.

    ``problems`` are the lines of what is not as committed, which the rows have as well. ``next_flip`` is until when
    it would ("": for good). ``waits_for_clusters``: a rollout or a move goes on by what is seen of members.
    """

    source: str
    rendered: str
    names: BranchNames
    code: int
    line: str
    rows: ReportRows | None = None
    problems: tuple[str, ...] = ()
    next_flip: str = ""
    waits_for_clusters: bool = False

    @property
    def next_wall(self) -> float | None:
        """The time of day at which a pass would decide otherwise by itself; None for never."""
        found = parse_instant(self.next_flip)
        return found.timestamp() if found else None


def read_repeated_report(repository: Repository, options: ReconcileOptions, log: Log) -> RepeatedReport | None:
    """Return what the last pass reported after logging its warnings again; None when there is a pass to do."""
    checkpoint = _up_to_date_checkpoint(repository, options)
    if checkpoint is None:
        return None
    proposal = _line_of_waiting_proposal(repository, checkpoint)
    if proposal is None:
        return None
    rows, problems, code = None, tuple[str, ...](), 0
    if checkpoint.members is not None:
        from .idle_pass import fleet_still_idle

        at = given_or_current_time(options.now)
        remembered = fleet_still_idle(repository, checkpoint, options.delivery, log, at)
        if remembered is None:
            return None
        rows, problems, code = remembered.rows, remembered.problems, remembered.code
    _warn_of_what_is_left_out(repository, checkpoint, log)
    log.warn_of((*checkpoint.warnings, *checkpoint.problems))
    rendered, source = str(checkpoint.tips.rendered), checkpoint.tips.source
    return RepeatedReport(
        source=source,
        rendered=rendered,
        names=checkpoint.names,
        code=code or (1 if checkpoint.problems else 0),
        line=proposal or f"unchanged: {checkpoint.branch} {rendered[:12]} holds source {source[:12]}",
        rows=rows,
        problems=problems,
        next_flip=checkpoint.next_flip,
        waits_for_clusters=checkpoint.waits_for_clusters,
    )


def _warn_of_what_is_left_out(repository: Repository, checkpoint: Checkpoint, log: Log) -> None:
    """Warn of commits and edits that are not in the source of a pass, which is done for the tip of a branch alone."""
    names = checkpoint.names
    if names.source_remote:
        warn_of_unpushed(repository, names.source_remote, names.source_ref, checkpoint.tips.source, log)
        warn_of_uncommitted(repository, log, hint=PUSH_FIRST)
    else:
        warn_of_uncommitted(repository, log)


def _line_of_waiting_proposal(repository: Repository, checkpoint: Checkpoint) -> str | None:
    """Return the line of a proposal that still waits for a person ("": there is none); None where a pass is to do."""
    proposed = checkpoint.proposed
    if proposed is None:
        return ""
    from reconciler.branches.known_fleets import read_known_fleet
    from reconciler.branches.publication import publication_of

    from .pass_lines import proposal_line
    from .proposing import known_proposal

    fleet = read_known_fleet(repository, checkpoint.tips.source, proposed.fleet_path)
    proposal = known_proposal(publication_of(repository, fleet), fleet, proposed.commit)
    return None if proposal is None else proposal_line(proposal, proposed.what)


def _up_to_date_checkpoint(repository: Repository, options: ReconcileOptions) -> Checkpoint | None:
    """Return the checkpoint of a pass with these options, if all branches stand where it left them."""
    # What is allowed names clusters, which are looked up in the source.
    if options.rev or options.allowed != Allowed():
        return None
    checkpoint = read_checkpoint(repository)
    if checkpoint is None:
        return None
    if checkpoint.next_flip and instant_text(given_or_current_time(options.now)) >= checkpoint.next_flip:
        return None
    reaches = checkpoint.members is not None
    is_another = options.dry_run if reaches else any(map(is_option_given, options.delivery.names()))
    return None if is_another or not are_branches_as_left(repository, checkpoint) else checkpoint
