"""The guards of removals, movements and costs together, and what they are allowed to let pass.

What is allowed (``Allowed``) comes from options such as ``--allow-removal``, and from the trailers of source commits.
"""

from collections.abc import Collection, Iterable
from functools import partial

from reconciler.names.subjects import refuse_unknown_clusters
from reconciler.pipeline.cluster_removals import Removal
from reconciler.pipeline.previous import Previous
from reconciler.source.desired import Desired
from render.errors import GuardRefused, UnknownName
from render.words import first_few, hint_of_most_similar_words

from .allowances import EACH, Allowed
from .cost_guard import CostIncrease, check_costs
from .movement_guard import Breach, check_movements
from .protection import ProtectedLoss, check_protected_losses
from .removal_guard import NOTHING_COMMITTED, check_removals


def check_allowed_subjects(allowed: Allowed, desired: Desired, previous: Previous | None) -> None:
    """Raise UnknownName for an option that allows something of a cluster or a workload that there is not and never was.

    A cluster that left the source keeps its folder, and may be back. A workload is one that is rendered, or is a
    template. So is a currency refused that is not that of the prices, for it would allow nothing.
    """
    _refuse_other_currencies((each.currency for each in allowed.costs if each.currency), desired)
    known = {cluster.name for cluster in desired.clusters} | (previous.tree.clusters.keys() if previous else set())
    refuse_unknown_clusters((each.cluster for each in allowed.removals if each.cluster != EACH), known)
    subjects = [each for each in (*(it.subject for it in allowed.movements), *sorted(allowed.fragile)) if each != EACH]
    if subjects:
        refs = {str(each.ref) for each in desired.templates} | set(map(str, previous.bindings if previous else ()))
        _refuse_unknown_objects(subjects, refs)


def _refuse_other_currencies(currencies: Iterable[str], desired: Desired) -> None:
    known = {each.currency for each in desired.price_lists}
    for currency in currencies:
        if known and currency not in known:
            its = first_few(sorted(known))
            raise UnknownName(f"the prices are in {its}, so nothing is allowed in {currency}", hint=f"write {its}")


def _refuse_unknown_objects(subjects: Iterable[str], known: Collection[str]) -> None:
    for subject in subjects:
        if subject not in known:
            hint = (
                hint_of_most_similar_words(subject, known) if known else "write an object as Deployment.apps shop/web"
            )
            raise UnknownName(f"there is no object called {subject!r}", hint=hint)


def check_some_member_is_left(
    before: Collection[str], after: Collection[object], allowed: Allowed, *, consequence: str = NOTHING_COMMITTED
) -> None:
    """Refuse a source that lost every cluster at once: more likely its files were not found than meant to go.

    ``before`` are the clusters that hold objects, ``after`` those of the source. ``consequence`` ends the first line of
    the refusal.
    """
    if not before or after or any(each.cluster == EACH for each in allowed.removals):
        return
    holders = f"{first_few(sorted(before))} {'holds' if len(before) == 1 else 'hold'}"
    raise GuardRefused(
        f"the source has no clusters any more, but {holders} objects{consequence}",
        hint="look at source.paths and ignore in argosy.yaml; if it is meant, say so in a source commit with the"
        f" trailer 'Argosy-Allow-Removal: * {len(before)}'",
    )


def check_limits(
    removed: Iterable[Removal],
    broken: Iterable[Breach],
    allowed: Allowed,
    *,
    losses: Iterable[ProtectedLoss] = (),
    increase: CostIncrease | None = None,
    consequence: str = NOTHING_COMMITTED,
) -> None:
    """Refuse what takes, moves or costs too much and is not allowed, and what takes away protected objects.

    ``losses`` are those of protected objects, ``increase`` that of costs. All guards look before any refuses, so that
    one error names everything there is to allow. Its first lines end in ``consequence``.
    """
    refused = []
    for check in (
        partial(check_protected_losses, losses, allowed.objects, consequence),
        partial(check_removals, removed, allowed.removals_by_cluster, consequence),
        partial(check_movements, broken, allowed.movements, consequence),
        partial(check_costs, increase, allowed.costs, consequence),
    ):
        try:
            check()
        except GuardRefused as error:
            refused.append(error)
    if refused:
        messages, hints = (error.message for error in refused), (error.hint for error in refused)
        raise GuardRefused("\n".join(messages), hint="\n  hint: ".join(hints))
