"""The verdict on a rendered commit: made again from what it records, it has the same bytes or it has not."""

from collections.abc import Iterable, Iterator
from enum import StrEnum

from msgspec import Struct

from overrides.changes import ChangedField
from reconciler.branches.in_force import published_fleet
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_source
from reconciler.console.log import Log
from reconciler.diff.difference import ChangeAction
from reconciler.diff.objects import Texts, changed_files
from reconciler.explain.replay import replay_pass
from reconciler.rendering.outcome import Outcome
from reconciler.repository import CommitInfo, Repository
from reconciler.repository.trailers import SOURCE, TOOL, VERSION, commit_written_by_argosy, engine_version
from render.gitobjects import TreeEntry


class Equality(StrEnum):
    """The outcome of a comparison, as it is printed."""

    EQUAL = "equal"
    DIFFERENT = "different"
    NOT_COMPARABLE = "not comparable"
    FOREIGN = "not written by Argosy"


class FileDifference(Struct, frozen=True, kw_only=True):
    """A file that is another one when it is made again, and the fields in which it differs, as committed and as made.

    ``action``: ``added`` if it is only made, ``removed`` if it is only committed.
    """

    path: str
    action: ChangeAction
    fields: tuple[ChangedField, ...] = ()


class Verdict(Struct, frozen=True, kw_only=True):
    """The result of replaying one rendered commit, with a detail and the files that differ where it is not equal."""

    commit: str
    source: str
    result: Equality
    detail: str = ""
    differences: tuple[FileDifference, ...] = ()


def rendered_tip(repository: Repository) -> str:
    """Return the tip of the rendered branch; ConfigError when nothing is rendered yet."""
    head = repository.resolve("HEAD")
    fleet = published_fleet(repository, head, read_source(repository, head).desired.fleet)
    branch = fleet.rendered_branch
    publication = publication_of(repository, fleet)
    tip = publication.known_tip(branch)
    if tip is None:
        raise publication.nothing_rendered(branch)
    return tip


def verdict_of(repository: Repository, info: CommitInfo, log: Log) -> Verdict:
    """Make one rendered commit again from what its trailers name and its own facts, and compare the trees."""
    written = commit_written_by_argosy(repository, info.id)
    sources, versions = written.trailer(SOURCE), written.trailer(VERSION)
    if len(sources) != 1 or len(versions) != 1:
        return Verdict(commit=info.id, source="", result=Equality.FOREIGN, detail="it has no Argosy-Source trailer")
    (source,), (version,) = sources, versions
    # Another engine version may render the same source to other bytes, so a difference would prove nothing.
    if version != engine_version():
        detail = f"engine {version} wrote it, this is {engine_version()}"
        return Verdict(commit=info.id, source=source, result=Equality.NOT_COMPARABLE, detail=detail)
    outcome = replay_pass(repository, written, log).outcome
    root = outcome.rendered.tree.root
    if root == info.tree:
        return Verdict(commit=info.id, source=source, result=Equality.EQUAL)
    detail = f"tree {info.tree.hex()}, made {root.hex()}"
    differences = tuple(_files_that_differ(outcome, info.tree))
    wrote, here = written.trailer(TOOL), outcome.source.desired.tools
    if set(wrote) != set(here):
        detail = f"{_names_of_tools(wrote)} built its source, here {_names_of_tools(here)} did; {detail}"
        result = Equality.NOT_COMPARABLE
    else:
        result = Equality.DIFFERENT
    return Verdict(commit=info.id, source=source, result=result, detail=detail, differences=differences)


def _files_that_differ(outcome: Outcome, committed: bytes) -> Iterator[FileDifference]:
    """Yield the files that differ, sorted; those of clusters with their fields, which all others only tell of."""
    tree, repository = outcome.rendered.tree, outcome.repository

    def entries(tree_id: bytes) -> Iterable[TreeEntry]:
        return outcome.entries(tree_id) if tree_id in tree.trees else repository.read_trees([tree_id])[tree_id]

    files = sorted(changed_files({"": committed}, {"": tree.root}, entries), key=lambda each: each.path)
    manifests = [each for each in files if each.before and each.after and each.path.startswith("clusters/")]
    wanted = {id_ for each in manifests for id_ in (each.before, each.after) if id_}
    blobs = {id_: tree.blobs[id_] for id_ in wanted & tree.blobs.keys()}
    texts = Texts({**blobs, **repository.read_blobs(wanted - blobs.keys())})
    for each in files:
        fields: tuple[ChangedField, ...] = ()
        if each in manifests and each.before and each.after:
            fields = texts.changed_fields(each.before, each.after)
        action = ChangeAction.ADDED if not each.before else ChangeAction.CHANGED if each.after else ChangeAction.REMOVED
        yield FileDifference(path=each.path, action=action, fields=fields)


def _names_of_tools(tools: tuple[str, ...]) -> str:
    return " and ".join(sorted(tools)) or "no tool"
