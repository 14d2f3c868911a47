"""The charts of a repository that nothing renders, each with the HelmChart that would have it rendered.

A chart that others use is none of its own: a library, what stands in a chart's ``charts/``, and what an umbrella chart
names by ``file://``. A chart whose dependencies are not in its folder cannot be rendered, for nothing is fetched. Files
of values are those of environments: each counts in the clusters that are called like its environment. Where none is,
those of production count everywhere, for they are what the chart runs with.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from reconciler.gitops.charts.helm_charts import CHART_FILE
from reconciler.source.files import SUFFIXES, Reason
from reconciler.source.loading import Loaded
from render.documents import emit, read_documents
from render.expressions import lazy_expression
from render.model import ARGOSY_API_VERSION, list_or_empty

from .cluster_files import MemberSource

CHARTS_FOLDER = "releases"
_REQUIREMENTS = "requirements.yaml"
_NAME = 53
_BESIDE = lazy_expression(r"values[-._](?P<after>.+)|(?P<before>.+)[-._]values")
_FOLDERS = ("values", "environments", "envs", "env")
_SAME = {"production": "prod", "live": "prod", "staging": "stage", "stg": "stage", "development": "dev"}
_PRODUCTION = "prod"
_HEADER = (
    "# The name of the release and its namespace are guesses. A release that runs already has names: write those.\n"
)


class Chart(Struct, frozen=True, kw_only=True):
    """A chart of the repository: its folder, what it is called, and the values of environments by their files.

    ``is_library``: it makes no objects of its own. ``missing`` are dependencies that are not in its folder, and
    ``parts`` the folders of the repository that it depends on.
    """

    folder: str
    name: str
    values: Mapping[str, str]
    is_library: bool = False
    missing: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


class OfferedChart(Struct, frozen=True, kw_only=True):
    """A HelmChart for a chart: its name, its folder, its content, and the files of values that no cluster gets."""

    name: str
    folder: str
    content: bytes
    unused: tuple[str, ...] = ()


class ChartOffers(Struct, frozen=True, kw_only=True):
    """The HelmCharts that can be offered, and the charts that get none: libraries and those without what they need."""

    charts: tuple[OfferedChart, ...] = ()
    libraries: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()


def offers_of_charts(source: MemberSource, loaded: Loaded) -> ChartOffers:
    """Return a HelmChart for each chart of a work tree that nothing renders."""
    base = source.base
    charts = list(_charts_nothing_renders(source, loaded, base))
    parts = {part for each in charts for part in each.parts}
    own = [each for each in charts if not each.is_library and each.folder not in parts]
    clusters = sorted(cluster.name for cluster in loaded.desired.clusters)
    taken = {template.ref.name for template in loaded.desired.charts}
    offered = []
    for each in own:
        if not each.missing:
            offered.append(_offer_of_chart(each, _free_name(each.name, taken), clusters, base))
            taken.add(offered[-1].name)
    return ChartOffers(
        charts=tuple(offered),
        libraries=tuple(each.folder for each in charts if each.is_library),
        incomplete=tuple(each.folder for each in own if each.missing),
    )


def is_root_chart(source: MemberSource) -> bool:
    """Say whether the fleet's own folder is a chart, whose templates are no manifests."""
    root = f"{source.base}{CHART_FILE}"
    return any(file.path == root for file in source.files)


def _charts_nothing_renders(source: MemberSource, loaded: Loaded, base: str) -> Iterator[Chart]:
    """Yield the charts that no HelmChart and no release renders; of a chart at the root, those below it as well."""
    skipped = {each.path for each in loaded.desired.skipped if each.reason is Reason.HELM}
    named = {template.manifest["spec"]["chart"].get("path") for template in loaded.desired.charts}
    if is_root_chart(source) and not named & {".", "./", ""}:
        skipped = {base.rstrip("/"), *(each for each in skipped if not each.startswith(f"{base}charts/"))}
    for folder in sorted(skipped):
        yield _chart_in_folder(source, folder)


def _chart_in_folder(source: MemberSource, folder: str) -> Chart:
    prefix = f"{folder}/" if folder else ""
    inside = [file.path.removeprefix(prefix) for file in source.files if file.path.startswith(prefix)]
    chart = _mapping_in_file(source, f"{prefix}{CHART_FILE}")
    listed = [*list_or_empty(chart.get("dependencies"))]
    if _REQUIREMENTS in inside:
        listed += list_or_empty(_mapping_in_file(source, f"{prefix}{_REQUIREMENTS}").get("dependencies"))
    needed = [each for each in listed if isinstance(each, dict) and isinstance(each.get("name"), str)]
    beside = [str(each["repository"]) for each in needed if str(each.get("repository")).startswith("file://")]
    name = chart.get("name")
    return Chart(
        folder=folder,
        name=name if isinstance(name, str) else folder.rpartition("/")[2],
        values=dict(_values_by_environment(inside, prefix)),
        is_library=chart.get("type") == "library",
        missing=tuple(each["name"] for each in needed if not _is_vendored(each["name"], inside)),
        parts=tuple(posixpath.normpath(posixpath.join(folder, each.removeprefix("file://"))) for each in beside),
    )


def _mapping_in_file(source: MemberSource, path: str) -> Mapping[str, Any]:
    """Return what a file says; nothing where it cannot be read."""
    documents, _ = read_documents(source.content(path) or b"")
    value = documents[0].value if documents else None
    return value if isinstance(value, dict) else {}


def _is_vendored(name: str, inside: Iterable[str]) -> bool:
    """Say whether a chart has another one in its folder, as a folder or as an archive."""
    archive = re.compile(rf"charts/{re.escape(name)}-[^/]*\.tgz")
    return any(path == f"charts/{name}/{CHART_FILE}" or archive.fullmatch(path) for path in inside)


def _values_by_environment(inside: Iterable[str], prefix: str) -> Iterator[tuple[str, str]]:
    """Yield environments that have a file of values in a chart, each with the file."""
    for path in sorted(inside):
        stem, suffix = posixpath.splitext(path)
        folder, _, name = stem.rpartition("/")
        found = _BESIDE.fullmatch(name)
        if suffix in SUFFIXES and not folder and found and not name.endswith(".schema"):
            yield found["after"] or found["before"], f"{prefix}{path}"
        elif suffix in SUFFIXES and folder in _FOLDERS and name != "values":
            yield (found["after"] or found["before"]) if found else name, f"{prefix}{path}"


def _offer_of_chart(chart: Chart, name: str, clusters: Sequence[str], base: str) -> OfferedChart:
    """Return the HelmChart of a chart, with the values of environments in the clusters that are called like them."""
    files = {environment: path.removeprefix(base) for environment, path in chart.values.items()}
    rules = []
    for environment, path in files.items():
        named = [cluster for cluster in clusters if is_named_like(cluster, environment)]
        if named:
            rules.append({"targetCluster": {"clusterNames": named}, "valuesFiles": [path]})
    everywhere = [] if rules else [path for each, path in files.items() if _words_of_name(each) == [_PRODUCTION]][:1]
    used = {*everywhere, *(path for rule in rules for path in rule["valuesFiles"])}
    spec: dict[str, Any] = {"chart": {"path": chart.folder.removeprefix(base) or "."}}
    if everywhere:
        spec["valuesFiles"] = everywhere
    if rules:
        spec["overrideRules"] = rules
    metadata = {"name": name, "namespace": "default"}
    manifest = {"apiVersion": ARGOSY_API_VERSION, "kind": "HelmChart", "metadata": metadata, "spec": spec}
    unused = tuple(path for path in files.values() if path not in used)
    said = f"# No cluster is called like the environments of {', '.join(unused)}.\n" if unused else ""
    return OfferedChart(
        name=name, folder=chart.folder, content=f"{_HEADER}{said}".encode() + emit(manifest), unused=unused
    )


def is_named_like(cluster: str, environment: str) -> bool:
    """Say whether the name of a cluster has the words of an environment one after another.

    >>> is_named_like("eu-prod-1", "production"), is_named_like("eu-west-1", "us"), is_named_like("reproduced", "prod")
    (True, False, False)
    """
    words, wanted = _words_of_name(cluster), _words_of_name(environment)
    return any(words[start : start + len(wanted)] == wanted for start in range(len(words))) and bool(wanted)


def _words_of_name(name: str) -> list[str]:
    return [_SAME.get(word, word) for word in re.findall("[a-z0-9]+", name.lower())]


def _free_name(name: str, taken: Iterable[str]) -> str:
    """Return a name of a release that no other has."""
    stem = re.sub("[^a-z0-9]+", "-", name.lower())[: _NAME - 3].strip("-") or "chart"
    known = {*taken}
    return next(each for each in (stem, *(f"{stem}-{number}" for number in range(2, 1000))) if each not in known)
