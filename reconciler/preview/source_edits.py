"""The outcome of an edit of the source before it is written, as a pass over its commit would have it.

The commit of an edit holds the files that it changes, and everything else as ``HEAD`` has it. So that source is
rendered beside the one of ``HEAD`` and compared, as ``argosy diff`` does. An edit that is committed already and was not
rendered yet is compared with the source that was rendered last.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.publication import publication_of
from reconciler.console.log import Log
from reconciler.diff.comparison import Comparison, Revisions, compare_commits, difference_of
from reconciler.diff.difference import ChangeAction, ClusterTotal, Difference, ObjectChange, StayNote
from reconciler.diff.guards import refusal_lines
from reconciler.diff.holds import holds_on_members, is_newer_than_held
from reconciler.diff.staying import unplaced_words
from reconciler.edit.cluster_files import MemberSource
from reconciler.guards.allowances import Allowed, RemovalAllowance
from reconciler.pipeline.cluster_removals import is_counted_by_guard
from reconciler.plans.prune import DRAINED
from reconciler.rendering.memory import SourceMemory
from reconciler.repository.trailers import ALLOW_REMOVAL, source_of_rendered_commit
from render.binding import Binding
from render.errors import GitError, GuardRefused
from render.layout import object_path

_ANY_NUMBER = 10**9
_MOST_NAMED = 10


class EmptiedMember(Struct, frozen=True, kw_only=True):
    """The paths of the objects that leave a member by an edit, and how many stay, as the removal guard counts.

    ``namespaces`` are those that it keeps though nothing is to be in them, which no guard counts. ``ending`` objects
    stay until a copy elsewhere is well. ``abrupt`` are workloads that leave at once and were nowhere else, so that they
    are down until they are well elsewhere. ``trailers`` let that and no more pass the guard.
    """

    name: str
    leaving: tuple[str, ...] = ()
    namespaces: tuple[str, ...] = ()
    staying: int = 0
    ending: int = 0
    abrupt: tuple[str, ...] = ()
    trailers: tuple[str, ...] = ()


class EditOutcome(Struct, frozen=True, kw_only=True):
    """The difference that an edit makes, the comparison it is from, and what it does to members that it empties."""

    comparison: Comparison
    difference: Difference
    emptied: tuple[EmptiedMember, ...] = ()

    @property
    def trailers(self) -> tuple[str, ...]:
        """The trailers of a commit of the edit, which allow what leaves the members that it empties."""
        return tuple(trailer for each in self.emptied for trailer in each.trailers)


def outcome_of_edit(
    source: MemberSource, contents: Mapping[str, bytes | None], log: Log, *, emptied: Sequence[str] = ()
) -> EditOutcome | None:
    """Return what changes by the commit of an edit; None where nothing is committed at all.

    ``contents`` are those that files get by it; none where the edit is committed already. ``emptied`` are the members
    that it empties, for which its commit allows the removals.
    """
    comparison = _comparison_of_edit(source, contents, log, emptied)
    if comparison is None:
        return None
    found, namespaces = _difference_with_namespaces_kept(difference_of(comparison), emptied)
    members = tuple(
        replace(_emptied_member(comparison, name, is_committed=not contents), namespaces=namespaces.get(name, ()))
        for name in emptied
    )
    removals = (RemovalAllowance(cluster=each.name, count=len(each.leaving)) for each in members if each.trailers)
    holds = holds_on_members(comparison)
    found = replace(
        found,
        refused=refusal_lines(comparison, Allowed(removals=tuple(removals)), found.resilience),
        holds=holds,
        is_newer=bool(contents) or is_newer_than_held(comparison, holds),
    )
    return EditOutcome(comparison=comparison, difference=found, emptied=members)


def _comparison_of_edit(
    source: MemberSource, contents: Mapping[str, bytes | None], log: Log, emptied: Sequence[str]
) -> Comparison | None:
    repository = source.repository
    head = repository.tip("HEAD")
    if head is None:
        return None
    tip = _rendered_tip(source, log)
    allowed = Allowed(removals=tuple(RemovalAllowance(cluster=name, count=_ANY_NUMBER) for name in emptied))
    revisions = Revisions(
        base=head if contents or tip is None else _rendered_source(source, tip, head),
        head=head,
        bootstrap=tip is None,
        allowed=allowed if contents else Allowed(),
        contents=contents or None,
    )
    return compare_commits(repository, revisions, SourceMemory(), log)


def _rendered_tip(source: MemberSource, log: Log) -> str | None:
    """Return the newest rendered commit, fetched with the status branch; where nobody answers, the one known here."""
    fleet = source.published_fleet
    publication = publication_of(source.repository, fleet)
    try:
        publication.ask_for_tips(fleet.rendered_branch, fleet.status_branch)
        publication.current_tip(fleet.status_branch)
        return publication.current_tip(fleet.rendered_branch)
    except GitError as error:
        log.warning(f"{error.message}; what is shown goes by what was fetched before")
        return publication.known_tip(fleet.rendered_branch)


def _rendered_source(source: MemberSource, tip: str, head: str) -> str:
    """Return the source of the newest rendered commit, or ``HEAD`` where that does not follow it."""
    named = source_of_rendered_commit(source.repository, tip)
    try:
        return named if named and source.repository.is_ancestor(named, head) else head
    except GitError:  # a shallow clone may lack it
        return head


def _difference_with_namespaces_kept(
    found: Difference, emptied: Collection[str]
) -> tuple[Difference, Mapping[str, tuple[str, ...]]]:
    """Return a difference in which members that are emptied keep their Namespaces, as no drain deletes any.

    The paths of those that each member keeps are returned as well.
    """
    changes, notes, kept = [], [], dict[str, list[str]]()
    for change in found.objects:
        here = tuple(name for name in change.clusters if name in emptied) if _is_namespace_removed(change) else ()
        for name in here:
            kept.setdefault(name, []).append("/".join(object_path(change.ref)))
        if here:
            message = f"stays in {', '.join(here)}: a drain deletes no Namespace"
            notes.append(StayNote(ref=change.ref, reason=DRAINED, message=message, clusters=here))
        if left := tuple(name for name in change.clusters if name not in here):
            changes.append(replace(change, clusters=left))
    totals = (replace(each, removed=each.removed - len(kept.get(each.name, ()))) for each in found.clusters)
    with_changes = tuple(each for each in totals if each != ClusterTotal(name=each.name) or each.name not in kept)
    staying = tuple(sorted((*found.staying, *notes), key=lambda each: each.ref))
    found = replace(found, objects=tuple(changes), clusters=with_changes, staying=staying)
    return found, {name: tuple(paths) for name, paths in kept.items()}


def _is_namespace_removed(change: ObjectChange) -> bool:
    is_removed = change.action is ChangeAction.REMOVED and not change.is_preserved
    return is_removed and change.ref.group_kind == "Namespace"


def _emptied_member(comparison: Comparison, name: str, *, is_committed: bool) -> EmptiedMember:
    """Return what leaves a member and what stays, by what a pass would take from the newest rendered commit."""
    head = comparison.head
    removal = next((each for each in head.removals if each.cluster == name), None)
    folder = head.rendered.tree.clusters.get(name)
    needs_allowance = removal is not None and bool(removal.reasons) and not is_committed
    bindings = head.rendered.built.bindings
    ending = {
        "/".join(object_path(binding.ref)) for binding in bindings if _is_left_once_others_are_well(binding, name)
    }
    held = sum(is_counted_by_guard(path) for path, _ in head.files(folder)) if folder else 0
    return EmptiedMember(
        name=name,
        leaving=tuple(path for path in removal.paths if path not in ending) if removal else (),
        staying=max(held - len(ending), 0),
        ending=len(ending),
        abrupt=tuple(sorted(_workloads_moved_at_once(comparison, name))),
        trailers=(f"{ALLOW_REMOVAL}: {name} {len(removal.paths)}",) if removal and needs_allowance else (),
    )


def _is_left_once_others_are_well(binding: Binding, name: str) -> bool:
    """Say whether an object leaves a member gracefully, or step by step."""
    if any(task.from_cluster == name for task in binding.eviction_tasks):
        return True
    names = {each.name for each in binding.targets} - {each.name for each in binding.final_targets}
    return name in names


def _workloads_moved_at_once(comparison: Comparison, name: str) -> Iterator[str]:
    """Yield the workloads that a member loses at once, and that other clusters have only from then on."""
    before = {each.ref: {target.name for target in each.targets} for each in comparison.base.rendered.built.bindings}
    for binding in comparison.head.rendered.built.bindings:
        had, has = before.get(binding.ref, set()), {target.name for target in binding.targets}
        is_workload = binding.replicas is not None or bool(binding.components)
        is_graceful = any(task.from_cluster == name for task in binding.eviction_tasks)
        if is_workload and not is_graceful and name in had and has and not had & has:
            yield str(binding.ref)


def refuse_unplaced(outcome: EditOutcome | None, hint: str) -> None:
    """Raise GuardRefused for an edit by which templates end in no cluster."""
    unplaced = outcome.difference.unplaced if outcome else ()
    if not unplaced:
        return
    lines = [f"  {each.ref}: {unplaced_words(each)}" for each in islice(unplaced, _MOST_NAMED)]
    more = len(unplaced) - len(lines)
    lines += [f"  and {more} more"] if more else []
    raise GuardRefused("\n".join(["this leaves objects without any cluster; nothing was changed", *lines]), hint=hint)
