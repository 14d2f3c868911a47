"""The guard against a source from elsewhere than the branch that a fleet is rendered from.

1. The branch is that of argosy.yaml, or else the one that the rendered commit remembers: that of the first pass.
2. A source commit has to be in its history at the remote: what is not pushed, or not merged, is nobody's source yet.
   Where there is no remote, the branch of this repository decides.
3. A history that is not here is fetched. Where it cannot be had, nobody knows, and that is said.
"""

from reconciler.branches.publication import Publication, fetch_source_branches, remote_of_branch
from reconciler.repository import Repository
from reconciler.repository.history import has_whole_history
from reconciler.repository.refs import is_ref_name
from render.errors import GitError, GuardRefused

ANOTHER_BRANCH = "argosy.yaml names another one for good: spec.source.branch"
"""The way to have another branch rendered."""


class SourceElsewhere(GuardRefused):
    """A source commit is not of the branch that its fleet is rendered from."""


def check_source_branch(repository: Repository, branch: str, commit: str, *, checked_out: str = "") -> None:
    """Raise SourceElsewhere for a source commit that is not in the history of a branch at the remote.

    ``branch`` is the one that the fleet is rendered from ("": nothing says which), and ``checked_out`` the one that the
    clone stands on, where this is why that commit was to be rendered.
    """
    if not branch:
        return
    if not is_ref_name(f"refs/heads/{branch}"):
        raise SourceElsewhere(
            f"the fleet is rendered from {branch!r}, which is no name of a branch", hint=ANOTHER_BRANCH
        )
    remote = remote_of_branch(repository, branch)
    tip = _newest_tip(repository, remote, branch)
    if tip is None:
        raise SourceElsewhere(_words_without_branch(repository, remote, branch), hint=_hint_without_branch(branch))
    if not _follows(repository, commit, tip):
        raise _source_elsewhere(repository, branch, commit, checked_out=checked_out)


def check_source_branch_here(repository: Repository, branch: str, commit: str) -> None:
    """Do the same for a commit of this repository's own branches: by what is known here, and nobody is asked."""
    remote = remote_of_branch(repository, branch)
    known = (f"refs/heads/{branch}", f"refs/remotes/{remote}/{branch}" if remote else "")
    tips = [tip for ref in known if branch and is_ref_name(ref) and (tip := repository.tip(ref))]
    if branch and not tips:
        hint = f"git fetch {remote} {branch}:refs/remotes/{remote}/{branch}" if remote else _hint_without_branch(branch)
        raise SourceElsewhere(f"the fleet is rendered from branch {branch!r}, which is not known here", hint=hint)
    if branch and not any(_follows(repository, commit, tip) for tip in tips):
        raise _source_elsewhere(repository, branch, commit)


def _source_elsewhere(repository: Repository, branch: str, commit: str, *, checked_out: str = "") -> SourceElsewhere:
    """Return the refusal of a source commit that is not of the branch that its fleet is rendered from."""
    remote = remote_of_branch(repository, branch)
    at = f" at {Publication(repository=repository, remote=remote).place!r}" if remote else ""
    message = f"source {commit[:12]} is not on branch {branch!r}{at}, which this fleet is rendered from"
    return SourceElsewhere(message, hint=_hint(repository, remote, branch, commit, checked_out))


def _hint(repository: Repository, remote: str, branch: str, commit: str, checked_out: str) -> str:
    """Return what to do about a source commit that is not of the branch."""
    if repository.mirrors:
        return (
            f"--rev {branch} renders that one, as a pass without --rev does where it is the default; {ANOTHER_BRANCH}"
        )
    here = repository.tip(f"refs/heads/{branch}")
    if remote and checked_out in {"", branch} and here is not None and _follows(repository, commit, here):
        return f"it is not pushed yet: git push {remote} {branch}"
    to_branch = f"git switch {branch}" if checked_out else f"--rev {remote}/{branch}" if remote else f"--rev {branch}"
    return (
        f"merge it there first (argosy diff shows what it would change), or render that branch: {to_branch};"
        f" {ANOTHER_BRANCH}"
    )


def _words_without_branch(repository: Repository, remote: str, branch: str) -> str:
    """Return that a branch is nowhere."""
    place = Publication(repository=repository, remote=remote).place
    missing = f"which {place!r} does not have" if remote else "which is not in this repository"
    return f"this fleet is rendered from branch {branch!r}, {missing}"


def _hint_without_branch(branch: str) -> str:
    return (
        f"if {branch!r} has another name now, argosy.yaml says so: spec.source.branch, with --accept-settings;"
        " otherwise bring it back"
    )


def _newest_tip(repository: Repository, remote: str, branch: str) -> str | None:
    """Return where a branch stands at the remote, its history fetched; without a remote, where it stands here."""
    ref = f"refs/heads/{branch}"
    if not remote:
        return repository.tip(ref)
    tracked = f"refs/remotes/{remote}/{branch}"
    if repository.mirrors:
        return repository.tip(tracked)
    tip = repository.known_tips(remote, [ref])[ref]
    if tip is not None and (repository.is_shallow or repository.tip(tracked) != tip):
        fetch_source_branches(repository, remote, ref)
    return tip


def _follows(repository: Repository, commit: str, tip: str) -> bool:
    """Say whether a commit is in the history of a tip; GitError where that history is cut off before it is found."""
    try:
        return repository.is_ancestor(commit, tip)
    except GitError:
        if has_whole_history(repository.git, repository.folder, tip):
            return False
        raise
