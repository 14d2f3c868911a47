"""HelmReleases of Flux, each as a HelmChart that asks for the same release."""

import posixpath
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from reconciler.building.requests import UnusableRequest
from reconciler.gitops.chart_places import AskedChart, ChartPlaces
from reconciler.gitops.tool_kind import ToolKind, is_any_object, is_no_object
from reconciler.locked.model import ExternalSource, SourceType
from reconciler.source.external import artifact_place, chart_place, login_secret_name, repository_place
from reconciler.source.manifests import LocatedManifest, has_name_and_namespace
from render.documents import emit
from render.model import ObjectRef, group_of, list_or_empty, mapping_or_empty
from render.settings.source import RenderedRelease

from .kustomizations import INSTALLED, REPOSITORIES, patches_and_images

HELM_RELEASE = ToolKind(
    RenderedRelease.HELM_RELEASE, "helm.toolkit.fluxcd.io", is_no_object, is_any_object, is_any_object
)
_IN_GIT = frozenset({"GitRepository", "Bucket"})


class HelmReleases(NamedTuple):
    """Everything that a HelmRelease may refer to: repositories of Flux, and the places that charts come from."""

    places: ChartPlaces
    repositories: Mapping[ObjectRef, Mapping[str, Any]]

    @classmethod
    def of(cls, places: ChartPlaces, manifests: Iterable[LocatedManifest]) -> "HelmReleases":
        """Return what HelmReleases may refer to, found among manifests."""
        repositories = {
            ObjectRef.of(place.manifest): mapping_or_empty(place.manifest.get("spec"))
            for place in manifests
            if group_of(place.manifest["apiVersion"]) == REPOSITORIES and has_name_and_namespace(place.manifest)
        }
        return cls(places, repositories)

    def number_of_charts(self, _: Mapping[str, Any]) -> int:
        """Return the number of charts that a HelmRelease asks for."""
        return 1

    def clusters_of_release(self, _: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the clusters that a HelmRelease is for: any."""
        return None

    def chart_asked_for(self, manifest: Mapping[str, Any], default_namespace: str, _: int) -> AskedChart:
        """Return a HelmRelease as a HelmChart."""
        spec, metadata = manifest["spec"], manifest["metadata"]
        if spec.get("suspend"):
            hint = "what Argosy delivers is suspended by its policy: spec.suspension"
            raise UnusableRequest("spec.suspend", "it is suspended, so that nothing is made of it", hint)
        own, target = str(metadata.get("namespace") or default_namespace), str(spec.get("targetNamespace") or "")
        name = f"{target}-{metadata['name']}" if target else metadata["name"]
        install, renderers = (
            mapping_or_empty(spec.get("install")),
            list(map(mapping_or_empty, list_or_empty(spec.get("postRenderers")))),
        )
        chart: dict[str, Any] = {
            **self._chart_spec(spec, own),
            "releaseName": str(spec.get("releaseName") or name),
            "values": mapping_or_empty(spec.get("values")),
            "valuesFrom": [
                _values_reference(number, each)
                for number, each in enumerate(map(mapping_or_empty, list_or_empty(spec.get("valuesFrom"))))
            ],
            "crds": "Exclude" if install.get("crds") == "Skip" else "Include",
        }
        # ConfigMaps with values stand beside the release, whatever namespace its objects go to.
        return AskedChart.of(metadata["name"], target or own, chart)._replace(
            values_namespace=own,
            has_schemas=not install.get("disableSchemaValidation"),
            post_renderers=tuple(map(_changes_of_post_renderer, range(len(renderers)), renderers)),
            common_metadata=mapping_or_empty(spec.get("commonMetadata")),
        )

    def _chart_spec(self, spec: Mapping[str, Any], namespace: str) -> dict[str, Any]:
        path, wanted = "spec.chart.spec", mapping_or_empty(mapping_or_empty(spec.get("chart")).get("spec"))
        reference = mapping_or_empty(spec.get("chartRef"))
        if reference:
            path, found = "spec.chartRef", self._repository_manifest("spec.chartRef", reference, namespace)
            if reference.get("kind") != "HelmChart":
                secret = login_secret_name(found, str(reference.get("namespace") or namespace))
                source = self.places.source_of(path, SourceType.OCI, artifact_place(found), secret)
                return {"chart": {"source": source.name}}
            wanted, namespace = found, str(reference.get("namespace") or namespace)
        reference, name = mapping_or_empty(wanted.get("sourceRef")), str(wanted.get("chart") or "")
        files = list(map(str, list_or_empty(wanted.get("valuesFiles"))))
        if reference.get("kind") in _IN_GIT and self._is_here(reference, namespace, name):
            return {
                "chart": {"path": self.places.path_seen_from(name)},
                "valuesFiles": [self.places.path_seen_from(each) for each in files],
            }
        if files:
            raise UnusableRequest(_field_to_blame(path, "valuesFiles"), "the files are not in this repository")
        found = self._repository_manifest(_field_to_blame(path, "sourceRef"), reference, namespace)
        secret = login_secret_name(found, str(reference.get("namespace") or namespace))
        if reference.get("kind") in _IN_GIT:
            source = self.places.source_of(
                _field_to_blame(path, "sourceRef"), SourceType.GIT, repository_place(found), secret
            )
            inside = _path_in_source(_field_to_blame(path, "chart"), name, source)
            return {"chart": {"source": source.name, **({"path": inside} if inside != "." else {})}}
        type_, place = chart_place(str(found.get("url")), name, str(wanted.get("version") or ""))
        return {"chart": {"source": self.places.source_of(_field_to_blame(path, "chart"), type_, place, secret).name}}

    def _is_here(self, reference: Mapping[str, Any], namespace: str, chart: str) -> bool:
        """Say whether the repository of a chart is this one: its folder is here, or nothing tells of another."""
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        ref = ObjectRef(REPOSITORIES, kind, str(reference.get("namespace") or namespace), name)
        is_address_known = (
            kind == "GitRepository" and name != INSTALLED and bool(self.repositories.get(ref, {}).get("url"))
        )
        return not is_address_known or self.places.has_chart(posixpath.normpath(chart.removeprefix("/")))

    def _repository_manifest(self, field: str, reference: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
        """Return the spec of a repository that a release refers to."""
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        ref = ObjectRef(REPOSITORIES, kind, str(reference.get("namespace") or namespace), name)
        if ref not in self.repositories:
            raise UnusableRequest(field, f"there is no {kind} {ref.namespace}/{name} in the source")
        return self.repositories[ref]


def _field_to_blame(path: str, name: str) -> str:
    """Return the field of a chart template; one that another object has is blamed on what refers to it."""
    return f"{path}.{name}" if path.endswith(".spec") else path


def _changes_of_post_renderer(number: int, wanted: Mapping[str, Any]) -> bytes:
    """Return the changes of a post-renderer."""
    unknown = sorted(wanted.keys() - {"kustomize"})
    if unknown:
        raise UnusableRequest(f"spec.postRenderers[{number}].{unknown[0]}", "post-renderers are kustomize alone")
    changes = patches_and_images(mapping_or_empty(wanted.get("kustomize")))
    return emit(changes) if changes else b""


def _values_reference(number: int, wanted: Mapping[str, Any]) -> dict[str, Any]:
    field = f"spec.valuesFrom[{number}]"
    if wanted.get("kind") != "ConfigMap":
        raise UnusableRequest(field, f"{wanted.get('kind')} {wanted.get('name')}: values come from ConfigMaps alone")
    if wanted.get("targetPath"):
        raise UnusableRequest(f"{field}.targetPath", "a single value is not set", "write it under spec.values")
    key, is_optional = wanted.get("valuesKey") or "values.yaml", bool(wanted.get("optional"))
    return {"configMap": str(wanted.get("name")), "key": key, "optional": is_optional}


def _path_in_source(field: str, path: str, source: ExternalSource) -> str:
    """Return the path in the content of a Source that a path of its repository means."""
    found = posixpath.normpath(path.removeprefix("/") or ".")
    if source.folder and found != source.folder and not found.startswith(f"{source.folder}/"):
        raise UnusableRequest(field, f"{path!r} is not in {source.title}, which has the folder {source.folder!r} alone")
    return posixpath.relpath(found, source.folder or ".")
