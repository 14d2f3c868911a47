"""The guards asked about a comparison: whether the change of the source may be made, and what would let it pass."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial

from reconciler.guards.accepted_settings import NOBODY, Acceptance, check_settings_are_accepted
from reconciler.guards.allowances import Allowed
from reconciler.guards.cost_guard import words_of_unjudged_objects
from reconciler.guards.limits import check_limits, check_some_member_is_left
from reconciler.guards.protection import Folders, ProtectedLoss, losses_between, losses_of_clusters, protected_losses
from reconciler.guards.resilience_guard import LostResilience, check_resilience
from reconciler.guards.source_trailers import allowed_between
from reconciler.pipeline.cluster_removals import (
    Departures,
    Paths,
    claimed_namespaces,
    removals_by_cluster,
    removals_with_lost_places,
)
from reconciler.pipeline.lost_places import paths_of_unmet_policies
from reconciler.pipeline.renames import renamed_binding, values_by_new_names
from reconciler.rendering.guarded_outcome import cost_increase_between, movement_breaches_between
from render.errors import GuardRefused

from .comparison import Comparison, new_names_by_head, tree_reader
from .resilience import ResilienceChange, ResilienceEffect


def check_comparison(
    comparison: Comparison,
    allowed: Allowed,
    acceptance: Acceptance = NOBODY,
    resilience: Iterable[ResilienceChange] = (),
) -> None:
    """Refuse a change of the source that would take or move too much, or change settings that are in other hands.

    ``resilience`` is what it does to that, as its difference says.
    """
    fleet = comparison.head.source.desired.fleet
    waiting = acceptance.still_waiting(comparison.settings, fleet)
    _check_all(
        partial(check_settings_are_accepted, waiting, fleet.path, consequence=""),
        partial(_check_limits, comparison, allowed),
        partial(_check_resilience, comparison, allowed, resilience),
    )


def _check_all(*checks: Callable[[], None]) -> None:
    """Ask all guards before any refuses, so that one error names everything there is to allow."""
    refused = []
    for check in checks:
        try:
            check()
        except GuardRefused as error:
            refused.append(error)
    if refused:
        hints = "\n  hint: ".join(error.hint for error in refused)
        raise GuardRefused("\n".join(error.message for error in refused), hint=hints)


def _check_limits(comparison: Comparison, allowed: Allowed) -> None:
    base, head = comparison.base, comparison.head
    guard = head.source.desired.fleet.removal_guard
    renamed = new_names_by_head(base.source, head.source)
    folders = values_by_new_names(_folders_not_taken_over(comparison), renamed)
    read = tree_reader(comparison)
    claimed = claimed_namespaces(base.rendered.tree.root, read)
    built = head.rendered.built
    unmet = paths_of_unmet_policies(built.bindings, built.index, head.source.desired.fleet)
    folders_after = head.rendered.tree.clusters
    departures = Departures(begun=_copies_that_begin_to_leave(comparison))
    found = removals_by_cluster(folders, folders_after, read, guard, departures, claimed)
    removed = removals_with_lost_places(found, unmet, folders_after, read)
    held_removals = (each for each in head.rendered.held_removals if each not in base.rendered.held_removals)
    allowed |= allowed_between(head.repository, base.source.commit, head.source.commit)
    before = {each.ref: renamed_binding(each, renamed) for each in base.rendered.built.bindings}
    check_some_member_is_left(base.rendered.tree.clusters, head.source.desired.clusters, allowed, consequence="")
    losses = _protected_losses(comparison, folders)
    check_limits(
        (*removed, *held_removals),
        movement_breaches_between(before, head),
        allowed,
        losses=losses,
        increase=cost_increase_between(before, head),
        consequence="",
    )


def _check_resilience(comparison: Comparison, allowed: Allowed, changes: Iterable[ResilienceChange]) -> None:
    lost = [
        LostResilience(subject=str(each.judgement.requirement.ref), message=each.message)
        for each in changes
        if each.effect is ResilienceEffect.LOST
    ]
    if lost:
        base, head = comparison.base, comparison.head
        check_resilience(
            lost, (allowed | allowed_between(head.repository, base.source.commit, head.source.commit)).fragile
        )


def _copies_that_begin_to_leave(comparison: Comparison) -> Mapping[str, Paths]:
    """Return the paths that leave clusters by moves which the change of the source begins."""
    before, after = (side.rendered.built.begun_removals for side in (comparison.base, comparison.head))
    return {name: paths - before.get(name, frozenset()) for name, paths in after.items()}


def _folders_not_taken_over(comparison: Comparison) -> Mapping[str, bytes]:
    """Return the folders of clusters before a change, without those of disconnected ones that get another name by it.

    Where a member has that name already, its cluster has two folders: the former one goes, and nothing leaves it.
    """
    base, head = comparison.base, comparison.head
    former = {name for each in head.source.desired.clusters for name in each.former_names}
    members = {each.name for each in base.source.desired.clusters}
    return {name: id_ for name, id_ in base.rendered.tree.clusters.items() if name in members or name not in former}


def _protected_losses(comparison: Comparison, folders: Mapping[str, bytes]) -> tuple[ProtectedLoss, ...]:
    """Return the protected objects that the change takes away, from the source or from clusters (``folders``)."""
    base, head = comparison.base, comparison.head
    both = Folders(
        before=folders,
        after=head.rendered.tree.clusters,
        read_tree=tree_reader(comparison),
        read_blobs=base.contents,
        expected=head.rendered.built.expected_removals,
        leaving=_copies_that_begin_to_leave(comparison),
    )
    of_source = losses_between(head.repository, base.source.files, head.source)
    return protected_losses(losses_of_clusters(both), of_source)


def refusal_lines(
    comparison: Comparison, allowed: Allowed, resilience: Iterable[ResilienceChange] = ()
) -> tuple[str, ...]:
    """Return the refusal of a change that takes or moves too much, line by line with its hints; none where it passes.

    ``resilience`` is what it does to that, as its difference says. The last line of a hint is a commit to copy that
    allows the change.
    """
    try:
        _check_all(
            partial(_check_limits, comparison, allowed), partial(_check_resilience, comparison, allowed, resilience)
        )
    except GuardRefused as error:
        return (*error.message.split("\n"), *f"  hint: {error.hint}".split("\n"))
    return ()


def lines_of_unjudged_costs(comparison: Comparison) -> tuple[str, ...]:
    """Return what the cost guard does not judge of a change, as no cost of it is known."""
    base, head = comparison.base, comparison.head
    renamed = new_names_by_head(base.source, head.source)
    before = {each.ref: renamed_binding(each, renamed) for each in base.rendered.built.bindings}
    return words_of_unjudged_objects(cost_increase_between(before, head))
