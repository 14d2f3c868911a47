"""The source commit of a pass: a revision, the newest commit of the remote's branch, or HEAD without a remote."""

from contextlib import suppress

from msgspec import Struct

from reconciler.branches.in_force import fleet_source_at, settings_in_force
from reconciler.branches.in_force import rendered_tip_asked_of_remote as asked_rendered_tip
from reconciler.branches.left_out import PUSH_FIRST, is_head_left_out, warn_of_uncommitted, warn_of_unpushed
from reconciler.branches.publication import fetch_source_branches, remote_of_source
from reconciler.console.log import Log
from reconciler.guards.source_branch import check_source_branch
from reconciler.repository import Repository
from reconciler.repository.refs import head_branch, is_ref_name
from reconciler.repository.trailers import SOURCE, commit_written_by_argosy
from render.errors import GitError, ReconcileError


class SourceTip(Struct, frozen=True, kw_only=True):
    """The commit to render, and the remote ("": this repository) and ref ("": a revision) it is the tip of.

    ``branch`` is the one that the clone stands on, or that the revision names ("": none).
    """

    commit: str
    remote: str = ""
    ref: str = ""
    branch: str = ""

    @property
    def checked_out(self) -> str:
        """The branch whose newest commit this is because the clone stands on it; empty for any other commit."""
        return self.branch if self.ref else ""

    def check_branch(self, repository: Repository, branch: str) -> None:
        """Raise SourceElsewhere unless the commit is of the branch that the fleet is rendered from ("": of any)."""
        if self.checked_out != branch:
            check_source_branch(repository, branch, self.commit, checked_out=self.checked_out)

    def hint_of_rewind(self, branch: str) -> str:
        """Return what to do where this is older than what is rendered; empty where the fleet's branch itself is."""
        return f"git switch {branch}: passes render that branch" if self.checked_out not in {"", branch} else ""


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
    remote, branch = source_branch(repository)
    if revision:
        return SourceTip(commit=repository.resolve(revision), branch=_branch_named(repository, remote, revision))
    if repository.mirrors and branch is not None and repository.tip(branch) is None:
        named = branch.replace(f"refs/remotes/{remote}/", "refs/heads/")
        raise _error_without_branch(repository, remote, named, _rendered_source(repository), is_meant=True)
    if not remote or repository.mirrors or branch is None:
        warn_of_uncommitted(repository, log)
        return SourceTip(commit=repository.resolve("HEAD"), ref="HEAD", branch=_short_name(branch, repository.mirrors))
    with log.timed("fetch source"):
        commit = _fetch_tip(repository, remote, branch)
        if commit is None:
            return _tip_beside(repository, remote, branch)
        _warn_of_what_is_left_out(repository, remote, branch, commit, log)
        return SourceTip(commit=commit, remote=remote, ref=branch, branch=_short_name(branch))


def _warn_of_what_is_left_out(repository: Repository, remote: str, branch: str, commit: str, log: Log) -> None:
    """Warn of commits and edits that are not in the source, which is where the branch is at the remote.

    Nobody shall push a branch for a pass from which the fleet is not rendered: that one is refused as it is.
    """
    if is_head_left_out(repository, commit) and _fleet_branch(repository, commit) in {"", _short_name(branch)}:
        warn_of_unpushed(repository, remote, branch, commit, log)
    warn_of_uncommitted(repository, log, hint=PUSH_FIRST)


def _tip_beside(repository: Repository, remote: str, branch: str) -> SourceTip:
    """Return HEAD as the source, whose branch the remote does not have, if it is of the fleet's branch all the same.

    The branch that a clone stands on need not be the one that the fleet is rendered from. Then nobody shall push it for
    a pass. What is of neither is an error.
    """
    head = repository.tip("HEAD")
    meant = _fleet_branch(repository, head) if head is not None else ""
    tip = SourceTip(commit=head or "", ref="HEAD", branch=_short_name(branch))
    if meant in {"", tip.branch}:
        known = repository.tip(f"refs/remotes/{remote}/{tip.branch}")
        raise _error_without_branch(repository, remote, branch, known, is_meant=bool(meant))
    tip.check_branch(repository, meant)
    return tip


def _branch_named(repository: Repository, remote: str, revision: str) -> str:
    """Return the branch that a revision names; empty for a tag, an id and any other revision."""
    name = _short_name(revision).removeprefix("refs/remotes/").removeprefix(f"{remote}/" if remote else "")
    refs = (f"refs/heads/{name}", f"refs/remotes/{remote}/{name}")
    if name == "HEAD":  # a clone has a ref of this name as well: that of the remote's default branch
        return ""
    return name if any(is_ref_name(ref) and repository.tip(ref) is not None for ref in refs) else ""


def _short_name(branch: str | None, mirrored: str = "") -> str:
    """Return the name of a branch as people write it; empty for none."""
    return (branch or "").removeprefix(f"refs/remotes/{mirrored}/" if mirrored else "refs/heads/")


def source_branch(repository: Repository) -> tuple[str, str | None]:
    """Return the remote that the source comes from ("": this repository), and its branch (None: HEAD is detached)."""
    return remote_of_source(repository), head_branch(repository.folder.git_dir)


def source_tip_asked_of_remote(repository: Repository) -> str:
    """Return where the source stands now, asking the remote for this one branch and fetching nothing."""
    remote, branch = source_branch(repository)
    if not remote or branch is None:
        return repository.resolve("HEAD")
    ref = branch
    if repository.mirrors:
        ref = f"refs/heads/{branch.removeprefix(f'refs/remotes/{repository.mirrors}/')}"
    tip = repository.remote_tips(remote, [ref]).tips.get(ref)
    if tip is None and repository.mirrors:
        raise _error_without_branch(repository, remote, ref, None, is_meant=True)
    return _tip_beside(repository, remote, ref).commit if tip is None else tip


def _error_without_branch(
    repository: Repository, remote: str, branch: str, known: str | None, *, is_meant: bool
) -> GitError:
    """Return the error for a source branch that the remote does not have.

    ``known`` is where it stood when it was last seen. ``is_meant``: it is the one that the fleet is rendered from.
    """
    if known:
        return SourceBranchGone(remote, branch, known)
    name = _short_name(branch)
    if is_meant or not repository.remote_tips(remote).tips:
        hint = f"git push {remote} {name}, or name the source: --rev REVISION"
    else:
        hint = "stand on the branch that the fleet is to be rendered from, or name the source: --rev REVISION"
    return GitError(f"{remote!r} has no branch {name!r}", hint=hint)


def _fleet_branch(repository: Repository, commit: str) -> str:
    """Return the branch that the fleet of a commit is rendered from, as far as is known; empty where nothing says."""
    found = None
    with suppress(ReconcileError):
        found = settings_in_force(repository, commit, asked_rendered_tip)
    if found is not None and found.branch:
        return found.branch
    return fleet_source_at(repository, commit).fleet.source.branch


def _rendered_source(repository: Repository) -> str | None:
    """Return the source that was rendered last, where a mirror has but one rendered branch; it has no source branch."""
    tips = [
        tip
        for ref, tip in repository.refs(f"refs/remotes/{repository.mirrors}/").items()
        if _is_name_of_rendered_branch(ref)
    ]
    sources = commit_written_by_argosy(repository, tips[0]).trailer(SOURCE) if len(tips) == 1 else ()
    return sources[0] if sources else None


def _is_name_of_rendered_branch(ref: str) -> bool:
    """Return whether a branch has the name that a rendered one has unless argosy.yaml says otherwise."""
    prefix, _, name = ref.removeprefix("refs/remotes/").rpartition("/")
    return name == "rendered" and prefix.rpartition("/")[2].startswith("argosy")


def _fetch_tip(repository: Repository, remote: str, branch: str) -> str | None:
    """Fetch a branch, all of its history if this clone is shallow, and return its tip; None where there is none."""
    tip = repository.known_tips(remote, [branch])[branch]
    local = f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}"
    if tip is None:
        return None
    # The removal guard reads the trailers of all commits since the last rendered one, which a shallow clone may lack.
    if repository.is_shallow or repository.tip(local) != tip:
        fetch_source_branches(repository, remote, branch)
    return repository.tip(local) or tip
