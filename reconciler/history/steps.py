"""The rendered commits that changed some files of theirs, each with the source commit that it was made from."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from reconciler.pipeline.previous import RenderedTree
from reconciler.pipeline.readme import members_on_page
from reconciler.repository import CommitInfo, Repository
from reconciler.repository.changing_commits import ChangedPath, ChangingCommit, ListingLimits, commits_changing_files
from reconciler.repository.trailers import NOW, SOURCE, VERSION, commit_written_by_argosy
from render.errors import GitError
from render.gitobjects import TreeEntry

_README = "README.md"
_AT_ONCE = 8
_NO_LIMITS = ListingLimits()


class RenderedStep(Struct, frozen=True, kw_only=True):
    """A rendered commit, the one before it (None: it is the first that is here), and the source it was made from.

    ``author`` and ``subject`` are those of the source commit; where that is not here, of what the rendered commit says
    of it. ``members`` are the clusters of the fleet at it, ``members_before`` those at the one before. ``files`` are
    those of its tree that were looked for and are others than before; ``unlisted`` is how many more there are in
    clusters, where they are too many to be looked at one by one.
    """

    commit: CommitInfo
    before: CommitInfo | None
    source: str = ""
    source_before: str = ""
    author: str = ""
    subject: str = ""
    members: frozenset[str] = frozenset()
    members_before: frozenset[str] = frozenset()
    files: tuple[ChangedPath, ...] = ()
    unlisted: int = 0
    is_cut_off: bool = False

    @property
    def id(self) -> str:
        """The rendered commit."""
        return self.commit.id

    @property
    def is_of_new_source(self) -> bool:
        """Say whether it was made from another source commit than the one before."""
        return self.source != self.source_before

    @property
    def is_of_other_engine(self) -> bool:
        """Say whether another version of the engine made it than the one before."""
        return self.before is not None and self.commit.trailer(VERSION) != self.before.trailer(VERSION)

    @property
    def pass_time(self) -> str:
        """The time of the pass, where a rule asked for it; empty where none did."""
        times = self.commit.trailer(NOW)
        return times[0] if times else ""


def rendered_steps(
    repository: Repository, tip: str, patterns: Sequence[str], limits: ListingLimits = _NO_LIMITS
) -> Iterator[RenderedStep]:
    """Yield the rendered commits that changed files of some patterns, from a tip back, the newest first."""
    changing = iter(commits_changing_files(repository, tip, patterns, limits))
    while several := tuple(islice(changing, _AT_ONCE)):
        yield from _steps_of_commits(repository, several)


def _steps_of_commits(repository: Repository, several: Sequence[ChangingCommit]) -> Iterator[RenderedStep]:
    ids = {id_ for each in several for id_ in (each.id, each.parent) if id_}
    infos = {info.id: _written_by_argosy(repository, info) for info in repository.commit_infos(sorted(ids))}
    sources = {id_: info.trailer(SOURCE)[0] if info.trailer(SOURCE) else "" for id_, info in infos.items()}
    known = _known_commits(repository, filter(None, sources.values()))
    pages = _members_of_trees(repository, {info.tree for info in infos.values()})
    is_shallow = repository.is_shallow
    for each in several:
        info, before = infos[each.id], infos.get(each.parent)
        source = sources[each.id]
        author, subject = _author_and_subject(known.get(source), info)
        yield RenderedStep(
            commit=info,
            before=before,
            source=source,
            source_before=sources.get(each.parent, ""),
            author=author,
            subject=subject,
            members=pages[info.tree],
            members_before=pages[before.tree] if before else frozenset(),
            files=each.files,
            unlisted=each.total - len(each.files) if before else 0,
            is_cut_off=is_shallow and before is None,
        )


def _written_by_argosy(repository: Repository, info: CommitInfo) -> CommitInfo:
    """Return a commit, or where it is a merge of a proposal the commit that Argosy wrote and it took over."""
    return commit_written_by_argosy(repository, info.id) if len(info.parents) > 1 else info


def _known_commits(repository: Repository, commits: Iterable[str]) -> Mapping[str, CommitInfo]:
    """Return those of some commits that are here; a shallow clone lacks some, as after a rewritten history."""
    found: dict[str, CommitInfo] = {}
    for commit in sorted(set(commits)):
        try:
            found[commit] = repository.commit_info(commit)
        except GitError:
            continue
    return found


def _author_and_subject(source: CommitInfo | None, rendered: CommitInfo) -> tuple[str, str]:
    """Return who wrote a source commit and its subject; of one that is not here, as the rendered commit tells it."""
    if source is not None:
        return source.author, source.subject
    return rendered.author, rendered.subject.partition(": ")[2]


def _members_of_trees(repository: Repository, trees: Collection[bytes]) -> Mapping[bytes, frozenset[str]]:
    """Return the clusters of the fleet at each of some trees, as their front pages list them."""
    roots = repository.read_trees(trees)
    pages = {tree: _entry_named(entries, _README) for tree, entries in roots.items()}
    contents = repository.read_blobs({page for page in pages.values() if page})
    members = {id_: members_on_page(content) for id_, content in contents.items()}
    return {tree: members[page] if page else frozenset() for tree, page in pages.items()}


def _entry_named(entries: Iterable[TreeEntry], name: str) -> bytes | None:
    return next((entry.id for entry in entries if entry.text == name), None)


def members_of_tree(repository: Repository, tree: RenderedTree) -> frozenset[str]:
    """Return the clusters of the fleet at a rendered tree; those that left keep their folders there."""
    return _members_of_trees(repository, [tree.root])[tree.root]
