"""The commits that Argosy wrote, on branches where forges merge them."""

from reconciler.repository import CommitInfo, Repository
from reconciler.repository.trailers import SOURCE


def written_commit(repository: Repository, commit: str) -> CommitInfo:
    """Return the commit that Argosy wrote, of one that stands on a rendered branch.

    It is that commit itself, or the one that a merge took over as it is: a merge has a message of its own, and the tree
    of what was merged. A commit that nobody can tell this of is returned as it is, without trailers.
    """
    info = repository.commit_info(commit)
    if info.trailer(SOURCE) or len(info.parents) < 2:
        return info
    parents = reversed(repository.commit_infos(info.parents))
    return next((each for each in parents if each.tree == info.tree and each.trailer(SOURCE)), info)
