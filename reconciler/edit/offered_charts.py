"""HelmCharts that are offered, written into the files of a fleet: those that can be rendered, and why others cannot."""

from collections.abc import Iterable, Mapping, Sequence
from posixpath import normpath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from reconciler.source.files import FLEET_FILE
from reconciler.source.loading import Loaded
from render.documents import parse_documents
from render.documents.editing import Edit, edit_file
from render.errors import Problem

from .beginning import NewFleet
from .chart_offers import CHARTS_FOLDER, OfferedChart, is_root_chart
from .cluster_files import MemberSource

_OF_ROOT_CHART = ("/templates/", "/charts/", "/crds/")
_NO_HELM = "helm is not installed"


class FleetWithCharts(Struct, frozen=True, kw_only=True):
    """A fleet with HelmCharts among its files, and the problems of those that were left out."""

    fleet: NewFleet
    written: tuple[OfferedChart, ...] = ()
    problems: tuple[Problem, ...] = ()


def fleet_with_charts(source: MemberSource, fleet: NewFleet, offered: Sequence[OfferedChart]) -> FleetWithCharts:
    """Return a fleet with a HelmChart for each chart that can be rendered; each is tried before it is written."""
    problems: list[Problem] = []
    left = {_path_of_offer(source, each): each for each in offered}
    while left:
        files = {**fleet.files, **_files_of_offers(source, fleet, left)}
        after = source.with_files(files)
        found = [each for each in _new_problems(fleet, after) if each.path in left]
        if not found:
            charts = tuple(left.values())
            changed = replace(fleet, files=files, after=after, objects=source.objects_read(after))
            return FleetWithCharts(fleet=changed, written=charts, problems=tuple(problems))
        problems += found
        is_without_helm = any(_NO_HELM in each.message for each in found)
        left = (
            {}
            if is_without_helm
            else {path: each for path, each in left.items() if path not in {it.path for it in found}}
        )
    return FleetWithCharts(fleet=fleet, problems=tuple(problems))


def _new_problems(fleet: NewFleet, after: Loaded) -> Iterable[Problem]:
    """Yield the problems that a source has with more files, those of what is left out included."""
    known = {*fleet.after.problems, *(each.problem for each in fleet.after.broken)}
    return dict.fromkeys(each for each in (*after.problems, *(it.problem for it in after.broken)) if each not in known)


def _path_of_offer(source: MemberSource, offer: OfferedChart) -> str:
    base = source.base
    path = f"{base}{CHARTS_FOLDER}/{offer.name}"
    is_taken = any(file.path == f"{path}.yaml" for file in source.files)
    return f"{path}{'-chart' if is_taken else ''}.yaml"


def _files_of_offers(source: MemberSource, fleet: NewFleet, offers: Mapping[str, OfferedChart]) -> Mapping[str, bytes]:
    """Return the files of HelmCharts, and argosy.yaml where it would leave them out, or read a chart's templates."""
    files = {path: offer.content for path, offer in offers.items()}
    settings = fleet.after.desired.fleet.source
    edits = []
    if settings.paths and CHARTS_FOLDER not in settings.paths and not {".", "./"} & {*settings.paths}:
        edits.append(Edit(("spec", "source", "paths", len(settings.paths)), CHARTS_FOLDER))
    if is_root_chart(source) and any(offer.folder == source.base.rstrip("/") for offer in offers.values()):
        new: list[Any] = [line for line in _OF_ROOT_CHART if line not in settings.ignore]
        edits += [
            Edit(("spec", "source", "ignore", number), line) for number, line in enumerate(new, len(settings.ignore))
        ]
    path = source.home.path or f"{source.base}{FLEET_FILE}"
    content = fleet.files.get(path) or source.content(path)
    if edits and content:
        index = next(each.index for each in parse_documents(content) if each.value and each.value["kind"] == "Fleet")
        files[path] = edit_file(content, index, edits)
    return files


def folders_of_charts(loaded: Loaded, base: str) -> tuple[str, ...]:
    """Return the folders of the repository whose charts are rendered, each with a slash at its end."""
    specs = (template.manifest.get("spec") for template in loaded.desired.charts)
    charts = (spec.get("chart") for spec in specs if isinstance(spec, dict))
    paths = (chart.get("path") for chart in charts if isinstance(chart, dict) and not chart.get("source"))
    return tuple(f"{normpath(f'{base}{path}')}/" for path in paths if isinstance(path, str))
