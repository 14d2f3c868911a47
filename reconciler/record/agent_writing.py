"""The branch that one cluster's agent writes: what it sees and does there, and nothing about any other cluster.

It is read and written as passes read and write the status branch, of which it holds one cluster's files, by a transport
that may have to wait for Git (``Uplink``).
"""

from msgspec import Struct
from msgspec.structs import replace as replaced

from reconciler.branches.status_branch import StatusBranch
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.observe.cluster_status import seconds_between
from render.errors import ReconcileError

from .heard_words import MOST_SKEW
from .recorded_status import read_recorded


class AgentReport(Struct, frozen=True, kw_only=True):
    """The report of the agent of ``cluster``, on ``status``, the branch that it writes."""

    cluster: str
    status: StatusBranch

    def record_beat(self, now: str, every: float, *, is_all: bool = False) -> None:
        """Record that the agent lives, where that was recorded longer ago than it is to be.

        It goes with what is known of the cluster, unless it ``is_all`` that is told of it.
        """
        tip = self.status.tip()
        record = read_recorded(self.status, tip, ("clusters",)).cluster(self.cluster)
        if record is None and is_all:
            record = ClusterRecord(state=ClusterState(name=self.cluster))
        # A heartbeat of the future was recorded by a clock that has been set right since.
        if record is None or (record.heartbeat and 0 <= seconds_between(record.heartbeat, now) < every):
            return
        content = replaced(record, heartbeat=now).content()
        files = {ClusterRecord.at(self.cluster): content}
        self.status.commit(lambda _tip: files, f"{self.cluster} is alive", time=_seconds_since_epoch(now))

    def record_refusal(self, refusal: ReconcileError | None, now: str) -> None:
        """Record why the newest commit of the mirror is refused, or that none is, where that is new."""
        known = read_recorded(self.status, self.status.tip(), ("clusters",)).cluster(self.cluster)
        record = known or ClusterRecord(state=ClusterState(name=self.cluster))
        message, hint = (refusal.message, refusal.hint or "") if refusal else ("", "")
        if (record.refused, record.refused_hint) == (message, hint):
            return
        content = replaced(record, refused=message, refused_hint=hint).content()
        said = f"{self.cluster} refuses a commit" if refusal else f"{self.cluster} refuses no commit any more"
        self.status.commit(lambda _tip: {ClusterRecord.at(self.cluster): content}, said, time=_seconds_since_epoch(now))

    def record_clock_fault(self, fault: str, now: str) -> None:
        """Record by how much the clock here is wrong ("": it is not), where that is new; some seconds are not."""
        record = read_recorded(self.status, self.status.tip(), ("clusters",)).cluster(self.cluster)
        if record is None or _is_almost_same_clock_fault(record.clock, fault):
            return
        content = replaced(record, clock=fault).content()
        said = f"the clock of {self.cluster} is wrong" if fault else f"the clock of {self.cluster} is right again"
        self.status.commit(lambda _tip: {ClusterRecord.at(self.cluster): content}, said, time=_seconds_since_epoch(now))


def _is_almost_same_clock_fault(recorded: str, fault: str) -> bool:
    """Say whether two texts about a clock, which begin with its error in seconds, say almost the same."""
    (before, *words), (after, *others) = recorded.split() or ("0",), fault.split() or ("0",)
    return words == others and abs(int(before) - int(after)) <= MOST_SKEW


def _seconds_since_epoch(now: str) -> int:
    return int(seconds_between("1970-01-01T00:00:00Z", now))
