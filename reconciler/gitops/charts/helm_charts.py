"""HelmCharts of a source: each with the files of its chart and its values, as one request for ``helm``.

A chart stands in the repository, or in the content of a locked Source. Values come from files, then from ConfigMaps of
the source, then from the HelmChart itself; what comes later counts.
"""

import hashlib
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.building.requests import NEWEST_KUBERNETES, ChartRequest, UnusableRequest
from reconciler.gitops.chart_places import AskedChart
from reconciler.locked.archives import unpacked_archive
from reconciler.locked.model import UnavailableSource
from reconciler.locked.reading import LockedFiles
from reconciler.source.broken import CIPHERTEXT, Broken, broken_by_problem
from reconciler.source.built_files import BuiltVariant, source_files_behind
from reconciler.source.checks import warnings_of_absent_clusters
from reconciler.source.ciphertext import BESIDE, MARK, fault_of_ciphertext, may_hold_ciphertext
from reconciler.source.files import MAX_FILE_SIZE, SUBMODULE, SYMLINK, SourceFile
from reconciler.source.lines import Lines
from reconciler.source.manifests import FieldProblem, LocatedManifest, ParseCache, ReadBlobs
from reconciler.source.provenance import name_of_builder
from reconciler.source.reading import BuiltSource
from reconciler.source.roles import HELM_CHART
from reconciler.source.templates import manifest_with_namespace, template_of
from render.admission import admit_as_kind
from render.admission.charts import check_helm_chart
from render.admission.findings import Findings
from render.admission.kinds import render_kinds
from render.documents import emit, read_documents
from render.model import Manifest, is_encrypted_by_sops, mapping_or_empty
from render.syntax import fault_of_dns_label
from render.words import first_few

from .classes import Assumed, ChartClass, ChartMembers, is_helm_chart, record_of_deciding_rules
from .releases import ReleaseKind, Releases
from .requests import ChartClasses, ChartRequests

CHART_FILE = "Chart.yaml"
_VALUES = frozenset({"values.yaml", "values.yml"})
_CAPABILITIES, _KUBE_VERSION = b"Capabilities", b"kubeVersion"
_SAME = "a render reads files of the same commit alone"


class ChartSource(Struct):
    """Everything a HelmChart may refer to: the files of the tree, ConfigMaps, and locked Sources."""

    files: Mapping[str, SourceFile]
    folder: str
    read: ReadBlobs
    locked: LockedFiles | None
    config_maps: Mapping[tuple[str, str], LocatedManifest]
    default_namespace: str
    members: ChartMembers = field(default_factory=ChartMembers)
    cache: ParseCache | None = None

    def requests(self, places: Iterable[LocatedManifest], releases: Releases) -> ChartRequests:
        """Return what each HelmChart asks for, and each release of another tool that has a chart."""
        problems: list[FieldProblem] = []
        requests: list[ChartRequest] = []
        folders, taken, is_by_facts = set(), set(), False
        broken: list[Broken] = []
        own, charts = [], []
        for place in places:
            try:
                chart = self._chart_of(place, problems)
                own += [place] if is_helm_chart(place.manifest) and chart is not None else []
                if chart is None:
                    continue
                kind = None if is_helm_chart(chart) else releases[chart["kind"]]
                for number in range(kind.number_of_charts(chart) if kind else 1):
                    taken.add(id(place))
                    classes = self._classes(place, chart, kind, number)
                    requests += classes.requests(chart, place, self.members)
                    folders |= classes.folders
                    is_by_facts |= classes.is_by_facts
                charts += [template_of(place, chart)] if id(place) in taken else []
            except UnusableRequest as error:
                taken.add(id(place))
                found = (error.place or place).problem(error.path, error.message, hint=error.hint, kind=error.kind)
                if is_helm_chart(place.manifest):
                    problems.append(found)
                else:
                    broken.append(self._broken_chart(place, found))
        known = {cluster.name for cluster in self.members.clusters}
        outcome = BuiltSource(
            problems=tuple(problems),
            broken=tuple(broken),
            warnings=tuple(warnings_of_absent_clusters(own, known)) if known else (),
            charts=tuple(charts),
            is_by_facts=is_by_facts,
            implied=self.locked.implied_sources if self.locked else (),
        )
        return ChartRequests(tuple(requests), frozenset(folders - {""}), frozenset(taken), outcome)

    def _broken_chart(self, place: LocatedManifest, found: FieldProblem) -> Broken:
        """Return a release that cannot be read, which is left out alone."""
        problem = Lines(self.read).located_problem(found)
        return replace(broken_by_problem(problem, [place.file]), makes=place.file.path)

    def _chart_of(self, place: LocatedManifest, problems: list[FieldProblem]) -> Manifest | None:
        """Return a HelmChart as it is admitted, or a release with its namespace; None for what is not admitted."""
        if is_helm_chart(place.manifest):
            return self._admitted_chart(place, problems)
        return manifest_with_namespace(place.manifest, is_namespaced=True, default=self.default_namespace)

    def _classes(self, place: LocatedManifest, chart: Manifest, kind: ReleaseKind | None, number: int) -> ChartClasses:
        """Return the distinct requests for a chart, for the clusters that it is for."""
        classes, only = ChartClasses(), kind.clusters_of_release(chart) if kind else None
        destination = (
            None if only is None else BuiltVariant(only, record_of_deciding_rules(chart, place, ("spec.destination",)))
        )
        for each in self.members.classes_among(chart, only):
            try:
                asked = (
                    self._overridden_chart(each)
                    if kind is None
                    else self._chart_asked_for_by_release(kind, each.chart, number)
                )
                request = replace(self._request_of_chart(place, asked), number=number, destination=destination)
            except UnusableRequest as error:
                raise self._with_clusters_named(error, each) from error
            classes.folders.add(self._chart_path(asked.manifest["spec"]["chart"]) or "")
            asks, version = self._capabilities_and_version_of(request)
            is_open = asks and not (request.kube_version and request.api_versions)
            classes.is_by_facts |= is_open
            assumed = self.members.assumed_in(each.clusters) if is_open else {Assumed(): each.clusters}
            for known, clusters in assumed.items():
                complete = replace(
                    request,
                    version=version,
                    kube_version=request.kube_version or known.kube_version or NEWEST_KUBERNETES,
                    api_versions=request.api_versions or known.api_versions,
                )
                classes.add(clusters, (*each.rules, *([str(known)] if len(assumed) > 1 else [])), complete)
        return classes

    def _overridden_chart(self, each: ChartClass) -> AskedChart:
        """Return a HelmChart as rules leave it, which may be no HelmChart any more."""
        if not each.rules:
            return AskedChart(each.chart)
        outcome = admit_as_kind(each.chart, render_kinds()[HELM_CHART], default_namespace=self.default_namespace)
        for problem in outcome.problems:
            raise UnusableRequest(problem.field, problem.message, problem.hint)
        assert outcome.object is not None
        return AskedChart(outcome.object)

    def _with_clusters_named(self, error: UnusableRequest, each: ChartClass) -> UnusableRequest:
        """Return why a chart cannot be rendered, with the clusters and the rules that it is about."""
        if not each.rules:
            return error
        names = first_few(sorted(self.members.names_of_clusters(each.clusters)))
        message = f"{error.message} (in {names}, by {first_few(each.rules)})"
        return UnusableRequest(error.path, message, error.hint, error.place, kind=error.kind)

    def _capabilities_and_version_of(self, request: ChartRequest) -> tuple[bool, str]:
        """Return whether a chart asks for the version of Kubernetes or for APIs, as its text tells, and its version."""
        key = hashlib.sha256(b"chart 2\0" + request.digest.encode()).digest()
        known = self.cache.get_many([key]) if self.cache is not None else {}
        if key not in known:
            contents = request.contents()
            known = {
                key: (
                    (
                        0,
                        (_asks_for_capabilities(contents), _version_of_chart(contents), _encrypted_values_of(contents)),
                    ),
                )
            }
            if self.cache is not None:
                self.cache.put_many(known)
        asks, version, encrypted = known[key][0][1]
        if encrypted:
            raise UnusableRequest(
                "spec.chart", fault_of_ciphertext(f"{encrypted} of it", MARK), BESIDE, kind=CIPHERTEXT
            )
        return bool(asks) or any(_CAPABILITIES in values for values in request.values), str(version)

    def _admitted_chart(self, place: LocatedManifest, problems: list[FieldProblem]) -> Manifest | None:
        outcome = admit_as_kind(place.manifest, render_kinds()[HELM_CHART], default_namespace=self.default_namespace)
        problems += [FieldProblem(place, problem) for problem in outcome.problems]
        return outcome.object

    def _chart_asked_for_by_release(self, kind: ReleaseKind, release: Manifest, number: int) -> AskedChart:
        """Return a release of another tool as a HelmChart that would be admitted."""
        asked = kind.chart_asked_for(release, self.default_namespace, number)
        chart = asked.manifest
        name = str(chart["spec"]["releaseName"])
        if fault_of_dns_label(name) or fault_of_dns_label(chart["metadata"]["namespace"]):
            raise UnusableRequest("", f"{name!r} in {chart['metadata']['namespace']!r} is no name of a release")
        findings = Findings()
        check_helm_chart(dict(chart), findings)
        for problem in findings.problems:
            raise UnusableRequest("", problem.message, problem.hint)
        return asked

    def _request_of_chart(self, place: LocatedManifest, asked: AskedChart) -> ChartRequest:
        spec, metadata = asked.manifest["spec"], asked.manifest["metadata"]
        namespace = metadata.get("namespace") or self.default_namespace
        home, digest, contents, inputs = self._chart(spec["chart"])
        named, value_inputs = self._values_in_order(spec, asked.values_namespace or namespace, place)
        return ChartRequest(
            place=place,
            release=spec.get("releaseName") or metadata["name"],
            namespace=namespace,
            home=home,
            digest=digest,
            contents=contents,
            inputs=tuple(sorted({*source_files_behind(place.file), *inputs, *value_inputs})),
            values=tuple(values for _, values in named),
            value_names=tuple(name for name, _ in named),
            chart_files=inputs,
            maker=name_of_builder(place, self.default_namespace),
            kube_version=spec.get("kubeVersion") or "",
            api_versions=tuple(spec.get("apiVersions") or ()),
            has_hooks=spec.get("hooks") == "Include",
            has_crds=spec.get("crds") != "Exclude",
            has_schemas=asked.has_schemas,
            post_renderers=asked.post_renderers,
            common_metadata=asked.common_metadata,
        )

    def _chart_path(self, chart: Mapping[str, Any]) -> str | None:
        """Return the folder of a chart in the repository; None for one of a Source."""
        return None if chart.get("source") else self._path_in_tree("spec.chart.path", chart["path"])

    def _path_in_tree(self, path: str, text: str) -> str:
        """Return the path in the tree that a text means, seen from argosy.yaml."""
        found = posixpath.normpath(posixpath.join(self.folder, text))
        if text.startswith("/") or found == ".." or found.startswith("../"):
            raise UnusableRequest(path, f"{text!r} leads out of the repository", _SAME)
        return "" if found == "." else found

    def _chart(
        self, chart: Mapping[str, Any]
    ) -> tuple[str, str, Callable[[], Mapping[str, bytes]], tuple[tuple[str, bytes], ...]]:
        folder = self._chart_path(chart)
        if folder is None:
            return self._locked_chart(chart["source"], str(chart.get("path") or "").strip("/"))
        base = f"{folder}/" if folder else ""
        files = {path.removeprefix(base): file for path, file in self.files.items() if path.startswith(base)}
        if CHART_FILE not in files:
            message = f"there is no chart at {chart['path']!r}"
            raise UnusableRequest("spec.chart.path", message, f"it would be {base}{CHART_FILE}, seen from argosy.yaml")
        for name, file in files.items():
            if file.mode in {SYMLINK, SUBMODULE}:
                raise UnusableRequest("spec.chart.path", f"{base}{name} is a link; links are never followed")
            if not 0 <= file.size <= MAX_FILE_SIZE or not file.id:
                raise UnusableRequest(
                    "spec.chart.path", f"{base}{name} is too large: at most {MAX_FILE_SIZE} bytes are read"
                )
        lines = "".join(f"{name}\0{file.id.hex()}\n" for name, file in sorted(files.items()))

        def contents() -> Mapping[str, bytes]:
            blobs = self.read({file.id for file in files.values()})
            return {name: blobs[file.id] for name, file in files.items()}

        digest = hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()
        return folder or ".", digest, contents, tuple((file.path, file.id) for file in files.values())

    def _locked_chart(
        self, name: str, path: str
    ) -> tuple[str, str, Callable[[], Mapping[str, bytes]], tuple[tuple[str, bytes], ...]]:
        """Return the chart of a Source, whose digest is the one that the lock has."""
        try:
            content = self.locked.files(name) if self.locked is not None else {}
            digest = self.locked.locked(name).content if self.locked is not None else ""
        except UnavailableSource as error:
            raise UnusableRequest("spec.chart.source", error.message, error.hint) from error
        base = f"{path}/" if path else ""
        if f"{base}{CHART_FILE}" not in content:
            raise UnusableRequest("spec.chart", f"Source {name!r} has no {base}{CHART_FILE}")
        files = {each.removeprefix(base): data for each, data in content.items() if each.startswith(base)}
        return f"Source {name}{f' {path}' if path else ''}", f"{digest}/{path}", lambda: files, ()

    def _values_in_order(
        self, spec: Mapping[str, Any], namespace: str, place: LocatedManifest
    ) -> tuple[list[tuple[str, bytes]], list[tuple[str, bytes]]]:
        """Return the values in order, by name, and the files they stand in."""
        values: list[tuple[str, bytes]] = []
        inputs: list[tuple[str, bytes]] = []
        for number, text in enumerate(spec.get("valuesFiles") or ()):
            path = f"spec.valuesFiles[{number}]"
            file = self._values_file(path, text)
            values.append((file.path, _checked_values_text(path, file.path, self.read([file.id])[file.id])))
            inputs.append((file.path, file.id))
        for number, wanted in enumerate(spec.get("valuesFrom") or ()):
            found, path = self.config_maps.get((namespace, wanted["configMap"])), f"spec.valuesFrom[{number}]"
            name = f"ConfigMap {namespace}/{wanted['configMap']}"
            if found is not None and is_encrypted_by_sops(found.manifest):
                message = f"SOPS encrypted {name}, and nothing decrypts what values come from"
                raise UnusableRequest(path, message, BESIDE, kind=CIPHERTEXT)
            text = (
                mapping_or_empty(found.manifest.get("data")).get(wanted.get("key") or "values.yaml") if found else None
            )
            if isinstance(text, str) and found is not None:
                values.append((name, _checked_values_text(path, name, text.encode())))
                inputs += source_files_behind(found.file)
            elif not wanted.get("optional"):
                raise _missing_config_map(number, namespace, wanted, is_there=found is not None)
        if spec.get("values"):
            name = "spec.source.helm" if place.manifest["kind"] == "Application" else "spec.values"
            values.append((name, _checked_values_text(name, name, emit(spec["values"]))))
        return values, inputs

    def _values_file(self, path: str, text: str) -> SourceFile:
        where = self._path_in_tree(path, text)
        file = self.files.get(where)
        if file is None:
            raise UnusableRequest(path, f"there is no {text!r}", f"it would be {where}, seen from argosy.yaml")
        if file.mode in {SYMLINK, SUBMODULE} or not file.id or not 0 <= file.size <= MAX_FILE_SIZE:
            raise UnusableRequest(path, f"{text!r} is a link, or too large; only files of the repository are read")
        return file


def _checked_values_text(path: str, name: str, values: bytes) -> bytes:
    """Return values, unless SOPS encrypted some of them: a chart would take ciphertext for what it stands for."""
    if fault := fault_of_ciphertext(name, values):
        raise UnusableRequest(path, fault, BESIDE, kind=CIPHERTEXT)
    return values


def _asks_for_capabilities(files: Mapping[str, bytes]) -> bool:
    """Say whether files of a chart mention what ``.Capabilities`` tells; what cannot be looked into may."""
    for path, data in files.items():
        if _CAPABILITIES in data or (path.endswith(CHART_FILE) and _KUBE_VERSION in data):
            return True
        if path.endswith(".tgz"):
            try:
                inner = unpacked_archive(data, path)
            except UnavailableSource:
                return True
            if _asks_for_capabilities(inner):
                return True
    return False


def _encrypted_values_of(files: Mapping[str, bytes]) -> str:
    """Return the path of default values of a chart, or of one in it, that SOPS encrypted; "" without any."""
    values = (path for path in sorted(files) if posixpath.basename(path) in _VALUES)
    return next((path for path in values if may_hold_ciphertext(files[path])), "")


def _version_of_chart(files: Mapping[str, bytes]) -> str:
    """Return the version that a chart says it has."""
    documents, _ = read_documents(files[CHART_FILE])
    value = documents[0].value if documents else None
    return str(value.get("version") or "") if isinstance(value, dict) else ""


def _missing_config_map(number: int, namespace: str, wanted: Mapping[str, Any], *, is_there: bool) -> UnusableRequest:
    key = wanted.get("key") or "values.yaml"
    name = f"ConfigMap {namespace}/{wanted['configMap']}"
    message = f"{name} has no {key!r}" if is_there else f"there is no {name} in the source"
    return UnusableRequest(f"spec.valuesFrom[{number}]", message, "optional: true goes on without")


def config_maps_among(
    manifests: Iterable[LocatedManifest], default_namespace: str
) -> Iterator[tuple[tuple[str, str], LocatedManifest]]:
    """Yield the ConfigMaps among manifests, by namespace and name."""
    for place in manifests:
        if place.manifest["kind"] == "ConfigMap" and place.manifest["apiVersion"] == "v1":
            metadata = mapping_or_empty(place.manifest.get("metadata"))
            yield (str(metadata.get("namespace") or default_namespace), str(metadata.get("name"))), place
