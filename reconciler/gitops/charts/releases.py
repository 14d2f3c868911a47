"""Releases that other tools would make in a cluster, as HelmCharts: HelmReleases of Flux, and Applications of Argo CD.

They are read this way where argosy.yaml asks for it (``source.render``).
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

from reconciler.gitops.argo.applications import APPLICATION
from reconciler.gitops.argo.destinations import Destinations
from reconciler.gitops.argo.releases import ApplicationCharts
from reconciler.gitops.chart_places import AskedChart, ChartPlaces
from reconciler.gitops.flux import releases as flux
from reconciler.source.manifests import LocatedManifest, has_name_and_namespace
from render.model import Manifest
from render.settings.source import RenderedRelease

RELEASES = (flux.HELM_RELEASE, APPLICATION)


class ReleaseKind(Protocol):
    """A kind of releases, with all that its objects may refer to."""

    def number_of_charts(self, manifest: Manifest, /) -> int:
        """Return the number of charts that a release asks for."""

    def clusters_of_release(self, manifest: Manifest, /) -> frozenset[str] | None:
        """Return the clusters that a release is for; None: any."""

    def chart_asked_for(self, manifest: Manifest, default_namespace: str, number: int, /) -> AskedChart:
        """Return one of the charts of a release; UnusableRequest says why it cannot be rendered."""


def is_release(place: LocatedManifest, rendered: Sequence[RenderedRelease]) -> bool:
    """Say whether a manifest is a release of a kind that is to be rendered; an Application may have no chart."""
    if not any(kind.name in rendered and kind.is_of(place.manifest) for kind in RELEASES):
        return False
    return isinstance(place.manifest.get("spec"), dict) and has_name_and_namespace(place.manifest)


Releases = Mapping[str, ReleaseKind]
"""The kinds of releases over one source, by name."""


def releases_of(places: ChartPlaces, manifests: Sequence[LocatedManifest]) -> Releases:
    """Return what reads the releases of a source, with what they may refer to among its manifests."""
    return {
        flux.HELM_RELEASE.name: flux.HelmReleases.of(places, manifests),
        APPLICATION.name: ApplicationCharts(places, Destinations.of(manifests)),
    }
