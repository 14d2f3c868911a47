"""The fleet that is meant and the settings of its argosy.yaml; without the file, every default."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import partial

from msgspec import Struct

from render.admission import Admitted, admit
from render.boundary import result_or_substitute, unexpected_problem
from render.errors import Problem
from render.model import ARGOSY_API_VERSION, ARGOSY_GROUP, Manifest, group_of
from render.settings.fleet import Fleet
from render.settings.reading import parse_fleet
from render.syntax import quoted_text
from render.words import most_similar_word

from .files import FLEET_FILE, IGNORE_FILE, MAX_FILE_SIZE, SYMLINK, SourceFile
from .ignoring import MOST_TRIED, count_of_tried_lines
from .lines import Lines
from .manifests import FieldProblem, LocatedManifest, ReadBlobs, load_manifests

_MOST_HINTS = 20
"""Absent paths that get a hint: to compare each of thousands with each of thousands would take minutes."""


class FleetSource(Struct, frozen=True, kw_only=True):
    """A fleet, its folder in the repository, the path of its argosy.yaml ("": none), and gitignore lines."""

    fleet: Fleet
    folder: str
    path: str = ""
    ignore: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def expected_path(self) -> str:
        """The path of the fleet's argosy.yaml, whether it exists or not."""
        return f"{self.folder}/{FLEET_FILE}" if self.folder else FLEET_FILE


def load_fleet(files: Sequence[SourceFile], *, folder: str, read: ReadBlobs) -> FleetSource:
    """Load the settings of the fleet at or above ``folder``, or else of the only one below it.

    Without any argosy.yaml the repository is the fleet, wherever in it somebody stands.
    """
    file_by_path = {file.path: file for file in files}
    paths = fleet_paths(file_by_path, folder)
    if len(paths) > 1:
        names = ", ".join(path.removesuffix(f"/{FLEET_FILE}") for path in paths[:10])
        problem = Problem(folder or ".", 0, "", f"holds {len(paths)} fleets: {names}", "name one with -C FOLDER")
        return FleetSource(fleet=Fleet(), folder=folder, problems=(problem,))
    path = paths[0] if paths else ""
    home = path.rpartition("/")[0]
    fleet, problems = _load_fleet_file(file_by_path[path], file_by_path, read) if paths else (Fleet(), ())
    ignored = _read_ignore_lines(file_by_path.get(f"{home}/{IGNORE_FILE}" if home else IGNORE_FILE), read)
    ignore = (*ignored, *fleet.source.ignore)
    if (tried := count_of_tried_lines(ignore)) > MOST_TRIED:
        message = f"{tried} lines to ignore have wildcards other than *.SUFFIX, but at most {MOST_TRIED} are tried"
        hint = "name files, folders or suffixes, of which there may be any number"
        ignore, problems = (), (*problems, Problem(path or IGNORE_FILE, 0, "", message, hint))
    return FleetSource(fleet=fleet, folder=home, path=path, ignore=ignore, problems=problems)


def fleet_paths(paths: Iterable[str], folder: str) -> list[str]:
    """Return the nearest argosy.yaml at or above a folder, or else all below it."""
    at: str = folder
    named_so = [path for path in paths if path.endswith(FLEET_FILE)]
    fleet_files = {path for path in named_so if path == FLEET_FILE or path.endswith(f"/{FLEET_FILE}")}
    while True:
        path = f"{at}/{FLEET_FILE}" if at else FLEET_FILE
        if path in fleet_files:
            return [path]
        if not at:
            break
        at = at.rpartition("/")[0]
    return sorted(path for path in fleet_files if path.startswith(f"{folder}/" if folder else ""))


def _load_fleet_file(file: SourceFile, paths: Collection[str], read: ReadBlobs) -> tuple[Fleet, tuple[Problem, ...]]:
    parse = partial(_parse_fleet_file, file, paths, read)
    return result_or_substitute(parse, lambda error: (Fleet(), (unexpected_problem(file.path, error),)))


def _parse_fleet_file(file: SourceFile, paths: Collection[str], read: ReadBlobs) -> tuple[Fleet, tuple[Problem, ...]]:
    if file.mode == SYMLINK:
        message = "is a symbolic link; links are never followed"
        return Fleet(), (Problem(file.path, 0, "", message, "put the file here"),)
    if file.size > MAX_FILE_SIZE:
        return Fleet(), (Problem(file.path, 0, "", f"{file.size} bytes, but at most {MAX_FILE_SIZE} are read"),)
    contents = load_manifests([file], read=read)
    fleets = [place for place in contents.all_manifests if _is_fleet(place)]
    field_problems = [
        *contents.problems,
        *(place.problem("", "a second Fleet in one file", hint="keep one") for place in fleets[1:]),
    ]
    outcome = admit(fleets[0].manifest) if fleets else Admitted(object=None)
    field_problems += (FieldProblem(fleets[0], problem) for problem in outcome.problems)
    if outcome.object is not None:
        field_problems += _problems_of_absent_paths(fleets[0], outcome.object, paths)
    if not fleets:
        field_problems += _problems_of_misnamed_fleets(contents.all_manifests)
    unreadable = (each.problem for each in contents.unreadable)
    problems = (*unreadable, *Lines(read).located_problems(field_problems))
    if not fleets and not problems:
        hint = "the least it may hold is apiVersion: argosy.dev/v1alpha1 and kind: Fleet"
        problems = (Problem(file.path, 0, "", "holds no document of kind Fleet", hint),)
    if problems or outcome.object is None:
        return Fleet(), tuple(sorted(problems))
    return parse_fleet(outcome.object, path=file.path), ()


def _problems_of_misnamed_fleets(places: Iterable[LocatedManifest]) -> Iterator[FieldProblem]:
    """Yield the documents of an argosy.yaml that were meant to be a Fleet."""
    for place in places:
        api_version, kind = place.manifest["apiVersion"], place.manifest["kind"]
        if group_of(api_version) == ARGOSY_GROUP:
            yield place.problem("kind", f"is {quoted_text(kind)}, but argosy.yaml holds a Fleet", hint="write 'Fleet'")
        elif most_similar_word(kind, ["Fleet"]) or kind == "Fleet":
            message = f"is {quoted_text(api_version)}, but argosy.yaml holds a Fleet of Argosy"
            hint = f"write {ARGOSY_API_VERSION!r}" + ("" if kind == "Fleet" else ", and kind: Fleet")
            yield place.problem("apiVersion", message, hint=hint)


def _problems_of_absent_paths(
    place: LocatedManifest, fleet: Manifest, paths: Collection[str]
) -> Iterator[FieldProblem]:
    """Yield the files and folders that are to be read and are not there."""
    home = place.file.path.removesuffix(FLEET_FILE)
    inside = [path.removeprefix(home) for path in paths if path.startswith(home)]
    folders = {path[: match.start()] for path in inside for match in re.finditer("/", path)}
    there, hints = {"", ".", *inside, *folders}, 0
    for number, wanted in enumerate(((fleet.get("spec") or {}).get("source") or {}).get("paths") or ()):
        root = wanted.removeprefix("./").strip("/")
        if root in there:
            continue
        near = most_similar_word(root, folders) if hints < _MOST_HINTS else ""
        hints += 1
        hint = f"did you mean {near!r}?" if near else "it would be looked for beside argosy.yaml"
        yield place.problem(f"spec.source.paths[{number}]", f"there is no {wanted!r}", hint=hint)


def _is_fleet(place: LocatedManifest) -> bool:
    """Say whether a manifest is a Fleet of ours; other projects have a kind of this name, too."""
    return place.manifest["kind"] == "Fleet" and group_of(place.manifest["apiVersion"]) == ARGOSY_GROUP


def _read_ignore_lines(file: SourceFile | None, read: ReadBlobs) -> tuple[str, ...]:
    if file is None or file.mode == SYMLINK or file.size > MAX_FILE_SIZE:
        return ()
    return tuple(read([file.id])[file.id].decode("utf-8", "replace").splitlines())
