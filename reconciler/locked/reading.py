"""The files of locked Sources, answered from the repository or from the cache, and never from the network."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol

from .content import Files, content_digest
from .lock_file import lock_path
from .model import (
    LOCKED_OTHERWISE,
    NOT_FETCHED,
    NOT_LOCKED,
    ExternalSource,
    Lock,
    LockedSource,
    UnavailableSource,
)
from .store import ContentStore

ReadIds = Callable[[Iterable[bytes]], Mapping[bytes, bytes]]
_PLAIN = {0o100644, 0o100755}
VENDOR_FOLDER = "vendor"
"""The folder beside argosy.lock below which argosy vendor writes."""

MARKER = ".argosy-source"
"""The file that marks a folder as written by argosy vendor; it is no part of the content."""


class StoredFile(Protocol):
    """A file of a snapshot, as far as it is needed to read it."""

    @property
    def path(self) -> str:
        """Path from the repository root, with slashes."""

    @property
    def mode(self) -> int:
        """Git's file mode."""

    @property
    def id(self) -> bytes:
        """The raw id of the blob."""


class LockedFiles:
    """The files of the Sources of one snapshot, each read and compared with the lock when it is first asked for."""

    def __init__(
        self,
        sources: Iterable[ExternalSource],
        lock: Lock,
        *,
        repository: "RepositoryFiles",
        store: ContentStore | None,
    ) -> None:
        self._sources = {source.name: source for source in sources}
        self._lock = lock
        self._repository = repository
        self._store = store
        self._known: dict[str, Files] = {}

    @property
    def lock(self) -> Lock:
        """The lock as it is in the snapshot."""
        return self._lock

    @property
    def sources(self) -> tuple[ExternalSource, ...]:
        """The Sources, sorted by name."""
        return tuple(self._sources[name] for name in self.names)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the Sources, sorted."""
        return tuple(sorted(self._sources))

    @property
    def implied_sources(self) -> tuple[ExternalSource, ...]:
        """The Sources that nobody wrote, sorted by name."""
        return tuple(source for source in self.sources if source.is_implied)

    def add_implied_source(self, source: ExternalSource) -> str:
        """Answer for a Source that nobody wrote, too; return its name."""
        return self._sources.setdefault(source.name, source).name

    def locked(self, name: str) -> LockedSource:
        """Return a Source as it is locked; UnavailableSource where it is not, or no longer as it is written."""
        source = self._sources.get(name)
        if source is None:
            known = f"known here: {', '.join(self.names)}" if self._sources else "write one: kind: Source"
            raise UnavailableSource(f"there is no Source {name!r}", hint=known)
        locked = self._lock.sources.get(name)
        if locked is None:
            raise UnavailableSource(f"{source.title} is not in {self._lock.path}", hint=NOT_LOCKED)
        if locked.spec != source.spec:
            raise UnavailableSource(f"{source.title} changed since it was locked", hint=f"{LOCKED_OTHERWISE} {name}")
        return locked

    def files(self, name: str) -> Files:
        """Return the files of a Source by path, from its folder on; UnavailableSource says why there are none.

        The value depends on the commit alone: on its argosy.lock, and on what is vendored.
        """
        locked = self.locked(name)
        if name not in self._known:
            self._known[name] = (
                self._repository.vendored_files(locked) if locked.vendored else self._cached_files(locked)
            )
        return self._known[name]

    def missing_sources(self) -> tuple[LockedSource, ...]:
        """Return the Sources that are locked as they are written, and whose files are neither vendored nor cached."""
        return tuple(
            locked
            for name, locked in sorted(self._lock.sources.items())
            if name in self._sources
            and locked.spec == self._sources[name].spec
            and not locked.vendored
            and (self._store is None or not self._store.has(locked.content))
        )

    def _cached_files(self, locked: LockedSource) -> Files:
        files = self._store.files(locked.content) if self._store else None
        if files is None:
            title = self._sources[locked.name].title
            raise UnavailableSource(f"{title} ({locked.version}) is not in the cache", hint=NOT_FETCHED)
        return files


class RepositoryFiles:
    """The lock and the vendored files of the fleet at ``folder``, read from a snapshot."""

    def __init__(self, files: Sequence[StoredFile], *, folder: str, read: ReadIds) -> None:
        self.read = read
        self.lock_path = lock_path(folder)
        self._files = files
        self._folder = folder

    @property
    def lock_file(self) -> StoredFile | None:
        """The file of the lock; None where there is none."""
        return next((each for each in self._files if each.path == self.lock_path and each.mode in _PLAIN), None)

    def vendored_files(self, locked: LockedSource) -> Files:
        """Return the vendored files of a Source, equal to what was locked."""
        where = f"{self._folder}/{locked.vendored}" if self._folder else locked.vendored
        below = f"{where.rstrip('/')}/"
        ids = {
            file.path.removeprefix(below): file.id
            for file in self._files
            if file.path.startswith(below) and file.mode in _PLAIN and file.path != f"{below}{MARKER}"
        }
        contents = self.read(ids.values())
        files = {path: contents[id_] for path, id_ in ids.items()}
        if content_digest(files) != locked.content:
            what = "was changed" if files else "is not there"
            raise UnavailableSource(
                f"{where}, the content of Source {locked.name!r}, {what}",
                hint=f"write it anew: argosy vendor {locked.name}",
            )
        return files
