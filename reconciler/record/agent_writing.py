"""The branch that one cluster's agent writes: what it sees and does there, and nothing about any other cluster.

It is read and written as passes read and write the status branch, of which it holds one cluster's files. While Git is
away the agent goes on: what it knows here counts, and what it records waits here until it can be pushed. Only an
inventory waits for nobody: that a cluster may get other objects is pushed before the first of them is written.
"""

from collections.abc import Callable

from msgspec import Struct, field
from msgspec.structs import replace as replaced

from reconciler.branches.agent_branches import is_own_path
from reconciler.branches.status_branch import Files, StatusBranch
from reconciler.ledger.cluster import ClusterRecord, ClusterState
from reconciler.ledger.inventory import Inventory
from reconciler.observe.cluster_status import seconds_between
from reconciler.repository import Fetching, RefUpdate
from render.errors import GitError, NoSuchBranch, ReconcileError, SourceMoved

from .heard_words import MOST_SKEW
from .recorded_status import read_recorded


class Link(Struct, kw_only=True):
    """The link to Git: why it broke (None: it did not), and whether what is written now may wait for it.

    Once it broke it is not tried again before somebody makes a new one. ``is_behind``: the remote's branch has moved.
    """

    failure: GitError | None = None
    may_wait: bool = False
    is_behind: bool = False


class AgentBranch(StatusBranch, frozen=True, kw_only=True):
    """The branch of the agent of ``cluster``, here and at the remote."""

    cluster: str
    link: Link = field(default_factory=Link)

    @property
    def local(self) -> str:
        """The ref of what is recorded here, pushed or not."""
        return f"refs/heads/{self.branch}"

    def tip(self) -> str | None:
        """Return where the branch stands: here, if that follows what the remote had when it was last fetched.

        The remote is asked again only where it turned out to have moved.
        """
        if self.link.is_behind:
            self._fetch()
        here, there = (self.repository.tip(ref) for ref in (self.local, self.publication.ref(self.branch)))
        if here is not None and (there is None or self.repository.is_ancestor(there, here)):
            return here
        return there

    def look_again(self) -> None:
        """Have the remote asked once more, unless it is away."""
        self.link.is_behind = self.link.failure is None

    def _fetch(self) -> None:
        self.link.is_behind = False
        tracked = self.publication.ref(self.branch)
        try:
            fetching = Fetching(refspecs=[f"+refs/heads/{self.branch}:{tracked}"])
            self.repository.fetch(self.publication.remote, fetching)
        except NoSuchBranch:
            if (known := self.repository.tip(tracked)) is not None:
                self.repository.update_ref(tracked, None, known)
        except GitError as error:
            self.link.failure = error

    def push(self) -> None:
        """Push what waits here, if it follows what the remote has; that Git is away is noted."""
        waiting = self.tip()
        there = self.repository.tip(self.publication.ref(self.branch))
        if self.link.failure is not None or waiting is None or waiting == there:
            return
        try:
            self._push(waiting)
        except SourceMoved:
            # Another agent of the cluster was faster, and what it saw is newer.
            self.repository.update_ref(self.local, None, waiting)
        except GitError as error:
            self.link.failure = error

    def beat(self, now: str, every: float, *, is_all: bool = False) -> None:
        """Record that the agent lives, where that was recorded longer ago than it is to be.

        It goes with what is known of the cluster, unless it ``is_all`` that is told of it.
        """
        tip = self.tip()
        record = read_recorded(self, tip, ("clusters",)).cluster(self.cluster)
        if record is None and is_all:
            record = ClusterRecord(state=ClusterState(name=self.cluster))
        # A heartbeat of the future was recorded by a clock that has been set right since.
        if record is None or (record.heartbeat and 0 <= seconds_between(record.heartbeat, now) < every):
            return
        content = replaced(record, heartbeat=now).content()
        files = {ClusterRecord.at(self.cluster): content}
        self.commit(lambda _tip: files, f"{self.cluster} is alive", time=_seconds(now))

    def tell_refusal(self, refusal: ReconcileError | None, now: str) -> None:
        """Record why the newest commit of the mirror is refused, or that none is, where that is new."""
        known = read_recorded(self, self.tip(), ("clusters",)).cluster(self.cluster)
        record = known or ClusterRecord(state=ClusterState(name=self.cluster))
        message, hint = (refusal.message, refusal.hint or "") if refusal else ("", "")
        if (record.refused, record.refused_hint) == (message, hint):
            return
        content = replaced(record, refused=message, refused_hint=hint).content()
        said = f"{self.cluster} refuses a commit" if refusal else f"{self.cluster} refuses no commit any more"
        self.commit(lambda _tip: {ClusterRecord.at(self.cluster): content}, said, time=_seconds(now))

    def tell_clock(self, fault: str, now: str) -> None:
        """Record by how much the clock here is wrong ("": it is not), where that is new; some seconds are not."""
        record = read_recorded(self, self.tip(), ("clusters",)).cluster(self.cluster)
        if record is None or _is_near(record.clock, fault):
            return
        content = replaced(record, clock=fault).content()
        said = f"the clock of {self.cluster} is wrong" if fault else f"the clock of {self.cluster} is right again"
        self.commit(lambda _tip: {ClusterRecord.at(self.cluster): content}, said, time=_seconds(now))

    def commit(
        self, made: Callable[[str | None], Files], message: str | Callable[[Files], str], *, time: int
    ) -> str | None:
        """Commit those of the files that are the cluster's own; None when they change nothing."""

        def own(tip: str | None) -> Files:
            files = {path: content for path, content in made(tip).items() if is_own_path(path, self.cluster)}
            self.link.may_wait = Inventory.at(self.cluster) not in files
            return files

        return StatusBranch.commit(self, own, message, time=time)

    def _move(self, commit: str, tip: str | None) -> None:
        del tip
        if self.link.failure is None:
            try:
                self._push(commit)
            except SourceMoved:
                self.link.is_behind = True
                raise
            except GitError as error:
                self.link.failure = error
        if self.link.failure is not None and not self.link.may_wait:
            raise self.link.failure
        self.repository.update_ref(self.local, commit, self.repository.tip(self.local), reason="argosy: agent")

    def _push(self, commit: str) -> None:
        ref = self.publication.ref(self.branch)
        known = self.repository.tip(ref)
        if known is not None and not self.repository.is_ancestor(known, commit):
            raise SourceMoved(f"another process moved {self.branch!r} in this store", hint="run again")
        self.repository.push(self.publication.remote, [RefUpdate(f"refs/heads/{self.branch}", commit, known)])
        # git itself has moved it, where it tracks the remote's branches.
        self.repository.update_ref(ref, commit, self.repository.tip(ref))


def _is_near(recorded: str, fault: str) -> bool:
    """Say whether two texts about a clock, which begin with its error in seconds, say almost the same."""
    (before, *words), (after, *others) = recorded.split() or ("0",), fault.split() or ("0",)
    return words == others and abs(int(before) - int(after)) <= MOST_SKEW


def _seconds(now: str) -> int:
    return int(seconds_between("1970-01-01T00:00:00Z", now))
