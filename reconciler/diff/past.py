"""The past of a comparison: the rendered commit that stood when its base was the newest source.

Asked for the same two commits, a comparison answers the same before and after a pass renders the second one, for that
pass is no part of the past of the first.
"""

from collections.abc import Iterator

from msgspec import Struct

from reconciler.publish.reading import read_previous
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


def past_of(repository: Repository, tip: str, base: str) -> Past:
    """Return the newest rendered commit whose source is ``base`` or comes before it.

    Where a shallow clone cannot know that, it is the newest one.
    """
    after = ""
    try:
        for commit, source in _sources(repository, tip):
            if source == base or repository.is_ancestor(source, base):
                return Past(commit=commit, next=after)
            after = commit
    except GitError:
        return Past(commit=tip)
    return Past(next=after)


def _sources(repository: Repository, tip: str) -> Iterator[tuple[str, str]]:
    """Yield rendered commits, the newest first, with their sources; the first is mostly all that is asked for."""
    yield tip, read_previous(repository, tip).source
    for info in repository.history(tip, _MOST_COMMITS)[1:]:
        # A merge of a proposal has no trailer of its own; the proposal it merged comes later.
        named = info.trailer(SOURCE)
        if len(named) == 1:
            yield info.id, named[0]
