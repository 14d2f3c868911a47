"""Source commits of which no rendered commit was made for themselves, and the one by which each is rendered.

A repository may hold several fleets. What a commit changes outside the folder of one is nothing to that fleet.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from reconciler.repository import CommitInfo, Repository
from reconciler.source.files import FLEET_FILE
from render.errors import GitError
from render.gitobjects import TREE_MODE

from .rendered_history import RenderedSource


class FleetFolder:
    """The folder of a fleet in its repository ("": all of it), compared between commits."""

    def __init__(self, repository: Repository, commit: str) -> None:
        self._repository = repository
        self._entries: dict[bytes, dict[str, tuple[int, bytes]]] = {}
        self.path = self._path_of_fleet(commit)

    def differs(self, one: str, other: str) -> bool:
        """Say whether the folder is another one at two commits; where these are not all here, it may be."""
        if not self.path:
            return one != other
        try:
            return self._tree(one, self.path) != self._tree(other, self.path)
        except GitError:  # a shallow clone may lack one of them
            return True

    def is_changed_by(self, commit: CommitInfo) -> bool:
        """Say whether a commit changes anything in the folder; the first one of a history does."""
        return not commit.parents or self.differs(commit.parents[0], commit.id)

    def newest_change(self, before: str, source: CommitInfo, limit: int) -> CommitInfo:
        """Return the newest of the commits after one, up to a source, that changes the folder; else that source."""
        if not self.path or self.is_changed_by(source):
            return source
        try:
            between = self._repository.commits_between(before, source.id, limit)
        except GitError:  # the source was rewound, or a shallow clone lacks them
            return source
        return next(filter(self.is_changed_by, between), source)

    def _path_of_fleet(self, commit: str) -> str:
        """Return the nearest folder with an argosy.yaml, from where the location is upwards."""
        at = self._repository.folder.under
        while at:
            found = self._tree(commit, at)
            if found is not None and FLEET_FILE in self._entries_of_tree(found):
                return at
            at = at.rpartition("/")[0]
        return ""

    def _tree(self, commit: str, path: str) -> bytes | None:
        at: bytes | None = self._repository.commit_info(commit).tree
        for name in path.split("/"):
            mode, id_ = self._entries_of_tree(at).get(name, (0, b"")) if at is not None else (0, b"")
            at = id_ if mode == TREE_MODE else None
        return at

    def _entries_of_tree(self, tree: bytes) -> dict[str, tuple[int, bytes]]:
        if tree not in self._entries:
            entries = self._repository.read_trees([tree])[tree]
            self._entries[tree] = {each.text: (each.mode, each.id) for each in entries}
        return self._entries[tree]


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
    Those that change nothing in the fleet's own folder are left out.
    """
    own = {each.source: each for each in made}
    folder = FleetFolder(repository, head)
    holder, left = None, set(own)
    for info in repository.history(head, limit):
        if info.time < since or not left:
            return
        if info.id in own:
            holder = own[info.id]
            left.discard(info.id)
        elif folder.is_changed_by(info):
            is_held = holder is not None and contains_commit(repository, holder.source, info.id)
            found = holder if is_held and holder is not None else RenderedSource(commit="", source="")
            yield UnrenderedCommit(info=info, rendered=found.commit, source=found.source)


def contains_commit(repository: Repository, source: str, commit: str) -> bool:
    """Say whether a source contains a commit, as far as this clone can tell."""
    try:
        return repository.is_ancestor(commit, source)
    except GitError:  # a shallow clone may lack it
        return False
