"""Charts that manifests ask for, rendered: HelmCharts, and the releases of other tools that argosy.yaml names."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from reconciler.building.requests import Build
from reconciler.gitops.chart_places import ChartPlaces
from reconciler.gitops.charts.classes import chart_members
from reconciler.gitops.charts.helm_charts import ChartSource, config_maps_among
from reconciler.gitops.charts.releases import is_release, releases_of
from reconciler.gitops.charts.requests import ChartRequests
from reconciler.locked.reading import RepositoryFiles
from reconciler.source.external import KIND as SOURCE
from reconciler.source.external import load_external_sources, read_lock_of_sources
from reconciler.source.facts import no_facts
from reconciler.source.files import Reason
from reconciler.source.fleet_file import FleetSource
from reconciler.source.manifests import LocatedManifest, argosy_objects
from reconciler.source.reading import ReadFiles, SourceReading, files_with_built_ones
from reconciler.source.roles import HELM_CHART
from render.model import ObjectRef

from .readers import Readers


def read_files_with_charts(
    found: ReadFiles,
    readers: Readers,
    build: Build,
    reading: SourceReading,
    made: Sequence[LocatedManifest] = (),
) -> ReadFiles:
    """Render the charts that manifests ask for, and ``made`` beside them; return the others with the outcome."""
    manifests, read, caches, facts = found.contents.manifests, reading.read, reading.caches, reading.facts
    home, files = readers.home, readers.repository.files
    places, every = (
        [*argosy_objects(HELM_CHART, manifests), *_releases_to_render(manifests, made, home)],
        (*made, *manifests),
    )
    if not places:
        return found
    external = load_external_sources(argosy_objects(SOURCE, manifests))
    repository = RepositoryFiles(files, folder=home.folder, read=read)
    locked = read_lock_of_sources((*external.sources, *found.built.implied), repository, caches.contents).locked
    chart_places = ChartPlaces(home.folder, frozenset(file.path for file in files), external.sources, locked)
    asked = ChartSource(
        files={file.path: file for file in files},
        folder=home.folder,
        read=read,
        locked=locked,
        config_maps=dict(config_maps_among((*every, *found.contents.sealed), home.fleet.default_namespace)),
        default_namespace=home.fleet.default_namespace,
        members=chart_members(manifests, home.fleet, facts or no_facts),
        cache=caches.parsed,
    ).requests(places, releases_of(chart_places, every))
    rendered = asked.outcome.merged_with_built_source(build.render_charts(asked.requests))
    return files_with_built_ones(_read_files_without_asked_charts(found, asked), rendered, reading)


def _releases_to_render(
    manifests: Sequence[LocatedManifest], made: Sequence[LocatedManifest], home: FleetSource
) -> Iterator[LocatedManifest]:
    """Yield the releases that are rendered; one that a chart makes, too, is read as it stands in a file."""
    kinds = home.fleet.source.rendered
    written = [place for place in manifests if kinds and is_release(place, kinds)]
    known = {ObjectRef.of(place.manifest) for place in written}
    yield from written
    yield from (each for each in made if is_release(each, kinds) and ObjectRef.of(each.manifest) not in known)


def _read_files_without_asked_charts(found: ReadFiles, asked: ChartRequests) -> ReadFiles:
    """Return manifests without what asks for charts, of which the folders are not skipped any more."""
    left_out = tuple(
        each for each in found.selection.skipped if not (each.reason is Reason.HELM and each.path in asked.folders)
    )
    return replace(
        found,
        selection=replace(found.selection, skipped=left_out),
        contents=found.contents._replace(
            manifests=tuple(place for place in found.contents.manifests if id(place) not in asked.taken)
        ),
    )
