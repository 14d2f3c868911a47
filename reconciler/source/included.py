"""The manifests of Sources that are templates as they stand: plain files, and kustomizations that are built of them.

The content of a Source is read as a repository of its own, by the same rules. What decides on others - policies,
overrides, Clusters - is never taken from it: another repository may say what there is, and not where it goes.
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from reconciler.locked.content import Files
from reconciler.locked.lock_file import lock_as_bytes
from reconciler.locked.model import LOCK_FILE, ExternalSource, Lock, UnavailableSource
from reconciler.locked.reading import LockedFiles, RepositoryFiles
from render.documents import document_texts, emit
from render.errors import Problem
from render.model import ARGOSY_GROUP, group_of, is_encrypted_by_sops
from render.revisions import json_in_signed_order
from render.settings.fleet import Fleet
from render.words import counted_noun

from .built_files import NUMBERS_LEFT_FREE, BuiltFile, Origin
from .external import KIND as SOURCE
from .external import load_external_sources, read_lock_of_sources
from .federations import files_with_federations_converted
from .files import SourceFile
from .fleet_file import FleetSource
from .manifests import LocatedManifest, ReadBlobs, argosy_objects
from .reading import BuiltSource, ReadFiles, SourceReading, files_with_built_ones

_DECIDING = ("karmada.io", ARGOSY_GROUP)


def read_everything(files: Sequence[SourceFile], home: FleetSource, reading: SourceReading) -> ReadFiles:
    """Read the files of a fleet, with what its kustomizations, its charts and its Sources make of others."""
    found = reading.other_tools.read_everything(files, home, reading)
    found = files_with_federations_converted(files_with_included_sources(found, files, home, reading), home, reading)
    return replace(found, contents=found.contents.refuse_encrypted_where_read(_is_karmada_or_argosy_object))


def files_with_included_sources(
    found: ReadFiles, files: Sequence[SourceFile], home: FleetSource, reading: SourceReading
) -> ReadFiles:
    """Return manifests with those of the Sources that include theirs."""
    external = load_external_sources(argosy_objects(SOURCE, found.contents.manifests))
    if not any(source.includes_manifests for source in external.sources):
        return found
    repository = RepositoryFiles(files, folder=home.folder, read=reading.read)
    lock = read_lock_of_sources(external.sources, repository, reading.caches.contents)
    lock_inputs = ((lock.file.path, lock.file.id),) if lock.file else ()
    built = BuiltSource()
    for source, (_, place) in zip(external.sources, external.admitted, strict=True):
        if source.includes_manifests and lock.locked is not None:
            inputs = ((place.file.path, place.file.id), *lock_inputs)
            built = built.merged_with_built_source(_read_included_source(source, place, lock.locked, inputs, reading))
    return files_with_built_ones(found, built, reading)


def _read_included_source(
    source: ExternalSource,
    place: LocatedManifest,
    locked: LockedFiles,
    inputs: tuple[tuple[str, bytes], ...],
    reading: SourceReading,
) -> BuiltSource:
    """Return the templates of a Source as one file, and what is wrong with others."""
    try:
        content = {**locked.files(source.name), LOCK_FILE: lock_as_bytes(_lock_without_vendored(locked.lock))}
        return _read_locked_content(source, place, content, inputs, reading)
    except UnavailableSource as error:
        return BuiltSource(problems=(place.problem("", error.message, hint=error.hint),))


def _read_locked_content(
    source: ExternalSource,
    place: LocatedManifest,
    content: Files,
    inputs: tuple[tuple[str, bytes], ...],
    reading: SourceReading,
) -> BuiltSource:
    """Read the content of one Source, with the lock of the fleet, and return its templates as one file."""
    from .uncommitted import uncommitted_files_with_reader

    listed, read = uncommitted_files_with_reader(content)
    home = FleetSource(fleet=Fleet(), folder="")
    inner = reading.other_tools.read_folders(listed, home, reading._replace(read=read))
    templates = [each for each in inner.contents.all_manifests if not _is_karmada_or_argosy_object(each)]
    output = _manifests_as_stream(templates, inner.built.reader_of_source_and_built(read))
    file = BuiltFile(
        path=place.file.path,
        id=hashlib.sha1(f"source {source.name}\n".encode() + output, usedforsecurity=False).digest(),
        size=len(output),
        inputs=inputs,
        origins=tuple(Origin(f"{source.name}:{each.file.path}") for each in templates),
        first=(place.number + 1) * NUMBERS_LEFT_FREE,
    )
    faults = (*_problems_of_included_files(inner), *(each.problem for each in inner.contents.unreadable))
    decided = len(inner.contents.all_manifests) - len(templates)
    message = f"{counted_noun(decided, 'object')} of its content decide on others, and are left out"
    return BuiltSource(
        files=(file,),
        contents={file.id: output},
        problems=tuple(place.problem("", _message_of_inner_problem(fault), hint=fault.hint) for fault in faults),
        warnings=(place.problem("", message),) if decided else (),
        implied=inner.built.implied,
    )


def _lock_without_vendored(lock: Lock) -> Lock:
    """Return a lock for content, in which nothing is vendored."""
    return replace(lock, sources={name: replace(each, vendored="") for name, each in lock.sources.items()})


def _problems_of_included_files(inner: ReadFiles) -> Iterator[Problem]:
    yield from (each.problem for each in inner.built.broken)
    for found in inner.contents.problems:
        yield replace(found.problem, path=found.place.file.path)


def _message_of_inner_problem(problem: Problem) -> str:
    return str(replace(problem, hint=""))


def _is_karmada_or_argosy_object(place: LocatedManifest) -> bool:
    """Say whether a manifest is one of Karmada's or of ours, which say where others go."""
    return group_of(place.manifest["apiVersion"]).endswith(_DECIDING)


def _manifests_as_stream(places: Sequence[LocatedManifest], read: ReadBlobs) -> bytes:
    """Return manifests as one stream."""
    ids = {each.file.id for each in places if not each.prefix}
    texts = {id_: document_texts(data) for id_, data in read(ids).items()}
    return b"".join([b"---\n" + _text_of_document(each, texts).strip(b"\n") + b"\n" for each in places])


def _text_of_document(place: LocatedManifest, texts: Mapping[bytes, Sequence[bytes]]) -> bytes:
    """Return a document as it stands, for it may be signed; an item of a list is written anew, its fields in order."""
    if place.prefix:
        return json_in_signed_order(place.manifest) if is_encrypted_by_sops(place.manifest) else emit(place.manifest)
    return texts[place.file.id][place.position]
