"""The files of a source compared with those of the commit that was rendered before, so that nothing vanishes unsaid.

1. What is broken and can be left out, or is delivered although a schema does not allow it, is a warning while it stands
   there as it did - at a first run, whatever there is - and a problem once it changes, or once another change has its
   objects made nowhere any more. An object that was never delivered is left out, changed or not: nothing goes with it.
2. A file that another folder's kustomization builds upon, and that is therefore not read by itself any more, is a
   problem if something is gone that came from it.
3. A file that is not read any more though objects were rendered from it, or policies and clusters stood in it, is a
   problem: it became a link, a pointer or other text, its folder a chart, or it moved to where files are ignored. One
   that was removed or emptied, or an ignore that was written to leave it out, says that it is meant.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reconciler.branches.reading import Source, read_loaded, read_source
from reconciler.pipeline.previous import Previous
from reconciler.pipeline.renames import likely_renames
from reconciler.repository import Repository
from reconciler.repository.trailers import engine_version
from reconciler.source.broken import UNKNOWN_SCOPE, Broken
from reconciler.source.desired import Desired
from reconciler.source.files import MARKERS, Reason, Skipped, SourceFile, select_files
from reconciler.source.fleet_file import load_fleet
from reconciler.source.manifests import may_hold_manifest
from render.boundary import INTERNAL
from render.errors import GitError, InputError, Problem
from render.model import ObjectRef
from render.words import counted_noun, first_few

_EMPTY_LINES = frozenset({b"", b"---", b"...", b"{}", b"[]", b"null", b"~"})
_OWN = (
    "name its folder under source.paths to have it built by itself as well; if its own objects are to go, name it under"
    " source.ignore"
)
_BACK = "make it readable again; if its objects are to go, remove the file, or name it under source.ignore"


class Unread(Struct, frozen=True, kw_only=True):
    """A file that is not read any more, the reason, and the objects, policies and clusters that came from it.

    ``is_meant``: argosy.yaml or an ignore file was changed to leave it out. ``marker`` is the new file for which its
    folder is read no more, where there is one.
    """

    path: str
    reason: str
    objects: tuple[str, ...]
    is_meant: bool
    marker: str = ""

    @property
    def message(self) -> str:
        """The loss in words."""
        return f"not read any more: {self.reason}; {first_few(self.objects)} came from it"

    def __str__(self) -> str:
        return f"{self.path}: {self.message}"


def check_continuity(repository: Repository, source: Source, previous: Previous | None) -> None:
    """Raise InputError for what may not be left out of a source, as some of it was rendered before."""
    problems = problems_of_continuity(repository, source, previous)
    if problems:
        raise InputError(problems, warnings=source.warnings_beside(problems))


def continued_source(repository: Repository, source: Source, previous: Previous | None) -> Source:
    """Return what a pass goes on with of a source; InputError for what may not be left out."""
    check_continuity(repository, source, previous)
    return source.without_objects_never_delivered(previous.bindings if previous else ())


def problems_of_continuity(repository: Repository, source: Source, previous: Previous | None) -> list[Problem]:
    """Return what is newly broken in a source, and what is not read any more though objects were rendered from it."""
    if previous is None:
        return []
    problems = [*_problems_of_lost_by_bugs(source, previous), *_problems_of_objects_delivered_before(source, previous)]
    if previous.source == source.commit:
        return problems
    if source.broken:
        before = files_before(repository, previous)
        blobs = {path: file.id for path, file in before.items()}
        unchanged: list[Broken] = []
        changed: list[Broken] = []
        for each in source.broken:
            if each.problem.kind != UNKNOWN_SCOPE:
                is_as_before = each.is_partial or each.was_unchanged_in(blobs, previous.tools)
                (unchanged if is_as_before else changed).append(each)
        problems += _problems_of_changed_files(repository, source, previous, changed)
        problems += _problems_of_made_nowhere(repository, source, previous, unchanged)
    problems += _problems_of_taken_over_files(repository, source, previous)
    problems += _unread_problems(each for each in unread_files(repository, source, previous) if not each.is_meant)
    return sorted({*problems})


def _problems_of_lost_by_bugs(source: Source, previous: Previous) -> Iterator[Problem]:
    """Yield what is left out because of an error nobody thought of, while some binding has no template any more.

    The file may stand there as it did: another version of the program may stumble over it, or refuse what an earlier
    one delivered.
    """
    is_upgraded = previous.version != engine_version()
    unexpected = [
        each.problem
        for each in source.broken
        if (each.problem.kind == INTERNAL and not each.is_partial) or (each.is_refused and is_upgraded)
    ]
    if unexpected and not previous.bindings.keys() <= {template.ref for template in source.desired.templates}:
        yield from unexpected


def _problems_of_changed_files(
    repository: Repository, source: Source, previous: Previous, changed: Sequence[Broken]
) -> Iterator[Problem]:
    """Yield what is broken in files that changed, but for objects that were never delivered: these are left out.

    An object that cannot even be named may be any that is gone, and so may one that is built of a file that lost some.
    The source before is read only where some binding has no template any more.
    """
    objects = [each for each in changed if each.is_object_beside(previous.bindings)]
    names = {template.ref for template in source.desired.templates}
    if previous.bindings.keys() <= names:
        lost: Collection[str] = ()
    else:
        # Another version of the program may read the source before without what was delivered of it.
        is_upgraded = previous.version != engine_version()
        objects = [each for each in objects if each.refs and not is_upgraded]
        paths = {path for each in objects for path, _ in each.files}
        lost = _lost_objects(repository, source.desired, previous, paths) if paths else ()
    left_out = {id(each) for each in objects if not any(path in lost for path, _ in each.files)}
    yield from (each.problem for each in changed if id(each) not in left_out)


def _problems_of_objects_delivered_before(source: Source, previous: Previous) -> Iterator[Problem]:
    """Yield the objects of unknown scope that were delivered before: their scope was known then.

    It was either, so an object in the namespace for those without one, or in none, is the same.
    """
    unknown = [each for each in source.broken if each.problem.kind == UNKNOWN_SCOPE]
    namespaces = ("", source.desired.fleet.default_namespace)
    for each in unknown:
        if any(replace(ref, namespace=name) in previous.bindings for ref in each.refs for name in namespaces):
            yield each.problem


def _unread_problems(files: Iterable[Unread]) -> Iterator[Problem]:
    """Yield a problem for each file, or one for all those that a new file beside or above them has left out."""
    by_marker: dict[str, list[Unread]] = {}
    for each in files:
        if each.marker:
            by_marker.setdefault(each.marker, []).append(each)
        else:
            yield Problem(each.path, 0, "", each.message, _BACK)
    for marker, unread in by_marker.items():
        names = [name for each in unread for name in each.objects]
        count = counted_noun(len(unread), "file is", "files are")
        message = (
            f"is new, and for it {count} not read any more: {unread[0].reason}; {first_few(names)} came from there"
        )
        hint = (
            "take it away again; if these objects are to go, remove"
            f" {first_few([each.path for each in unread])} as well"
        )
        yield Problem(marker, 0, "", message, hint)


def _problems_of_made_nowhere(
    repository: Repository, source: Source, previous: Previous, unchanged: Sequence[Broken]
) -> Iterator[Problem]:
    """Yield what is broken by another file than its own, or for some clusters, if it had objects before.

    The source before is read only where some binding has no template any more.
    """
    paths = {each.makes for each in unchanged if each.makes}
    if not paths or previous.bindings.keys() <= {template.ref for template in source.desired.templates}:
        return
    lost = _lost_objects(repository, source.desired, previous, paths)
    for each in unchanged:
        if names := lost.get(each.makes):
            yield replace(each.problem, message=f"{each.problem.message}; {first_few(names)} came from it")


def _problems_of_taken_over_files(repository: Repository, source: Source, previous: Previous) -> Iterator[Problem]:
    """Yield what a kustomization of another folder has taken, if something is gone that came from it before.

    The source before is read only where some binding has no template any more.
    """
    taken = source.desired.taken
    if not taken or previous.bindings.keys() <= {template.ref for template in source.desired.templates}:
        return
    for path, names in sorted(_lost_objects(repository, source.desired, previous, taken).items()):
        message = f"taken over by {taken[path]}, which builds upon it; {first_few(names)} came from it"
        yield Problem(path, 0, "", message, _OWN)


def unread_files(repository: Repository, source: Source, previous: Previous) -> tuple[Unread, ...]:
    """Return the files that objects of the previous rendered commit came from and that are not read any more."""
    before = files_before(repository, previous)
    if not _may_be_read_no_longer(source, before):
        return ()
    read = repository.read_blobs
    home = load_fleet(list(before.values()), folder=repository.folder.under, read=read)
    if home.problems:
        return ()
    paths = home.fleet.source.paths
    chosen = select_files(before.values(), folder=home.folder, paths=paths, ignore=home.ignore, is_building=True)
    not_read = dict(
        _files_no_longer_read(
            source, {file.path: before[file.path] for file in chosen.files_deciding_on_reading}, before
        )
    )
    found = _files_in_question(repository, source, before, not_read)
    if not found:
        return ()
    lost = _lost_objects(repository, source.desired, previous, found)
    is_ignore_new = bool(set(source.ignore) - set(home.ignore))
    return tuple(
        Unread(
            path=path,
            reason=_reason_file_is_unread(path, found[path]),
            objects=objects,
            is_meant=is_ignore_new and found[path].reason is Reason.IGNORED,
            marker=_new_file_that_excludes(path, found[path], {file.path for file in source.files} - before.keys()),
        )
        for path, objects in sorted(lost.items())
    )


def lines_of_renames_by_hand(repository: Repository, source: Source, previous: Previous) -> Iterator[str]:
    """Yield a line for each cluster that left since the previous commit while one described alike came."""
    for old, new in clusters_renamed_by_hand(repository, source.desired, previous).items():
        yield f"{old} left, and {new} is described alike; if it is the same cluster: argosy cluster rename {old} {new}"


def clusters_renamed_by_hand(repository: Repository, desired: Desired, previous: Previous) -> Mapping[str, str]:
    """Return the clusters that left since the previous commit while one described alike came, with that one's name."""
    names = {cluster.name for cluster in desired.clusters}
    if previous.tree.clusters.keys() <= names:
        return {}
    try:
        before = read_loaded(repository, previous.source, facts=None).desired.clusters
    except GitError:
        return {}
    return dict(sorted(likely_renames(before, desired.clusters).items()))


def _reason_file_is_unread(path: str, skipped: Skipped) -> str:
    """Return why a file is not read, naming what leaves it out where that is another place."""
    if skipped.path == path:
        return skipped.reason
    return f"{skipped.path} is {skipped.reason}"


def _new_file_that_excludes(path: str, skipped: Skipped, new: Collection[str]) -> str:
    """Return the new file that makes a folder what is not read; empty where there is none."""
    names = MARKERS.get(skipped.reason, ())
    folder = skipped.path if skipped.path != path else path.rpartition("/")[0]
    while names:
        for name in names:
            if (marker := f"{folder}/{name}" if folder else name) in new:
                return marker
        if not folder or skipped.path != path:
            break
        folder = folder.rpartition("/")[0]
    return ""


def files_of_fleet(
    files: Collection[SourceFile], repository: Repository, read: Callable[[Iterable[bytes]], Mapping[bytes, bytes]]
) -> tuple[SourceFile, ...]:
    """Return those of a commit's files that its settings have read; none where these cannot be read."""
    home = load_fleet(list(files), folder=repository.folder.under, read=read) if files else None
    if home is None or home.problems:
        return ()
    chosen = select_files(
        files, folder=home.folder, paths=home.fleet.source.paths, ignore=home.ignore, is_building=True
    )
    return chosen.files_deciding_on_reading


def files_before(repository: Repository, previous: Previous) -> Mapping[str, SourceFile]:
    """Return the files of the source that was rendered before; none where its commit is not here."""
    try:
        return {file.path: file for file in repository.snapshot(previous.source).files}
    except GitError:
        return {}


def _files_no_longer_read(
    source: Source, chosen: Mapping[str, SourceFile], before: Mapping[str, SourceFile]
) -> Iterator[tuple[str, Skipped]]:
    """Yield the files that were read and are not, with what leaves them out, where they stand or where they moved.

    A file that is read in part is read: what is missing from it was taken out. No file has moved to where a copy stood
    ``before``, nor to where Argosy writes copies.
    """
    covering = _finder_of_covering_entry(source.desired.skipped)
    is_read = _paths_of_parts(source.desired)
    now = {file.path: file for file in source.files}
    copies = {path for path, file in before.items() if path in now and now[path].id == file.id}
    places = {path: skipped for path in now if path not in chosen and path not in copies if (skipped := covering(path))}
    moved = {now[path].id: path for path, skipped in places.items() if skipped.reason is not Reason.WRITTEN}
    for path, file in chosen.items():
        if path in is_read:
            continue
        current = now.get(path)
        skipped = covering(path) if current is not None else covering(moved.get(file.id, ""))
        is_own = skipped is not None and skipped.path == path and skipped.reason is not Reason.UNLISTED
        is_same = current is not None and current.id == file.id and is_own
        if skipped is not None and not is_same:
            yield path, skipped


def _may_be_read_no_longer(source: Source, before: Mapping[str, SourceFile]) -> bool:
    """Say whether any file may be among those that were read and are not: it is gone, or something leaves it out."""
    covering = _finder_of_covering_entry(source.desired.skipped)
    left = before.keys() - _paths_of_parts(source.desired)
    now = {file.path for file in source.files} if left else set()
    return any(path not in now or covering(path) for path in left)


def _finder_of_covering_entry(skipped: Iterable[Skipped]) -> Callable[[str], Skipped | None]:
    """Return what finds the entry that leaves a path out: itself, or a folder above it."""
    by_path = {each.path: each for each in skipped}

    def covering(path: str) -> Skipped | None:
        while path:
            if path in by_path:
                return by_path[path]
            path = path.rpartition("/")[0]
        return None

    return covering


def _files_in_question(
    repository: Repository, source: Source, before: Mapping[str, SourceFile], not_read: Mapping[str, Skipped]
) -> dict[str, Skipped]:
    """Leave out files that held no manifest either, and such as were emptied, which is done on purpose.

    Values of charts and the like change every day; the source before is not parsed again for these.
    """
    now = {file.path: file for file in source.files}
    texts = {path: now[path].id for path, each in not_read.items() if each.reason is Reason.NO_MANIFEST and path in now}
    contents = repository.read_blobs([*texts.values(), *(before[path].id for path in not_read)])
    emptied = {path for path, id_ in texts.items() if _has_no_manifests(contents[id_])}
    return {
        path: skipped
        for path, skipped in not_read.items()
        if path not in emptied and may_hold_manifest(contents[before[path].id])
    }


def _has_no_manifests(content: bytes) -> bool:
    lines = (line.strip() for line in content.removeprefix(b"\xef\xbb\xbf").splitlines())
    return all(line in _EMPTY_LINES or line.startswith(b"#") for line in lines)


def _lost_objects(
    repository: Repository, desired: Desired, previous: Previous, paths: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """Return what was rendered from these files, or decided about it, by file, as far as no other file has it now."""
    wanted, kept = set(paths), {part.name for part in _parts_of_source(desired)}
    lost: dict[str, list[str]] = {}
    for part in _parts_of_source(read_source(repository, previous.source).desired):
        is_delivered = part.ref is None or part.ref in previous.bindings
        if part.path in wanted and is_delivered and part.name not in kept:
            lost.setdefault(part.path, []).append(part.name)
    return {path: tuple(names) for path, names in lost.items()}


class _Part(NamedTuple):
    """Something that a file of the source says; ``ref`` is that of a template."""

    name: str
    path: str
    ref: ObjectRef | None = None


def _paths_of_parts(desired: Desired) -> set[str]:
    """Return the files of what ``_parts_of_source`` yields."""
    found = {each.path for each in (*desired.templates, *desired.customizations, *desired.webhooks)}
    policies = {each.path for each in desired.policies} | {each.path for each in desired.override_policies}
    return found | policies | {each.path for each in desired.clusters}


def _parts_of_source(desired: Desired) -> Iterator[_Part]:
    for template in sorted(desired.templates, key=attrgetter("ref")):
        yield _Part(str(template.ref), template.path, template.ref)
    for each in (*desired.customizations, *desired.webhooks):
        yield _Part(str(each.ref), each.path)
    yield from (_Part(str(policy), policy.path) for policy in desired.policies)
    yield from (_Part(str(policy), policy.path) for policy in desired.override_policies)
    for cluster in desired.clusters:
        yield _Part(f"Cluster {cluster.name}", cluster.path)
