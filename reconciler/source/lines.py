"""The file and line of a problem's field, found by reading the file once more."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from render.errors import Problem

from .manifests import FieldProblem, LocatedManifest, ReadBlobs

_BYTES_TO_SEARCH = 2 * 1024 * 1024
_LEAST_SEARCHES = 5


@dataclass(slots=True)
class Lines:
    """The lines of fields, in files that are read again when the first line of theirs is asked for.

    Each search reads the file from its start. So that a big file full of mistakes costs no more than a small one, its
    first few get lines and the others only the file.
    """

    read: ReadBlobs
    _contents: dict[bytes, bytes] = field(default_factory=dict)
    _searches: dict[bytes, int] = field(default_factory=dict)

    def line_of(self, place: LocatedManifest, path: str = "") -> int:
        """Return the line of a manifest's field, or of the nearest parent it has; 0 when it is not searched for."""
        from render.documents import locate_field  # most sources have nothing to point at

        id_ = place.file.id
        if id_ not in self._contents:
            self._contents |= self.read([id_])
            self._searches[id_] = max(_LEAST_SEARCHES, _BYTES_TO_SEARCH // (len(self._contents[id_]) + 1))
        if not self._searches[id_]:
            return 0
        self._searches[id_] -= 1
        return locate_field(self._contents[id_], place.position, (place.prefix + path).rstrip(".")).line

    def located(self, found: Iterable[FieldProblem]) -> tuple[Problem, ...]:
        """Return problems with their files and lines, sorted."""
        return tuple(
            sorted(
                replace(problem, path=place.file.path, line=self.line_of(place, problem.field))
                for place, problem in found
            )
        )


@dataclass(slots=True)
class PlacedLines:
    """Lines of fields of manifests, found by file and by the manifest's number in it."""

    lines: Lines
    places: Mapping[tuple[str, int], LocatedManifest]

    def line_of(self, path: str, number: int, field: str) -> int:
        """Return the line of a field; 0 for what is not of this source."""
        place = self.places.get((path, number))
        return self.lines.line_of(place, field) if place else 0
