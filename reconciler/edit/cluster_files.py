"""The Clusters of a work tree as files that can be changed: where each stands, and whether a change may be made.

A change is tried before it is written: the source is loaded with the new contents in place of the old ones, and new
problems refuse it. So a file is never left worse than it was.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from msgspec import Struct, field

from reconciler.branches.in_force import published_fleet
from reconciler.branches.publication import publication_of
from reconciler.branches.reading import reader_of_recorded_facts, snapshot_of_worktree, source_reading
from reconciler.console.log import Log
from reconciler.names.subjects import error_of_unknown_cluster
from reconciler.repository import File, Repository, open_repository
from reconciler.source.fleet_file import FleetSource, load_fleet
from reconciler.source.loading import Loaded, load_source
from reconciler.source.manifests import LocatedManifest, ParsedBlob
from reconciler.source.read_objects import ReadObjects, objects_read
from render.documents import DocumentErrors, parse_documents
from render.documents.editing import REMOVED, Edit, edit_file, without_document
from render.documents.editing.nodes import UneditableError
from render.errors import ConfigError, GitError, InputError, Problem
from render.expressions import lazy_expression
from render.gitobjects import BLOB_MODE, git_object_id
from render.settings.fleet import Fleet
from render.words import first_few

if TYPE_CHECKING:
    from reconciler.building.builds import BuildOutcome

Contents = Mapping[str, bytes | None]
"""Files by path, None for one that is to go."""

NO_CHANGE: Contents = {}

_STEP = lazy_expression(r"([^.\[\]]+)|\[(\d+)\]")


class LoadsOfSource(Struct, frozen=True):
    """The blobs that were parsed and the builds that were made for a source, so that the next load need not again."""

    parsed: dict[bytes, ParsedBlob] = field(default_factory=dict)
    builds: dict[bytes, "BuildOutcome"] = field(default_factory=dict)


class MemberSource(Struct, frozen=True, kw_only=True):
    """The source in a work tree as it stands: its files, its fleet, and the values loaded from it.

    ``earlier`` is what was done to load it, for loads with other contents.
    """

    repository: Repository
    files: tuple[File, ...]
    home: FleetSource
    loaded: Loaded
    earlier: LoadsOfSource

    @classmethod
    def of(cls, repository: Repository) -> "MemberSource":
        """Read the work tree; InputError when not even its fleet is known."""
        repository.work_tree_for_verb("change")
        files = snapshot_of_worktree(repository).files
        home = load_fleet(files, folder=repository.folder.under, read=repository.read_blobs)
        if home.problems:
            raise InputError(home.problems)
        earlier = LoadsOfSource()
        loaded = _loaded_with_contents(repository, files, {}, earlier)
        return cls(repository=repository, files=files, home=home, loaded=loaded, earlier=earlier)

    @property
    def fleet(self) -> Fleet:
        """The settings of the fleet."""
        return self.home.fleet

    @property
    def published_fleet(self) -> Fleet:
        """The fleet at the place of its branches that is in force, whatever the work tree names."""
        return published_fleet(self.repository, "", self.fleet)

    @property
    def base(self) -> str:
        """The folder in which argosy.yaml stands, or would stand in a new fleet, with its slash; "" for the root."""
        folder = self.home.folder if self.home.path else self.repository.folder.under
        return f"{folder}/" if folder else ""

    @property
    def is_rendered(self) -> bool:
        """Say whether anything was ever rendered of the fleet, as far as this clone knows."""
        publication = publication_of(self.repository, self.fleet)
        return self.repository.tip(publication.ref(self.fleet.rendered_branch)) is not None

    def content(self, path: str) -> bytes | None:
        """Return a file, None when there is none."""
        found = next((file for file in self.files if file.path == path), None)
        return self.repository.read_blobs([found.id])[found.id] if found else None

    def place_of(self, name: str) -> LocatedManifest:
        """Return where a member's Cluster stands; UnknownName when there is none, InputError when it is broken."""
        clusters = self.loaded.desired.clusters
        found = next((cluster for cluster in clusters if cluster.name == name), None)
        if found is not None and self.loaded.lines is not None:
            return self.loaded.lines.places[found.path, found.document]
        if self.loaded.problems:
            raise InputError(self.loaded.problems)
        raise error_of_unknown_cluster(name, [cluster.name for cluster in clusters])

    def line_of(self, place: LocatedManifest, field: str = "") -> int:
        """Return the line of a manifest's field, or the one it begins on."""
        lines = self.loaded.lines
        return lines.line_of(place.file.path, place.number, field) if lines else 0

    def with_edits(self, place: LocatedManifest, edits: Iterable[Edit], onto: Contents = NO_CHANGE) -> Contents:
        """Return files with edits made in a manifest; InputError when its style does not allow them in place.

        ``onto`` are the files that are changed already.
        """
        path, prefix = place.file.path, field_path_steps(place.prefix)
        content = (onto[path] if path in onto else self.content(path)) or b""
        inner = [Edit((*prefix, *edit.path), edit.value) for edit in edits]
        return {**onto, path: _file_content_with_edits(path, content, place.position, inner)}

    def contents_without_clusters(self, places: Iterable[LocatedManifest]) -> Contents:
        """Return the files of manifests without these: None for a file in which nothing else is."""
        contents: Contents = NO_CHANGE
        # The last one of a file first, so that the places of those before it stay as they are.
        for place in sorted(places, key=lambda each: (each.file.path, each.number), reverse=True):
            path = place.file.path
            content = contents[path] if path in contents else self.content(path)
            contents = {**contents, path: _file_content_without_manifest(content or b"", place)}
        return contents

    def with_files(self, contents: Contents) -> Loaded:
        """Return the source as it would be with these files, whatever is wrong with it."""
        return _loaded_with_contents(self.repository, self.files, contents, self.earlier)

    def objects_read(self, after: Loaded) -> ReadObjects:
        """Return how many objects stand in the files, and how many of them a load reads."""
        with source_reading(self.repository, self.earlier.parsed) as reading:
            return objects_read(self.files, after, self.home.folder, reading)

    def checked_source(self, contents: Contents, *, is_first: bool = False) -> Loaded:
        """Return the source as it would be with these files; InputError lists the problems it has not had before.

        ``is_first``: they begin a fleet, which goes without what can be left out.
        """
        after = self.with_files(contents)
        known = {(problem.path, problem.field, problem.message) for problem in self.loaded.problems}
        found = after.problems_that_block if is_first else after.problems
        new = [each for each in found if (each.path, each.field, each.message) not in known]
        if new:
            raise InputError(new)
        return after


class SourceChange(Struct, frozen=True, kw_only=True):
    """A change of files, with the subject and the trailers of its commit."""

    contents: Contents
    subject: str
    trailers: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The message of the commit."""
        return "\n\n".join(filter(None, (self.subject, "\n".join(self.trailers)))) + "\n"


@contextmanager
def opened_source(log: Log) -> Iterator[MemberSource]:
    """Open the work tree the command line names."""
    with open_repository(log.repository, progress=log.transfer) as repository:
        yield MemberSource.of(repository)


def warn_of_ignored(repository: Repository, paths: Iterable[str], log: Log) -> bool:
    """Warn of files that were written and that git ignores, so that nothing reads them; say whether there are any."""
    if found := repository.ignored_paths(paths):
        log.warning(f"git ignores {first_few(found)}, so that nothing reads what was written: git add -f adds it")
    return bool(found)


def write_change(source: MemberSource, change: SourceChange, log: Log, *, commit: bool) -> str:
    """Write files, commit them with ``commit``, and return the commit ("": none was made).

    When they cannot be committed they are put back as they were.
    """
    paths, repository = sorted(change.contents), source.repository
    if commit and (dirty := sorted(set(paths) & set(repository.dirty_paths()))):
        raise ConfigError(
            f"{dirty[0]} has changes that are not committed", hint="commit them first, or leave --commit out"
        )
    before = {path: source.content(path) for path in paths}
    repository.put_files(change.contents)
    for path in paths:
        log.info("removed" if change.contents[path] is None else "wrote", file=path)
    if not commit:
        warn_of_ignored(repository, [path for path in paths if change.contents[path] is not None], log)
        return ""
    try:
        commit_id = repository.commit_paths(paths, change.message)
    except GitError:
        repository.restore_files(before)
        raise
    log.info("committed", commit=commit_id[:12], subject=change.subject)
    return commit_id


def error_of_refused_edit(path: str, error: UneditableError) -> InputError:
    """Return the refusal of an edit as a problem of its file."""
    where = error.error
    return InputError([Problem(path, where.line, "", where.message, where.hint)])


def _file_content_with_edits(path: str, content: bytes, index: int, edits: Iterable[Edit]) -> bytes:
    try:
        return edit_file(content, index, edits)
    except UneditableError as error:
        raise error_of_refused_edit(path, error) from error
    except DocumentErrors as error:
        problems = [Problem(path, each.line, "", each.message, each.hint) for each in error.errors]
        raise InputError(problems) from error


def _file_content_without_manifest(content: bytes, place: LocatedManifest) -> bytes | None:
    path, prefix = place.file.path, field_path_steps(place.prefix)
    try:
        if prefix and len(parse_documents(content)[place.position].value["items"]) > 1:
            return _file_content_with_edits(path, content, place.position, [Edit(prefix, REMOVED)])
        return without_document(content, place.position) or None
    except UneditableError as error:
        raise error_of_refused_edit(path, error) from error


def field_path_steps(path: str) -> tuple[str | int, ...]:
    """Return the steps of a field's path.

    >>> field_path_steps("spec.items[2].")
    ('spec', 'items', 2)
    """
    return tuple(name or int(number) for name, number in _STEP.findall(path))


def _loaded_with_contents(
    repository: Repository, files: tuple[File, ...], contents: Contents, earlier: LoadsOfSource
) -> Loaded:
    """Load the source with some files' contents in place of those in the work tree."""
    file_by_path = {file.path: file for file in files if file.path not in contents}
    new: dict[bytes, bytes] = {}
    for path, content in contents.items():
        if content is not None:
            id_ = git_object_id("blob", content, repository.algorithm)
            new[id_] = content
            file_by_path[path] = File(path, BLOB_MODE, id_, len(content))

    def read_with_contents(ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        wanted = set(ids)
        return {**repository.read_blobs(wanted - new.keys()), **{id_: new[id_] for id_ in wanted & new.keys()}}

    facts = reader_of_recorded_facts(repository)
    ordered = [file_by_path[path] for path in sorted(file_by_path)]
    with source_reading(repository, earlier.parsed, earlier.builds) as reading:
        return load_source(
            ordered, reading._replace(read=read_with_contents, facts=facts), folder=repository.folder.under
        )
