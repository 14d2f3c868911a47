"""The mirror of a remote repository: a bare one in the cache, fetched whole, never checked out, kept for next time."""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

from msgspec.structs import replace

from render.errors import GitError
from render.expressions import lazy_expression

from .command import GitCommand, network_timeout
from .location import GitFolder, address_and_secret_configuration, checked_address, content_of_plain_file
from .porcelain import Progress
from .read_only import refuse_where_read_only
from .refs import MIRRORED_HEAD, head_branch, read_ref_fast
from .remotes import Fetching, RemoteTips, fetch_refs, list_remote_refs, resolve_remote

REMOTE = "origin"
"""The name of the mirrored repository among the remotes of its mirror."""

_REFSPECS = ("+refs/heads/*:refs/remotes/origin/*", "+refs/tags/*:refs/tags/*")
_UNSAFE = lazy_expression(r"[^A-Za-z0-9.]+")
_LONGEST_NAME = 60
_LEFT = (
    "*.lock",
    "refs/**/*.lock",
    "objects/**/*.lock",
    "objects/**/tmp_*",
    "objects/pack/.tmp-*",
    "objects/pack/*.keep",
)
"""The files that git leaves in a bare repository when it is killed."""


def open_mirror(
    address: str, environment: Mapping[str, str], *, refresh: bool, progress: Progress | None
) -> tuple[GitFolder, GitCommand]:
    """Return the mirror of a remote, made if there is none, brought up to date if ``refresh``."""
    refuse_where_read_only("mirror a remote")
    public, secrets = address_and_secret_configuration(checked_address(address))
    folder = _mirror_folder_of_address(public, environment)
    limit = network_timeout(environment)
    git = GitCommand(folder=folder, environment=environment, extra=secrets, network_timeout=limit)
    with _exclusive_lock_for_refresh(folder):
        # Whoever only looks does not hold it: that may be a process which outlives many passes that are killed.
        if refresh or not (folder / "HEAD").exists():
            _hold_mirror_until_exit(folder)
            _fetch_into_mirror(git, public, progress)
    return GitFolder(git_dir=folder, common_dir=folder), git


def open_bare_repository_for_branches(
    address: str, environment: Mapping[str, str], purpose: str
) -> tuple[GitFolder, GitCommand]:
    """Return a bare repository for some branches of a remote, which whoever asks fetches; made if there is none.

    Each ``purpose`` has one of its own, so that it holds nothing that others fetched. Nothing else may go on in it in
    this process meanwhile.
    """
    refuse_where_read_only("mirror a remote")
    public, secrets = address_and_secret_configuration(checked_address(address))
    folder = _mirror_folder_of_address(public, environment, purpose)
    limit = network_timeout(environment)
    git = GitCommand(folder=folder, environment=environment, extra=secrets, network_timeout=limit)
    with _exclusive_lock_for_refresh(folder):
        _hold_and_clear_mirror(folder)
        if not (folder / "HEAD").exists():
            outside = replace(git, folder=folder.parent)
            _create_mirror(git, public, list_remote_refs(resolve_remote(outside, public)))
    return GitFolder(git_dir=folder, common_dir=folder), git


def _fetch_into_mirror(git: GitCommand, address: str, progress: Progress | None) -> None:
    """Fetch what the remote has that the mirror lacks; asking first costs less than fetching nothing."""
    outside = replace(git, folder=git.folder.parent)
    offered = list_remote_refs(resolve_remote(outside, address))
    if not (git.folder / "HEAD").exists():
        _create_mirror(git, address, offered)
    if _is_mirror_current(git.folder, offered):
        return
    fetch_refs(resolve_remote(git, REMOTE), Fetching(refspecs=_REFSPECS, prune=True), progress)
    if tip := offered.tips.get(offered.head):
        # A HEAD that names the remote's branch as it is called here would be strange to git, which names local ones.
        git.run("symbolic-ref", MIRRORED_HEAD, _local_ref_of(offered.head))
        git.run("update-ref", "--no-deref", "HEAD", tip)


def _create_mirror(git: GitCommand, address: str, offered: RemoteTips) -> None:
    """Make an empty bare repository, with HEAD last, so that a half-made one is made again."""
    longest = max(map(len, offered.tips.values()), default=40)
    algorithm = "sha256" if longest == 64 else "sha1"
    options = ("--bare", "--quiet", "--template=", "--shared=0600", f"--object-format={algorithm}")
    outside = replace(git, folder=git.folder.parent)
    settings = {f"remote.{REMOTE}.url": address, f"remote.{REMOTE}.fetch": _REFSPECS[0], "gc.auto": "0"}
    for key, value in settings.items():
        outside.run("config", "--file", str(git.folder / "config"), key, value)
    outside.run("init", *options, "--", str(git.folder))


def _is_mirror_current(folder: Path, offered: RemoteTips) -> bool:
    """Say whether the mirror has exactly the branches and tags offered, each at the same object."""
    wanted = {
        _local_ref_of(ref): id_ for ref, id_ in offered.tips.items() if ref.startswith(("refs/heads/", "refs/tags/"))
    }
    here = {ref for ref in _mirrored_refs(folder) if ref.startswith((f"refs/remotes/{REMOTE}/", "refs/tags/"))}
    tip = offered.tips.get(offered.head)
    if tip and (head_branch(folder), content_of_plain_file(folder / "HEAD")) != (
        _local_ref_of(offered.head),
        f"{tip}\n".encode(),
    ):
        return False
    return here == wanted.keys() and all(read_ref_fast(folder, ref) == id_ for ref, id_ in wanted.items())


def _mirrored_refs(folder: Path) -> Iterator[str]:
    for base, _, names in os.walk(folder / "refs"):
        yield from (str((Path(base) / name).relative_to(folder)) for name in names if not name.endswith(".lock"))
    packed = folder / "packed-refs"
    lines = content_of_plain_file(packed).decode("utf-8", "surrogateescape").splitlines() if packed.exists() else []
    yield from (line.partition(" ")[2] for line in lines if line[:1] not in ("#", "^"))


def _local_ref_of(ref: str) -> str:
    return f"refs/remotes/{REMOTE}/{ref.removeprefix('refs/heads/')}" if ref.startswith("refs/heads/") else ref


def _mirror_folder_of_address(address: str, environment: Mapping[str, str], purpose: str = "") -> Path:
    home = environment.get("XDG_CACHE_HOME") or str(Path(environment.get("HOME") or "~").expanduser() / ".cache")
    if not Path(home).is_absolute():
        raise GitError("XDG_CACHE_HOME is not an absolute path", hint="set it to a folder such as ~/.cache")
    name = _UNSAFE.sub("-", address.partition("://")[2] or address).strip("-.")[-_LONGEST_NAME:].lstrip("-.")
    key = f"{address}\0{purpose}" if purpose else address
    digest = hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()[:16]
    folder = Path(home) / "argosy" / f"{name}-{digest}.git"
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


@cache
def _open_lock_handle(folder: Path) -> int:
    return os.open(folder.with_suffix(".held"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)


@cache
def _hold_mirror_until_exit(folder: Path) -> None:
    """Hold a mirror until this process ends, cleared the first time."""
    _hold_and_clear_mirror(folder)


def _hold_and_clear_mirror(folder: Path) -> None:
    """Hold a mirror until this process ends, and remove what killed git left in there, if no other process holds it.

    A process that is killed lets go of the mirror, whereas the locks and the temporary files of its git stay behind.
    """
    handle = _open_lock_handle(folder)
    with suppress(BlockingIOError):
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for left in (path for pattern in _LEFT for path in folder.glob(pattern)):
            if not left.is_dir():
                left.unlink(missing_ok=True)
    fcntl.flock(handle, fcntl.LOCK_SH)


@contextmanager
def _exclusive_lock_for_refresh(folder: Path) -> Iterator[None]:
    """Wait until no other Argosy of this user refreshes the mirror."""
    handle = os.open(folder.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
