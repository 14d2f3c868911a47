"""The commits and files that a pass leaves out, told in a line: not pushed, not committed, or without an object.

A pass reads commits alone, and those of the remote where there is one. Any repository has files of other sorts, and
they are no warning each.
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
PUSH_FIRST = "commit and push them first"
"""The hint about edits where passes render what is at a remote."""


def warn_of_uncommitted(repository: Repository, log: Log, *, hint: str = "commit them first") -> None:
    """Name the files of the work tree that may hold manifests and that the last commit does not hold as they are.

    A clone without any checkout (``git clone --no-checkout``) has no work tree that could say otherwise.
    """
    if not (repository.folder.git_dir / "index").exists():
        return
    dirty: tuple[str, ...] = ()
    with suppress(GitError):  # a word in passing is no reason to end a pass
        dirty = repository.dirty_paths()
    under = f"{repository.folder.under}/" if repository.folder.under else ""
    paths = [path for path in dirty if path.startswith(under) and _may_hold_manifests(path)]
    if paths:
        names = first_few([path if path.isprintable() else repr(path) for path in paths])
        log.warning(f"not committed, and so not looked at: {names}\n  hint: {hint}")


def is_head_left_out(repository: Repository, source: str) -> bool:
    """Return whether HEAD is not in the history of the source that a pass renders; where nobody knows, it is not."""
    head = repository.tip("HEAD")
    if head is None or head == source:
        return False
    with suppress(GitError):  # a shallow clone may not know
        return not repository.is_ancestor(head, source)
    return False


def warn_of_unpushed(repository: Repository, remote: str, ref: str, source: str, log: Log) -> None:
    """Say that commits of HEAD are left out, because a pass renders the ``source`` where a branch is at the remote."""
    if not is_head_left_out(repository, source):
        return
    head = str(repository.tip("HEAD"))
    rendered = f"source {source[:12]} of {remote!r} is rendered"
    if _is_known_ancestor(repository, source, head):
        hint = f"git push {remote} {ref.removeprefix('refs/heads/')}"
        log.warning(f"HEAD {head[:12]} is not pushed, and so not looked at: {rendered}\n  hint: {hint}")
    else:  # it may be what the remote was rewound from, and then nobody shall push it
        hint = f"git log --oneline --left-right HEAD...{source[:12]} shows what each has"
        log.warning(f"HEAD {head[:12]} is not looked at: {rendered}, and the two have diverged\n  hint: {hint}")


def _is_known_ancestor(repository: Repository, ancestor: str, commit: str) -> bool:
    with suppress(GitError):
        return repository.is_ancestor(ancestor, commit)
    return False


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
