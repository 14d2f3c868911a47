"""Uncommitted edits: a pass reads commits alone, and warns of the edits that it therefore leaves out."""

from contextlib import suppress

from reconciler.console.log import Log
from reconciler.repository import Repository
from render.errors import GitError
from render.words import listed

AS_THEY_STAND = "--worktree looks at the files as they stand"


def warn_of_uncommitted(repository: Repository, log: Log, *, hint: str = "commit them first") -> None:
    """Name the files of the work tree that may hold manifests and that the last commit does not hold as they are."""
    dirty: tuple[str, ...] = ()
    with suppress(GitError):  # a word in passing is no reason to end a pass
        dirty = repository.dirty_paths()
    under = f"{repository.folder.under}/" if repository.folder.under else ""
    paths = [path for path in dirty if path.startswith(under) and _is_read(path)]
    if paths:
        names = listed([path if path.isprintable() else repr(path) for path in paths])
        log.warning(f"not committed, and so not looked at: {names}\n  hint: {hint}")


def _is_read(path: str) -> bool:
    # Most work trees are clean, and a pass that finds nothing to do has no other use for it.
    from reconciler.source.files import may_be_read

    return may_be_read(path, 0) and not any(part.startswith(".") for part in path.split("/")[:-1])
