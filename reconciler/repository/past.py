"""The past of a branch: the commit it began with, and the files that were once in a folder and then left it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from render.errors import GitError

from .command import GitCommand
from .location import GitFolder, plain_content


class RemovedFile(NamedTuple):
    """A file as it was before a commit removed it: its path, its blob, and the last commit that had it."""

    path: str
    id: bytes
    commit: str


def first_commit(git: GitCommand, folder: GitFolder, commit: str) -> str:
    """Return the commit a history began with; a ``GitError`` where a shallow clone cannot know."""
    first = git.text("rev-list", "--first-parent", "--max-parents=0", "--end-of-options", commit)
    shallow = folder.common_dir / "shallow"
    # git takes the commits listed there for roots, whatever parents they name.
    if shallow.exists() and first in plain_content(shallow).decode("utf-8", "replace").split():
        raise GitError(
            f"the history of {commit[:12]} is cut off, so the commit it began with is not known",
            hint="this clone is shallow; fetch the whole history: git fetch --unshallow",
        )
    return first


def removed_files(git: GitCommand, commits: Iterable[str], folder: str) -> tuple[RemovedFile, ...]:
    """Return the files below a folder that commits and those before them removed, each as it was last."""
    wanted = ("--no-renames", "--no-abbrev", "--diff-filter=D", "--raw", "-r", "-z", "--format=%x01%P")
    output = git.run("log", "--first-parent", *wanted, "--end-of-options", *commits, "--", folder)
    found: dict[str, RemovedFile] = {}
    for file in _parsed(output.stdout.split(b"\0")):
        found.setdefault(file.path, file)
    return tuple(found[path] for path in sorted(found))


def _parsed(parts: Iterable[bytes]) -> Iterator[RemovedFile]:
    """Read records, the newest first: a commit's parent, or a change followed by its path."""
    parent, rest = "", iter(parts)
    for part in rest:
        text = part.strip(b"\n")
        if text.startswith(b"\x01"):
            parent = text[1:].decode().partition(" ")[0]
        elif text.startswith(b":"):
            path = next(rest).decode("utf-8", "surrogateescape")
            yield RemovedFile(path, bytes.fromhex(text.split()[2].decode()), parent)
