"""The walk from one kustomization through all that it names, which refuses whatever is no file of the tree."""

from collections.abc import Collection, Iterator
from typing import NamedTuple

from msgspec import Struct, field

from reconciler.source.files import SYMLINK, SourceFile
from render.boundary import unexpected_problem
from render.errors import Problem
from render.expressions import lazy_expression

from .kustomization import (
    ELSEWHERE,
    FETCHED,
    Kustomization,
    Reference,
    Role,
    parsed_configuration,
    parsed_plugins,
)
from .tree import MOUNT, Kustomizations, is_readable_by_builds, path_joined_to

MOST_FILES = 20_000
"""Files that one build may read."""

_LOCK = "write a Source for it, and run argosy lock"
_PLAIN = lazy_expression(r"[\w./@+~ -]+")
_PLAIN_HINT = "kustomize tries it as configuration first: give the file a name of letters, digits, dots and dashes"
_MADE = "configuration of generators and transformers that a kustomization makes is not read"
_MADE_HINT = "a kustomization may list the files that have it, and do nothing else to them"
_NOT_FOR_PLUGINS = "is outside the folder that it configures, or configuration itself"
_PLUGIN_HINT = "put the file below the folder of the kustomization that lists the configuration"


class BuildRefusal(NamedTuple):
    """A reason not to build: the file and the field to blame."""

    file: SourceFile
    problem: Problem


class _RefusedError(Exception):
    """Something named may not be built."""

    def __init__(self, refusal: BuildRefusal) -> None:
        super().__init__(refusal.problem.message)
        self.refusal = refusal


class Walk(Struct):
    """The walk from one kustomization through all that it names.

    ``of_plugins`` are the files that configuration of generators and transformers names, each with who names it. The
    walk goes on after the first ``refusal``, and what it finds then is ``beyond``: of that no more needs to be known
    than that the build names it.

    ``owned`` are the files that are parts of the build and nothing else: all but manifests outside the folders of the
    kustomizations that list them, which stay what they are. ``kustomizations`` are in the order of the walk.
    """

    known: Kustomizations
    found: dict[str, SourceFile] = field(default_factory=dict)
    refusal: BuildRefusal | None = None
    beyond: dict[str, SourceFile] = field(default_factory=dict)
    kustomizations: dict[str, None] = field(default_factory=dict)
    resources: set[str] = field(default_factory=set)
    owned: set[str] = field(default_factory=set)
    plugins: set[str] = field(default_factory=set)
    configurations: set[str] = field(default_factory=set)
    environments: set[str] = field(default_factory=set)
    listings: dict[str, SourceFile] = field(default_factory=dict)
    of_plugins: dict[str, BuildRefusal] = field(default_factory=dict)

    def walk_folder(self, folder: str) -> None:
        """Visit a folder and those it builds upon, each once."""
        unseen = [_Visit(folder)]
        seen = {*unseen}
        while unseen and len(self.found) + len(self.beyond) <= MOST_FILES:
            visit = unseen.pop()
            for file, parsed in self.known.kustomizations_at(visit.folder):
                self._add_file_of_tree(file)
                self.owned.add(file.path)
                self.kustomizations.setdefault(file.path)
                for inner in self._visits_of_kustomization(visit, file, parsed):
                    if inner not in seen:
                        seen.add(inner)
                        unseen.append(inner)
        self._refuse_mixtures({visit.folder for visit in seen if visit.of_plugins is None})

    def refuse_folder(self, folder: str, error: Exception) -> None:
        """Refuse to build a folder of which the walk led to an error nobody thought of."""
        file = self.known.kustomizations_at(folder)[0][0]
        self._add_file_of_tree(file)
        self.kustomizations = self.kustomizations or {file.path: None}
        self._note_refusal(BuildRefusal(file, unexpected_problem(file.path, error, what="is not built")))

    def _refuse_mixtures(self, built: Collection[str]) -> None:
        """Refuse what would have to be written in two ways: a file or a folder that is used as configuration, too."""
        for path in sorted(self.listings.keys() & built):
            self._note_refusal(_refusal_error(self.listings[path], "", _MADE, _MADE_HINT).refusal)
        for path in sorted(self.of_plugins.keys() & {*self.kustomizations, *self.plugins, *self.configurations}):
            self._note_refusal(self.of_plugins[path])

    def _add_file_of_tree(self, file: SourceFile) -> None:
        (self.found if self.refusal is None else self.beyond)[file.path] = file

    def _note_refusal(self, refusal: BuildRefusal) -> None:
        self.refusal = self.refusal or refusal

    def _visits_of_kustomization(self, visit: "_Visit", file: SourceFile, parsed: Kustomization) -> Iterator["_Visit"]:
        """Add what a kustomization names, and yield the visits to the folders among that."""
        self._refuse_faults(file, parsed)
        if visit.of_plugins is not None:
            self.listings[visit.folder] = file
            if not parsed.is_listing:
                self._note_refusal(_refusal_error(file, "", _MADE, _MADE_HINT).refusal)
        for named in parsed.references:
            reference = named if visit.of_plugins is None else named._replace(role=Role.PLUGIN)
            try:
                path = self._path_of_reference(visit.folder, file, reference)
                configured = visit.configured_folder if reference.role is Role.PLUGIN else None
                if path in self.known.folders and path not in self.known.files:
                    yield _Visit(path, configured)
                else:
                    self._add_file(visit, file, reference, path)
            except _RefusedError as refused:
                self._note_refusal(refused.refusal)
        for inline in parsed.inline:
            self._add_plugins(
                visit.configured_folder, file, inline.text.encode("utf-8", "surrogateescape"), inline.field
            )

    def _refuse_faults(self, file: SourceFile, parsed: Kustomization, within: str = "") -> None:
        """Refuse a build for the faults of what it reads; ``within`` is the field that has it."""
        for fault in parsed.faults:
            place = ".".join(filter(None, (within, fault.field)))
            line = 0 if within else fault.line
            self._note_refusal(BuildRefusal(file, Problem(file.path, line, place, fault.message, fault.hint)))

    def _path_of_reference(self, at: str, file: SourceFile, reference: Reference) -> str:
        """Return the path of something named; it is refused where it is no file or folder to build from."""
        path = path_joined_to(at, reference.text)
        if path is not None and _is_path_in_source_content(at) and not _is_path_in_source_content(path):
            message = f"{reference.text!r} leads out of the Source"
            raise _refusal_error(file, reference.field, message, "its content builds upon nothing of this repository")
        is_fetched = FETCHED.search(reference.text) is not None
        if not is_fetched and path is not None and (path in self.known.files or self._is_folder(path, reference)):
            return path
        error = self.known.unavailable.get(reference.text)
        if error is not None:
            raise _refusal_error(file, reference.field, error.message, error.hint)
        if is_fetched or ELSEWHERE.search(reference.text):
            message = f"{reference.text!r} is not in this repository, and a build fetches nothing"
            raise _refusal_error(file, reference.field, message, _LOCK)
        if path is None:
            message = f"{reference.text!r} leads out of the repository"
            raise _refusal_error(file, reference.field, message, "a build reads files of the same commit alone")
        if self._is_below_link(path):
            message = f"{reference.text!r} is below a symbolic link; links are never followed"
            raise _refusal_error(file, reference.field, message, "name the place that the link leads to")
        raise _refusal_error(file, reference.field, f"there is no {reference.text!r}", f"it would be {path}")

    def _is_folder(self, path: str, reference: Reference) -> bool:
        return reference.role.may_be_folder and path in self.known.folders

    def _is_below_link(self, path: str) -> bool:
        above = path
        while above:
            file = self.known.files.get(above)
            if file is not None and file.mode == SYMLINK:
                return True
            above = above.rpartition("/")[0]
        return False

    def _add_file(self, visit: "_Visit", file: SourceFile, reference: Reference, path: str) -> None:
        named = self.known.files[path]
        if named.mode == SYMLINK:
            message = f"{reference.text!r} is a symbolic link; links are never followed"
            raise _refusal_error(file, reference.field, message, "name the file that the link leads to")
        if not is_readable_by_builds(named):
            raise _refusal_error(
                file, reference.field, f"{reference.text!r} is too large, or no file of this repository"
            )
        self._add_file_of_tree(named)
        if reference.role is not Role.RESOURCE or path.startswith(f"{visit.folder}/" if visit.folder else ""):
            self.owned.add(path)
        if reference.role is Role.RESOURCE:
            self.resources.add(path)
        elif reference.role is Role.ENVIRONMENT:
            self.environments.add(path)
        if len(self.found) > MOST_FILES:
            raise _refusal_error(file, "", f"the build reads more than {MOST_FILES} files")
        self._check_named_configuration(visit, file, reference, named)

    def _check_named_configuration(
        self, visit: "_Visit", file: SourceFile, reference: Reference, named: SourceFile
    ) -> None:
        """Look at what a file says that kustomize takes its fields from."""
        if reference.role is Role.PLUGIN:
            if not _PLAIN.fullmatch(reference.text):
                message = f"{reference.text!r} may be read as more than a path"
                raise _refusal_error(file, reference.field, message, _PLAIN_HINT)
            self.plugins.add(named.path)
            self._add_plugins(visit.configured_folder, named, self.known.content_of(named))
        elif reference.role is Role.CONFIGURATION:
            self.configurations.add(named.path)
            self._refuse_faults(named, parsed_configuration(self.known.content_of(named)))

    def _add_plugins(self, at: str, file: SourceFile, content: bytes, within: str = "") -> None:
        """Add the files that configuration of generators and transformers names, seen from the folder they are for."""
        parsed = parsed_plugins(content)
        self._refuse_faults(file, parsed, within)
        for each in parsed.references:
            reference = each._replace(field=f"{within}.{each.field}" if within else each.field)
            try:
                path = self._path_of_reference(at, file, reference)
                refusal = _refusal_error(file, reference.field, f"{reference.text!r} {_NOT_FOR_PLUGINS}", _PLUGIN_HINT)
                if not path.startswith(f"{at}/" if at else ""):
                    raise refusal
                self.of_plugins.setdefault(path, refusal.refusal)
                self._add_file(_Visit(at), file, reference, path)
            except _RefusedError as refused:
                self._note_refusal(refused.refusal)


class _Visit(NamedTuple):
    """A folder to visit; ``of_plugins``: it lists configuration for the kustomization of that folder."""

    folder: str
    of_plugins: str | None = None

    @property
    def configured_folder(self) -> str:
        """The folder whose generators are configured, which the names in their configuration start from."""
        return self.folder if self.of_plugins is None else self.of_plugins


def _is_path_in_source_content(path: str) -> bool:
    """Say whether a path is one of the content of a Source."""
    return path.startswith(f"{MOUNT}/")


def _refusal_error(file: SourceFile, field_name: str, message: str, hint: str = "") -> _RefusedError:
    return _RefusedError(BuildRefusal(file, Problem(file.path, 0, field_name, message, hint)))
