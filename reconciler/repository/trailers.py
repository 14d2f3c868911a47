"""The trailers of rendered commits, which are all that is needed to make one again, and the commit that has them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import reconciler

from . import commits

if TYPE_CHECKING:
    from .access import Repository
    from .commits import CommitInfo

SOURCE = commits.SOURCE
PREVIOUS = "Argosy-Previous"
VERSION = "Argosy-Version"
TOOL = "Argosy-Tool"
NOW = "Argosy-Now"
BRANCH = "Argosy-Branch"
EVICTED = "Argosy-Evicted"
RENDERED = "Argosy-Rendered"
ALLOW_REMOVAL = "Argosy-Allow-Removal"
ALLOW_MOVEMENT = "Argosy-Allow-Movement"
ALLOW_COST = "Argosy-Allow-Cost"
ALLOW_FRAGILE = "Argosy-Allow-Fragile"


def engine_version() -> str:
    """Return the version of the engine, as commits record it."""
    return reconciler.VERSION


def trailers_of_rendered_commit(
    *,
    source: str,
    previous: str | None,
    branch: str = "",
    tools: Sequence[str] = (),
    removals: Sequence[str] = (),
    now: str = "",
) -> Mapping[str, str | Sequence[str]]:
    """Return the trailers of a rendered commit: all that is needed to make it again.

    ``branch`` is the one that source commits have to be of, where one is known. ``tools`` are the programs that built
    some of the source, by name and version. ``removals`` are what options allowed to leave a cluster, where that
    decided the tree. ``now`` is the time of the pass, where a rule asked for it.
    """
    trailers: dict[str, str | Sequence[str]] = {SOURCE: source, VERSION: engine_version()}
    if previous:
        trailers[PREVIOUS] = previous
    if branch:
        trailers[BRANCH] = branch
    if tools:
        trailers[TOOL] = tools
    if now:
        trailers[NOW] = now
    return {**trailers, ALLOW_REMOVAL: removals} if removals else trailers


def commit_written_by_argosy(repository: "Repository", commit: str) -> "CommitInfo":
    """Return the commit that Argosy wrote, of one that stands on a rendered branch.

    It is that commit itself, or the one that a merge took over as it is: a merge has a message of its own, and the tree
    of what was merged. A commit that nobody can tell this of is returned as it is, without trailers.
    """
    info = repository.commit_info(commit)
    if info.trailer(SOURCE) or len(info.parents) < 2:
        return info
    parents = reversed(repository.commit_infos(info.parents))
    return next((each for each in parents if each.tree == info.tree and each.trailer(SOURCE)), info)


def source_of_rendered_commit(repository: "Repository", commit: str) -> str:
    """Return the source commit that a commit on a rendered branch was made from; empty where nobody can tell."""
    named = commit_written_by_argosy(repository, commit).trailer(SOURCE)
    return named[0] if len(named) == 1 else ""
