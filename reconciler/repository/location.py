"""The location of a repository: a folder somebody named or one above it, or an address to mirror.

A repository is found by looking at files, as git does, because the answer "nothing changed" may not cost a process.
A folder found so is only trusted once git itself has run in it and agreed about its owner.
"""

import os
import re
import stat
from base64 import b64encode
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit, urlunsplit

from msgspec import Struct

from render.errors import GitError
from render.expressions import lazy_expression

_ADDRESS = lazy_expression(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<rest>.+)", re.DOTALL)
_SCP = lazy_expression(r"(?:[^/:@\s-][^/:@\s]*@)?(?P<host>\[[^\]/]+\]|[^/:@\s-][^/:@\s]*):(?!:)(?P<path>[^-].*)")
_SCHEMES = frozenset({"file", "https", "ssh"})


class GitFolder(Struct, frozen=True, kw_only=True):
    """A repository on this machine.

    ``git_dir`` holds HEAD, ``common_dir`` what linked worktrees share (objects, branches, configuration),
    ``work_tree`` is None for a bare repository, and ``under`` is the named folder's path in the work tree ("" for its
    root).
    """

    git_dir: Path
    common_dir: Path
    work_tree: Path | None = None
    under: str = ""

    @property
    def folder(self) -> Path:
        """The folder in which git runs."""
        return self.work_tree or self.git_dir

    @property
    def work_trees(self) -> tuple[Path, ...]:
        """Every work tree of the repository on this machine: this one, the main one and the linked ones."""
        main = (self.common_dir.parent,) if self.common_dir.name == ".git" else ()
        linked = (Path(_first_line_of_file(each)).parent for each in sorted(self.common_dir.glob("worktrees/*/gitdir")))
        return tuple(dict.fromkeys((*([self.work_tree] if self.work_tree else []), *main, *linked)))

    @property
    def objects(self) -> Path:
        """The folder of the objects."""
        return self.common_dir / "objects"


def is_address(location: str) -> bool:
    """Say whether a location names a remote rather than a folder here; an existing folder is never a remote."""
    if _ADDRESS.fullmatch(location) or "::" in location.partition("/")[0]:
        return True
    return bool(_SCP.fullmatch(location)) and not Path(location).exists()


def checked_address(address: str) -> str:
    """Return an address Argosy may speak to; any other is a ``GitError``."""
    match = _ADDRESS.fullmatch(address)
    scheme = match["scheme"].lower() if match else "ssh" if _SCP.fullmatch(address) else address.partition(":")[0]
    host = match["rest"] if match else address
    if scheme not in _SCHEMES or any(ord(letter) < 0x20 for letter in address):
        raise GitError(
            f"cannot fetch over {scheme!r}", hint="use an https://, ssh:// or file:// address, or user@host:path"
        )
    if host.startswith("-") or host.rpartition("@")[2].startswith("-"):
        raise GitError("the address of a remote names a host or a user that begins with '-'", hint="check the address")
    return address


def address_and_secret_configuration(address: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return an https address without user and password, and the configuration that makes git send them.

    Within an address they would show in the command line of every process git starts, where anybody can read them.
    """
    try:
        parts = urlsplit(address)
    except ValueError as error:  # half a host in brackets
        raise GitError("the address of a remote cannot be read", hint="check the address") from error
    if parts.scheme != "https" or "@" not in parts.netloc:
        return address, ()
    person, _, host = parts.netloc.rpartition("@")
    name, _, password = person.partition(":")
    public = urlunsplit(parts._replace(netloc=host))
    credentials = b64encode(f"{unquote(name)}:{unquote(password)}".encode()).decode()
    return public, ((f"http.{public}.extraHeader", f"Authorization: Basic {credentials}"),)


def find_repository(start: Path) -> GitFolder:
    """Return the repository that ``start`` is in: a work tree, a bare repository, or any folder below one."""
    try:
        is_there = start.exists()
    except OSError as error:
        said = os.strerror(error.errno or 0).lower()
        raise GitError(f"{start}: {said}", hint="name a Git repository or a folder in one: -C FOLDER") from error
    if not is_there:
        raise GitError(f"{start} does not exist", hint="name a Git repository or a folder in one: -C FOLDER")
    if not start.is_dir():
        raise GitError(f"{start} is no folder", hint="name a Git repository or a folder in one: -C FOLDER")
    try:
        here = start.resolve()
    except OSError as error:
        raise GitError(f"{start} does not exist any more", hint="go to a folder that exists, or name one") from error
    for folder in (here, *here.parents):
        git_dir = _git_dir_of_dot_git(folder / ".git")
        if git_dir is not None:
            under = PurePosixPath(here.relative_to(folder).as_posix())
            return _git_folder(git_dir, work_tree=folder, under="" if under == PurePosixPath() else str(under))
        if _is_git_dir(folder):
            # Inside .git itself: what is asked for is the repository, its work tree is the folder above.
            above = folder.parent if folder.name == ".git" else None
            return _git_folder(folder, work_tree=above)
    raise GitError(
        f"{start} is not in a Git repository",
        hint="git init and argosy init begin one there; -C names another",
    )


def _git_folder(git_dir: Path, *, work_tree: Path | None, under: str = "") -> GitFolder:
    return GitFolder(git_dir=git_dir, common_dir=_common_dir_of(git_dir), work_tree=work_tree, under=under)


def _git_dir_of_dot_git(dot_git: Path) -> Path | None:
    """Return the folder that ``.git`` is, or that its one line points to (a linked worktree, a submodule)."""
    if dot_git.is_dir():
        return dot_git if _is_git_dir(dot_git) else None
    line = _first_line_of_file(dot_git)
    if not dot_git.is_file():
        return None
    target = (dot_git.parent / line.removeprefix("gitdir: ")).resolve()
    if not line.startswith("gitdir: ") or not _is_git_dir(target):
        # Git stops here as well: the repository above is not the one that was meant.
        raise GitError(f"{dot_git} leads to no repository", hint="repair it: git worktree repair, git submodule update")
    return target


def _is_git_dir(folder: Path) -> bool:
    if not (folder / "HEAD").is_file():
        return False
    common = _common_dir_of(folder)
    return (common / "objects").is_dir() and (common / "refs").is_dir()


def _common_dir_of(git_dir: Path) -> Path:
    named = _first_line_of_file(git_dir / "commondir")
    return (git_dir / named).resolve() if named else git_dir


def content_of_plain_file(path: Path) -> bytes:
    """Return the content of a file; nothing for a folder or a device, and nothing is waited for, as a pipe would be."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        return b""
    with os.fdopen(handle, "rb", buffering=0) as file:
        return file.read()


def _first_line_of_file(path: Path) -> str:
    try:
        return content_of_plain_file(path).decode("utf-8", "surrogateescape").strip("\r\n")
    except OSError:
        return ""
