"""The number of objects in a repository, of those that are read, and the places of the others.

Whoever begins a fleet in a repository that was there before sees first whether Argosy takes it for what it is. Each
file that may hold manifests counts, also outside of the fleet's paths; other fleets, what Argosy itself wrote and links
do not. An object that a build reads counts as read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from reconciler.locked.model import LOCK_FILE
from render.words import counted_noun

from .built_files import BuiltFile
from .files import KUSTOMIZATIONS, MAX_FILE_SIZE, SUBMODULE, SUFFIXES, SYMLINK, Reason, SourceFile, select_files
from .loading import Loaded
from .manifests import load_manifests
from .reading import SourceReading

OUTSIDE_OF_PATHS = "outside of source.paths of argosy.yaml"
UNBUILT = "in the folder of a kustomization that cannot be built"
_NOT_OF_THIS_FLEET = frozenset({Reason.OTHER_FLEET, Reason.WRITTEN, Reason.VENDORED})
_MOST_LINES = 5


class UnreadObjects(Struct, frozen=True, kw_only=True):
    """Objects below one folder that are not read for one reason; the reason completes "not read: ..."."""

    folder: str
    reason: str
    objects: int
    files: int


class ReadObjects(Struct, frozen=True, kw_only=True):
    """The objects of a repository: how many are read, how many there are, and where the others stand, most first."""

    read: int
    total: int
    unread: tuple[UnreadObjects, ...] = ()

    def lines(self, *, is_whole: bool = False) -> Iterator[str]:
        """Yield how many objects are read, and the places of the others, only the largest ones unless ``is_whole``."""
        are = "is" if self.total == 1 else "are"
        yield f"{self.read} of {counted_noun(self.total, 'object')} {are} read"
        shown = self.unread if is_whole else self.unread[:_MOST_LINES]
        for each in shown:
            what = f"{counted_noun(each.objects, 'object')} in {counted_noun(each.files, 'file')}"
            yield f"  not read: {what} of {each.folder}: {each.reason}"
        if others := self.unread[len(shown) :]:
            objects = sum(each.objects for each in others)
            places = counted_noun(len(others), "more place")
            yield f"  not read: {counted_noun(objects, 'object')} in {places}, which argosy validate -v lists"


NO_OBJECT_READ = ReadObjects(read=0, total=0)


def objects_read(files: Sequence[SourceFile], loaded: Loaded, folder: str, reading: SourceReading) -> ReadObjects:
    """Return how many objects stand in these files of the fleet at ``folder``, and how many the loaded source reads."""
    counted = [file for file in files if file.path != loaded.desired.fleet.path]
    count_by_path = _objects_by_path(_files_with_manifests(counted, folder), loaded, reading)
    unread = {path: count for path, count in count_by_path.items() if path not in loaded.read_paths}
    total = sum(count_by_path.values())
    return ReadObjects(
        read=total - sum(unread.values()),
        total=total,
        unread=tuple(_unread_objects_by_place(unread, loaded, folder, counted)),
    )


def _objects_by_path(files: Sequence[SourceFile], loaded: Loaded, reading: SourceReading) -> Mapping[str, int]:
    """Return the number of objects in each file that holds any.

    Files that were loaded are not parsed again, unless objects of other tools are read, which the source has lost then.
    """
    places = loaded.lines.places.values() if loaded.lines and not loaded.desired.fleet.source.rendered else ()
    known = Counter(place.file.path for place in places if not isinstance(place.file, BuiltFile))
    others = [file for file in files if file.path not in known]
    parsed = load_manifests(others, read=reading.read, cache=reading.caches.parsed).all_manifests
    counted = Counter(place.file.path for place in parsed)
    found = {file.path: known[file.path] + counted[file.path] for file in files}
    return {path: count for path, count in found.items() if count}


def _files_with_manifests(files: Sequence[SourceFile], folder: str) -> list[SourceFile]:
    """Return the files of a fleet that may hold manifests, whatever its settings leave out."""
    base = f"{folder}/" if folder else ""
    skipped = select_files(files, folder=folder, is_building=True).skipped
    foreign = tuple(f"{each.path}/" for each in skipped if each.reason in _NOT_OF_THIS_FLEET)
    return [
        file
        for file in files
        if file.path.startswith(base)
        and file.path.endswith(SUFFIXES)
        and file.mode not in {SYMLINK, SUBMODULE}
        and 0 <= file.size <= MAX_FILE_SIZE
        and not file.path.startswith(foreign)
        and file.path.rpartition("/")[2] not in {*KUSTOMIZATIONS, LOCK_FILE}
    ]


def _unread_objects_by_place(
    unread: Mapping[str, int], loaded: Loaded, folder: str, files: Iterable[SourceFile]
) -> list[UnreadObjects]:
    """Return the objects that are not read by folder and reason, those of the folder with the most first."""
    reason_by_path = {each.path: each.reason for each in loaded.desired.skipped}
    built = {file.path.rpartition("/")[0] for file in files if file.path.rpartition("/")[2] in KUSTOMIZATIONS}
    objects: Counter[tuple[str, str]] = Counter()
    paths: Counter[tuple[str, str]] = Counter()
    for path, count in unread.items():
        above = next((each for each in _path_and_folders_above(path) if each in reason_by_path), "")
        is_unbuilt = path in loaded.unbuilt_paths
        reason = UNBUILT if is_unbuilt else str(reason_by_path[above]) if above else OUTSIDE_OF_PATHS
        place = above if above != path else ""
        if is_unbuilt or reason == Reason.UNLISTED:
            place = next((each for each in _path_and_folders_above(path) if each in built), "")
        place = place or _first_folder(path, folder)
        objects[place, reason] += count
        paths[place, reason] += 1
    every = (
        UnreadObjects(folder=place, reason=reason, objects=count, files=paths[place, reason])
        for (place, reason), count in objects.items()
    )
    return sorted(every, key=lambda each: (-each.objects, each.folder, each.reason))


def _path_and_folders_above(path: str) -> Iterator[str]:
    """Yield a path and the folders that it stands in, the nearest first."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _first_folder(path: str, folder: str) -> str:
    """Return the first folder of a path below the fleet's folder; the top folder is a dot."""
    base = f"{folder}/" if folder else ""
    first, slash, _ = path.removeprefix(base).partition("/")
    return f"{base}{first}" if slash else (folder or ".")
