"""How far the rendered branch is behind the source: which commit it holds, which passes see, and what HEAD is to them.

Passes take the source from the remote, where there is one; a commit that was not pushed is rendered by nobody, and one
that changes no outcome makes no rendered commit.
"""

from dataclasses import dataclass
from enum import StrEnum

from reconciler.passes.one_pass import run_pass
from reconciler.passes.previous import Previous
from reconciler.passes.publication import source_remote
from reconciler.passes.reading import Source, read_evidence, read_source
from reconciler.report import Log
from reconciler.repository import Repository
from reconciler.repository.refs import head_branch
from render.errors import GitError, InputError


class Lag(StrEnum):
    """What the rendered branch holds of the newest source that passes see."""

    NONE = "None"
    UNCHANGED = "Unchanged"
    BEHIND = "Behind"
    AHEAD = "Ahead"


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceLag:
    """The source that is rendered, the ``newest`` that passes see as far as is known here, and HEAD."""

    rendered: str
    newest: str
    head: str
    lag: Lag = Lag.NONE
    is_pushed: bool = True

    @property
    def is_current(self) -> bool:
        """Whether the rendered commit is what the newest source asks for."""
        return self.lag is not Lag.BEHIND

    def __str__(self) -> str:
        newest = self.newest[:12]
        words = {
            Lag.NONE: "",
            Lag.UNCHANGED: f"; the newest, {newest}, asks for the same",
            Lag.BEHIND: f", but the newest source is {newest}: run argosy reconcile",
            Lag.AHEAD: ", which is newer than what is here: git pull",
        }
        if not self.is_pushed:
            return f"{words[self.lag]}; HEAD {self.head[:12]} is not pushed, so no pass sees it: git push"
        older = f"; HEAD {self.head[:12]} is older: git pull"
        return words[self.lag] + (older if self.head != self.newest and self.lag is not Lag.AHEAD else "")


def lag_of(repository: Repository, previous: Previous, head: Source, log: Log) -> SourceLag:
    """Compare the rendered commit with the newest source, which is rendered to see whether it changes anything."""
    newest = _newest(repository, head.commit) or previous.source
    is_pushed = newest == head.commit or _is_ancestor(repository, head.commit, newest)
    lag = _lag(repository, previous, newest)
    if lag is Lag.BEHIND and asks_for_the_same(repository, previous, newest, log):
        lag = Lag.UNCHANGED
    return SourceLag(rendered=previous.source, newest=newest, head=head.commit, lag=lag, is_pushed=is_pushed)


def asks_for_the_same(repository: Repository, previous: Previous, commit: str, log: Log) -> bool:
    """Whether a source makes the tree that is rendered, given the facts that was made by; a broken one makes none."""
    evidence = read_evidence(repository, previous.commit)
    try:
        source = read_source(repository, commit, facts=lambda _fleet: evidence.facts)
    except InputError:
        return False
    return not run_pass(repository, source, previous, evidence, log).changed


def _newest(repository: Repository, head: str) -> str | None:
    """Return the source that passes take: the remote's branch as it was last seen, or HEAD; None: never pushed."""
    remote, branch = source_remote(repository), head_branch(repository.folder.git_dir)
    if not remote or repository.mirrors or branch is None:
        return head
    return repository.tip(f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}")


def _lag(repository: Repository, previous: Previous, newest: str) -> Lag:
    if previous.source == newest:
        return Lag.NONE
    try:
        repository.resolve(previous.source)
    except GitError:
        return Lag.AHEAD
    return Lag.AHEAD if _is_ancestor(repository, newest, previous.source) else Lag.BEHIND


def _is_ancestor(repository: Repository, ancestor: str, commit: str) -> bool:
    try:
        return repository.is_ancestor(ancestor, commit)
    except GitError:  # this clone does not reach back far enough to know
        return False
