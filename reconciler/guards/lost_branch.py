"""The guard against a first run that is none: the rendered branch is lost, and the versions of clusters with it.

A first run gives every cluster the newest version at once. Where rollout policies ask for waves, that is refused while
the status branch says that members hold something that was rendered before.
"""

from collections.abc import Collection, Iterable

from reconciler.branches.publication import Publication
from reconciler.branches.status_branch import StatusBranch, read_inventories
from reconciler.ledger.inventory import Inventory
from reconciler.repository import Repository
from reconciler.source.desired import Desired
from render.errors import GitError, GuardRefused
from render.words import first_few


def check_rollouts_are_not_lost(publication: Publication, desired: Desired, *, is_accepted: bool) -> None:
    """Refuse a first run of a fleet with rollout policies whose members hold commits of a branch that is gone."""
    fleet, repository = desired.fleet, publication.repository
    if not desired.rollout_policies or is_accepted:
        return
    status = StatusBranch(publication=publication, branch=fleet.status_branch)
    known = {name: each for name, each in read_inventories(status, status.tip()).items() if each.commits}
    if not known:
        return
    newest = _newest_known_commit(repository, known.values())
    where = f" of {publication.place!r}" if publication.remote else ""
    command = (
        f"git push {publication.place} {newest}:refs/heads/{fleet.rendered_branch}"
        if publication.remote
        else f"git branch {fleet.rendered_branch} {newest}"
    )
    back = command if newest else "push it from a clone that has it"
    raise GuardRefused(
        f"there is no branch {fleet.rendered_branch!r}{where} any more, but {first_few(sorted(known))} hold what was"
        " rendered there; the versions at which rollouts left them are lost with it",
        hint=f"bring it back: {back}; if every cluster shall get the newest version at once: --bootstrap"
        " --accept-rewind",
    )


def _newest_known_commit(repository: Repository, inventories: Iterable[Inventory]) -> str:
    """Return the commit of inventories that follows all others which are here; empty where none is."""
    here = sorted({commit for each in inventories for commit in each.commits if _is_here(repository, commit)})
    return next((each for each in here if _follows_all(repository, each, here)), here[0] if here else "")


def _follows_all(repository: Repository, commit: str, others: Collection[str]) -> bool:
    try:
        return all(repository.is_ancestor(other, commit) for other in others)
    except GitError:  # a shallow clone may not know
        return False


def _is_here(repository: Repository, commit: str) -> bool:
    try:
        return bool(repository.resolve(commit))
    except GitError:
        return False
