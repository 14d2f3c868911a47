"""The staleness of records: a cluster has what a commit asks for, it has not yet, or nobody knows any more, and why.

What is recorded of a cluster's objects was true when it was last looked at. It counts only if the last look at the
cluster and the last run over it succeeded: a cluster that was swapped, died or was refused meanwhile keeps its old
files, and they say nothing of what is there now. Passes that find nothing new record nothing, so that the times are
those of the last change that was recorded.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.console.clock import age_in_words
from reconciler.ledger.cluster import ClusterRecord
from reconciler.ledger.conditions import condition_of_type
from reconciler.ledger.holds import ClusterHold, ClusterHolds, release_hint
from reconciler.ledger.inventory import ApplyOutcome
from reconciler.record.recorded_status import RecordedStatus
from render.cluster import Cluster, is_applied_by_own_agent
from render.failover.health import READY, UNKNOWN
from render.settings.fleet import Fleet

NOT_REACHED = "argosy.yaml does not say how it is reached: whoever applies its folder knows what is in it"
NO_AGENT = "it pulls, and its agent has reported nothing yet"
NO_AGENT_HINT = "argosy cluster agent prints what installs its agent; its log says what keeps it from reporting"
SILENT_AGENT_HINT = "see the log of its agent: kubectl -n argosy-system logs deployment/argosy-agent"
DOCTOR_HINT = "argosy doctor asks the same where passes run; what is well there by now, the next pass records as such"
"""The hint about a record of trouble that may be over, or that may be seen from nowhere but where passes run."""
NOT_READ_YET = "no pass has yet read what the tool that applies its folder did"
NO_RUN = "nothing is recorded of it yet: no run has reached it"
_FINISHED = frozenset({ApplyOutcome.CONVERGED, ApplyOutcome.INCOMPLETE})


HELD = "Held"
"""The reason of a cluster that has what it is held at."""


class MemberProgress(Struct, frozen=True, kw_only=True):
    """The progress of a cluster towards a rendered commit.

    ``reason`` (one word), ``message`` and ``hint`` say why it is not known to have the commit; all are empty if it is.
    ``since`` is the time of the first recorded look or run that said so. ``is_known``: the last look and the last run
    succeeded, so that what is recorded of its objects can be relied on. ``is_complete``: nothing was left otherwise
    than the commit says. ``is_awaited``: passes apply to it, so that it is not well until it has the commit. ``hold``
    is that on the cluster: it keeps newer commits out, and the newest one as well where the reason says so.
    """

    reason: str = ""
    message: str = ""
    hint: str = ""
    since: str = ""
    is_known: bool = True
    is_complete: bool = True
    is_awaited: bool = True
    hold: ClusterHold | None = None

    @property
    def is_reached(self) -> bool:
        """True where a run got through the commit, whatever it left undone."""
        return not self.reason

    @property
    def is_applied(self) -> bool:
        """True where the cluster has exactly what the commit asks for."""
        return self.is_reached and self.is_complete

    @property
    def hint_line(self) -> str:
        """The hint as the line below a message; empty for none."""
        return f"\n  hint: {self.hint}" if self.hint else ""


class AskedCommits(Struct, frozen=True, kw_only=True):
    """The rendered commits that clusters are asked for: the ``newest``, another in some, or that of a hold.

    ``held_at_newest`` are the clusters whose holds are at commits that ask the same of them as the newest one.
    ``newer_since`` is the time of the first commit that is newer than what a cluster has.
    """

    newest: str
    others: Mapping[str, str] = field(default_factory=dict)
    holds: ClusterHolds = field(default_factory=dict)
    held_at_newest: frozenset[str] = frozenset()
    newer_since: Mapping[str, str] = field(default_factory=dict)

    def asked_commit_of(self, cluster: str) -> str:
        """Return the commit that a cluster is asked for."""
        hold = self.holds.get(cluster)
        return self.others.get(cluster) or (hold.commit if hold is not None else self.newest)


def progress_of_members(
    recorded: RecordedStatus, fleet: Fleet, members: Iterable[Cluster], asked: AskedCommits
) -> Mapping[str, MemberProgress]:
    """Return the progress of every member towards the rendered commit that it is asked for."""
    records = recorded.clusters()
    found = {
        member.name: _progress_if_once_reached(
            _progress_in_record(records[member.name], recorded.converged_commit(member.name), asked),
            member,
            fleet,
        )
        if member.name in records
        else _progress_without_record(member, fleet)
        for member in members
    }
    return {name: _held_progress(name, each, asked) for name, each in found.items()}


def _held_progress(cluster: str, progress: MemberProgress, asked: AskedCommits) -> MemberProgress:
    """Return the progress of a cluster that may be held: what it is held at need not be the newest commit."""
    hold = asked.holds.get(cluster)
    if hold is None:
        return progress
    if progress.is_reached and cluster in asked.held_at_newest:
        return replace(progress, hold=hold)
    if not progress.is_reached:
        return replace(progress, message=f"{progress.message}; it is {hold}", hold=hold)
    message, hint = f"it is {hold}", release_hint(hold, cluster)
    return replace(progress, reason=HELD, message=message, hint=hint, since=hold.since, hold=hold)


def _progress_without_record(member: Cluster, fleet: Fleet) -> MemberProgress:
    if member.sync_mode == "Pull":
        return MemberProgress(reason="NoAgent", message=NO_AGENT, hint=NO_AGENT_HINT, is_known=False)
    if (
        fleet.is_reported_by_tools
        and fleet.reachable_members is not None
        and member.name not in fleet.reachable_members
    ):
        return MemberProgress(reason="NotTold", message=NOT_READ_YET, is_known=False)
    if fleet.reachable_members and member.name not in fleet.reachable_members:
        return MemberProgress(reason="NotReached", message=NOT_REACHED, is_known=False, is_awaited=False)
    return MemberProgress(reason="NotRecorded", message=NO_RUN, is_known=False)


def _progress_if_once_reached(progress: MemberProgress, member: Cluster, fleet: Fleet) -> MemberProgress:
    """Return the progress of a member with what to do where it was applied to, and argosy.yaml lists others by now."""
    is_left = bool(fleet.reachable_members) and member.name not in (fleet.reachable_members or ())
    if not is_left or progress.reason != "Behind" or is_applied_by_own_agent(member) or fleet.is_reported_by_tools:
        return progress
    hint = (
        f"argosy.yaml lists other clusters and not this one: list it there, or run argosy apply --cluster {member.name}"
    )
    return replace(progress, hint=hint)


def _progress_in_record(record: ClusterRecord, converged: str, asked: AskedCommits) -> MemberProgress:
    name = record.state.name
    commit = asked.asked_commit_of(name)
    if record.outcome and record.outcome not in _FINISHED:
        return _progress_of_failure(record)
    if record.refused:
        message = f"its agent refuses what its mirror has: {record.refused}"
        return MemberProgress(reason="Refused", message=message, hint=record.refused_hint, is_known=False)
    if record.state.condition_of_unseen_cluster:
        return _progress_of_unseen(record)
    if record.state.failing_since or record.state.ready not in {"", "True"}:
        return _progress_of_silent(record)
    is_complete = record.outcome == ApplyOutcome.CONVERGED and converged == commit
    # A cluster that was taken in again has no converged commit, whatever was applied to the one before it.
    if record.applied != commit or (not converged and record.outcome == ApplyOutcome.CONVERGED):
        state_words = f"it has {converged[:12]}" if converged else "it has none"
        teller = f"{record.deployer} has not" if record.deployer else "no run has"
        message = f"{teller} got to {commit[:12]} yet; {state_words}"
        since = asked.newer_since.get(name) or record.since
        return MemberProgress(reason="Behind", message=message, since=since, is_complete=is_complete)
    return MemberProgress(since=record.since, is_complete=is_complete)


def _progress_of_failure(record: ClusterRecord) -> MemberProgress:
    why = f"{record.outcome}: {record.message}" if record.message else record.outcome
    return MemberProgress(
        reason=record.outcome,
        message=f"{record.deployer or 'the last run'} failed{_time_of_first_failure(record.since)}: {why}",
        hint=record.hint,
        since=record.since,
        is_known=False,
    )


def _progress_of_unseen(record: ClusterRecord) -> MemberProgress:
    """Return the progress of a cluster that we cannot see: it may be well, and nothing leaves it for that."""
    unseen = record.state.condition_of_unseen_cluster
    reason, since = str(unseen.get("reason") or ""), str(unseen.get("lastTransitionTime") or "")
    return MemberProgress(
        reason=reason,
        message=f"it cannot be seen{_time_of_first_failure(since)}: {reason}: {unseen.get('message') or ''}",
        hint=record.state.unseen_hint or DOCTOR_HINT,
        since=since,
        is_known=False,
    )


def _progress_of_silent(record: ClusterRecord) -> MemberProgress:
    ready = condition_of_type(record.state.status.get("conditions"), READY)
    is_reported = ready.get("status") != "True"
    since = record.state.failing_since or str(ready.get("lastTransitionTime") or "")
    why = f": {ready.get('reason', '')}: {ready.get('message', '')}" if is_reported else ""
    return MemberProgress(
        reason=str(ready.get("reason") or "NotReady") if is_reported else "NotReady",
        message=f"the last look at it failed{_time_of_first_failure(since)}{why}",
        hint=SILENT_AGENT_HINT if ready.get("status") == UNKNOWN and not record.deployer else DOCTOR_HINT,
        since=since,
        is_known=False,
    )


def _time_of_first_failure(since: str) -> str:
    """Return the time of the first failure of a row; each later one is recorded only where it differs.

    Pages keep what they read of a commit for hours, in which an age would grow old.
    """
    return f" (first at {since})" if since else ""


def time_since_in_words(since: str, now: float) -> str:
    """Return how long ago an RFC 3339 time was, ``now`` in seconds; empty for what is no time.

    >>> time_since_in_words("2027-01-15T08:00:00Z", 1_800_000_000 + 250), time_since_in_words("", 0)
    ('4m', '')
    """
    try:
        seconds = int(now - datetime.fromisoformat(since).timestamp())
    except ValueError:
        return ""
    return age_in_words(seconds)
