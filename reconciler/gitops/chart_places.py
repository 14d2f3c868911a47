"""The places that charts of releases come from, and a chart as a release of another tool asks for it.

A chart that is not in the repository is that of the Source with the same address, which is implied where nobody wrote
it. What cannot be said by a HelmChart is refused, as another release would come of it.
"""

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from reconciler.building.requests import UnusableRequest
from reconciler.locked.model import ExternalSource, SourceType, UnavailableSource
from reconciler.locked.reading import LockedFiles
from reconciler.source.external import UnusablePlace, source_implied_by_place
from render.model import Manifest


class AskedChart(NamedTuple):
    """A chart that is asked for: as a HelmChart would ask for it, and what no HelmChart can say.

    ``values_namespace`` is that of ConfigMaps with values ("": that of the release). Without ``has_schemas`` no schema
    of the chart is asked. ``post_renderers`` are changes of kustomizations to what it renders, and ``common_metadata``
    is what each object gets.
    """

    manifest: Manifest
    values_namespace: str = ""
    has_schemas: bool = True
    post_renderers: tuple[bytes, ...] = ()
    common_metadata: Mapping[str, Any] = {}

    @classmethod
    def of(cls, name: str, namespace: str, spec: Mapping[str, Any]) -> "AskedChart":
        """Return a chart by the name and the namespace of its release, and the spec of a HelmChart."""
        return cls({"metadata": {"name": name, "namespace": namespace}, "spec": spec})


class ChartPlaces(NamedTuple):
    """The files of the repository that charts may be in, by path, and the Sources of the fleet.

    ``folder`` is that of argosy.yaml; paths of releases begin at the root of the repository.
    """

    folder: str
    paths: frozenset[str]
    sources: Sequence[ExternalSource]
    locked: LockedFiles | None = None

    def has_chart(self, folder: str) -> bool:
        """Say whether a folder of the repository is a chart."""
        return (f"{folder}/Chart.yaml" if folder else "Chart.yaml") in self.paths

    def path_seen_from(self, path: str) -> str:
        """Return a path of the repository as it is seen from argosy.yaml."""
        return posixpath.relpath(posixpath.normpath(path.removeprefix("/")), self.folder or ".")

    def source_of(self, field: str, type_: SourceType, place: Mapping[str, str], secret: str = "") -> ExternalSource:
        """Return the Source of a place: one that somebody wrote, whatever its version, or an implied one.

        It is refused where it is not locked.
        """
        url, chart = place["url"].rstrip("/"), place.get("chart", "")
        for source in self.sources:
            is_same = source.type is type_ and str(source.place["url"]).rstrip("/") == url
            if is_same and source.place.get("chart", "") == chart:
                return source
        try:
            implied = source_implied_by_place(type_, place, secret)
            if self.locked is not None:
                self.locked.locked(self.locked.add_implied_source(implied))
        except UnusablePlace as error:
            raise UnusableRequest(field, f"it is of a place that cannot be fetched from: {error}") from error
        except UnavailableSource as error:
            raise UnusableRequest(field, error.message, error.hint) from error
        return implied
