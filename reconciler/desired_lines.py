"""Where a problem stands: the file, and the line of its field, found by reading the file once more."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace

from render.documents import locate_field
from render.errors import Problem

from .desired_documents import Found, Placed, ReadBlobs

_BYTES_TO_SEARCH = 4 * 1024 * 1024


def located(found: Iterable[Found], read: ReadBlobs) -> Iterator[Problem]:
    """Yield each problem with its file and line.

    Each search reads the file from its start, so that a big file full of mistakes gets lines for the first few only;
    the others name the file.
    """
    found_by_id: dict[bytes, list[Found]] = defaultdict(list)
    for each in found:
        found_by_id[each.place.file.id].append(each)
    for id_, group in found_by_id.items():
        content = read([id_])[id_]
        searches = max(3, _BYTES_TO_SEARCH // (len(content) + 1))
        for number, (place, problem) in enumerate(group):
            line = line_in(content, place, problem.field) if number < searches else 0
            yield replace(problem, path=place.file.path, line=line)


def line_in(content: bytes, place: Placed, field: str = "") -> int:
    """Return the line of a manifest's field in its file, or that of the nearest parent there is."""
    return locate_field(content, place.position, (place.prefix + field).rstrip(".")).line
