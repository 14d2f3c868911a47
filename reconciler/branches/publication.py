"""The branches of a fleet, in this repository or at a remote, and what is known of them."""

from msgspec import Struct

from reconciler.console.cleaning import without_passwords
from reconciler.console.log import Log
from reconciler.repository import Fetching, Repository
from reconciler.repository.refs import head_branch
from render.errors import ConfigError, GitError
from render.settings.fleet import Fleet

BOOTSTRAP = "argosy reconcile --bootstrap"
_WHOLE_HISTORY = 2**31 - 1


class Publication(Struct, frozen=True, kw_only=True):
    """The place where branches are written; ``remote`` is a name or an address, empty for this repository itself."""

    repository: Repository
    remote: str = ""

    @property
    def place(self) -> str:
        """The remote as people know it: its name, or its address without a password; empty for this repository."""
        mirrored = self.repository.mirrors
        is_mirrored = bool(mirrored) and self.remote == mirrored
        return without_passwords(
            self.repository.settings.last(f"remote.{mirrored}.url") if is_mirrored else self.remote
        )

    @property
    def fetch_command(self) -> str:
        """The command that brings the newest branches from there; empty for this repository."""
        if not self.remote or self.repository.mirrors:
            return ""
        return f"git fetch {self.place}"

    def nothing_rendered(self, branch: str, *, is_asked: bool = False) -> ConfigError:
        """Return the error for a fleet without a rendered branch; a remote that was not asked may have one by now."""
        if is_asked or not self.fetch_command:
            return ConfigError(f"nothing is rendered yet: there is no branch {branch!r}", hint=BOOTSTRAP)
        message = f"nothing rendered is known here: branch {branch!r} of {self.place!r} was not there when last fetched"
        return ConfigError(message, hint=f"{self.fetch_command}, or {BOOTSTRAP} if nothing was ever rendered")

    def ref(self, branch: str) -> str:
        """Return the local ref that stands for a branch there."""
        return f"refs/remotes/{_ref_folder_of_remote(self.remote)}/{branch}" if self.remote else f"refs/heads/{branch}"

    def known_tip(self, branch: str, *, is_first: bool | None = None) -> str | None:
        """Return where the branch stood when it was last seen; GitError when that is not known at all.

        ``is_first``: somebody says that there is no such branch yet, so that none known is none (None: nobody who
        asks can say so).
        """
        tip = self.repository.tip(self.ref(branch))
        if tip is None and self.remote and not is_first and not self._was_fetched():
            otherwise = "run argosy reconcile --bootstrap" if is_first is None else "pass --bootstrap"
            raise GitError(
                f"branch {branch!r} of {self.remote!r} was never fetched here, so the fleet's past is not known",
                hint=f"git fetch {self.remote} '+refs/heads/{branch}:{self.ref(branch)}',"
                f" or {otherwise} if the branch does not exist yet",
            )
        return tip

    def is_known(self, branch: str) -> bool:
        """Say whether it is known here where the branch stood, or that it was not there."""
        return not self.remote or self.repository.tip(self.ref(branch)) is not None or self._was_fetched()

    def _was_fetched(self) -> bool:
        """Return whether all branches of the remote are fetched here: then one that is absent was absent there."""
        if self.repository.mirrors:
            return True
        wanted = f"refs/heads/*:refs/remotes/{self.remote}/*"
        refspecs = self.repository.settings.values.get(f"remote.{self.remote}.fetch".lower(), ())
        covers = any(refspec.removeprefix("+") == wanted for refspec in refspecs)
        return covers and bool(self.repository.refs(f"refs/remotes/{self.remote}/"))

    def ask_for_tips(self, *branches: str) -> None:
        """Ask a remote for several branches at once, for which ``current_tip`` need not ask then."""
        if self.remote:
            self.repository.known_tips(self.remote, [f"refs/heads/{branch}" for branch in branches])

    def current_tip(self, branch: str) -> str | None:
        """Return where the branch stands, fetching what is new; None if it does not exist there.

        A remote is asked once, and again after a push that it refused.
        """
        if not self.remote:
            return self.repository.tip(self.ref(branch))
        name = f"refs/heads/{branch}"
        return self._fetch_tip(branch, self.repository.known_tips(self.remote, [name])[name])

    def newest_tip(self, branch: str) -> str | None:
        """Return the same, asking the remote again: somebody else may have moved the branch since this pass began."""
        if not self.remote:
            return self.repository.tip(self.ref(branch))
        name = f"refs/heads/{branch}"
        return self._fetch_tip(branch, self.repository.remote_tips(self.remote, [name]).tips.get(name))

    def _fetch_tip(self, branch: str, tip: str | None) -> str | None:
        name = f"refs/heads/{branch}"
        if tip is not None and self.repository.tip(self.ref(branch)) != tip:
            self.repository.fetch(self.remote, Fetching(refspecs=[f"+{name}:{self.ref(branch)}"]))
            tip = self.repository.tip(self.ref(branch))
        return tip


def _ref_folder_of_remote(remote: str) -> str:
    """Return the folder of refs for a remote: its name, or a constant for one that is only an address."""
    return remote if remote.replace("-", "").replace("_", "").replace(".", "").isalnum() else "argosy-rendered"


def remote_of_source(repository: Repository) -> str:
    """Return the remote the source comes from: the one of the current branch, ``origin`` or the only one, else none."""
    return remote_of_branch(repository, branch_of_head(repository))


def branch_of_head(repository: Repository) -> str:
    """Return the branch that HEAD is on, in a mirror the default one of what it mirrors; empty where it is detached."""
    mirrored = f"refs/remotes/{repository.mirrors}/" if repository.mirrors else "refs/heads/"
    return (head_branch(repository.folder.git_dir) or "").removeprefix(mirrored)


def remote_of_branch(repository: Repository, branch: str) -> str:
    """Return the remote that a branch of this clone comes from ("": no branch): as ``remote_of_source`` does."""
    if repository.mirrors:
        return repository.mirrors
    tracked = repository.settings.last(f"branch.{branch}.remote") if branch else ""
    names = remote_names(repository)
    for name in (tracked, "origin", *names[:1]):
        if name in names and (name in {tracked, "origin"} or len(names) == 1):
            return name
    return ""


def fetch_source_branches(repository: Repository, remote: str, *branches: str) -> None:
    """Fetch branches of the source (``refs/heads/...``), all of their history if this clone is shallow."""
    tracked = (f"refs/remotes/{remote}/{branch.removeprefix('refs/heads/')}" for branch in branches)
    refspecs = [f"+{branch}:{ref}" for branch, ref in zip(branches, tracked, strict=True)]
    repository.fetch(remote, Fetching(refspecs=refspecs, depth=_WHOLE_HISTORY if repository.is_shallow else None))


def address_of_source_remote(repository: Repository) -> str:
    """Return the address of the remote that the source comes from, as the clone has it; empty without one."""
    remote = remote_of_source(repository)
    return repository.settings.last(f"remote.{remote}.url") if remote else ""


def remote_names(repository: Repository) -> tuple[str, ...]:
    """Return the configured remotes, sorted."""
    keys = (key for key in repository.settings.values if key.startswith("remote.") and key.endswith(".url"))
    return tuple(sorted(key.removeprefix("remote.").removesuffix(".url") for key in keys))


def publication_of(repository: Repository, fleet: Fleet) -> Publication:
    """Return where a fleet's rendered branch is published."""
    return Publication(repository=repository, remote=fleet.rendered.remote or remote_of_source(repository))


def maintain_repository(repository: Repository, log: Log) -> None:
    """Join packs once there are many; that they could not be joined is no reason for a pass to have gone wrong."""
    try:
        if repository.maintain_packs():
            log.detail("joined the packs of earlier passes")
    except GitError as error:
        log.warning(f"the packs of earlier passes were not joined: {error.message}")
