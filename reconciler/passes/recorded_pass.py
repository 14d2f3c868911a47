"""The record of a pass in the commit that it made: what a clone goes by that has no checkpoint, such as a fresh one.

Most of a checkpoint can be told by the commit itself. Its source is there, so that files which are the same in it and
now hold the same templates and policies; its bindings name the objects that have one, and its front page has the
counts. Only what no file says is recorded: the digest of the rest of the source, and the objects that every pass
decides anew, or that change by themselves. It stands in a header of the commit: it is no outcome, so nothing is
committed because it is another one.

It names the tree and the source commit that it was written for, and without it, or with anything unexpected, the whole
pass is done. It is as good as the rest of its commit: who may push the rendered branch can forge it, and ``verify``,
which does not read it, finds what such a commit and those after it hold otherwise. A pass that reaches members writes
none, because it records their facts only afterwards.
"""

from collections.abc import Iterable
from contextlib import suppress
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.json import decode

from reconciler.branches.checkpoint import PassContents
from reconciler.branches.reading import Source
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.readme import plain_tally, tally_of_page
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from reconciler.source.desired import Desired
from reconciler.source.digests import SourceDigests, SourcePart, part_at
from reconciler.source.manifests import load_manifests
from render.errors import GitError
from render.json_values import content_digest, json_text
from render.layout import object_path, ref_of_object_path
from render.model import ObjectRef

_WORTH_RECORDING = 10_000
"""From so many manifests on, a pass over everything takes longer than a start, and its commits have a record."""
_LARGEST = 64 << 10
"""The bytes that a record may have; an outcome of which so much is decided anew is looked at as a whole."""
_MOST_FILES = 64
"""From so many changed files on, everything is looked at: they would have to be read twice."""
_PAGE, _BINDINGS = "README.md", "bindings"
_ObjectWords = Annotated[list[str], Meta(min_length=4, max_length=4)]
_WaitWords = Annotated[list[str], Meta(min_length=6, max_length=6)]
_TreeId = Annotated[str, Meta(pattern=r"\A(?:[0-9a-f]{40}|[0-9a-f]{64})?\Z")]


class _PassRecord(Struct, frozen=True, kw_only=True):
    """The record: what no file of the rendered commit says. It has its tree, and fields of ``PassContents``.

    ``commit`` is the source commit, ``paths`` the digest of the paths that its templates came from.
    """

    tree: str
    commit: str
    source: str
    rest: str
    paths: str
    facts: _TreeId
    volatile: list[_ObjectWords]
    waits: list[_WaitWords]


class SeenSource(Struct, frozen=True, kw_only=True):
    """The contents that a pass saw, and the source commit that it saw them in."""

    contents: PassContents
    commit: str


def record_for_clones(contents: PassContents, source: Source, root: bytes) -> str:
    """Return the record of a pass over a source, for a commit of this tree; empty where there is to be none.

    Which files a template was built of is told by no file alone.
    """
    desired = source.desired
    if _is_built(desired) or len(desired.templates) * len(desired.clusters) < _WORTH_RECORDING:
        return ""
    record = json_text(
        _PassRecord(
            tree=root.hex(),
            commit=source.commit,
            source=contents.source_digest,
            rest=contents.rest_digest,
            paths=_digest_of_paths(template.path for template in desired.templates),
            facts=contents.facts,
            volatile=contents.volatile,
            waits=contents.waits,
        )
    )
    return record if len(record) <= _LARGEST else ""


def words_of_ref(ref: ObjectRef) -> list[str]:
    """Return the name of an object as plain data."""
    return [ref.group, ref.kind, ref.namespace, ref.name]


def _is_built(desired: Desired) -> bool:
    return bool(desired.tools or desired.builds or desired.charts)


def _digest_of_paths(paths: Iterable[str]) -> str:
    return content_digest(sorted(set(paths)))


def source_seen_by_record(repository: Repository, previous: Previous, source: Source) -> SeenSource | None:
    """Return what the pass of a rendered commit saw, as far as a later source is concerned; None where nobody knows."""
    record = _record_in_text(previous.record) if previous.version == engine_version() else None
    if record is None or record.tree != previous.tree.root.hex() or record.commit != previous.source:
        return None
    page = previous.tree.trees.entry(previous.tree.root, (_PAGE,))
    tally = tally_of_page(previous.tree.contents([page.id])[page.id]) if page is not None else None
    if tally is None or _is_built(source.desired):
        return None
    before = _source_before(repository, previous.source, source)
    digests = _digests_before(previous, before, source.desired) if before is not None else None
    if before is None or digests is None:
        return None
    is_whole = SourceDigests(record.rest, before.parts).whole == record.source
    if not is_whole or _digest_of_paths(before.paths) != record.paths:
        return None
    contents = PassContents(
        source_digest=record.source,
        rest_digest=record.rest,
        parts=[list(part) for part in before.parts],
        digests=[[*words_of_ref(ref), digest] for ref, digest in digests.items()],
        volatile=record.volatile,
        facts=record.facts,
        tally=plain_tally(tally),
        waits=record.waits,
    )
    return SeenSource(contents=contents, commit=previous.source)


def _record_in_text(text: str) -> _PassRecord | None:
    """Return the record that a header holds; None for a text that no pass wrote."""
    with suppress(ValueError, RecursionError):
        return decode(text, type=_PassRecord)
    return None


class _SourceBefore(Struct, frozen=True, kw_only=True):
    """A former source beside one of now: what its parts were, the paths of its templates, and what stayed the same.

    That are files, and the ``digests`` of the manifests in others.
    """

    same: frozenset[str]
    digests: frozenset[str]
    parts: tuple[SourcePart, ...]
    paths: frozenset[str]


def _source_before(repository: Repository, commit: str, source: Source) -> _SourceBefore | None:
    """Return the source of an earlier commit; None where it cannot be read, or too many files differ."""
    desired = source.desired
    try:
        former = repository.snapshot(commit).files
        before, now = ({(file.path, file.mode, file.id): file for file in files} for files in (former, source.files))
        changed = [file for key, file in before.items() if key not in now]
        if len(changed) > _MOST_FILES:
            return None
        contents = load_manifests(changed, read=repository.read_blobs)
    except GitError:  # the history may be cut off before that source
        return None
    same = frozenset(path for path, *_ in before.keys() & now.keys())
    parts = {part for part in desired.source_digests.parts if part.path in same}
    paths = {template.path for template in desired.templates if template.path in same}
    others = [place for place in contents.all_manifests if part_at(place) is None]
    return _SourceBefore(
        same=same,
        digests=frozenset(place.digest for place in others),
        parts=tuple(sorted(parts.union(filter(None, map(part_at, contents.all_manifests))))),
        paths=frozenset(paths.union(place.file.path for place in others)),
    )


def _digests_before(previous: Previous, before: _SourceBefore, desired: Desired) -> dict[ObjectRef, str] | None:
    """Return the digests of templates that were the same, and of the objects with a binding that have none ("")."""
    folder = previous.tree.trees.entry(previous.tree.root, (_BINDINGS,))
    bound = {path for path, _ in previous.tree.files(folder.id)} if folder is not None else set()
    paths = bound.difference(object_path(template.ref) for template in desired.templates)
    gone = {path: ref_of_object_path("/".join(path)) for path in paths}
    # A name that was cut is not to be told from its path.
    if any(object_path(ref) != path for path, ref in gone.items()):
        return None
    same = {
        each.ref: each.digest for each in desired.templates if each.path in before.same or each.digest in before.digests
    }
    return same | dict.fromkeys(gone.values(), "")
