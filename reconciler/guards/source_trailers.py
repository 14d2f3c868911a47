"""The allowances of source commits: what their trailers allow, from one rendered source to the next."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TypeVar

from reconciler.repository import CommitInfo, Repository
from reconciler.repository.trailers import ALLOW_COST, ALLOW_FRAGILE, ALLOW_MOVEMENT, ALLOW_REMOVAL, EVICTED
from render.errors import GitError

from .allowances import Allowed, CostAllowance, MovementAllowance, RemovalAllowance

_MOST_COMMITS = 1000
_Allowance = TypeVar("_Allowance", RemovalAllowance, MovementAllowance, CostAllowance)


def allowed_between(repository: Repository, old: str, new: str) -> Allowed:
    """Return what the trailers of the commits after ``old`` up to ``new`` allow."""
    if not new:
        return Allowed()
    return allowed_by(_commits_between(repository, old, new))


def allowed_by(commits: Sequence[CommitInfo]) -> Allowed:
    """Return what the trailers of commits allow; a malformed one allows nothing."""
    return Allowed(
        removals=tuple(_parsed_trailers(commits, ALLOW_REMOVAL, RemovalAllowance.parse)),
        movements=tuple(_parsed_trailers(commits, ALLOW_MOVEMENT, MovementAllowance.parse)),
        costs=tuple(_parsed_trailers(commits, ALLOW_COST, CostAllowance.parse)),
        objects=frozenset(_subjects_of_trailers(commits, ALLOW_REMOVAL)),
        fragile=frozenset(_subjects_of_trailers(commits, ALLOW_FRAGILE)),
    )


def allowances_between(repository: Repository, old: str, new: str) -> tuple[tuple[str, str], ...]:
    """Return the trailers by which the commits after ``old`` up to ``new`` allow something, each with its commit.

    A malformed one allows nothing, and is told as such.
    """
    if not new:
        return ()
    commits = reversed(_commits_between(repository, old, new))
    return tuple(
        (commit.id, f"{name}: {text}{'' if _allows_something(name, text) else _MALFORMED}")
        for commit in commits
        for name in (ALLOW_REMOVAL, ALLOW_MOVEMENT, ALLOW_COST, ALLOW_FRAGILE)
        for text in commit.trailer(name)
    )


_PARSERS: Mapping[str, Callable[[str], object]] = {
    ALLOW_MOVEMENT: MovementAllowance.parse,
    ALLOW_COST: CostAllowance.parse,
}
"""The readers of trailers that have one form; any text may be the name of an object that may be removed."""
_MALFORMED = " (it cannot be read, and allows nothing)"


def _allows_something(name: str, text: str) -> bool:
    """Say whether a trailer can be read as what allows something."""
    try:
        if name in _PARSERS:
            _PARSERS[name](text)
    except ValueError:
        return False
    return True


def evictions_between(repository: Repository, old: str, new: str) -> tuple[RemovalAllowance, ...]:
    """Return how many objects left each cluster by rules of failover, from one rendered commit to a later one."""
    try:
        commits = repository.commits_between(old, new, _MOST_COMMITS) if old != new else ()
    except GitError:  # a commit that is not here any more allows nothing
        return ()
    counts: dict[str, int] = {}
    for each in _parsed_trailers(commits, EVICTED, RemovalAllowance.parse):
        counts[each.cluster] = counts.get(each.cluster, 0) + each.count
    return tuple(RemovalAllowance(cluster=cluster, count=count) for cluster, count in sorted(counts.items()))


def _commits_between(repository: Repository, old: str, new: str) -> tuple[CommitInfo, ...]:
    """Return the commits of a change; where its beginning is not here (a rewound branch), its last commit alone."""
    try:
        repository.resolve(old)
    except GitError:
        return (repository.commit_info(new),)
    return repository.commits_between(old, new, _MOST_COMMITS)


def _subjects_of_trailers(commits: Iterable[CommitInfo], name: str) -> Iterable[str]:
    return (" ".join(text.split()) for each in commits for text in each.trailer(name))


def _parsed_trailers(
    commits: Iterable[CommitInfo], name: str, parse: Callable[[str], _Allowance]
) -> Iterable[_Allowance]:
    for commit in commits:
        for text in commit.trailer(name):
            try:
                yield parse(text)
            except ValueError:
                continue
