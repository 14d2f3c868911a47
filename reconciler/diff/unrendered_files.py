"""The files of the source that differ where nothing that is rendered does, with the policies in them that do.

A policy that is edited and places nothing otherwise is no difference in any cluster; whoever edited it wants to know
that it was read.
"""

from collections.abc import Iterator, Mapping

from reconciler.branches.in_force import fleet_source_at
from reconciler.branches.reading import Source
from reconciler.repository import Repository
from reconciler.repository.worktree import UNREAD
from reconciler.source.desired import Desired
from reconciler.source.files import SourceFile

from .causes import NamedInput, changed_inputs, identity_and_content
from .comparison import Comparison
from .difference import ChangeAction, ChangedInput, Difference, UnrenderedFile


def source_files_that_differ(comparison: Comparison, difference: Difference) -> tuple[UnrenderedFile, ...]:
    """Return the files in the fleet's folder that differ, by path; none where anything else tells of the change."""
    if not difference.is_empty or difference.unselected or difference.released:
        return ()
    base, head = comparison.base.source, comparison.head.source
    folder = fleet_source_at(comparison.base.repository, base.commit).folder
    policies: dict[str, list[ChangedInput]] = {}
    for each, _ in changed_inputs(_named_policies(base.desired), _named_policies(head.desired)):
        policies.setdefault(each.path, []).append(each)
    repository = comparison.head.repository
    before, after = (
        {each.path: _mode_and_id(each) for each in _files(side, folder, repository)} for side in (base, head)
    )
    return tuple(
        UnrenderedFile(
            path=path,
            action=_action_on_file(path in before, path in after),
            policies=tuple(policies.get(path, ())),
        )
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def _files(source: Source, folder: str, repository: Repository) -> Iterator[SourceFile]:
    """Yield the files in a folder, each with its id, also where nothing has read it in the work tree."""
    files = [each for each in source.files if not folder or each.path.startswith(f"{folder}/")]
    unread = frozenset(each.path for each in files if each.id == UNREAD)
    known = _unread_files_of_work_tree(repository, unread) if unread else {}
    return (known.get(each.path, each) for each in files)


def _unread_files_of_work_tree(repository: Repository, paths: frozenset[str]) -> Mapping[str, SourceFile]:
    """Return files of the work tree by path: those of the last commit, but for what is another one since."""
    edited, found = paths.intersection(repository.dirty_paths()), list[SourceFile]()
    if paths - edited:
        found += repository.snapshot(repository.resolve("HEAD")).files
    if edited:
        found += repository.worktree_snapshot(wanted=lambda path, _size: path in edited).files
    return {each.path: each for each in found if each.path in paths and each.id != UNREAD}


def _mode_and_id(file: SourceFile) -> tuple[int, bytes]:
    return file.mode, file.id


def _action_on_file(was_there: bool, is_there: bool) -> ChangeAction:
    if was_there and is_there:
        return ChangeAction.CHANGED
    return ChangeAction.ADDED if is_there else ChangeAction.REMOVED


def _named_policies(desired: Desired) -> Iterator[NamedInput]:
    families = (
        desired.policies,
        desired.override_policies,
        desired.taint_policies,
        desired.rollout_policies,
        desired.resilience_policies,
    )
    for family in families:
        yield from map(identity_and_content, family)
