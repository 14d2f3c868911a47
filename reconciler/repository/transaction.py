"""Moving branches: all of them or none, each only from where we last saw it."""

from collections.abc import Iterable
from typing import NamedTuple

from render.errors import GitError

from .command import GitCommand
from .location import GitFolder
from .refs import checked_out_in, checked_ref

_LONGEST_ID = 64


class RefUpdate(NamedTuple):
    """One branch to move: to ``new`` (None: delete it) if it stands at ``expected`` (None: if it does not exist)."""

    ref: str
    new: str | None
    expected: str | None


def update_refs(git: GitCommand, folder: GitFolder, updates: Iterable[RefUpdate], *, reason: str) -> None:
    """Move all branches in one transaction; ``SourceMoved`` if one of them no longer stands where it was expected.

    A branch that is checked out somewhere is left alone: its files would silently fall behind it.
    """
    updates = tuple(updates)
    for update in updates:
        holder = None if folder.work_tree is None else checked_out_in(folder.common_dir, checked_ref(update.ref))
        if holder is not None and update.new != update.expected:
            branch = update.ref.removeprefix("refs/heads/")
            raise GitError(
                f"branch {branch!r} is checked out in a work tree of this repository",
                hint="leave it first: git switch --detach",
            )
    git.run("update-ref", "--stdin", "-z", "-m", reason, stdin=b"".join(_commands(updates)))


def _commands(updates: Iterable[RefUpdate]) -> Iterable[bytes]:
    yield b"start\0"
    for ref, new, expected in updates:
        name = checked_ref(ref).encode("utf-8", "surrogateescape")
        absent = b"0" * len(new or expected or "0" * _LONGEST_ID)
        old = expected.encode() if expected else absent
        if new is None:
            yield b"delete %s\0%s\0" % (name, old)
        else:
            yield b"update %s\0%s\0%s\0" % (name, new.encode(), old)
    yield b"prepare\0commit\0"
