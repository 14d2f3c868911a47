"""The outcome of a rollback before it is written: what is then as it was, byte for byte, and what is not."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct

from reconciler.branches.reading import read_previous
from reconciler.console.log import Log
from reconciler.edit.cluster_files import MemberSource
from reconciler.edit.next_steps import steps_to_merge
from reconciler.edit.rollback import RollbackPlan, RollbackSubject
from reconciler.pipeline.former_splits import Unrestored, unrestored_shares
from reconciler.pipeline.previous import RenderedTree, StoredTrees
from reconciler.pipeline.renames import previous_by_new_names
from reconciler.rendering.outcome import Outcome
from reconciler.repository.branch_commits import commit_on_new_branch
from render.errors import ConfigError
from render.gitobjects import TreeEntry
from render.layout import object_path, ref_of_object_path
from render.model import ObjectRef

from .source_edits import EditOutcome, outcome_of_edit


class UnequalCopy(Struct, frozen=True, kw_only=True, order=True):
    """A copy of an object that is not as it was: its bytes differ, it is not there, or it was not there then."""

    ref: ObjectRef
    cluster: str
    had: bool
    has: bool

    @property
    def words(self) -> str:
        """The difference in words."""
        if self.had and self.has:
            return "other bytes than then"
        return "not there any more" if self.had else "not there then"


class RollbackOutcome(Struct, frozen=True, kw_only=True):
    """A rollback as a pass would carry it out: the difference that it makes, and what is not as it was afterwards.

    ``is_source_changed``: documents are others afterwards. ``shares`` are those that do not stand again, each with its
    reason; ``unequal`` are copies that differ for another reason. ``copies`` are all that were compared, with
    those of clusters that left, ``different`` those that differ.
    """

    edit: EditOutcome
    is_source_changed: bool = False
    shares: tuple[Unrestored, ...] = ()
    unequal: tuple[UnequalCopy, ...] = ()
    copies: int = 0
    different: int = 0

    @property
    def is_idle(self) -> bool:
        """Say whether nothing changes by it, neither in clusters nor in the source."""
        return self.edit.difference.is_empty and not self.is_source_changed


class WrittenRollback(Struct, frozen=True, kw_only=True):
    """A rollback that was written: its commit ("": none was made), and the commands to run next.

    ``branch`` is the new one that the commit is on ("": it is on the current one).
    """

    commit: str
    steps: tuple[str, ...]
    branch: str = ""


def outcome_of_rollback(source: MemberSource, plan: RollbackPlan, log: Log) -> RollbackOutcome | None:
    """Return what a rollback makes of the fleet; None where nothing is committed here."""
    edit = outcome_of_edit(source, plan.change.contents, log)
    if edit is None:
        return None
    head = edit.comparison.head
    shares = tuple(
        each for each in unrestored_shares(head.rendered.built.schedule) if _is_asked_for(each, plan.subject)
    )
    known = {(each.ref, each.cluster) for each in shares}
    copies = list(_compared_copies(source, plan, head))
    different = [each for each, is_equal in copies if not is_equal]
    members = {each.name for each in head.source.desired.clusters}
    gone = sum(1 for each in shares if each.cluster not in members)
    unequal = (each for each in different if (each.ref, each.cluster) not in known)
    is_changed = bool(plan.restored.contents)
    return RollbackOutcome(
        edit=edit,
        is_source_changed=is_changed,
        shares=shares,
        unequal=tuple(sorted(unequal)),
        copies=len(copies) + gone,
        different=len(different) + gone,
    )


def _is_asked_for(share: Unrestored, subject: RollbackSubject) -> bool:
    """Say whether a share is of the subject, and not of another request that no pass has answered yet."""
    return subject.is_about_object(share.ref) and subject.cluster in {"", share.cluster}


def _compared_copies(source: MemberSource, plan: RollbackPlan, head: Outcome) -> Iterator[tuple[UnequalCopy, bool]]:
    """Yield each copy of what was asked for, in clusters that are still there, and whether it is as it was."""
    clusters = head.source.desired.clusters
    then = previous_by_new_names(read_previous(source.repository, plan.target.commit), clusters).tree
    after = StoredTrees(lambda ids: {id_: tuple(head.entries(id_)) for id_ in ids})
    refs = {each.ref for each in head.rendered.built.bindings}.union(_refs_of_bindings(then), plan.subject.refs)
    names = {plan.subject.cluster} if plan.subject.cluster else {each.name for each in clusters}
    spaces = {ObjectRef("", "Namespace", "", ref.namespace) for ref in refs if ref.namespace}  # most have no binding
    asked = sorted(filter(plan.subject.is_about_object, refs | spaces))
    folders = head.rendered.tree.clusters
    blobs_then = partial(_blobs_once, {}, then.trees, asked)
    blobs_now = partial(_blobs_once, {}, after, asked)
    for name in sorted(names):
        former, present = blobs_then(then.clusters.get(name)), blobs_now(folders.get(name))
        for ref in sorted(former.keys() | present.keys()):
            had, has = former.get(ref), present.get(ref)
            yield UnequalCopy(ref=ref, cluster=name, had=had is not None, has=has is not None), had == has


def _blobs_once(
    known: dict[bytes | None, Mapping[ObjectRef, bytes]],
    trees: StoredTrees,
    refs: Sequence[ObjectRef],
    folder: bytes | None,
) -> Mapping[ObjectRef, bytes]:
    """Return the blobs of a folder; many clusters have equal ones, which are read once."""
    if folder not in known:
        known[folder] = blobs_of_objects(trees, folder, refs)
    return known[folder]


def _refs_of_bindings(tree: RenderedTree) -> Iterator[ObjectRef]:
    folder = tree.trees.entries(tree.root).get("bindings")
    for path, _ in tree.files(folder.id) if folder else ():
        yield ref_of_object_path("/".join(path))


def blobs_of_objects(trees: StoredTrees, folder: bytes | None, refs: Sequence[ObjectRef]) -> Mapping[ObjectRef, bytes]:
    """Return the blobs that the folder of a cluster has for some objects; nothing for those that it does not have."""
    if folder is None:
        return {}
    paths = {ref: tuple(object_path(ref)) for ref in refs}
    trees.load_below([folder], paths.values())
    entries: dict[ObjectRef, TreeEntry | None] = {ref: trees.entry(folder, path) for ref, path in paths.items()}
    return {ref: entry.id for ref, entry in entries.items() if entry is not None}


def rollback_on_new_branch(source: MemberSource, plan: RollbackPlan, branch: str, log: Log) -> WrittenRollback:
    """Commit a rollback on a new branch; ConfigError where the files here have more that would not be on it."""
    repository = source.repository
    if dirty := repository.dirty_paths():
        raise ConfigError(
            f"{dirty[0]} has changes that are not committed, and that the branch would be without",
            hint="commit them first, or git stash -u them",
        )
    change = plan.change
    commit = commit_on_new_branch(repository, branch, repository.resolve("HEAD"), change.contents, change.message)
    log.info("committed", commit=commit[:12], branch=branch, subject=change.subject)
    steps = tuple(steps_to_merge(source, change, branch))
    return WrittenRollback(commit=commit, steps=steps, branch=branch)


def refuse_uncommitted_files(source: MemberSource, plan: RollbackPlan) -> None:
    """Raise ConfigError where a file that is restored has changes that nobody committed: they would be lost."""
    dirty = sorted(set(plan.change.contents) & set(source.repository.dirty_paths()))
    if dirty:
        raise ConfigError(f"{dirty[0]} has changes that are not committed", hint="commit them first, or git stash them")
