"""Charts of Applications of Argo CD, each as a HelmChart that asks for the same release."""

import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from reconciler.building.requests import UnusableRequest
from reconciler.building.source_trees import comparable_repository_address
from reconciler.gitops.chart_places import AskedChart, ChartPlaces
from reconciler.source.external import chart_place
from render.documents import read_documents
from render.model import list_or_empty, mapping_or_empty, merged_chart_values

from .applications import chart_sources, sources_of
from .destinations import Destinations

_HELM = frozenset(
    {
        *("releaseName", "namespace", "valueFiles", "ignoreMissingValueFiles", "values", "valuesObject", "parameters"),
        *("skipCrds", "skipTests", "skipSchemaValidation", "kubeVersion", "apiVersions", "version", "passCredentials"),
    }
)
_ENVIRONMENT = "ARGOCD_APP"


class ApplicationCharts(NamedTuple):
    """Everything that the charts of an Application may refer to: Clusters, and the places that charts come from."""

    places: ChartPlaces
    destinations: Destinations = Destinations()

    def number_of_charts(self, manifest: Mapping[str, Any]) -> int:
        """Return the number of charts that an Application asks for."""
        return len(self._sources_with_fields(manifest["spec"]))

    def clusters_of_release(self, manifest: Mapping[str, Any]) -> frozenset[str] | None:
        """Return the clusters that an Application is for; None: any."""
        return self.destinations.of_application(manifest["spec"])

    def chart_asked_for(self, manifest: Mapping[str, Any], default_namespace: str, number: int) -> AskedChart:
        """Return one of the charts of an Application as a HelmChart."""
        found = self._sources_with_fields(manifest["spec"])
        if number >= len(found):
            raise UnusableRequest("spec.source", "with its overrides it has no such chart any more")
        return self._chart_of_source(manifest, default_namespace, *found[number])

    def _sources_with_fields(self, spec: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
        """Return the sources of an Application that are charts; none where a plugin makes some."""
        return chart_sources(spec, self.places.has_chart)

    def _chart_of_source(
        self, manifest: Mapping[str, Any], default_namespace: str, field: str, source: Mapping[str, Any]
    ) -> AskedChart:
        spec, name, helm = manifest["spec"], manifest["metadata"]["name"], mapping_or_empty(source.get("helm"))
        unknown = sorted(key for key, value in helm.items() if value and key not in _HELM)
        if unknown:
            raise UnusableRequest(
                f"{field}.helm.{unknown[0]}", "no field that is read here, so that it might change anything"
            )
        if source.get("chart"):
            url = str(source.get("repoURL"))
            oci = url if "://" in url else f"oci://{url}"
            wanted = chart_place(oci, str(source["chart"]), str(source.get("targetRevision") or ""))
            place: dict[str, Any] = {"source": self.places.source_of(f"{field}.chart", *wanted).name}
        else:
            place = {"path": self.places.path_seen_from(_folder_of_source(source))}
        parameters = [mapping_or_empty(each) for each in list_or_empty(helm.get("parameters"))]
        chart = {
            "chart": place,
            "releaseName": str(helm.get("releaseName") or name),
            "valuesFiles": list(self._paths_of_values_files(field, spec, source)),
            "values": merged_chart_values(
                _values_of_application(f"{field}.helm", helm),
                _values_of_parameters(f"{field}.helm.parameters", parameters),
            ),
            "crds": "Exclude" if helm.get("skipCrds") else "Include",
            "kubeVersion": str(helm.get("kubeVersion") or ""),
            "apiVersions": list(map(str, list_or_empty(helm.get("apiVersions")))),
        }
        destination = mapping_or_empty(spec.get("destination"))
        namespace = str(helm.get("namespace") or destination.get("namespace") or default_namespace)
        return AskedChart.of(name, namespace, chart)._replace(has_schemas=not helm.get("skipSchemaValidation"))

    def _paths_of_values_files(self, field: str, spec: Mapping[str, Any], source: Mapping[str, Any]) -> Iterator[str]:
        """Yield the files of values of a chart; ``$NAME/PATH`` is one of the repository that another source names."""
        helm, folder = mapping_or_empty(source.get("helm")), _folder_of_source(source)
        for number, text in enumerate(map(str, list_or_empty(helm.get("valueFiles")))):
            path = f"{field}.helm.valueFiles[{number}]"
            if "://" in text or _ENVIRONMENT in text:
                raise UnusableRequest(path, f"{text!r} is not in this repository")
            if text.startswith("$"):
                where = self._path_of_reference(path, spec, text)
            elif source.get("chart"):
                raise UnusableRequest(path, f"{text!r} is a file of the chart", "the values of a chart always count")
            else:
                where = text.removeprefix("/") if text.startswith("/") else posixpath.join(folder, text)
            where = posixpath.normpath(where)
            if where in self.places.paths or not helm.get("ignoreMissingValueFiles"):
                yield self.places.path_seen_from(where)

    def _path_of_reference(self, path: str, spec: Mapping[str, Any], text: str) -> str:
        """Return the path of a file that is in the repository of another source of its Application."""
        name, _, inner = text.removeprefix("$").partition("/")
        found = [source for _, source in sources_of(spec, is_named=True) if source.get("ref") == name]
        if not found:
            raise UnusableRequest(path, f"no source of it has the ref {name!r}")
        url = found[0].get("repoURL")
        others = [
            each.name
            for each in self.places.sources
            if comparable_repository_address(each.place["url"]) == comparable_repository_address(url)
        ]
        if others:
            hint = "argosy vendor puts its content into this repository"
            raise UnusableRequest(path, f"{text!r} is in Source {others[0]}, of which no values are read", hint)
        return inner


def _folder_of_source(source: Mapping[str, Any]) -> str:
    """Return the folder of a source of an Application."""
    folder = posixpath.normpath(str(source.get("path") or "").removeprefix("/"))
    return "" if folder == "." else folder


def _values_of_application(path: str, helm: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that an Application has itself, as an object or as text."""
    if isinstance(helm.get("valuesObject"), dict):
        return dict(helm["valuesObject"])
    documents, errors = read_documents(str(helm.get("values") or "").encode())
    if errors or len(documents) > 1 or any(not isinstance(each.value, dict) for each in documents):
        raise UnusableRequest(f"{path}.values", "must be one YAML object")
    return dict(documents[0].value) if documents else {}


def _values_of_parameters(path: str, parameters: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return parameters as values, typed as helm types them."""
    values: dict[str, Any] = {}
    for number, each in enumerate(parameters):
        name, text = str(each.get("name")), str(each.get("value", ""))
        if set(name) & set("[]{}\\,=") or set(text) & set("{},\\"):
            raise UnusableRequest(f"{path}[{number}]", "lists and escapes are not read", "write it under valuesObject")
        if _ENVIRONMENT in text:
            raise UnusableRequest(f"{path}[{number}]", "variables of Argo CD are not filled in", "write its value")
        inner: Any = text if each.get("forceString") else _typed_value_of_text(text)
        for part in reversed(name.split(".")):
            inner = {part: inner}
        values = merged_chart_values(values, inner)
    return values


def _typed_value_of_text(text: str) -> Any:
    words: dict[str, Any] = {"true": True, "false": False, "null": None}
    if text in words:
        return words[text]
    is_whole = text.isascii() and text.lstrip("-").isdigit() and (text == "0" or not text.lstrip("-").startswith("0"))
    return int(text) if is_whole else text
