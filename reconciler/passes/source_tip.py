"""The source commit of a pass: a revision, the newest commit of the remote's branch, or HEAD without a remote."""

from msgspec import Struct

from reconciler.branches.left_out import warn_of_uncommitted
from reconciler.branches.publication import fetch_source_branches, source_remote
from reconciler.console.log import Log
from reconciler.repository import Repository
from reconciler.repository.refs import head_branch
from reconciler.repository.trailers import SOURCE, commit_written_by_argosy
from render.errors import GitError


class SourceTip(Struct, frozen=True, kw_only=True):
    """The commit to render, and the remote ("": this repository) and ref ("": a revision) it is the tip of."""

    commit: str
    remote: str = ""
    ref: str = ""


class SourceBranchGone(GitError):
    """The remote has no source branch any more; ``commit`` is where it stood when it was last seen."""

    def __init__(self, remote: str, branch: str, commit: str) -> None:
        super().__init__(
            f"{remote!r} has no branch {branch.removeprefix('refs/heads/')!r} any more",
            hint="push it again, or name the source: --rev REVISION",
        )
        self.commit = commit


def find_source(repository: Repository, revision: str, log: Log) -> SourceTip:
    """Return the source of a pass, fetched where it comes from a remote."""
    if revision:
        return SourceTip(commit=repository.resolve(revision))
    remote, branch = source_branch(repository)
    if repository.mirrors and branch is not None and repository.tip(branch) is None:
        raise _no_source_branch(
            remote, branch.replace(f"refs/remotes/{remote}/", "refs/heads/"), _rendered_source(repository)
        )
    if not remote or repository.mirrors or branch is None:
        warn_of_uncommitted(repository, log)
        return SourceTip(commit=repository.resolve("HEAD"), ref="HEAD")
    with log.timed("fetch source"):
        return SourceTip(commit=_fetch_tip(repository, remote, branch), remote=remote, ref=branch)


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


def _no_source_branch(remote: str, branch: str, known: str | None) -> GitError:
    return SourceBranchGone(remote, branch, known) if known else _no_branch(remote, branch)


def _rendered_source(repository: Repository) -> str | None:
    """Return the source that was rendered last, where a mirror has but one rendered branch; it has no source branch."""
    tips = [tip for ref, tip in repository.refs(f"refs/remotes/{repository.mirrors}/").items() if _is_rendered(ref)]
    sources = commit_written_by_argosy(repository, tips[0]).trailer(SOURCE) if len(tips) == 1 else ()
    return sources[0] if sources else None


def _is_rendered(ref: str) -> bool:
    """Return whether a branch has the name that a rendered one has unless argosy.yaml says otherwise."""
    prefix, _, name = ref.removeprefix("refs/remotes/").rpartition("/")
    return name == "rendered" and prefix.rpartition("/")[2].startswith("argosy")


def _fetch_tip(repository: Repository, remote: str, branch: str) -> str:
    """Fetch a branch, all of its history if this clone is shallow, and return its tip."""
    tip = repository.known_tips(remote, [branch])[branch]
    local = f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}"
    if tip is None:
        raise _no_source_branch(remote, branch, repository.tip(local))
    # The removal guard reads the trailers of all commits since the last rendered one, which a shallow clone may lack.
    if repository.is_shallow or repository.tip(local) != tip:
        fetch_source_branches(repository, remote, branch)
    return repository.tip(local) or tip
