"""The rendered commits of a fleet, each with its source, and the one that is meant by a commit, or without one."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from reconciler.repository import Repository
from reconciler.repository.trailers import SOURCE, source_of_rendered_commit
from render.errors import GitError, UnknownName
from render.timing import epoch_text

_MOST_COMMITS = 10_000


class RenderedSource(Struct, frozen=True, kw_only=True):
    """A rendered commit, and the source commit that it was made from."""

    commit: str
    source: str


def rendered_commits(repository: Repository, tip: str) -> Iterator[RenderedSource]:
    """Yield rendered commits with their sources, from a tip back."""
    yield RenderedSource(commit=tip, source=source_of_rendered_commit(repository, tip))
    for info in repository.history(tip, _MOST_COMMITS)[1:]:
        # A merge of a proposal has no trailer of its own; the proposal it merged comes later.
        named = info.trailer(SOURCE)
        if len(named) == 1:
            yield RenderedSource(commit=info.id, source=named[0])


def rendered_commit_before_change(
    repository: Repository, tip: str, part_of_tree: Callable[[str], object] | None = None
) -> RenderedSource | None:
    """Return the rendered commit before the newest change of source; None where none that is here comes before it.

    ``part_of_tree`` is what is asked for at a commit: then the change is the newest that left it another one.
    """
    commits = rendered_commits(repository, tip)
    newest = next(commits)
    present = part_of_tree(newest.commit) if part_of_tree else None
    for each in commits:
        if each.source != newest.source and (part_of_tree is None or part_of_tree(each.commit) != present):
            return each
    return None


def first_newer_time(repository: Repository, commit: str, tip: str) -> str:
    """Return the time of the first rendered commit after one; empty where there is none, or it is not known here."""
    try:
        if commit == tip or not repository.is_ancestor(commit, tip):
            return ""
        newer = repository.commits_between(commit, tip, _MOST_COMMITS)
    except GitError:  # a shallow clone may lack it
        return ""
    return epoch_text(newer[-1].time) if newer else ""


def rendered_commit_meant(repository: Repository, tip: str, revision: str) -> RenderedSource:
    """Return the rendered commit that a revision means: itself, or the newest one of that source, or of one before it.

    A source that changed nothing has no rendered commit of its own: what stood then is that of the source before it.
    """
    commit = repository.resolve(revision)
    known = list(rendered_commits(repository, tip))
    found = next((each for each in known if each.commit == commit), None)
    found = found or next((each for each in known if each.source == commit), None)
    found = found or next((each for each in known if _is_before(repository, each.source, commit)), None)
    if found is not None:
        return found
    if source_of_rendered_commit(repository, commit):
        return RenderedSource(commit=commit, source=source_of_rendered_commit(repository, commit))
    shallow = repository.is_shallow
    raise UnknownName(
        f"no rendered commit that is here was made from {revision!r}, or from a commit before it",
        hint="this clone is shallow; fetch the whole history: git fetch --unshallow"
        if shallow
        else "name a rendered commit: argosy history lists them",
    )


def _is_before(repository: Repository, source: str, commit: str) -> bool:
    try:
        return repository.is_ancestor(source, commit)
    except GitError:  # a shallow clone may lack it
        return False
