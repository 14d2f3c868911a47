"""The files that a pass leaves out, told in a line: uncommitted edits, and those without a Kubernetes object.

A pass reads commits alone. Any repository has files of other sorts, and they are no warning each.
"""

from contextlib import suppress
from typing import TYPE_CHECKING

from reconciler.console.log import VERBOSE, Log
from reconciler.repository import Repository
from render.errors import GitError
from render.words import counted_noun, first_few

if TYPE_CHECKING:
    from reconciler.source.desired import Desired

AS_THEY_STAND = "--worktree looks at the files as they stand"


def warn_of_uncommitted(repository: Repository, log: Log, *, hint: str = "commit them first") -> None:
    """Name the files of the work tree that may hold manifests and that the last commit does not hold as they are."""
    dirty: tuple[str, ...] = ()
    with suppress(GitError):  # a word in passing is no reason to end a pass
        dirty = repository.dirty_paths()
    under = f"{repository.folder.under}/" if repository.folder.under else ""
    paths = [path for path in dirty if path.startswith(under) and _may_hold_manifests(path)]
    if paths:
        names = first_few([path if path.isprintable() else repr(path) for path in paths])
        log.warning(f"not committed, and so not looked at: {names}\n  hint: {hint}")


def _may_hold_manifests(path: str) -> bool:
    # Most work trees are clean, and a pass that finds nothing to do has no other use for it.
    from reconciler.source.files import may_be_read

    return may_be_read(path, 0) and not any(part.startswith(".") for part in path.split("/")[:-1])


def log_skipped_files(desired: "Desired", log: Log) -> None:
    """Count these files for people at a terminal; with ``-v`` name each, wherever the lines go."""
    skipped = desired.without_objects
    if skipped and (log.is_terminal or log.level >= VERBOSE):
        named = "" if log.level >= VERBOSE else "; -v names them"
        log.info(f"skipped {counted_noun(len(skipped), 'file')} without a Kubernetes object{named}")
    for each in skipped:
        log.detail(f"{each.path}: {each.reason}")
