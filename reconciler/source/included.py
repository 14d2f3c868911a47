"""The manifests of Sources that are templates as they stand: plain files, and kustomizations that are built of them.

The content of a Source is read as a repository of its own, by the same rules. What decides on others - policies,
overrides, Clusters - is never taken from it: another repository may say what there is, and not where it goes.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from reconciler.locked.content import Files
from reconciler.locked.lock_file import emitted_lock
from reconciler.locked.model import LOCK_FILE, ExternalSource, Lock, UnavailableSource
from reconciler.locked.reading import LockedFiles, RepositoryFiles
from render.documents import document_texts, emit
from render.errors import Problem
from render.model import ARGOSY_GROUP, group_of
from render.settings.fleet import Fleet
from render.words import counted

from .built_files import NUMBERS_LEFT_FREE, BuiltFile, Origin
from .external import KIND as SOURCE
from .external import ExternalSources, load_external_sources, lock_of
from .federations import with_federations
from .files import FILE_MODE, SourceFile
from .fleet_file import FleetSource
from .manifests import FieldProblem, LocatedManifest, argosy_objects
from .reading import BuiltSource, ReadFiles, SourceReading, with_built

_DECIDING = ("karmada.io", ARGOSY_GROUP)


class _ContentFile(NamedTuple):
    """A file of a Source's content, as a snapshot lists one."""

    path: str
    mode: int
    id: bytes
    size: int


class _Included(NamedTuple):
    """The outcome for one Source: a file with all its templates, and what is wrong with others."""

    file: BuiltFile
    output: bytes
    problems: tuple[FieldProblem, ...] = ()
    warnings: tuple[FieldProblem, ...] = ()
    implied: tuple[ExternalSource, ...] = ()


def read_everything(files: Sequence[SourceFile], home: FleetSource, reading: SourceReading) -> ReadFiles:
    """Read the files of a fleet, with what its kustomizations, its charts and its Sources make of others."""
    found = reading.other_tools.read_everything(files, home, reading)
    found = with_federations(with_sources(found, files, home, reading), home, reading)
    return replace(found, contents=found.contents.with_sealed_refused(_decides))


def with_sources(found: ReadFiles, files: Sequence[SourceFile], home: FleetSource, reading: SourceReading) -> ReadFiles:
    """Return manifests with those of the Sources that include theirs."""
    external = load_external_sources(argosy_objects(SOURCE, found.contents.manifests))
    if not any(source.includes_manifests for source in external.sources):
        return found
    repository = RepositoryFiles(files, folder=home.folder, read=reading.read)
    lock = lock_of(external.sources, repository, reading.caches.contents)
    lock_inputs = ((lock.file.path, lock.file.id),) if lock.file else ()
    built = BuiltSource()
    for place, outcome in _outcomes(external, lock.locked, reading):
        if isinstance(outcome, FieldProblem):
            built = replace(built, problems=(*built.problems, outcome))
            continue
        file = replace(outcome.file, inputs=((place.file.path, place.file.id), *lock_inputs))
        one = BuiltSource(files=(file,), contents={file.id: outcome.output})
        built = built.combined_with(
            replace(one, problems=outcome.problems, warnings=outcome.warnings, implied=outcome.implied)
        )
    return with_built(found, built, reading)


def _outcomes(
    external: ExternalSources, locked: LockedFiles | None, reading: SourceReading
) -> Iterator[tuple[LocatedManifest, _Included | FieldProblem]]:
    for source, (_, place) in zip(external.sources, external.admitted, strict=True):
        if not source.includes_manifests or locked is None:
            continue
        try:
            content = {**locked.files(source.name), LOCK_FILE: emitted_lock(_without_vendored(locked.lock))}
            yield place, _read_included(source, place, content, reading)
        except UnavailableSource as error:
            yield place, place.problem("", error.message, hint=error.hint)


def _read_included(source: ExternalSource, place: LocatedManifest, content: Files, reading: SourceReading) -> _Included:
    """Read the content of one Source, with the lock of the fleet, and return its templates as one file."""
    blobs = {hashlib.sha1(data, usedforsecurity=False).digest(): data for data in content.values()}
    listed = [
        _ContentFile(path, FILE_MODE, hashlib.sha1(data, usedforsecurity=False).digest(), len(data))
        for path, data in sorted(content.items())
    ]

    def read(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        return {id_: blobs[id_] for id_ in ids}

    home = FleetSource(fleet=Fleet(), folder="")
    inner = reading.other_tools.read_folders(listed, home, reading._replace(read=read))
    read_all = inner.built.read_with(read)
    templates = [each for each in inner.contents.every if not _decides(each)]
    ids = {each.file.id for each in templates if not each.prefix}
    texts = {id_: document_texts(data) for id_, data in read_all(ids).items()}
    output = b"".join([b"---\n" + _text(each, texts).strip(b"\n") + b"\n" for each in templates])
    file = BuiltFile(
        path=place.file.path,
        id=hashlib.sha1(f"source {source.name}\n".encode() + output, usedforsecurity=False).digest(),
        size=len(output),
        origins=tuple(Origin(f"{source.name}:{each.file.path}") for each in templates),
        first=(place.number + 1) * NUMBERS_LEFT_FREE,
    )
    faults = (*_broken(inner), *(each.problem for each in inner.contents.unreadable))
    problems = tuple(place.problem("", _told(fault), hint=fault.hint) for fault in faults)
    decided = len(inner.contents.every) - len(templates)
    message = f"{counted(decided, 'object')} of its content decide on others, and are left out"
    return _Included(file, output, problems, (place.problem("", message),) if decided else (), inner.built.implied)


def _without_vendored(lock: Lock) -> Lock:
    """Return a lock for content, in which nothing is vendored."""
    return replace(lock, sources={name: replace(each, vendored="") for name, each in lock.sources.items()})


def _broken(inner: ReadFiles) -> Iterator[Problem]:
    yield from (each.problem for each in inner.built.broken)
    for found in inner.contents.problems:
        yield replace(found.problem, path=found.place.file.path)


def _told(problem: Problem) -> str:
    return str(replace(problem, hint=""))


def _decides(place: LocatedManifest) -> bool:
    """Say whether a manifest is one of Karmada's or of ours, which say where others go."""
    return group_of(place.manifest["apiVersion"]).endswith(_DECIDING)


def _text(place: LocatedManifest, texts: Mapping[bytes, Sequence[bytes]]) -> bytes:
    """Return a document as it stands, for it may be signed; an item of a list is written anew."""
    if place.prefix:
        return emit(place.manifest)
    return texts[place.file.id][place.position]
