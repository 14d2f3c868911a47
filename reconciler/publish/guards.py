"""The guards before a commit: what takes or moves too much is refused, unless the source or the caller allows it.

Both guards look before either refuses, so that one run names everything there is to allow. What is allowed
(``Allowed``) comes from ``--allow-removal``, ``--allow-movement`` and the trailers of source commits.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial

from reconciler.names.subjects import check_clusters
from reconciler.pipeline.cluster_removals import Removal
from reconciler.pipeline.previous import Previous
from reconciler.repository import Repository
from reconciler.repository.failures import unreached
from reconciler.source.desired import Desired
from render.binding import Binding
from render.errors import GitError, GuardRefused
from render.model import ObjectRef
from render.settings.movement_guard import MovementGuard
from render.settings.removal_guard import GuardScope
from render.words import listed

from .allowances import EACH, Allowed
from .continuity import renames_by_hand, unread_files
from .movement_guard import Breach, Placements, breaches, check_movements
from .outcome import Outcome
from .removal_guard import NOTHING_COMMITTED, check_removals, removal_refusal
from .source_trailers import allowed_between

NOTHING: Mapping[ObjectRef, Binding] = {}


def check_allowed_clusters(allowed: Allowed, desired: Desired, previous: Previous | None) -> None:
    """Raise UnknownName for an option that allows removals from a cluster that there is not and never was.

    A cluster that left the source keeps its folder, and may be back.
    """
    known = {cluster.name for cluster in desired.clusters} | (previous.tree.clusters.keys() if previous else set())
    check_clusters((each.cluster for each in allowed.removals if each.cluster != EACH), known)


def check_guards(outcome: Outcome, allowed: Allowed) -> None:
    """Refuse a pass that takes or moves too much; where the removal guard holds back clusters, that is not refused."""
    if outcome.previous is None or not outcome.changed:
        return
    is_by_cluster = outcome.source.desired.fleet.removal_guard.scope is GuardScope.CLUSTER
    removed, broken = () if is_by_cluster else outcome.removals, movement_breaches(outcome)
    if broken or any(removal.reasons for removal in removed) or not outcome.source.desired.clusters:
        # What commits allow is asked for where there is something to allow.
        allowed |= allowed_between(outcome.repository, outcome.previous.source, outcome.source.commit)
        with _causes_named(outcome, outcome.previous):
            check_members(outcome.previous.tree.clusters, outcome, allowed)
            check_limits(removed, broken, allowed)


@contextmanager
def _causes_named(outcome: Outcome, previous: Previous) -> Iterator[None]:
    """Add to a refusal which files are not read any more, and who may have been renamed: it may be all there is."""
    try:
        yield
    except GuardRefused as error:
        repository, source = outcome.repository, outcome.source
        found = (*unread_files(repository, source, previous), *renames_by_hand(repository, source, previous))
        causes = [f"  {each}" for each in found]
        raise GuardRefused("\n".join([error.message, *causes]), hint=error.hint) from error


def check_members(
    before: Collection[str], outcome: Outcome, allowed: Allowed, *, consequence: str = NOTHING_COMMITTED
) -> None:
    """Refuse a source that lost every cluster at once: more likely its files were not found than meant to go.

    ``consequence`` ends the first line of the refusal.
    """
    if not before or outcome.source.desired.clusters or any(each.cluster == EACH for each in allowed.removals):
        return
    holders = f"{listed(sorted(before))} {'holds' if len(before) == 1 else 'hold'}"
    raise GuardRefused(
        f"the source has no clusters any more, but {holders} objects{consequence}",
        hint="look at source.paths and ignore in argosy.yaml; if it is meant, say so in a source commit with the"
        f" trailer 'Argosy-Allow-Removal: * {len(before)}'",
    )


def check_removals_held_back(outcome: Outcome) -> None:
    """Refuse what a pass held back: the clusters that keep what they have, because too much would leave them.

    This comes after the commit, which has what all others get.
    """
    held = outcome.rendered.held
    if not held:
        return
    names = listed([each.cluster for each in held])
    error = removal_refusal(held, f"; {names} {'keeps' if len(held) == 1 else 'keep'} what was there, all others go on")
    previous = outcome.previous
    if previous is None:
        raise error
    with _causes_named(outcome, previous):
        raise error


def movement_breaches(outcome: Outcome) -> tuple[Breach, ...]:
    """Return the limits of the movement guard that a pass breaks."""
    if outcome.previous is None or outcome.source.desired.fleet.movement_guard == MovementGuard():
        return ()
    before, scope = outcome.previous.bindings, outcome.scope
    beside = {ref: each for ref, each in before.items() if ref not in scope.refs} if scope else {}
    return breaches_of(before, outcome, beside)


def breaches_of(
    before: Mapping[ObjectRef, Binding], outcome: Outcome, beside: Mapping[ObjectRef, Binding] = NOTHING
) -> tuple[Breach, ...]:
    """Return the limits an outcome breaks; ``beside`` are bindings it did not look at, and so did not change."""
    desired = outcome.source.desired
    placements = Placements(
        before=before,
        after={**beside, **{binding.ref: binding for binding in outcome.rendered.built.bindings}},
        region_by_cluster={cluster.name: cluster.region for cluster in desired.clusters},
    )
    return breaches(placements, desired.fleet.movement_guard)


def check_limits(
    removed: Iterable[Removal], broken: Iterable[Breach], allowed: Allowed, *, consequence: str = NOTHING_COMMITTED
) -> None:
    """Refuse what is too much and not allowed; one error names all, its first lines ending in ``consequence``."""
    refused = []
    for check in (
        partial(check_removals, removed, allowed.removals_by_cluster, consequence),
        partial(check_movements, broken, allowed.movements, consequence),
    ):
        try:
            check()
        except GuardRefused as error:
            refused.append(error)
    if refused:
        messages, hints = (error.message for error in refused), (error.hint for error in refused)
        raise GuardRefused("\n".join(messages), hint="\n  hint: ".join(hints))


def check_rewind(repository: Repository, previous: Previous | None, commit: str, *, is_accepted: bool) -> bool:
    """Say whether a source does not follow the one rendered before: a rewound or rewritten branch, refused unasked."""
    if previous is None or previous.source == commit:
        return False
    try:
        repository.resolve(previous.source)
    except GitError as error:
        if repository.is_shallow:
            raise unreached(previous.source, commit) from error
    else:
        if repository.is_ancestor(previous.source, commit):
            return False
    if is_accepted:
        return True
    raise GuardRefused(
        f"source {commit[:12]} does not follow {previous.source[:12]}, which the clusters were rendered from",
        hint="if the branch was rewound on purpose, pass --accept-rewind",
    )
