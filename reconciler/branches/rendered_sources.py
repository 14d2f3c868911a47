"""The source that a rendered commit was made from: fetched where it is not in this clone, and read."""

from reconciler.repository import Repository
from reconciler.repository.trailers import source_of_rendered_commit
from render.errors import GitError

from .publication import branch_of_head, fetch_source_branches, remote_of_branch, remote_of_source
from .reading import Source, read_observed_inputs, read_previous, read_source


def rendered_source(repository: Repository, commit: str) -> Source:
    """Return the source that a rendered commit was made from, by the facts of that commit; GitError: it is not here."""
    source, observed = source_of(repository, commit), read_observed_inputs(repository, commit)
    check_source_is_here(repository, source, commit)
    return read_source(repository, source, facts=lambda _fleet: observed.facts)


def source_of(repository: Repository, commit: str) -> str:
    """Return the source commit that a rendered commit was made from; GitError where it is none."""
    source = source_of_rendered_commit(repository, commit)
    if not source:
        remote = remote_of_source(repository)
        raise GitError(
            f"commit {commit[:12]} was not rendered by Argosy",
            hint=f"name a commit of the rendered branch: git log {f'{remote}/' if remote else ''}argosy/rendered",
        )
    return source


def fetch_rendered_source(repository: Repository, rendered: str) -> None:
    """Fetch the source that a rendered commit was made from, where it is not here: without it no source is newer.

    Where no branch is remembered and HEAD is on none, every branch of the remote that is tracked here is fetched.
    """
    if _is_commit_here(repository, source_of(repository, rendered)):
        return
    branch = read_previous(repository, rendered).branch or branch_of_head(repository)
    remote = remote_of_branch(repository, branch)
    if not remote or repository.mirrors:
        return
    names = [f"refs/heads/{branch}"]
    if not branch:
        tracked = f"refs/remotes/{remote}/"
        names = [f"refs/heads/{ref.removeprefix(tracked)}" for ref in repository.refs(tracked)]
    branches = [name for name, tip in repository.known_tips(remote, names).items() if tip is not None]
    if branches:
        fetch_source_branches(repository, remote, *branches)


def check_source_is_here(repository: Repository, source: str, rendered: str) -> None:
    """Raise GitError with the command that fetches it where the source of a rendered commit is not in this clone."""
    if not _is_commit_here(repository, source):
        raise _error_of_missing_source(repository, source, rendered)


def _is_commit_here(repository: Repository, commit: str) -> bool:
    try:
        return bool(repository.resolve(commit))
    except GitError:
        return False


def _error_of_missing_source(repository: Repository, source: str, rendered: str) -> GitError:
    """Return the error for a rendered commit whose source commit is not in this clone, as after a rewritten history."""
    remote = remote_of_source(repository)
    if repository.is_shallow:
        hint = "fetch the whole history: git fetch --unshallow"
    elif remote:
        hint = f"fetch it: git fetch {remote} {source}"
    else:
        hint = f"fetch it from a clone that has it: git fetch FOLDER {source}"
    return GitError(f"source {source[:12]}, which {rendered[:12]} was rendered from, is not in this clone", hint=hint)
