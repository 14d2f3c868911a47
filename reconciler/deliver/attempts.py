"""Attempts recorded on the status branch before any cluster is written to, so that pruning knows of them ever after.

The attempts of all members that are known or have answered are recorded in one commit. Before its first write each is
looked up again, for another pass may have finished meanwhile and replaced our record; what was read a few seconds ago
counts as now, so that a thousand clusters do not ask the remote a thousand times. One whose hold is another by then
gets nothing: what was planned for it is for another commit. Members that answer late have theirs
recorded in their own threads; those that come while another's commit is made share the next one.
"""

import threading
import time
from collections.abc import Callable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.status_branch import StatusBranch, files_that_record_attempts, read_inventories
from reconciler.ledger.holds import EndedHold, HoldRules, lines_of_ended_holds
from reconciler.ledger.inventory import Inventory
from reconciler.members.exchange import Failure, FailureKind

FRESH_SECONDS = 5.0


class AttemptRecord(Struct, kw_only=True):
    """The inventories on the status branch as last read, and the recording of attempts in them.

    ``hold_rules`` say which commit each cluster gets. ``now`` is the time of the commits made here, in seconds;
    ``clock`` measures how long ago the branch was read, which counts as now for ``fresh`` seconds.
    ``ended`` are the holds on members that were over, and that it took away. ``turn`` is held by whoever reads or
    writes the branch; ``wanted`` are the UIDs of clusters that wait for it.
    """

    status: StatusBranch
    hold_rules: HoldRules
    now: int
    clock: Callable[[], float] = time.monotonic
    fresh: float = FRESH_SECONDS
    turn: threading.Lock = field(default_factory=threading.Lock)
    wanted: dict[str, str] = field(default_factory=dict)
    ended: dict[str, EndedHold] = field(default_factory=dict)
    _known: Mapping[str, Inventory] = field(default_factory=dict)
    _read_at: float = float("-inf")

    def inventories(self) -> Mapping[str, Inventory]:
        """Read the inventories of all clusters as they are now."""
        self._known = read_inventories(self.status, self.status.tip())
        self._read_at = self.clock()
        return self._known

    def _ended_holds(self) -> dict[str, EndedHold]:
        """Return the holds on members that are over and still recorded, as they were last read."""
        recorded = {name: known.hold for name, known in self._known.items() if name in self.hold_rules.members}
        found = {name: self.hold_rules.ended_hold(name, hold) for name, hold in recorded.items()}
        return {name: each for name, each in found.items() if each is not None}

    def record(self, uid_by_cluster: Mapping[str, str]) -> Mapping[str, Inventory]:
        """Record in one commit that clusters are about to get the commit, and return all inventories after that."""
        made = files_that_record_attempts(self.status, self.hold_rules, uid_by_cluster)
        ended = self._ended_holds()
        self.ended.update(ended)
        message = "\n\n".join([f"Attempt {self.hold_rules.commit[:12]}", *lines_of_ended_holds(ended)])
        self.status.commit(made, message, time=self.now)
        # From here on the branch says what is held: who changes that now knows of this apply.
        self.hold_rules = replace(self.hold_rules, set_for=frozenset())
        return self.inventories()

    def ensure_recorded(self, cluster: str, uid: str, commit: str) -> Failure | None:
        """Record an attempt unless the branch has it: of a cluster that answered late, or whose record was replaced.

        Any thread may ask for this. A failure says that the cluster is to get another ``commit`` than was planned, for
        somebody has begun or ended a hold on it meanwhile.
        """
        self.wanted[cluster] = uid
        with self.turn:
            if not (self._was_read_recently() and self._has_recorded_attempt(cluster, uid)):
                self.status.ask_remote_again()
                self.record(self.wanted | {cluster: uid})
            self.wanted.pop(cluster, None)
            known = self._known.get(cluster)
        if known is None or self.hold_rules.commit_for(cluster, known.hold) == commit:
            return None
        held = str(known.hold) if known.hold is not None else "not held any more"
        return Failure(
            kind=FailureKind.HELD,
            message=f"{cluster!r} is {held}, which was said after this pass had begun: nothing was written",
            hint="the next pass goes by it",
        )

    def _was_read_recently(self) -> bool:
        return self.clock() - self._read_at < self.fresh

    def _has_recorded_attempt(self, cluster: str, uid: str) -> bool:
        known = self._known.get(cluster)
        return known is not None and known.with_attempt(self.hold_rules.commit_for(cluster, known.hold), uid) == known
