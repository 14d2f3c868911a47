"""Reverts: a source that is again what it was, and whether the split of its replicas is so as well.

A revert restores files. What is divided by room, or was moved meanwhile, does not come back by that. So a difference
says of a revert which splits do not return, and the rollback by which they do.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from reconciler.branches.reading import read_previous
from reconciler.branches.rendered_history import RenderedSource, rendered_commit_meant, rendered_commits
from reconciler.pipeline.renames import previous_by_new_names
from reconciler.rendering.outcome import Outcome
from reconciler.repository import Repository
from render.binding import Binding
from render.errors import GitError, UnknownName
from render.expressions import lazy_expression
from render.model import Manifest, ObjectRef
from render.placement import Placement

from .comparison import Comparison
from .difference import Revert

_REVERTS = lazy_expression(r"^This reverts commit ([0-9a-f]{40,64})\b", re.MULTILINE)
_MOST_COMMITS = 200
_MOST_TREES = 5
"""So many former work trees are compared file by file with one that is not committed."""


def revert_in(comparison: Comparison) -> Revert | None:
    """Return the revert that the head of a comparison is; None where it is none, or asks for the split itself."""
    base, head = comparison.base, comparison.head
    if base.previous is None or _have_equal_files(base, head):
        return None
    known = {each.record_name for each in base.source.desired.rollback_requests}
    if any(each.record_name not in known for each in head.source.desired.rollback_requests):
        return None
    try:
        found = _former_source(comparison, base.previous.commit)
        if found is None:
            return None
        target, is_whole = found
        former = previous_by_new_names(read_previous(head.repository, target.commit), head.source.desired.clusters)
    except (GitError, UnknownName):  # a shallow clone may lack what it takes to know
        return None
    bindings = {each.ref: each for each in head.rendered.built.bindings}
    shared = [ref for ref in former.bindings if ref in bindings and former.bindings[ref].policy]
    split = tuple(sorted(ref for ref in shared if _is_split_changed(former.bindings[ref], bindings[ref])))
    if not is_whole:
        changed = _objects_changed_by(comparison)
        split = tuple(ref for ref in split if ref in changed)
    return Revert(to=target.commit, source=target.source, objects=len(shared), split=split, is_whole=is_whole)


def _have_equal_files(base: Outcome, head: Outcome) -> bool:
    """Say whether nothing is taken back from one side to the other, for both have the same files."""
    if head.source.commit:
        return _tree_of(head.repository, head.source.commit) == _tree_of(head.repository, base.source.commit)
    return {(file.path, file.id) for file in head.source.files} == _files_of(head.repository, base.source.commit)


def _is_split_changed(former: Binding, now: Binding) -> bool:
    return {each.name: each.replicas for each in former.final_targets} != {
        each.name: each.replicas for each in now.final_targets
    }


def _objects_changed_by(comparison: Comparison) -> frozenset[ObjectRef]:
    """Return the objects that the source has otherwise on both sides, or that are placed by another placement."""
    before, after = (_decided_by(side) for side in (comparison.base, comparison.head))
    return frozenset(ref for ref in before.keys() | after.keys() if before.get(ref) != after.get(ref))


def _decided_by(side: Outcome) -> Mapping[ObjectRef, tuple[Manifest | None, Placement | None]]:
    manifests = {each.ref: each.manifest for each in side.source.desired.templates}
    return {each.ref: (manifests.get(each.ref), each.placement) for each in side.rendered.built.bindings}


def _former_source(comparison: Comparison, tip: str) -> tuple[RenderedSource, bool] | None:
    """Return the rendered commit whose source the head is again, and whether all its files are."""
    repository, head = comparison.head.repository, comparison.head.source
    present = comparison.base.source.commit
    former = [each for each in islice(rendered_commits(repository, tip), _MOST_COMMITS) if each.source != present]
    distinct = tuple({each.source: each for each in reversed(former)}.values())
    newest = tuple(reversed(distinct))
    if head.commit:
        tree = repository.commit_info(head.commit).tree
        same = (each for each in newest if _tree_of(repository, each.source) == tree)
    else:
        files = {(file.path, file.id) for file in head.files}
        same = (each for each in newest[:_MOST_TREES] if _files_of(repository, each.source) == files)
    whole = next(same, None)
    if whole is not None:
        return whole, True
    reverted = next(_reverted_commits(comparison), "")
    return (rendered_commit_meant(repository, tip, f"{reverted}~1"), False) if reverted else None


def _reverted_commits(comparison: Comparison) -> Iterator[str]:
    """Yield the commits that commits of the head take back, as git says it in their messages."""
    base, head = comparison.base.source.commit, comparison.head.source.commit
    if not (base and head):
        return
    for info in comparison.head.repository.commits_between(base, head, _MOST_COMMITS):
        yield from _REVERTS.findall(info.message)


def _tree_of(repository: Repository, commit: str) -> bytes | None:
    try:
        return repository.commit_info(commit).tree
    except GitError:  # a shallow clone may lack it
        return None


def _files_of(repository: Repository, commit: str) -> set[tuple[str, bytes]]:
    try:
        return {(file.path, file.id) for file in repository.snapshot(commit).files}
    except GitError:
        return set()
