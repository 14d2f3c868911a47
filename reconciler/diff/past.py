"""The past of a base: the rendered commit that stood when it was the newest source, and the one that came after it."""

from collections.abc import Iterator

from msgspec import Struct

from reconciler.branches.reading import read_previous
from reconciler.repository import Repository
from reconciler.repository.trailers import SOURCE
from render.errors import GitError

_MOST_COMMITS = 10_000


class Past(Struct, frozen=True, kw_only=True):
    """The rendered commit that a base starts from ("": there was none yet), and the one that came after it.

    ``next`` is empty where the first is the newest; otherwise it has the facts by which the fleet went on.
    """

    commit: str = ""
    next: str = ""


def last_render_before(repository: Repository, tip: str, base: str) -> Past:
    """Return the newest rendered commit whose source is ``base`` or comes before it.

    Where a shallow clone cannot know that, it is the newest one.
    """
    after = ""
    try:
        for commit, source in _rendered_commits_with_sources(repository, tip):
            if source == base or repository.is_ancestor(source, base):
                return Past(commit=commit, next=after)
            after = commit
    except GitError:
        return Past(commit=tip)
    return Past(next=after)


def _rendered_commits_with_sources(repository: Repository, tip: str) -> Iterator[tuple[str, str]]:
    """Yield rendered commits, the newest first, with their sources; the first is mostly all that is asked for."""
    yield tip, read_previous(repository, tip).source
    for info in repository.history(tip, _MOST_COMMITS)[1:]:
        # A merge of a proposal has no trailer of its own; the proposal it merged comes later.
        named = info.trailer(SOURCE)
        if len(named) == 1:
            yield info.id, named[0]
