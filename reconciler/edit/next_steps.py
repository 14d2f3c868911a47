"""The commands that carry out an edit of the source which was written, or committed: what people run next."""

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path

from reconciler.branches.publication import remote_of_source
from reconciler.repository import Repository
from render.fleet_settings import setting_changes

from .cluster_files import MemberSource, SourceChange

_SHOWN = "what this changes in the clusters"


def steps_to_deliver(source: MemberSource, change: SourceChange, paths: Iterable[str] = ()) -> Iterator[str]:
    """Yield the commands that commit what is not committed of a change, push it and have a pass deliver it.

    ``paths`` are files that belong to it beside those that it changed.
    """
    repository = source.repository
    if dirty := sorted({*change.contents, *paths} & set(repository.dirty_paths())):
        messages = "".join(f" -m {shlex.quote(each)}" for each in (change.subject, *change.trailers))
        is_present = (path for path in dirty if change.contents.get(path, b"") is not None)
        if new := set(is_present) - _committed_paths(repository):
            yield f"git add -- {_paths_from_here(repository, new)}"
        yield f"git commit{messages} -- {_paths_from_here(repository, dirty)}"
    if remote_of_source(repository):
        yield "git push"
    yield command_of_next_pass(source, change)


def steps_to_merge(source: MemberSource, change: SourceChange, branch: str) -> Iterator[str]:
    """Yield the commands that show a change that was committed on a branch of its own, and bring it to the others."""
    yield f"argosy diff HEAD {shlex.quote(branch)}  # {_SHOWN}"
    remote = remote_of_source(source.repository)
    if remote:
        yield f"git push -u {remote} {shlex.quote(branch)}  # and open a pull request"
        return
    yield f"git merge {shlex.quote(branch)}"
    yield command_of_next_pass(source, change)


def command_of_next_pass(source: MemberSource, change: SourceChange) -> str:
    """Return the command of the pass that delivers a change; of settings that wait for a person it accepts them."""
    if source.home.path not in change.contents:
        return "argosy reconcile"
    after = source.with_files(change.contents).desired.fleet
    is_waiting = any(each.waits for each in setting_changes(source.fleet, after))
    return f"argosy reconcile{' --accept-settings' if is_waiting else ''}"


def steps_after_unseen_edit(source: MemberSource, change: SourceChange, commit: str) -> Iterator[str]:
    """Yield the commands that show what an edit changes in clusters, which was not shown yet, and that deliver it.

    ``commit`` is the one that was made of it ("": none). An edit that takes another back is none.
    """
    repository = source.repository
    if commit and repository.commit_info(commit).parents:
        yield f"argosy diff HEAD~1 HEAD  # {_SHOWN}"
    elif not commit:
        if not set(change.contents) & set(repository.dirty_paths()):
            return
        if repository.tip("HEAD"):
            yield f"argosy diff  # {_SHOWN}"
    yield from steps_to_deliver(source, change)


def _committed_paths(repository: Repository) -> frozenset[str]:
    """Return the paths of all files of the last commit: git commits others only once they were added."""
    tip = repository.tip("HEAD")
    return frozenset(file.path for file in repository.snapshot(tip).files) if tip else frozenset()


def _paths_from_here(repository: Repository, paths: Iterable[str]) -> str:
    """Return paths as a shell takes them where this command runs, which may be in a folder below the root."""
    root, here = repository.folder.folder.resolve(), Path.cwd()
    is_inside = here.is_relative_to(root)
    return shlex.join(os.path.relpath(root / path, here) if is_inside else path for path in sorted(paths))
