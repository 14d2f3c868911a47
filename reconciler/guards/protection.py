"""The objects that their label protects: nothing takes them away, however few they are, but a commit that names them.

``resourcetemplate.karmada.io/deletion-protected: Always`` is Karmada's label. There, a webhook refuses that such an
object is deleted. Here the guard refuses that it leaves the source, or any cluster. The label is about its own object:
that of a Namespace protects nothing in it. What leaves a cluster by a rule of failover moves, and is not deleted.

1. what leaves clusters is known by the labels that it has in their folders;
2. what leaves the source and stood in no cluster, as policies do, is known by the files that changed.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from reconciler.branches.reading import Source
from reconciler.pipeline.cluster_removals import Paths, ReadTree, lost_files
from reconciler.repository import Repository
from reconciler.repository.trailers import ALLOW_REMOVAL
from reconciler.source.files import SUBMODULE, SourceFile, may_be_read
from render.documents import DocumentErrors, parse_documents
from render.errors import GuardRefused
from render.model import ObjectRef, list_or_empty, mapping_or_empty
from render.template_annotations import PROTECTED, PROTECTED_ALWAYS
from render.words import first_few

from .allowances import hint_to_allow
from .continuity import files_of_fleet
from .removal_guard import NOTHING_COMMITTED

_MARK = PROTECTED.encode()
_MOST = 20

ReadBlobs = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]


class ProtectedLoss(Struct, frozen=True, kw_only=True, order=True):
    """A protected object that is taken away: from some clusters, or with its file out of the source."""

    ref: ObjectRef
    clusters: tuple[str, ...] = ()
    path: str = ""

    def __str__(self) -> str:
        where = f"{first_few(self.clusters)}: " if self.clusters else f"{self.path}: "
        return f"{where}{self.ref} has the label {PROTECTED}: {PROTECTED_ALWAYS}"


class Folders(Struct, frozen=True, kw_only=True):
    """The folders of clusters before and after a change, and what reads them.

    ``expected`` is what leaves by failover, or by a move that began before; ``leaving`` is still there, and leaves by a
    move that begins.
    """

    before: Mapping[str, bytes]
    after: Mapping[str, bytes]
    read_tree: ReadTree
    read_blobs: ReadBlobs
    expected: Mapping[str, Paths] = {}
    leaving: Mapping[str, Paths] = {}


def losses_of_clusters(folders: Folders) -> Iterator[ProtectedLoss]:
    """Yield the protected objects that leave clusters."""
    clusters_by_blob: dict[bytes, set[str]] = {}
    for cluster, blob_id in _lost_blobs(folders):
        clusters_by_blob.setdefault(blob_id, set()).add(cluster)
    found: dict[ObjectRef, set[str]] = {}
    for blob_id, content in folders.read_blobs(clusters_by_blob).items() if clusters_by_blob else ():
        for ref in _protected_objects_of_file(content):
            found.setdefault(ref, set()).update(clusters_by_blob[blob_id])
    for ref, clusters in sorted(found.items()):
        yield ProtectedLoss(ref=ref, clusters=tuple(sorted(clusters)))


def _lost_blobs(folders: Folders) -> Iterator[tuple[str, bytes]]:
    """Yield each cluster with the files that leave it, now or by a move that begins."""
    lost_by_trees: dict[tuple[bytes, bytes | None], Mapping[tuple[str, ...], bytes]] = {}
    for cluster, old in folders.before.items():
        trees = old, folders.after.get(cluster)
        if trees not in lost_by_trees:
            lost_by_trees[trees] = dict(lost_files(*trees, folders.read_tree))
        expected = folders.expected.get(cluster, frozenset())
        yield from ((cluster, id_) for path, id_ in lost_by_trees[trees].items() if path not in expected)
        if begun := folders.leaving.get(cluster):
            yield from ((cluster, id_) for path, id_ in lost_files(old, None, folders.read_tree) if path in begun)


def losses_between(repository: Repository, before: Collection[SourceFile], source: Source) -> Iterator[ProtectedLoss]:
    """Yield the protected documents of a commit's files that are in no file of a source that follows it."""
    read, now = repository.read_blobs, _paths_and_ids_of_readable_files(source.files)
    changed = {id_ for _, id_ in _paths_and_ids_of_readable_files(before) - now}
    # Which files the settings before had read is asked only where a change concerns something protected.
    if changed and any(_MARK in content for content in read(changed).values()):
        chosen = files_of_fleet(before, repository, read)
        yield from losses_of_source(chosen, source.files, read, {template.ref for template in source.desired.templates})


def losses_of_source(
    before: Collection[SourceFile], after: Collection[SourceFile], read_blobs: ReadBlobs, kept: Collection[ObjectRef]
) -> Iterator[ProtectedLoss]:
    """Yield the protected documents of files that are in no file any more; ``kept`` are the templates of the source."""
    now, was = _paths_and_ids_of_readable_files(after), _paths_and_ids_of_readable_files(before)
    gone = {id_: path for path, id_ in sorted(was - now, reverse=True)}
    marked = {id_: content for id_, content in read_blobs(gone).items() if _MARK in content} if gone else {}
    if not marked:
        return
    known = {ObjectRef(ref.group, ref.kind, "", ref.name) for ref in kept} | set(kept)
    lost = {
        ref: gone[id_]
        for id_, content in marked.items()
        for ref in _protected_objects_of_file(content)
        if ref not in known
    }
    # What was edited stands in a file that changed; all others are read only for what is in none of these.
    for files in (now - was, now & was):
        if lost:
            there = _wanted_objects_in(read_blobs({id_ for _, id_ in files}).values(), lost)
            lost = {ref: path for ref, path in lost.items() if ref not in there}
    for ref, path in sorted(lost.items()):
        yield ProtectedLoss(ref=ref, path=path)


def _paths_and_ids_of_readable_files(files: Iterable[SourceFile]) -> set[tuple[str, bytes]]:
    """Return the paths and contents of those files that may be read at all."""
    return {(each.path, each.id) for each in files if each.mode != SUBMODULE and may_be_read(each.path, each.size)}


def _wanted_objects_in(contents: Iterable[bytes], wanted: Collection[ObjectRef]) -> set[ObjectRef]:
    """Return the objects of files of which some has the name of one that is wanted."""
    names = {ref.name.encode() for ref in wanted}
    return {
        ref
        for content in contents
        if any(name in content for name in names)
        for ref, _ in _objects_with_labels_of_file(content)
    }


def _protected_objects_of_file(content: bytes) -> Iterator[ObjectRef]:
    """Yield the objects of a file that are protected."""
    if _MARK in content:
        for ref, labels in _objects_with_labels_of_file(content):
            if labels.get(PROTECTED) == PROTECTED_ALWAYS:
                yield ref


def _objects_with_labels_of_file(content: bytes) -> Iterator[tuple[ObjectRef, Mapping[str, Any]]]:
    """Yield the objects of a file with their labels; what is none, or is read by another tool, has none."""
    try:
        values = [document.value for document in parse_documents(content)]
    except DocumentErrors:
        return
    items = [item for value in values for item in list_or_empty(mapping_or_empty(value).get("items"))]
    for value in (*values, *items):
        manifest, metadata = mapping_or_empty(value), mapping_or_empty(mapping_or_empty(value).get("metadata"))
        words = manifest.get("apiVersion"), manifest.get("kind"), metadata.get("name"), metadata.get("namespace") or ""
        if all(isinstance(word, str) for word in words) and all(words[:3]):
            yield ObjectRef.of(manifest), mapping_or_empty(metadata.get("labels"))


def protected_losses(
    of_clusters: Iterable[ProtectedLoss], of_source: Iterable[ProtectedLoss]
) -> tuple[ProtectedLoss, ...]:
    """Return each loss once: what leaves clusters may leave the source as well, there perhaps without its namespace."""
    found = tuple(of_clusters)
    known = {ref for each in found for ref in (each.ref, ObjectRef(each.ref.group, each.ref.kind, "", each.ref.name))}
    return (*found, *(each for each in of_source if each.ref not in known))


def check_protected_losses(
    losses: Iterable[ProtectedLoss], named: Collection[str], consequence: str = NOTHING_COMMITTED
) -> None:
    """Raise GuardRefused when a protected object is taken away that no commit names."""
    refused = [each for each in sorted(losses) if str(each.ref) not in named]
    if not refused:
        return
    lines = [f"this change takes away what is protected{consequence}", *(f"  {each}" for each in refused[:_MOST])]
    if len(refused) > _MOST:
        lines.append(f"  and {len(refused) - _MOST} more")
    refs = dict.fromkeys(str(each.ref) for each in refused)
    trailers = [f"{ALLOW_REMOVAL}: {ref}" for ref in refs]
    hint = hint_to_allow(trailers, "take the label away in a commit that is rendered before")
    raise GuardRefused("\n".join(lines), hint=hint)
