"""The source commit of a pass: a revision, the newest commit of the remote's branch, or HEAD without a remote."""

from msgspec import Struct

from reconciler.console.log import Log
from reconciler.publish.branches import fetch_source_branches, source_remote
from reconciler.publish.left_out import warn_of_uncommitted
from reconciler.repository import Repository
from reconciler.repository.refs import head_branch
from render.errors import GitError


class SourceTip(Struct, frozen=True, kw_only=True):
    """The commit to render, and the remote ("": this repository) and ref ("": a revision) it is the tip of."""

    commit: str
    remote: str = ""
    ref: str = ""


def find_source(repository: Repository, revision: str, log: Log) -> SourceTip:
    """Return the source of a pass, fetched where it comes from a remote."""
    if revision:
        return SourceTip(commit=repository.resolve(revision))
    remote, branch = source_branch(repository)
    if not remote or repository.mirrors or branch is None:
        warn_of_uncommitted(repository, log)
        return SourceTip(commit=repository.resolve("HEAD"), ref="HEAD")
    with log.timed("fetch source"):
        return SourceTip(commit=_fetched(repository, remote, branch), remote=remote, ref=branch)


def source_branch(repository: Repository) -> tuple[str, str | None]:
    """Return the remote that the source comes from ("": this repository), and its branch (None: HEAD is detached)."""
    return source_remote(repository), head_branch(repository.folder.git_dir)


def asked_tip(repository: Repository) -> str:
    """Return where the source stands now, asking the remote for this one branch and fetching nothing."""
    remote, branch = source_branch(repository)
    if not remote or branch is None:
        return repository.resolve("HEAD")
    ref = branch
    if repository.mirrors:
        ref = f"refs/heads/{branch.removeprefix(f'refs/remotes/{repository.mirrors}/')}"
    tip = repository.remote_tips(remote, [ref]).tips.get(ref)
    if tip is None:
        raise _no_branch(remote, ref)
    return tip


def _no_branch(remote: str, branch: str) -> GitError:
    return GitError(
        f"{remote!r} has no branch {branch.removeprefix('refs/heads/')!r}",
        hint="push it first, or name the source: --rev REVISION",
    )


def _fetched(repository: Repository, remote: str, branch: str) -> str:
    """Fetch a branch, all of its history if this clone is shallow, and return its tip."""
    tip = repository.known_tips(remote, [branch])[branch]
    if tip is None:
        raise _no_branch(remote, branch)
    local = f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}"
    # The removal guard reads the trailers of all commits since the last rendered one, which a shallow clone may lack.
    if repository.is_shallow or repository.tip(local) != tip:
        fetch_source_branches(repository, remote, branch)
    return repository.tip(local) or tip
