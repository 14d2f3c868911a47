"""Branches as the files they are: read in microseconds, and moved by transactions, all of them or none.

A pass that finds nothing new reads only these. A ref is a file of its own, else a line of ``packed-refs``. git writes a
packed line before it removes the file, so looking at the file first and the packed line second never misses one.
"""

import errno
import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from render.errors import GitError
from render.expressions import lazy_expression

from .command import GitCommand
from .location import GitFolder, content_of_plain_file
from .read_only import refuse_where_read_only

_BAD = lazy_expression(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|/\.|\.lock(?:/|$)|[./]$|^/")
_HEX = lazy_expression(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LINKS = 5
"""Symbolic refs followed at most, as in git."""

_LONGEST_ID = 64
_MANY = 16
"""From so many branches on they are flushed to the disk at once, not each by itself."""


class RefUpdate(NamedTuple):
    """One branch to move to ``new`` (None: delete it) if its tip is ``expected`` (None: if it does not exist)."""

    ref: str
    new: str | None
    expected: str | None


def is_ref_name(ref: str) -> bool:
    """Say whether git would accept a whole ref name (``refs/heads/main``): no traversal, no control character."""
    return ref.startswith("refs/") and not _BAD.search(ref) and not ref.startswith("refs/.")


def checked_ref_name(ref: str) -> str:
    """Return a whole ref name; any other text is a ``GitError``."""
    if not is_ref_name(ref):
        raise GitError(f"{ref!r} is not the name of a ref", hint="write it in full, such as refs/heads/main")
    return ref


MIRRORED_HEAD = "MIRRORED_HEAD"
"""The symbolic ref of a mirror that names the branch of the remote's HEAD; its own HEAD is detached."""


def has_ref_files(common_dir: Path) -> bool:
    """Say whether refs are files; a repository with reftables keeps them in a database."""
    return not (common_dir / "reftable").is_dir()


def read_ref_fast(git_dir: Path, ref: str) -> str | None:
    """Return the commit (or tag object) of ``HEAD`` or of a whole ref name, None where there is none.

    Needs no git process and knows linked worktrees and packed refs. Only for repositories that have ref files.
    """
    common = git_dir
    named = _content_of_ref_file(git_dir / "commondir").strip()
    if named:
        common = git_dir / named.decode("utf-8", "surrogateescape")
    packed: bytes | None = None
    for _ in range(_LINKS):
        # Linked worktrees share all refs but these.
        shared = ref.startswith("refs/") and not ref.startswith(("refs/bisect/", "refs/worktree/", "refs/rewritten/"))
        if ref != "HEAD":
            checked_ref_name(ref)
        line = _content_of_ref_file((common if shared else git_dir) / ref).strip()
        if not line:
            packed = _content_of_ref_file(common / "packed-refs") if packed is None else packed
            return _id_of_packed_ref(packed, ref)
        if not line.startswith(b"ref:"):
            return _id_in_line(line, ref)
        ref = line[4:].strip().decode("utf-8", "surrogateescape")
    raise GitError(f"{ref} is a chain of symbolic refs without end", hint="repair it: git symbolic-ref")


def head_branch(git_dir: Path) -> str | None:
    """Return the branch that HEAD names (``refs/heads/main``), None if it is detached.

    In a mirror it is the branch that the remote's HEAD names, as it is called there.
    """
    line = (_content_of_ref_file(git_dir / MIRRORED_HEAD) or _content_of_ref_file(git_dir / "HEAD")).strip()
    return line[4:].strip().decode("utf-8", "surrogateescape") if line.startswith(b"ref:") else None


def default_branch_of_remote(common_dir: Path, remote: str) -> str:
    """Return the default branch of a remote, as a clone wrote it down when it was made; empty where none did."""
    line = _content_of_ref_file(common_dir / "refs" / "remotes" / remote / "HEAD").strip()
    target, place = line[4:].strip().decode("utf-8", "surrogateescape"), f"refs/remotes/{remote}/"
    return target.removeprefix(place) if line.startswith(b"ref:") and target.startswith(place) else ""


def git_dir_with_branch_checked_out(common_dir: Path, ref: str) -> Path | None:
    """Return the git folder of a worktree that has this branch checked out."""
    candidates = [common_dir, *sorted(common_dir.glob("worktrees/*"))]
    return next((folder for folder in candidates if head_branch(folder) == ref), None)


def _id_of_packed_ref(content: bytes, ref: str) -> str | None:
    name = b" " + ref.encode("utf-8", "surrogateescape") + b"\n"
    end = content.find(name)
    if end < 0:
        return None
    start = content.rfind(b"\n", 0, end) + 1
    return _id_in_line(content[start:end], ref)


def _id_in_line(line: bytes, ref: str) -> str:
    if not _HEX.fullmatch(line):
        raise GitError(f"{ref} is damaged: it does not hold an object's id", hint="run git fsck")
    return line.decode()


def _content_of_ref_file(path: Path) -> bytes:
    try:
        return content_of_plain_file(path)
    except (FileNotFoundError, NotADirectoryError):
        return b""
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:
            return b""
        raise


def update_refs(git: GitCommand, folder: GitFolder, updates: Iterable[RefUpdate], *, reason: str) -> None:
    """Move all branches in one transaction; ``SourceMoved`` if the tip of one is not the expected one.

    A branch that is checked out somewhere is left alone: its files would silently fall behind it.
    """
    refuse_where_read_only("move branches")
    updates = tuple(updates)
    for update in updates:
        worktree = (
            None
            if folder.work_tree is None
            else git_dir_with_branch_checked_out(folder.common_dir, checked_ref_name(update.ref))
        )
        if worktree is not None and update.new != update.expected:
            branch = update.ref.removeprefix("refs/heads/")
            raise GitError(
                f"branch {branch!r} is checked out in a work tree of this repository",
                hint="leave it first: git switch --detach",
            )
    moving = git_ordering_ref_writes(git, len(updates))
    moving.run("update-ref", "--stdin", "-z", "-m", reason, stdin=b"".join(_update_ref_commands(updates)))
    if moving is not git:
        _sync_folder_of(folder.common_dir / updates[-1].ref)


def git_ordering_ref_writes(git: GitCommand, count: int) -> GitCommand:
    """Return a git that orders what it writes of many refs, so that none can be torn, and flushes none by itself."""
    method = "core.fsyncMethod=writeout-only"
    return replace(git, options=(*git.options, method)) if count >= _MANY else git


def _sync_folder_of(path: Path) -> None:
    """Flush the folder that a file is or was in, and with it what was written before."""
    found = next(folder for folder in path.parents if folder.is_dir())
    descriptor = os.open(found, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _update_ref_commands(updates: Iterable[RefUpdate]) -> Iterable[bytes]:
    yield b"start\0"
    for ref, new, expected in updates:
        name = checked_ref_name(ref).encode("utf-8", "surrogateescape")
        absent = b"0" * len(new or expected or "0" * _LONGEST_ID)
        old = expected.encode() if expected else absent
        if new is None:
            yield b"delete %s\0%s\0" % (name, old)
        else:
            yield b"update %s\0%s\0%s\0" % (name, new.encode(), old)
    yield b"prepare\0commit\0"
