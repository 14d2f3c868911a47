"""Sources of the source: other repositories and charts that it names, admitted."""

from collections.abc import Iterable, Iterator

from msgspec import Struct, field

from reconciler.locked.lock_file import parsed_lock
from reconciler.locked.model import ExternalSource, Lock, UnavailableSource
from reconciler.locked.reading import LockedFiles, RepositoryFiles, StoredFile
from reconciler.locked.store import ContentStore
from render.admission import admitted
from render.admission.kinds import render_kinds
from render.errors import InputError, Problem
from render.model import ARGOSY_GROUP, group_of

from .manifests import FieldProblem, LocatedManifest

KIND = "Source"


class ExternalSources(Struct):
    """The Sources of a fleet, each with its place, and the problems and warnings of others."""

    sources: list[ExternalSource] = field(default_factory=list)
    admitted: list[tuple[str, LocatedManifest]] = field(default_factory=list)
    problems: list[FieldProblem] = field(default_factory=list)
    warnings: list[FieldProblem] = field(default_factory=list)


def sources_in(manifests: Iterable[LocatedManifest]) -> list[LocatedManifest]:
    """Return the Sources among manifests."""
    return [
        place
        for place in manifests
        if place.manifest["kind"] == KIND and group_of(place.manifest["apiVersion"]) == ARGOSY_GROUP
    ]


def load_external_sources(places: Iterable[LocatedManifest]) -> ExternalSources:
    """Admit each Source and return the values of those that are admitted."""
    loaded = ExternalSources()
    for place in places:
        outcome = admitted(place.manifest, render_kinds()[KIND])
        loaded.problems += (FieldProblem(place, problem) for problem in outcome.problems)
        loaded.warnings += (FieldProblem(place, warning) for warning in outcome.warnings)
        if outcome.object is not None:
            source = ExternalSource.of(outcome.object, path=place.file.path, document=place.number)
            loaded.sources.append(source)
            loaded.admitted.append((f"{KIND} {source.name}", place))
    return loaded


class ExternalLock(Struct, frozen=True, kw_only=True):
    """The argosy.lock of a fleet (None: there is none), its problems, and what answers for the Sources by it."""

    file: StoredFile | None = None
    problems: tuple[Problem, ...] = ()
    locked: LockedFiles | None = None


def lock_of(sources: Iterable[ExternalSource], repository: RepositoryFiles, store: ContentStore | None) -> ExternalLock:
    """Read the lock of a fleet; one that is damaged is a problem, and locks nothing."""
    file = repository.lock_file
    lock, problems = Lock(path=repository.lock_path), tuple[Problem, ...]()
    if file is not None:
        try:
            lock = parsed_lock(repository.read([file.id])[file.id], file.path)
        except InputError as error:
            problems = error.problems
    return ExternalLock(
        file=file, problems=problems, locked=LockedFiles(sources, lock, repository=repository, store=store)
    )


def lock_warnings(external: ExternalSources, locked: LockedFiles | None) -> Iterator[FieldProblem]:
    """Yield a warning for each Source that is not locked as it is written; only what needs its files is a problem."""
    for source, (_, place) in zip(external.sources, external.admitted, strict=True):
        try:
            if locked is not None:
                locked.locked(source.name)
        except UnavailableSource as error:
            yield place.problem("", error.message, hint=error.hint)
