"""Single files of a work tree changed in place, and committed by themselves."""

import os
import stat
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from render.errors import GitError

from .beneath import Beneath
from .command import GitCommand
from .commits import Signature

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


def put_files(root: Path, contents: Mapping[str, bytes | None]) -> None:
    """Make files below a folder hold these contents, or remove them (None); each appears whole or not at all."""
    with Beneath(root) as below:
        for path, content in sorted(contents.items()):
            try:
                _put(below, path, content)
            except OSError as error:
                raise GitError(f"{path} cannot be written: {error.strerror or error}") from error


def _put(below: Beneath, path: str, content: bytes | None) -> None:
    *parents, name = path.split("/")
    folder = below.folder(tuple(parents), create=content is not None)
    if content is None:
        os.unlink(name, dir_fd=folder)
        return
    temporary = f".argosy-{os.urandom(8).hex()}"
    handle = os.open(temporary, _NEW, 0o666, dir_fd=folder)
    try:
        with os.fdopen(handle, "wb") as file:
            with suppress(FileNotFoundError):
                os.fchmod(handle, stat.S_IMODE(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode))
            file.write(content)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


def commit_paths(git: GitCommand, paths: Sequence[str], message: str, author: Signature) -> None:
    """Commit these paths as they stand in the work tree, and nothing else of it or of the index."""
    identity = (("user.name", author.name or "Argosy"), ("user.email", author.email))
    named = replace(git, extra=(*git.extra, *identity))
    named.run("add", "--all", "--", *paths)
    named.run("commit", "--quiet", "--cleanup=verbatim", "-F", "-", "--only", "--", *paths, stdin=message.encode())
