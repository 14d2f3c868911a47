"""Releases that other tools would make in a cluster, as HelmCharts: HelmReleases of Flux, and Applications of Argo CD.

They are read this way where argosy.yaml asks for it (``source.render``). A chart that is not in the repository is that
of the Source with the same address. What cannot be said by a HelmChart is refused, as another release would come of it.
"""

import posixpath
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from reconciler.locked.model import ExternalSource, SourceType
from render.documents import read_documents
from render.fleet import RenderedRelease
from render.model import ObjectRef, group_of

from .manifests import LocatedManifest

_GROUPS = {"HelmRelease": "helm.toolkit.fluxcd.io", "Application": "argoproj.io"}
_REPOSITORIES = "source.toolkit.fluxcd.io"
_IN_GIT = frozenset({"GitRepository", "Bucket"})
_UNSAID = {"postRenderers": "post-renderers are not run", "commonMetadata": "what it adds to all objects is not added"}


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
    return isinstance(place.manifest.get("spec"), dict) and bool(_name_of(place.manifest))


class Releases(NamedTuple):
    """Everything that a release may refer to: chart folders, repositories of Flux, and Sources.

    ``folder`` is that of argosy.yaml; paths of releases begin at the root of the repository.
    """

    folder: str
    charts: frozenset[str]
    repositories: Mapping[ObjectRef, Mapping[str, Any]]
    sources: Sequence[ExternalSource]

    @classmethod
    def of(
        cls, folder: str, paths: Iterable[str], manifests: Iterable[LocatedManifest], sources: Sequence[ExternalSource]
    ) -> "Releases":
        """Return what releases may refer to, found among files and manifests."""
        charts = frozenset(path.rpartition("/")[0] for path in paths if path.rpartition("/")[2] == "Chart.yaml")
        repositories = {
            ObjectRef.of(place.manifest): _object(place.manifest.get("spec"))
            for place in manifests
            if group_of(place.manifest["apiVersion"]) == _REPOSITORIES and _name_of(place.manifest)
        }
        return cls(folder, charts, repositories, sources)

    def as_chart(self, manifest: Mapping[str, Any], default_namespace: str) -> dict[str, Any] | None:
        """Return a release as a HelmChart; None for an Application that has no chart."""
        if manifest["kind"] == "HelmRelease":
            return self._of_flux(manifest, default_namespace)
        return self._of_argo(manifest, default_namespace)

    def _of_flux(self, manifest: Mapping[str, Any], default_namespace: str) -> dict[str, Any]:
        spec, metadata = manifest["spec"], manifest["metadata"]
        for field, message in _UNSAID.items():
            if spec.get(field):
                raise UnusableRelease(f"spec.{field}", message)
        own, target = str(metadata.get("namespace") or default_namespace), str(spec.get("targetNamespace") or "")
        name = f"{target}-{metadata['name']}" if target else metadata["name"]
        install = _object(spec.get("install"))
        chart: dict[str, Any] = {
            **self._flux_chart(spec, own),
            "releaseName": str(spec.get("releaseName") or name),
            "values": _object(spec.get("values")),
            "valuesFrom": [
                _values_from(number, each) for number, each in enumerate(map(_object, _items(spec.get("valuesFrom"))))
            ],
            "crds": "Exclude" if install.get("crds") == "Skip" else "Include",
        }
        # ConfigMaps with values stand beside the release, whatever namespace its objects go to.
        return _chart(metadata["name"], target or own, chart, values_namespace=own)

    def _flux_chart(self, spec: Mapping[str, Any], namespace: str) -> dict[str, Any]:
        reference = _object(spec.get("chartRef"))
        if reference:
            found = self._repository("spec.chartRef", reference, namespace)
            return {"chart": {"source": self._same_source("spec.chartRef", SourceType.OCI, str(found.get("url")))}}
        wanted = _object(_object(spec.get("chart")).get("spec"))
        reference, name = _object(wanted.get("sourceRef")), str(wanted.get("chart") or "")
        files = list(map(str, _items(wanted.get("valuesFiles"))))
        if reference.get("kind") in _IN_GIT:
            return {"chart": {"path": self._seen(name)}, "valuesFiles": [self._seen(each) for each in files]}
        if files:
            raise UnusableRelease("spec.chart.spec.valuesFiles", "the files are not in this repository")
        found = self._repository("spec.chart.spec.sourceRef", reference, namespace)
        return {"chart": {"source": self._chart_source("spec.chart.spec.chart", str(found.get("url")), name)}}

    def _repository(self, field: str, reference: Mapping[str, Any], namespace: str) -> Mapping[str, Any]:
        """Return the spec of a repository that a release refers to."""
        kind, name = str(reference.get("kind")), str(reference.get("name"))
        ref = ObjectRef(_REPOSITORIES, kind, str(reference.get("namespace") or namespace), name)
        if ref not in self.repositories:
            raise UnusableRelease(field, f"there is no {kind} {ref.namespace}/{name} in the source")
        return self.repositories[ref]

    def _chart_source(self, field: str, url: str, chart: str) -> str:
        """Return the name of the Source of a chart, from a Helm repository or an OCI registry."""
        if url.startswith("oci://"):
            return self._same_source(field, SourceType.OCI, f"{url.rstrip('/')}/{chart}")
        return self._same_source(field, SourceType.HELM, url, chart)

    def _same_source(self, field: str, type_: SourceType, url: str, chart: str = "") -> str:
        for source in self.sources:
            is_same = source.type is type_ and str(source.place["url"]).rstrip("/") == url.rstrip("/")
            if is_same and source.place.get("chart", "") == chart:
                return source.name
        named = f"chart {chart!r} of {url}" if chart else url
        raise UnusableRelease(field, f"there is no Source of {named}", "write one, and run argosy lock")

    def _of_argo(self, manifest: Mapping[str, Any], default_namespace: str) -> dict[str, Any] | None:
        spec, name = manifest["spec"], manifest["metadata"]["name"]
        source = spec.get("source")
        if not isinstance(source, dict):
            return None
        path = posixpath.normpath(str(source.get("path") or ""))
        if not source.get("chart") and path not in self.charts:
            return None
        helm = _object(source.get("helm"))
        if source.get("chart"):
            url = str(source.get("repoURL"))
            oci = url if "://" in url else f"oci://{url}"
            place: dict[str, Any] = {"source": self._chart_source("spec.source.chart", oci, str(source["chart"]))}
        else:
            place = {"path": self._seen(path)}
        chart = {
            "chart": place,
            "releaseName": str(helm.get("releaseName") or name),
            "valuesFiles": [
                self._argo_file(number, path, each)
                for number, each in enumerate(map(str, _items(helm.get("valueFiles"))))
            ],
            "values": merged_values(
                _argo_values(helm), _parameters([_object(each) for each in _items(helm.get("parameters"))])
            ),
            "crds": "Exclude" if helm.get("skipCrds") else "Include",
            "kubeVersion": str(helm.get("kubeVersion") or ""),
            "apiVersions": list(map(str, _items(helm.get("apiVersions")))),
        }
        destination = _object(spec.get("destination"))
        return _chart(name, str(destination.get("namespace") or default_namespace), chart)

    def _argo_file(self, number: int, path: str, name: str) -> str:
        if name.startswith("$") or "://" in name:
            raise UnusableRelease(f"spec.source.helm.valueFiles[{number}]", f"{name!r} is not in this repository")
        return self._seen(name.removeprefix("/") if name.startswith("/") else posixpath.join(path, name))

    def _seen(self, path: str) -> str:
        """Return a path of the repository as it is seen from argosy.yaml."""
        return posixpath.relpath(posixpath.normpath(path.removeprefix("/")), self.folder or ".")


def _object(value: Any) -> Mapping[str, Any]:
    """Return a value that ought to be an object; an empty one for any other."""
    return value if isinstance(value, dict) else {}


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()


def _name_of(manifest: Mapping[str, Any]) -> str:
    metadata = manifest.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else ""
    return name if isinstance(name, str) else ""


def _chart(name: str, namespace: str, spec: Mapping[str, Any], *, values_namespace: str = "") -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"metadata": metadata, "spec": spec, "values_namespace": values_namespace or namespace}


def _values_from(number: int, wanted: Mapping[str, Any]) -> dict[str, Any]:
    field = f"spec.valuesFrom[{number}]"
    if wanted.get("kind") != "ConfigMap":
        raise UnusableRelease(field, f"{wanted.get('kind')} {wanted.get('name')}: values come from ConfigMaps alone")
    if wanted.get("targetPath"):
        raise UnusableRelease(f"{field}.targetPath", "a single value is not set", "write it under spec.values")
    key, is_optional = wanted.get("valuesKey") or "values.yaml", bool(wanted.get("optional"))
    return {"configMap": str(wanted.get("name")), "key": key, "optional": is_optional}


def _argo_values(helm: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that an Application has itself, as an object or as text."""
    if isinstance(helm.get("valuesObject"), dict):
        return dict(helm["valuesObject"])
    documents, errors = read_documents(str(helm.get("values") or "").encode())
    if errors or len(documents) > 1 or any(not isinstance(each.value, dict) for each in documents):
        raise UnusableRelease("spec.source.helm.values", "must be one YAML object")
    return dict(documents[0].value) if documents else {}


def _parameters(parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return parameters as values, typed as helm types them."""
    values: dict[str, Any] = {}
    for number, each in enumerate(parameters):
        name, text = str(each.get("name")), str(each.get("value", ""))
        if set(name) & set("[]{}\\,=") or set(text) & set("{},\\"):
            field = f"spec.source.helm.parameters[{number}]"
            raise UnusableRelease(field, "lists and escapes are not read", "write it under valuesObject")
        inner: Any = text if each.get("forceString") else _typed(text)
        for part in reversed(name.split(".")):
            inner = {part: inner}
        values = merged_values(values, inner)
    return values


def _typed(text: str) -> Any:
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
