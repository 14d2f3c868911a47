"""argosy.lock made from the Sources of a work tree, and their content put into the repository or taken out again.

1. A Source that is locked as it is written stays as it is locked, unless it is to be updated.
2. Any other is resolved to one version, and its content fetched into the cache.
3. An entry without a Source leaves the lock, and its vendored files with it.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconciler.guards.outward_addresses import lock_among_files, lock_changes
from reconciler.locked.content import Files
from reconciler.locked.fetching import Fetcher
from reconciler.locked.lock_file import lock_as_bytes
from reconciler.locked.model import ExternalSource, LockedSource, UnavailableSource
from reconciler.locked.reading import MARKER, VENDOR_FOLDER, LockedFiles
from reconciler.source.fleet_file import load_fleet
from render.errors import InputError, UnknownName
from render.fleet_settings import SettingChange
from render.words import most_similar_word

from .cluster_files import MemberSource

ALL = "*"
_MARKED = b"The content of a Source: argosy vendor writes this folder, and argosy.lock has its digest.\n"


class LockChange(Struct, frozen=True):
    """One line about a Source: ``+`` new, ``~`` changed, ``-`` gone."""

    sign: str
    name: str
    text: str

    def __str__(self) -> str:
        return f"{self.sign} {self.name}: {self.text}"


class LockUpdate(Struct, frozen=True, kw_only=True):
    """The files to write for a lock, what changes by it, and the Sources that could not be resolved."""

    contents: Mapping[str, bytes | None]
    changes: tuple[LockChange, ...] = ()
    refused: tuple[UnavailableSource, ...] = ()


def sources_of_work_tree(source: MemberSource) -> LockedFiles:
    """Return the Sources of a work tree; InputError where they, or the lock, cannot be read."""
    locked = source.loaded.locked
    refused = [each for each in source.loaded.problems_that_block if locked is None or each.path == locked.lock.path]
    if locked is None or refused:
        raise InputError(refused or source.loaded.problems)
    return locked


def lock_differences(known: LockedFiles) -> tuple[LockChange, ...]:
    """Return how argosy.lock differs from the Sources, without asking anybody."""
    lock, changes = known.lock, list[LockChange]()
    for source in known.sources:
        current = lock.sources.get(source.name)
        if current is None:
            changes.append(LockChange("+", source.name, f"not in {lock.path}"))
        elif current.spec != source.spec:
            changes.append(LockChange("~", source.name, "changed since it was locked"))
    gone = sorted(lock.sources.keys() - set(known.names))
    return tuple(
        sorted(
            [*changes, *(LockChange("-", name, "no Source has this name") for name in gone)], key=_sort_key_of_change
        )
    )


def addresses_new_since(source: MemberSource, base: str) -> Mapping[str, tuple[SettingChange, ...]]:
    """Return the addresses of argosy.lock that it does not have at another commit, by the names of their Sources."""
    repository = source.repository
    files = repository.snapshot(repository.resolve(base)).files
    before = lock_among_files(
        repository, files, load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)
    )
    lock = sources_of_work_tree(source).lock
    found = {name: lock_changes(before, replace(lock, sources={name: each})) for name, each in lock.sources.items()}
    return {name: changes for name, changes in found.items() if changes}


def updated_lock(source: MemberSource, fetcher: Fetcher, update: Collection[str]) -> LockUpdate:
    """Resolve what is not locked, or is to be updated (``*``: everything); return what is to be written."""
    known = sources_of_work_tree(source)
    _refuse_unknown_sources(known, [name for name in update if name != ALL])
    entries, changes, refused = dict[str, LockedSource](), list[LockChange](), list[UnavailableSource]()
    for each in known.sources:
        current = known.lock.sources.get(each.name)
        if current is not None and current.spec == each.spec and not {each.name, ALL} & set(update):
            entries[each.name] = current
            continue
        try:
            entries[each.name] = _resolve_source(each, current, fetcher)
        except UnavailableSource as error:
            refused.append(each.explained_error(error))
            continue
        changes += _lock_changes_of_source(current, entries[each.name])
    gone = [known.lock.sources[name] for name in sorted(known.lock.sources.keys() - set(known.names))]
    changes += (LockChange("-", old.name, old.version) for old in gone)
    lock = replace(known.lock, sources=entries)
    contents: dict[str, bytes | None] = {lock.path: lock_as_bytes(lock)} if changes else {}
    for old in gone:
        contents |= dict.fromkeys(_vendored_paths(source, old), None)
    for locked in entries.values():
        if locked.vendored and known.lock.sources.get(locked.name) != locked:
            contents |= _vendored_files(source, locked, fetcher.files(locked))
    return LockUpdate(
        contents=contents, changes=tuple(sorted(changes, key=_sort_key_of_change)), refused=tuple(refused)
    )


def vendored_contents(source: MemberSource, fetcher: Fetcher, names: Collection[str]) -> dict[str, bytes | None]:
    """Return the files that put the content of Sources (none named: of all) into the repository, with the lock."""
    known = sources_of_work_tree(source)
    _refuse_unknown_sources(known, names)
    entries, contents = dict(known.lock.sources), dict[str, bytes | None]()
    for name in names or known.names:
        locked = replace(known.locked(name), vendored=f"{VENDOR_FOLDER}/{name}")
        contents |= _vendored_files(source, locked, _files_of_locked_source(known, locked, fetcher))
        entries[name] = locked
    return {**contents, known.lock.path: lock_as_bytes(replace(known.lock, sources=entries))}


def removal_of_vendored(source: MemberSource, names: Collection[str]) -> dict[str, bytes | None]:
    """Return the changes that take vendored content out of the repository again; the lock stays as exact."""
    known = sources_of_work_tree(source)
    _refuse_unknown_sources(known, names)
    entries, contents = dict(known.lock.sources), dict[str, bytes | None]()
    for name in names or known.names:
        locked = known.locked(name)
        if locked.vendored:
            contents |= dict.fromkeys(_vendored_paths(source, locked), None)
            entries[name] = replace(locked, vendored="")
    if contents:
        contents[known.lock.path] = lock_as_bytes(replace(known.lock, sources=entries))
    return contents


def _files_of_locked_source(known: LockedFiles, locked: LockedSource, fetcher: Fetcher) -> Files:
    """Return locked files, fetched only where they are neither vendored nor in the cache."""
    try:
        return known.files(locked.name)
    except UnavailableSource:
        return fetcher.files(locked)


def _resolve_source(source: ExternalSource, current: LockedSource | None, fetcher: Fetcher) -> LockedSource:
    resolved = fetcher.resolved(source)
    return replace(resolved, vendored=current.vendored) if current else resolved


def _lock_changes_of_source(current: LockedSource | None, locked: LockedSource) -> Iterator[LockChange]:
    if current is None:
        yield LockChange("+", locked.name, locked.version)
    elif current.version != locked.version:
        yield LockChange("~", locked.name, f"{current.version} -> {locked.version}")
    elif current.content != locked.content:
        yield LockChange("~", locked.name, f"{locked.version}, whose content changed")
    elif current != locked:
        yield LockChange("~", locked.name, f"{locked.version}, found otherwise")


def _vendored_files(source: MemberSource, locked: LockedSource, files: Files) -> dict[str, bytes | None]:
    """Return the changes that make a vendored folder hold exactly these files."""
    folder = _vendored_folder(source, locked)
    new: dict[str, bytes | None] = {f"{folder}/{path}": content for path, content in files.items()}
    return {**dict.fromkeys(_vendored_paths(source, locked), None), **new, f"{folder}/{MARKER}": _MARKED}


def _vendored_paths(source: MemberSource, locked: LockedSource) -> Iterable[str]:
    if not locked.vendored:
        return ()
    below = f"{_vendored_folder(source, locked)}/"
    return (file.path for file in source.files if file.path.startswith(below))


def _vendored_folder(source: MemberSource, locked: LockedSource) -> str:
    return f"{source.home.folder}/{locked.vendored}" if source.home.folder else locked.vendored


def _refuse_unknown_sources(known: LockedFiles, names: Iterable[str]) -> None:
    for name in names:
        if name not in known.names:
            near = most_similar_word(name, known.names)
            there = f"known here: {', '.join(known.names)}" if known.names else "the source has no Source"
            raise UnknownName(f"there is no Source {name!r}", hint=f"did you mean {near!r}?" if near else there)


def _sort_key_of_change(change: LockChange) -> tuple[str, str]:
    return change.name, change.sign
