"""The layout of a repository that ``argosy init`` tells: what is read of it, what is not, and who deploys from it."""

from collections.abc import Collection, Iterator

from reconciler.console.grouping import number_of_kinds
from reconciler.locked.model import NOT_LOCKED
from reconciler.source.desired import Desired
from reconciler.source.loading import Loaded
from reconciler.source.unread_forms import CHART, forms_not_read
from render.model import is_encrypted_by_sops
from render.words import counted_noun, first_few

from .beginning import NewFleet
from .chart_offers import ChartOffers, OfferedChart
from .cluster_files import MemberSource
from .other_tools import DeployedFolders

_TOOLS = {"Argo CD": ("argoproj.io",), "Flux": ("fluxcd.io",), "Fleet": ("fleet.cattle.io",)}
"""Tools that deploy from repositories, with the API groups of their objects or what these end in."""
_FLUX_FOLDER = "flux-system"
_MOST_APART = 2
"""So many folders that are left out have a line each."""


def repository_layout_lines(source: MemberSource, fleet: NewFleet) -> Iterator[str]:
    """Yield what a repository holds, as a new fleet reads it; nothing for an empty one."""
    before, desired = source.loaded.desired, fleet.after.desired
    if desired.templates:
        folders = sorted({_first_folder_below_fleet(source, template.path) for template in desired.templates})
        objects, files = counted_noun(len(desired.templates), "object"), len({each.path for each in desired.templates})
        yield f"{objects} in {counted_noun(files, 'file')} of {first_few(folders)}"
    yield from _lines_about_builds(desired)
    yield from _lines_about_unread_forms(source, fleet)
    deployed, as_files = fleet.deployed, fleet.as_files
    for tool in _tool_names_found_in_source(source, before):
        if tool not in {each.tool for each in (deployed, as_files) if each}:
            yield f"{tool} deploys from here: its own objects go to members only if a policy selects them"
    if encrypted := sum(1 for each in desired.templates if is_encrypted_by_sops(each.manifest)):
        yield f"{counted_noun(encrypted, 'object')} that SOPS encrypted: whoever applies needs sops and its keys"
    if deployed is not None:
        yield from _lines_about_deployed_folders(deployed)
    else:
        yield from _lines_about_folders_read_as_files(as_files) if as_files else ()
        yield from _lines_about_folders_left_out(fleet.after)
    yield from lines_about_broken_files(fleet.after)


def _lines_about_folders_read_as_files(deployed: DeployedFolders) -> Iterator[str]:
    """Yield what a tool deploys where that is a small part of the repository, of which everything is read."""
    kinds = " and ".join(f"{kind}s" for kind in deployed.kinds)
    yield (
        f"{deployed.tool} deploys {first_few(deployed.folders)}: less than half of the objects here, so that all are"
        f" read as files, and the {kinds} go to members only if a policy selects them"
    )


def _lines_about_folders_left_out(after: Loaded) -> Iterator[str]:
    """Yield the folders and files that repeat others, those of many in one line."""
    for what in ("folder", "file"):
        found = [each for each in after.desired.fleet.source.ignore if each.endswith("/") is (what == "folder")]
        if len(found) > _MOST_APART:
            again = f"{counted_noun(len(found), what)} that hold objects of another {what} again"
            yield f"{again}: argosy.yaml leaves them out: {first_few(found)}"
        else:
            yield from (f"{each} holds objects of another {what} again: argosy.yaml leaves it out" for each in found)


def lines_about_broken_files(after: Loaded) -> Iterator[str]:
    """Yield how many problems, and how many warnings of something left out, the first validate will tell."""
    broken = [each for each in after.broken if each.problem.hint != NOT_LOCKED]
    for word, found in (
        ("problem", {str(each.problem) for each in broken if each.is_answered_no}),
        ("warning", {str(each.problem) for each in broken if not each.is_answered_no}),
    ):
        if found:
            kinds = number_of_kinds(found)
            of_kinds = f" of {counted_noun(kinds, 'kind')}" if kinds < len(found) else ""
            about = "to look at" if word == "problem" else "about what is left out"
            yield f"{counted_noun(len(found), word)}{of_kinds} {about}: argosy validate"


def _lines_about_deployed_folders(deployed: DeployedFolders) -> Iterator[str]:
    """Yield what a tool deploys, and what of it Argosy reads otherwise."""
    named = f" named in {first_few(deployed.environments)}" if deployed.environments else ""
    folders, kinds = counted_noun(len(deployed.folders), "folder"), " and ".join(f"{kind}s" for kind in deployed.kinds)
    yield f"{deployed.tool} deploys {folders}{named}: argosy.yaml has its {kinds} read, which are then no objects"
    for other in deployed.left_out:
        yield f"{other} is another environment of {deployed.tool}: its folders are not read; overrides say what differs"


def _first_folder_below_fleet(source: MemberSource, path: str) -> str:
    """Return the first folder of a path below the fleet."""
    folder, _, rest = path.removeprefix(f"{source.home.folder}/" if source.home.folder else "").partition("/")
    return f"{folder}/" if rest else "the top folder"


def _lines_about_builds(desired: Desired) -> Iterator[str]:
    """Yield what a tool builds, and what is not read because none does."""
    if count := len({each.path for each in desired.templates if each.origin}):
        are, need = ("is", "needs") if count == 1 else ("are", "need")
        by = f" by {' and '.join(desired.tools)}" if desired.tools else f", and {need} no tool for it"
        yield f"{counted_noun(count, 'kustomization')} {are} built{by}"


def _lines_about_unread_forms(source: MemberSource, fleet: NewFleet) -> Iterator[str]:
    """Yield what is kept in a form that nothing here reads; charts have lines of their own."""
    for each in forms_not_read(source.files, fleet.after.desired):
        if each.form is not CHART:
            are = "is" if each.number == 1 else "are"
            yield f"{each} {are} not read: {each.form.advice}"


def lines_about_charts(offers: ChartOffers, written: Collection[OfferedChart]) -> Iterator[str]:
    """Yield the charts that nothing renders: those with a HelmChart now, those that could have one, and the others."""
    for each in written:
        yield f"{each.folder or '.'} is rendered by the HelmChart {each.name}"
        if each.unused:
            yield f"{first_few(each.unused)} of it counts in no cluster: none is called like the environment"
    if count := len(offers.charts) - len(written):
        them, what = ("it", "a HelmChart") if count == 1 else ("them", "a HelmChart for each")
        yield (
            f"{counted_noun(count, 'Helm chart')} that nothing renders: argosy init --charts writes {what},"
            f" which has {them} rendered by helm"
        )
    if offers.incomplete:
        need = "needs" if len(offers.incomplete) == 1 else "need"
        what = first_few(offers.incomplete)
        yield f"{what} {need} other charts: commit what 'helm dependency build' puts into charts/"
    if offers.libraries:
        libraries = counted_noun(len(offers.libraries), "library chart")
        yield f"{libraries} for other charts, no release: {first_few(offers.libraries)}"


def _tool_names_found_in_source(source: MemberSource, desired: Desired) -> Iterator[str]:
    groups = {template.ref.group for template in desired.templates}
    for tool, ends in _TOOLS.items():
        is_there = any(group == end or group.endswith(f".{end}") for group in groups for end in ends)
        is_unread = tool == "Flux" and any(_FLUX_FOLDER in file.path.split("/")[:-1] for file in source.files)
        if is_there or is_unread:
            yield tool
