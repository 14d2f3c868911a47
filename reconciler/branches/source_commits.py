"""Source commits of which no rendered commit was made for themselves, and the one by which each is rendered."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reconciler.repository import CommitInfo, Repository
from render.errors import GitError

from .rendered_history import RenderedSource


class UnrenderedCommit(Struct, frozen=True, kw_only=True):
    """A source commit that no rendered commit was made of.

    ``rendered`` is one that was made of a later source, which contains it ("": none that is known here), ``source``
    that source. It may ask for the same as the one before, or have been rendered together with later ones.
    """

    info: CommitInfo
    rendered: str = ""
    source: str = ""


def unrendered_commits(
    repository: Repository, made: Iterable[RenderedSource], head: str, since: float = 0, limit: int = 300
) -> Iterator[UnrenderedCommit]:
    """Yield the source commits up to ``head`` of which none was made, the newest first; those since a time.

    ``made`` are rendered commits, the newest first: the first that was made of a source counts. Among the newest so
    many source commits it is looked for them, and in front of the first rendered commit that is known there are none.
    """
    own = {each.source: each for each in made}
    holder, left = None, set(own)
    for info in repository.history(head, limit):
        if info.time < since or not left:
            return
        if info.id in own:
            holder = own[info.id]
            left.discard(info.id)
        else:
            is_held = holder is not None and contains_commit(repository, holder.source, info.id)
            found = holder if is_held and holder is not None else RenderedSource(commit="", source="")
            yield UnrenderedCommit(info=info, rendered=found.commit, source=found.source)


def contains_commit(repository: Repository, source: str, commit: str) -> bool:
    """Say whether a source contains a commit, as far as this clone can tell."""
    try:
        return repository.is_ancestor(commit, source)
    except GitError:  # a shallow clone may lack it
        return False
