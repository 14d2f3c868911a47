"""Objects of other tools that charts make, read like those that stand in files: an app of apps whose apps are a chart.

What a chart makes may deploy folders and charts, and these may make more of it. So everything is read again with what
came to light, until nothing new does; charts and folders that are asked for again are remembered by their inputs.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reconciler.building.requests import Build
from reconciler.source.broken import Broken
from reconciler.source.built_files import BuiltFile, is_made_by_chart, source_files_behind
from reconciler.source.lines import Lines
from reconciler.source.manifests import LocatedManifest
from reconciler.source.reading import ReadFiles, SourceReading
from reconciler.source.templates import manifest_with_namespace
from render.model import ObjectRef, group_of

from .flux.kustomizations import ARTIFACTS, REPOSITORIES
from .folders import read_with_folders
from .readers import Readers
from .rendering import read_files_with_charts

_MOST_ROUNDS = 8
"""Charts that may make each other, one after the other."""


class _Made(Struct, frozen=True, kw_only=True):
    """The objects that charts make and that are read, with what these refer to; ``unequal`` differ between clusters."""

    read: Mapping[ObjectRef, LocatedManifest]
    beside: tuple[LocatedManifest, ...] = ()
    unequal: tuple[LocatedManifest, ...] = ()

    @property
    def all_places(self) -> tuple[LocatedManifest, ...]:
        """All of them, in a fixed order."""
        return (*(self.read[ref] for ref in sorted(self.read)), *self.beside)

    def adds_nothing_to(self, other: "_Made") -> bool:
        """Say whether another one has the same objects."""
        return [each.manifest for each in self.all_places] == [each.manifest for each in other.all_places]


def read_deployed(readers: Readers, build: Build, reading: SourceReading) -> ReadFiles:
    """Read the files of a fleet, what is built of them, and what its charts make, until nothing else comes of it."""
    known = _Made(read={})
    for _ in range(_MOST_ROUNDS):
        found = read_with_folders(readers, build, reading, known.all_places)
        found = read_files_with_charts(found, readers, build, reading, known.all_places)
        made = _objects_made_by_charts(found, readers)
        if made.adds_nothing_to(known):
            return _files_without_charts(found, made, readers, reading)
        known, before = made, known
    deepest = [made.read[ref] for ref in sorted(made.read) if ref not in before.read]
    return _read_with_endless_problem(found, made, deepest, readers, reading)


def _objects_made_by_charts(found: ReadFiles, readers: Readers) -> _Made:
    """Return what charts have made of objects that are read; one that clusters get otherwise is none of them."""
    outputs: dict[tuple[ObjectRef, str, int], list[LocatedManifest]] = {}
    beside = []
    for place in found.contents.manifests:
        if not is_made_by_chart(place.file):
            continue
        named = _object_in_release_namespace(place, readers)
        if readers.deploys(place):
            assert isinstance(place.file, BuiltFile)
            key = ObjectRef.of(named.manifest), place.file.path, place.file.build
            outputs.setdefault(key, []).append(named)
        elif (
            group_of(place.manifest["apiVersion"]) in (REPOSITORIES, ARTIFACTS) or place.manifest["kind"] == "ConfigMap"
        ):
            beside.append(named)
    read: dict[ObjectRef, LocatedManifest] = {}
    unequal = []
    for (ref, _, _), places in outputs.items():
        if _is_equal_in_all_clusters(places):
            read.setdefault(ref, places[0])
        else:
            unequal.append(places[0])
    return _Made(read=read, beside=tuple(beside) if read else (), unequal=tuple(unequal))


def _is_equal_in_all_clusters(places: Sequence[LocatedManifest]) -> bool:
    """Say whether all clusters get the same object, as each class of them has it made by itself."""
    first = places[0]
    assert isinstance(first.file, BuiltFile)
    is_whole = len(places) == max(len(first.file.variants), 1)
    return is_whole and all(each.manifest == first.manifest for each in places)


def _object_in_release_namespace(place: LocatedManifest, readers: Readers) -> LocatedManifest:
    """Return an object in the namespace of its release, where it names none."""
    assert isinstance(place.file, BuiltFile)
    default = place.file.namespace or readers.home.fleet.default_namespace
    return place._replace(manifest=manifest_with_namespace(place.manifest, is_namespaced=True, default=default))


def _files_without_charts(found: ReadFiles, made: _Made, readers: Readers, reading: SourceReading) -> ReadFiles:
    """Return manifests without those that are read, and a problem for each that cannot be."""
    manifests = found.contents.manifests
    others = tuple(place for place in manifests if not (is_made_by_chart(place.file) and readers.deploys(place)))
    message = "is not the same for all clusters, so that what it deploys is not known"
    broken = tuple(_broken_charts(made.unequal, message, reading))
    return replace(
        found,
        contents=found.contents._replace(manifests=others),
        built=replace(found.built, broken=(*found.built.broken, *broken)),
    )


def _read_with_endless_problem(
    found: ReadFiles, made: _Made, deepest: Sequence[LocatedManifest], readers: Readers, reading: SourceReading
) -> ReadFiles:
    """Return what was read in the rounds there are, and a problem for what would follow."""
    message = f"is made by a chart that {_MOST_ROUNDS} others lead to, one by one: charts make each other in a circle"
    rest = _files_without_charts(found, made, readers, reading)
    broken = tuple(_broken_charts(deepest, message, reading))
    return replace(rest, built=replace(rest.built, broken=(*rest.built.broken, *broken)))


def _broken_charts(places: Iterable[LocatedManifest], message: str, reading: SourceReading) -> Iterator[Broken]:
    for place in places:
        assert isinstance(place.file, BuiltFile)
        name = f"{place.manifest['kind']} {place.manifest['metadata']['name']}"
        found = place.problem("", f"{name} of {place.file.maker} {message}")
        problem = Lines(reading.read).located_problem(found)
        yield Broken(problem=problem, files=source_files_behind(place.file), makes=place.file.path)
