"""The files of the source that differ where nothing that is rendered does, with the policies in them that do.

A policy that is edited and places nothing otherwise is no difference in any cluster; whoever edited it wants to know
that it was read.
"""

from collections.abc import Iterator

from reconciler.branches.in_force import fleet_source_at
from reconciler.branches.reading import Source
from reconciler.source.desired import Desired

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
    before, after = _files_by_path(base, folder), _files_by_path(head, folder)
    return tuple(
        UnrenderedFile(
            path=path,
            action=_action_on_file(path in before, path in after),
            policies=tuple(policies.get(path, ())),
        )
        for path in sorted(before.keys() | after.keys())
        if before.get(path) != after.get(path)
    )


def _files_by_path(source: Source, folder: str) -> dict[str, tuple[int, bytes]]:
    return {
        each.path: (each.mode, each.id) for each in source.files if not folder or each.path.startswith(f"{folder}/")
    }


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
