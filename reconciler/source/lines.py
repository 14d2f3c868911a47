"""The file and line of a problem's field, found by reading the file once more."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from msgspec.structs import replace

from render.errors import Problem
from render.model import Template

from .broken import SAID_ONCE
from .built_files import BuiltFile
from .manifests import FieldProblem, LocatedManifest, ReadBlobs

if TYPE_CHECKING:  # most sources have nothing to point at
    from overrides.lint import LineOf
    from render.documents import Places

_REMEMBERED = 32


class Lines(Struct):
    """The lines of fields, in files that are read again when the first line of theirs is asked for.

    A file's places are looked up once and kept while it is among the last few, so that many problems of one file cost
    as much as one.
    """

    read: ReadBlobs
    _places: "dict[bytes, Places]" = field(default_factory=dict)

    def shown_place(self, place: LocatedManifest) -> str:
        """Return the file and line of a manifest, of what was built as far as they are known, for a message."""
        origin = place.file.origin_of(place.position) if isinstance(place.file, BuiltFile) else None
        path, line = origin or (place.file.path, self.line_of(place))
        built = f" as {place.file.path} builds it" if path != place.file.path else ""
        return f"{path}:{line}{built}" if line else f"{path}{built}"

    def line_of(self, place: LocatedManifest, path: str = "") -> int:
        """Return the line of a manifest's field, or of the nearest parent it has; 0 for what was built."""
        if isinstance(place.file, BuiltFile):
            return 0
        places = self._places_in(place.file.id)
        return places.of_field(place.position, (place.prefix + path).rstrip(".")).line

    def _places_in(self, id_: bytes) -> "Places":
        from render.documents import Places

        if id_ not in self._places:
            if len(self._places) == _REMEMBERED:
                del self._places[next(iter(self._places))]
            self._places[id_] = Places(self.read([id_])[id_])
        return self._places[id_]

    def located_problems(self, found: Iterable[FieldProblem]) -> tuple[Problem, ...]:
        """Return problems with their files and lines, sorted."""
        by_file = sorted(found, key=lambda each: each.place.file.path)
        return tuple(sorted(map(self.located_problem, by_file)))

    def located_problem(self, found: FieldProblem) -> Problem:
        """Return a problem with its file and line; those it was built from for what stands in no file.

        A Source whose content is not at hand, or a Cluster, is the same problem, whatever builds what needs it.
        """
        place, problem = found
        if isinstance(place.file, BuiltFile):
            origin = place.file.origin_of(place.position)
            message = problem.message
            if problem.hint.startswith(SAID_ONCE):
                pass
            elif origin.path != place.file.path:
                message = f"{message}, as {place.file.path} builds it"
            elif problem.field and (name := _kind_and_name_of(place.manifest)) not in message:
                message = f"{name}: {message}"
            return replace(problem, path=origin.path, line=origin.line, message=message)
        return replace(problem, path=place.file.path, line=self.line_of(place, problem.field))


class PlacedLines(Struct):
    """Lines of fields of manifests, found by file and by the manifest's number in it."""

    lines: Lines
    places: Mapping[tuple[str, int], LocatedManifest]

    def line_of(self, path: str, number: int, field: str) -> int:
        """Return the line of a field; 0 for what is not of this source."""
        place = self.places.get((path, number))
        return self.lines.line_of(place, field) if place else 0


def template_problem(template: Template, problem: Problem, line_of: "LineOf | None") -> Problem:
    """Return a problem of a template with its file and line: of what was built, those it was built from."""
    if not template.origin:
        line = line_of(template.path, template.document, problem.field) if line_of else 0
        return replace(problem, path=template.path, line=line)
    path, _, number = template.origin.rpartition(":")
    line = int(number) if number.isdecimal() else 0
    if not line or path == template.path:
        return replace(problem, path=template.path, line=line, message=f"{template.ref}: {problem.message}")
    return replace(problem, path=path, line=line, message=f"{problem.message}, as {template.path} builds it")


def _kind_and_name_of(manifest: Any) -> str:
    """Return the kind and the name of a manifest, of which nothing is checked yet."""
    metadata = manifest.get("metadata")
    return f"{manifest.get('kind')} {metadata.get('name') if isinstance(metadata, dict) else None}"
