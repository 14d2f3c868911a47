"""The transport of an agent's branch: pushed as it is written, or as soon as Git can be reached again.

While Git is away the agent goes on: what it knows here counts, and what it records waits here until it can be pushed.
Only an inventory waits for nobody: that a cluster may get other objects is pushed before the first of them is written.
"""

from collections.abc import Container

from msgspec import Struct

from reconciler.ledger.inventory import Inventory
from reconciler.repository import Fetching, RefUpdate, Repository
from render.errors import GitError, NoSuchBranch, SourceMoved

from .agent_branches import is_own_path
from .publication import Publication


class Uplink(Struct, kw_only=True):
    """The way of the agent of ``cluster``, which writes that cluster's files alone and may have to wait for Git.

    ``failure`` is why Git is away (None: it is not). Once it is, it is not tried again before somebody makes a new
    uplink. ``is_behind``: the remote's branch has moved.
    """

    publication: Publication
    branch: str
    cluster: str
    failure: GitError | None = None
    is_behind: bool = False

    @property
    def repository(self) -> Repository:
        """The agent's repository."""
        return self.publication.repository

    @property
    def local_ref(self) -> str:
        """The ref of what is recorded here, pushed or not."""
        return f"refs/heads/{self.branch}"

    @property
    def remote_tracking_ref(self) -> str:
        """The ref of what the remote had when it was last asked."""
        return self.publication.ref(self.branch)

    def tip(self) -> str | None:
        """Return where the branch stands: here, if that follows what the remote had when it was last fetched.

        The remote is asked again only where it turned out to have moved.
        """
        if self.is_behind:
            self._fetch()
        here, there = self.repository.tip(self.local_ref), self.repository.tip(self.remote_tracking_ref)
        if here is not None and (there is None or self.repository.is_ancestor(there, here)):
            return here
        return there

    def ask_remote_again(self) -> None:
        """Have the remote asked once more, unless it is away."""
        self.is_behind = self.failure is None

    def is_carried(self, path: str) -> bool:
        """Say whether a file is about the cluster."""
        return is_own_path(path, self.cluster)

    def move_branch(self, commit: str, tip: str | None, written: Container[str]) -> None:
        """Move the branch at the remote and here; here alone while Git is away, for files that may wait."""
        del tip
        if self.failure is None:
            try:
                self._push(commit)
            except SourceMoved:
                self.is_behind = True
                raise
            except GitError as error:
                self.failure = error
        if self.failure is not None and Inventory.at(self.cluster) in written:
            raise self.failure
        self.repository.update_ref(self.local_ref, commit, self.repository.tip(self.local_ref), reason="argosy: agent")

    def push(self) -> None:
        """Push what waits here, if it follows what the remote has; that Git is away is noted."""
        waiting = self.tip()
        if self.failure is not None or waiting is None or waiting == self.repository.tip(self.remote_tracking_ref):
            return
        try:
            self._push(waiting)
        except SourceMoved:
            # Another agent of the cluster was faster, and what it saw is newer.
            self.repository.update_ref(self.local_ref, None, waiting)
        except GitError as error:
            self.failure = error

    def _fetch(self) -> None:
        self.is_behind = False
        try:
            fetching = Fetching(refspecs=[f"+refs/heads/{self.branch}:{self.remote_tracking_ref}"])
            self.repository.fetch(self.publication.remote, fetching)
        except NoSuchBranch:
            if (known := self.repository.tip(self.remote_tracking_ref)) is not None:
                self.repository.update_ref(self.remote_tracking_ref, None, known)
        except GitError as error:
            self.failure = error

    def _push(self, commit: str) -> None:
        known = self.repository.tip(self.remote_tracking_ref)
        if known is not None and not self.repository.is_ancestor(known, commit):
            raise SourceMoved(f"another process moved {self.branch!r} in this store", hint="run again")
        self.repository.push(self.publication.remote, [RefUpdate(f"refs/heads/{self.branch}", commit, known)])
        # git itself has moved it, where it tracks the remote's branches.
        self.repository.update_ref(self.remote_tracking_ref, commit, self.repository.tip(self.remote_tracking_ref))
