"""Releases that other tools would make in a cluster, as HelmCharts: HelmReleases of Flux, and Applications of Argo CD.

They are read this way where argosy.yaml asks for it (``source.render``). A chart that is not in the repository is that
of the Source with the same address, which is implied where nobody wrote it. What cannot be said by a HelmChart is
refused, as another release would come of it.
"""

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from reconciler.building.requests import UnusableDeployer
from reconciler.building.source_trees import address_of
from reconciler.gitops.argo.applications import chart_sources, sources_of
from reconciler.gitops.argo.destinations import Destinations
from reconciler.gitops.flux.kustomizations import patching
from reconciler.locked.model import ExternalSource, SourceType, UnavailableSource
from reconciler.locked.reading import LockedFiles
from reconciler.source.external import (
    UnusablePlace,
    artifact_place,
    chart_place,
    implied_source,
    repository_place,
    secret_of,
)
from reconciler.source.manifests import LocatedManifest
from render.documents import emit, read_documents
from render.model import ObjectRef, as_list, as_mapping, group_of
from render.settings.source import RenderedRelease

_GROUPS = {"HelmRelease": "helm.toolkit.fluxcd.io", "Application": "argoproj.io"}
_REPOSITORIES = "source.toolkit.fluxcd.io"
_IN_GIT = frozenset({"GitRepository", "Bucket"})
_HELM = frozenset(
    {
        *("releaseName", "namespace", "valueFiles", "ignoreMissingValueFiles", "values", "valuesObject", "parameters"),
        *("skipCrds", "skipTests", "skipSchemaValidation", "kubeVersion", "apiVersions", "version", "passCredentials"),
    }
)
_ENVIRONMENT = "ARGOCD_APP"
_INSTALLED = "flux-system"


class UnusableRelease(Exception):
    """A release cannot be rendered: the field to blame, the fault and a hint; ``place`` is another object to blame."""

    def __init__(self, path: str, message: str, hint: str = "", place: LocatedManifest | None = None) -> None:
        super().__init__(message)
        self.path, self.message, self.hint, self.place = path, message, hint, place


def is_release(place: LocatedManifest, rendered: Sequence[RenderedRelease]) -> bool:
    """Say whether a manifest is a release of a kind that is to be rendered; an Application may have no chart."""
    kind = place.manifest["kind"]
    if kind not in rendered or group_of(place.manifest["apiVersion"]) != _GROUPS.get(kind):
        return False
    return isinstance(place.manifest.get("spec"), dict) and _is_named(place.manifest)


class Releases(NamedTuple):
    """Everything that a release may refer to: chart folders, repositories of Flux, Sources, files and Clusters.

    ``folder`` is that of argosy.yaml; paths of releases begin at the root of the repository.
    """

    folder: str
    paths: frozenset[str]
    repositories: Mapping[ObjectRef, Mapping[str, Any]]
    sources: Sequence[ExternalSource]
    destinations: Destinations = Destinations()
    locked: LockedFiles | None = None

    @classmethod
    def of(
        cls,
        folder: str,
        paths: Iterable[str],
        manifests: Iterable[LocatedManifest],
        sources: Sequence[ExternalSource],
        locked: LockedFiles | None = None,
    ) -> "Releases":
        """Return what releases may refer to, found among files and manifests."""
        repositories = {
            ObjectRef.of(place.manifest): as_mapping(place.manifest.get("spec"))
            for place in manifests
            if group_of(place.manifest["apiVersion"]) == _REPOSITORIES and _is_named(place.manifest)
        }
        return cls(folder, frozenset(paths), repositories, sources, Destinations.of(manifests), locked)

    def charts(self, manifest: Mapping[str, Any]) -> int:
        """Return the number of charts that an object asks for; all but Applications have one."""
        return len(self._argo_charts(manifest["spec"])) if manifest["kind"] == "Application" else 1

    def clusters(self, manifest: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the clusters that an object is for, as only an Application says; None: any."""
        if manifest["kind"] != "Application":
            return None
        try:
            return self.destinations.of_application(manifest["spec"])
        except UnusableDeployer as error:
            raise UnusableRelease(error.path, error.message, error.hint) from error

    def as_chart(self, manifest: Mapping[str, Any], default_namespace: str, number: int) -> dict[str, Any]:
        """Return a release as a HelmChart; ``number`` says which of the charts of an Application."""
        if manifest["kind"] == "HelmRelease":
            return self._flux_release(manifest, default_namespace)
        found = self._argo_charts(manifest["spec"])
        if number >= len(found):
            raise UnusableRelease("spec.source", "with its overrides it has no such chart any more")
        return self._argo_release(manifest, default_namespace, *found[number])

    def _flux_release(self, manifest: Mapping[str, Any], default_namespace: str) -> dict[str, Any]:
        spec, metadata = manifest["spec"], manifest["metadata"]
        if spec.get("suspend"):
            hint = "what Argosy delivers is suspended by its policy: spec.suspension"
            raise UnusableRelease("spec.suspend", "it is suspended, so that nothing is made of it", hint)
        own, target = str(metadata.get("namespace") or default_namespace), str(spec.get("targetNamespace") or "")
        name = f"{target}-{metadata['name']}" if target else metadata["name"]
        install, renderers = as_mapping(spec.get("install")), list(map(as_mapping, as_list(spec.get("postRenderers"))))
        chart: dict[str, Any] = {
            **self._flux_chart(spec, own),
            "releaseName": str(spec.get("releaseName") or name),
            "values": as_mapping(spec.get("values")),
            "valuesFrom": [
                _values_from(number, each)
                for number, each in enumerate(map(as_mapping, as_list(spec.get("valuesFrom"))))
            ],
            "crds": "Exclude" if install.get("crds") == "Skip" else "Include",
        }
        # ConfigMaps with values stand beside the release, whatever namespace its objects go to.
        return {
            **_chart(metadata["name"], target or own, chart, values_namespace=own),
            "has_schemas": not install.get("disableSchemaValidation"),
            "post_renderers": tuple(map(_post_renderer, range(len(renderers)), renderers)),
            "common_metadata": as_mapping(spec.get("commonMetadata")),
        }

    def _flux_chart(self, spec: Mapping[str, Any], namespace: str) -> dict[str, Any]:
        path, wanted = "spec.chart.spec", as_mapping(as_mapping(spec.get("chart")).get("spec"))
        reference = as_mapping(spec.get("chartRef"))
        if reference:
            path, found = "spec.chartRef", self._repository("spec.chartRef", reference, namespace)
            if reference.get("kind") != "HelmChart":
                secret = secret_of(found, str(reference.get("namespace") or namespace))
                source = self._source_of(path, SourceType.OCI, artifact_place(found), secret)
                return {"chart": {"source": source.name}}
            wanted, namespace = found, str(reference.get("namespace") or namespace)
        reference, name = as_mapping(wanted.get("sourceRef")), str(wanted.get("chart") or "")
        files = list(map(str, as_list(wanted.get("valuesFiles"))))
        if reference.get("kind") in _IN_GIT and self._is_here(reference, namespace, name):
            return {"chart": {"path": self._seen(name)}, "valuesFiles": [self._seen(each) for each in files]}
        if files:
            raise UnusableRelease(_field(path, "valuesFiles"), "the files are not in this repository")
        found = self._repository(_field(path, "sourceRef"), reference, namespace)
        secret = secret_of(found, str(reference.get("namespace") or namespace))
        if reference.get("kind") in _IN_GIT:
            source = self._source_of(_field(path, "sourceRef"), SourceType.GIT, repository_place(found), secret)
            inside = _inside(_field(path, "chart"), name, source)
            return {"chart": {"source": source.name, **({"path": inside} if inside != "." else {})}}
        type_, place = chart_place(str(found.get("url")), name, str(wanted.get("version") or ""))
        return {"chart": {"source": self._source_of(_field(path, "chart"), type_, place, secret).name}}

    def _is_here(self, reference: Mapping[str, Any], namespace: str, chart: str) -> bool:
        """Say whether the repository of a chart is this one: its folder is here, or nothing tells of another."""
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        ref = ObjectRef(_REPOSITORIES, kind, str(reference.get("namespace") or namespace), name)
        is_told = kind == "GitRepository" and name != _INSTALLED and bool(self.repositories.get(ref, {}).get("url"))
        return not is_told or self._has_chart(posixpath.normpath(chart.removeprefix("/")))

    def _repository(self, field: str, reference: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
        """Return the spec of a repository that a release refers to."""
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        ref = ObjectRef(_REPOSITORIES, kind, str(reference.get("namespace") or namespace), name)
        if ref not in self.repositories:
            raise UnusableRelease(field, f"there is no {kind} {ref.namespace}/{name} in the source")
        return self.repositories[ref]

    def _source_of(self, field: str, type_: SourceType, place: Mapping[str, str], secret: str = "") -> ExternalSource:
        """Return the Source of a place: one that somebody wrote, whatever its version, or an implied one.

        It is refused where it is not locked.
        """
        url, chart = place["url"].rstrip("/"), place.get("chart", "")
        for source in self.sources:
            is_same = source.type is type_ and str(source.place["url"]).rstrip("/") == url
            if is_same and source.place.get("chart", "") == chart:
                return source
        try:
            implied = implied_source(type_, place, secret)
            if self.locked is not None:
                self.locked.locked(self.locked.imply(implied))
        except UnusablePlace as error:
            raise UnusableRelease(field, f"it is of a place that cannot be fetched from: {error}") from error
        except UnavailableSource as error:
            raise UnusableRelease(field, error.message, error.hint) from error
        return implied

    def _argo_charts(self, spec: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the sources of an Application that are charts; none where a plugin makes some."""
        return chart_sources(spec, self._has_chart)

    def _has_chart(self, folder: str) -> bool:
        return (f"{folder}/Chart.yaml" if folder else "Chart.yaml") in self.paths

    def _argo_release(
        self, manifest: Mapping[str, Any], default_namespace: str, field: str, source: Mapping[str, Any]
    ) -> dict[str, Any]:
        spec, name, helm = manifest["spec"], manifest["metadata"]["name"], as_mapping(source.get("helm"))
        unknown = sorted(key for key, value in helm.items() if value and key not in _HELM)
        if unknown:
            raise UnusableRelease(
                f"{field}.helm.{unknown[0]}", "no field that is read here, so that it might change anything"
            )
        if source.get("chart"):
            url = str(source.get("repoURL"))
            oci = url if "://" in url else f"oci://{url}"
            wanted = chart_place(oci, str(source["chart"]), str(source.get("targetRevision") or ""))
            place: dict[str, Any] = {"source": self._source_of(f"{field}.chart", *wanted).name}
        else:
            place = {"path": self._seen(_folder(source))}
        parameters = [as_mapping(each) for each in as_list(helm.get("parameters"))]
        chart = {
            "chart": place,
            "releaseName": str(helm.get("releaseName") or name),
            "valuesFiles": list(self._argo_files(field, spec, source)),
            "values": merged_values(
                _argo_values(f"{field}.helm", helm), _parameters(f"{field}.helm.parameters", parameters)
            ),
            "crds": "Exclude" if helm.get("skipCrds") else "Include",
            "kubeVersion": str(helm.get("kubeVersion") or ""),
            "apiVersions": list(map(str, as_list(helm.get("apiVersions")))),
        }
        destination = as_mapping(spec.get("destination"))
        namespace = str(helm.get("namespace") or destination.get("namespace") or default_namespace)
        return {**_chart(name, namespace, chart), "has_schemas": not helm.get("skipSchemaValidation")}

    def _argo_files(self, field: str, spec: Mapping[str, Any], source: Mapping[str, Any]) -> Iterator[str]:
        """Yield the files of values of a chart; ``$NAME/PATH`` is one of the repository that another source names."""
        helm, folder = as_mapping(source.get("helm")), _folder(source)
        for number, text in enumerate(map(str, as_list(helm.get("valueFiles")))):
            path = f"{field}.helm.valueFiles[{number}]"
            if "://" in text or _ENVIRONMENT in text:
                raise UnusableRelease(path, f"{text!r} is not in this repository")
            if text.startswith("$"):
                where = self._path_of_reference(path, spec, text)
            elif source.get("chart"):
                raise UnusableRelease(path, f"{text!r} is a file of the chart", "the values of a chart always count")
            else:
                where = text.removeprefix("/") if text.startswith("/") else posixpath.join(folder, text)
            where = posixpath.normpath(where)
            if where in self.paths or not helm.get("ignoreMissingValueFiles"):
                yield self._seen(where)

    def _path_of_reference(self, path: str, spec: Mapping[str, Any], text: str) -> str:
        """Return the path of a file that is in the repository of another source of its Application."""
        name, _, inner = text.removeprefix("$").partition("/")
        found = [source for _, source in sources_of(spec, is_named=True) if source.get("ref") == name]
        if not found:
            raise UnusableRelease(path, f"no source of it has the ref {name!r}")
        url = found[0].get("repoURL")
        others = [each.name for each in self.sources if address_of(each.place["url"]) == address_of(url)]
        if others:
            hint = "argosy vendor puts its content into this repository"
            raise UnusableRelease(path, f"{text!r} is in Source {others[0]}, of which no values are read", hint)
        return inner

    def _seen(self, path: str) -> str:
        """Return a path of the repository as it is seen from argosy.yaml."""
        return posixpath.relpath(posixpath.normpath(path.removeprefix("/")), self.folder or ".")


def _field(path: str, name: str) -> str:
    """Return the field of a chart template; one that another object has is blamed on what refers to it."""
    return f"{path}.{name}" if path.endswith(".spec") else path


def _is_named(manifest: Mapping[str, Any]) -> bool:
    metadata = as_mapping(manifest.get("metadata"))
    name, namespace = metadata.get("name"), metadata.get("namespace") or ""
    return isinstance(name, str) and bool(name) and isinstance(namespace, str)


def _chart(name: str, namespace: str, spec: Mapping[str, Any], *, values_namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"metadata": metadata, "spec": spec, "values_namespace": values_namespace or namespace}


def _post_renderer(number: int, wanted: Mapping[str, Any]) -> bytes:
    """Return the changes of a post-renderer."""
    unknown = sorted(wanted.keys() - {"kustomize"})
    if unknown:
        raise UnusableRelease(f"spec.postRenderers[{number}].{unknown[0]}", "post-renderers are kustomize alone")
    changes = patching(as_mapping(wanted.get("kustomize")))
    return emit(changes) if changes else b""


def _values_from(number: int, wanted: Mapping[str, Any]) -> dict[str, Any]:
    field = f"spec.valuesFrom[{number}]"
    if wanted.get("kind") != "ConfigMap":
        raise UnusableRelease(field, f"{wanted.get('kind')} {wanted.get('name')}: values come from ConfigMaps alone")
    if wanted.get("targetPath"):
        raise UnusableRelease(f"{field}.targetPath", "a single value is not set", "write it under spec.values")
    key, is_optional = wanted.get("valuesKey") or "values.yaml", bool(wanted.get("optional"))
    return {"configMap": str(wanted.get("name")), "key": key, "optional": is_optional}


def _inside(field: str, path: str, source: ExternalSource) -> str:
    """Return the path in the content of a Source that a path of its repository means."""
    found = posixpath.normpath(path.removeprefix("/") or ".")
    if source.folder and found != source.folder and not found.startswith(f"{source.folder}/"):
        raise UnusableRelease(field, f"{path!r} is not in {source.title}, which has the folder {source.folder!r} alone")
    return posixpath.relpath(found, source.folder or ".")


def _folder(source: Mapping[str, Any]) -> str:
    """Return the folder of a source of an Application."""
    folder = posixpath.normpath(str(source.get("path") or "").removeprefix("/"))
    return "" if folder == "." else folder


def _argo_values(path: str, helm: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that an Application has itself, as an object or as text."""
    if isinstance(helm.get("valuesObject"), dict):
        return dict(helm["valuesObject"])
    documents, errors = read_documents(str(helm.get("values") or "").encode())
    if errors or len(documents) > 1 or any(not isinstance(each.value, dict) for each in documents):
        raise UnusableRelease(f"{path}.values", "must be one YAML object")
    return dict(documents[0].value) if documents else {}


def _parameters(path: str, parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return parameters as values, typed as helm types them."""
    values: dict[str, Any] = {}
    for number, each in enumerate(parameters):
        name, text = str(each.get("name")), str(each.get("value", ""))
        if set(name) & set("[]{}\\,=") or set(text) & set("{},\\"):
            raise UnusableRelease(f"{path}[{number}]", "lists and escapes are not read", "write it under valuesObject")
        if _ENVIRONMENT in text:
            raise UnusableRelease(f"{path}[{number}]", "variables of Argo CD are not filled in", "write its value")
        inner: Any = text if each.get("forceString") else _value_of_text(text)
        for part in reversed(name.split(".")):
            inner = {part: inner}
        values = merged_values(values, inner)
    return values


def _value_of_text(text: str) -> Any:
    words: dict[str, Any] = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    is_whole = text.isascii() and text.lstrip("-").isdigit() and (text == "0" or not text.lstrip("-").startswith("0"))
    return int(text) if is_whole else text


def merged_values(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return values in which those of ``second`` count more."""
    merged = dict(first)
    for key, value in second.items():
        before = merged.get(key)
        merged[key] = merged_values(before, value) if isinstance(before, dict) and isinstance(value, dict) else value
    return merged
