"""Everything that a source has built: the kustomizations nothing else builds upon, their closures, their tool run.

What cannot be built is left out with a problem of its own; nothing else of the source depends on it.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.source.broken import Broken
from reconciler.source.files import FileSelection, SourceFile
from reconciler.source.manifests import FieldProblem, ParseCache, ReadBlobs
from reconciler.source.reading import BuiltSource
from render.errors import Problem
from render.words import counted_noun, first_few

from .budget import BuildBudget
from .builds import MISSING, BuildOutcome, Builds, KnownOutcomes
from .charts import Rendering, Renderings
from .closures import Closure, bounded_closure, closure_of
from .folders import INSTALL, FolderBuilds, broken_by_refusal, objects_left_out_of_build
from .post_rendering import PostRendering
from .remote import kustomizations_with_locked_content
from .requests import BuiltFolder, ChartRequest, FolderRequest, LockedOf
from .sandbox import RunLimits
from .source_trees import LockedTrees
from .tools import find_helm
from .tree import Kustomizations

INSTALL_HELM = "install helm 3 and put it on PATH (https://helm.sh/docs/intro/install)"


class SourceBuilder(Struct, frozen=True, kw_only=True):
    """The builds of sources; ``path`` is where tools are looked for, ``cache`` remembers what they made.

    ``limits`` bound each build, ``budget`` all that this one makes: it is for one load of a source. ``known`` are the
    builds of kustomizations that earlier loads of the same process made.
    """

    path: str = field(default_factory=lambda: os.environ.get("PATH", os.defpath))
    cache: ParseCache | None = None
    limits: RunLimits = field(default_factory=RunLimits)
    budget: BuildBudget = field(default_factory=BuildBudget)
    known: KnownOutcomes = field(default_factory=dict)

    def __call__(
        self, files: Sequence[SourceFile], selection: FileSelection, read: ReadBlobs, locked: LockedOf
    ) -> BuiltSource:
        """Build the kustomizations that a fleet selects."""
        if not selection.kustomizations:
            return BuiltSource()
        known = Kustomizations.of(files, read, self.cache)
        chosen = [folder for folder in map(_folder_of_file, selection.kustomizations) if folder in known.folders]
        roots = folders_to_build(known, chosen, selection.named)
        trees = locked() if known.has_remote_bases else LockedTrees()
        known = kustomizations_with_locked_content(known, trees, roots)
        closures = [bounded_closure(known, folder, self.budget.takes_files) for folder in roots]
        wanted = [closure for closure in closures if closure.refusal is None]
        builds = Builds(path=self.path, cache=self.cache, budget=self.budget, limits=self.limits, known=self.known)
        outcomes = builds.outcomes(wanted)
        made = [outcome for outcome in outcomes if not outcome.complaint]
        broken = [*_broken_by_refusal(closures), *_broken_by_outcomes(outcomes), *_problem_of_missing_tool(outcomes)]
        broken += (each for outcome in made for each in objects_left_out_of_build(outcome))
        return BuiltSource(
            files=tuple(outcome.file for outcome in made),
            contents={outcome.file.id: outcome.output for outcome in made},
            claimed=frozenset(_files_read_by_builds(known, closures, chosen, selection)),
            taken=_files_taken_over(closures, {file.path for file in (*selection.files, *selection.kustomizations)}),
            broken=tuple(broken),
            tools=tuple(sorted({outcome.tool for outcome in made} - {""})),
            implied=trees.locked.implied_sources if trees.locked else (),
        )

    def without_cache(self) -> "SourceBuilder":
        """Return what builds all of it anew."""
        return replace(self, cache=None, known={})

    def build_folders(self, requests: Sequence[FolderRequest], locked: LockedTrees) -> Sequence[BuiltFolder]:
        """Build the folders that objects of other tools deploy, each with what its object adds."""
        builds = FolderBuilds(
            path=self.path, cache=self.cache, locked=locked, budget=self.budget, known_outcomes=self.known
        )
        return builds.outcomes(requests)

    def render_charts(self, requests: Sequence[ChartRequest]) -> BuiltSource:
        """Render charts, each by itself."""
        if not requests:
            return BuiltSource()
        tool = find_helm(self.path, self.cache)
        if tool is None:
            return BuiltSource(broken=(_problem_of_missing_helm(requests),))
        after = replace(PostRendering.of(requests, self.path, limits=self.limits, cache=self.cache), budget=self.budget)
        charts = Renderings(tool=tool, post_rendering=after, cache=self.cache, limits=self.limits, budget=self.budget)
        renderings = list(charts.of(requests))
        # What the clusters have that no rule targets decides where objects go, so nothing is placed without it.
        failed = {
            _identity_of_chart(rendering)
            for rendering in renderings
            if rendering.complaint and not rendering.is_variant
        }
        rest = [rendering for rendering in renderings if _identity_of_chart(rendering) not in failed]
        made = list(_renderings_with_failures([each for each in rest if not each.complaint], rest, tool.version))
        return BuiltSource(
            files=tuple(rendering.file for rendering in made),
            contents={rendering.file.id: rendering.output for rendering in made},
            broken=tuple(
                replace(_broken_by_rendering(each, tool.version), is_partial=_identity_of_chart(each) not in failed)
                for each in renderings
                if each.complaint
            ),
            warnings=tuple(_warnings_of_renderings(made)),
            tools=(tool.version, *([after.tool.version] if after.tool else [])),
        )


def _identity_of_chart(rendering: Rendering) -> tuple[int, int]:
    """Return what tells the chart of a rendering from others: the object that asks for it, and which of its charts."""
    return id(rendering.request.place.manifest), rendering.request.number


def _renderings_with_failures(
    made: Iterable[Rendering], every: Iterable[Rendering], version: str
) -> Iterator[Rendering]:
    """Yield renderings that know for which clusters their chart failed.

    What helm says may quote values, so it is not among what is committed.
    """
    failed: dict[tuple[int, int], set[int]] = {}
    for each in every:
        if each.complaint:
            failed.setdefault(_identity_of_chart(each), set()).add(each.request.variant)
    for each in made:
        numbers = failed.get(_identity_of_chart(each), set())
        error = f"{version} cannot render {each.request.maker} for it"
        variants = tuple(
            variant._replace(error=error) if number in numbers else variant
            for number, variant in enumerate(each.request.variants)
        )
        yield replace(each, request=replace(each.request, variants=variants)) if numbers else each


def _broken_by_rendering(rendering: Rendering, version: str) -> Broken:
    """Return a chart that could not be rendered."""
    request = rendering.request
    clusters = f" for {first_few(sorted(request.clusters))}" if request.clusters else ""
    message = f"{version} cannot render {request.home}{clusters}: {rendering.complaint}"
    problem = Problem(request.place.file.path, 0, "", message, rendering.hint)
    tool = version.partition(" ")[0] if rendering.is_bounded else version
    return Broken(problem=problem, files=request.inputs, tool=tool, makes=request.place.file.path)


def _warnings_of_renderings(renderings: Iterable[Rendering]) -> Iterator[FieldProblem]:
    """Yield warnings for the hooks that were left out of charts, and for what these ask that no render can tell.

    Variants of a chart have hooks in common. What is said of a chart itself names its files, and releases share it.
    """
    known: set[tuple[int, str]] = set()
    for rendering in renderings:
        place, hooks = rendering.request.place, first_few(rendering.hooks)
        if hooks and (id(place.manifest), hooks) not in known:
            known.add((id(place.manifest), hooks))
            message = f"{counted_noun(len(rendering.hooks), 'hook')} left out: {hooks}"
            yield place.problem("", message, hint="hooks: Include makes them objects like all others")
        asked = first_few(rendering.warnings)
        if asked and (0, asked) not in known:
            known.add((0, asked))
            yield place.problem("", asked)


def _problem_of_missing_helm(requests: Sequence[ChartRequest]) -> Broken:
    """Return the one problem of all charts where there is no helm."""
    releases = sorted(request.release for request in requests if request.variant == 0)
    message = (
        f"helm is not installed, so {counted_noun(len(releases), 'chart')} cannot be rendered: {first_few(releases)}"
    )
    inputs = {each for request in requests for each in request.inputs}
    problem = Problem(requests[0].place.file.path, 0, "", message, INSTALL_HELM)
    return Broken(problem=problem, files=tuple(sorted(inputs)), tool="helm")


def _folder_of_file(file: SourceFile) -> str:
    return file.path.rpartition("/")[0]


def _files_read_by_builds(
    known: Kustomizations, closures: Iterable[Closure], chosen: Iterable[str], selection: FileSelection
) -> Iterator[str]:
    """Yield the files that builds read; all of a folder that may not be built, as nobody knows what it would read."""
    for closure in closures:
        yield from (path for path, _ in closure.claimed_files)
        if closure.refusal is not None:
            base = f"{closure.folder}/" if closure.folder else ""
            yield from (file.path for file in selection.beside if file.path.startswith(base))
    for folder in chosen:
        if known.is_component(folder):
            yield from (path for path, _ in closure_of(known, folder).claimed_files)


def _files_taken_over(closures: Sequence[Closure], read: Collection[str]) -> dict[str, str]:
    """Return the files that would be read by themselves, by the kustomization of another folder that has them instead.

    ``read`` are the files that the fleet selects. A kustomization below that of another one is a part of it.
    """
    own = {path for closure in closures for path in closure.kustomizations[:1]}
    taken: dict[str, str] = {}
    for closure in closures:
        base = f"{closure.folder}/" if closure.folder else ""
        for path in (path for path, _ in closure.claimed_files if path in read and path not in own):
            if not path.startswith(base):
                taken.setdefault(path, closure.kustomizations[0])
    return taken


def _broken_by_refusal(closures: Iterable[Closure]) -> Iterator[Broken]:
    """Yield the builds that may not be run."""
    return (broken_by_refusal(closure) for closure in closures if closure.refusal is not None)


def _broken_by_outcomes(outcomes: Iterable[BuildOutcome]) -> Iterator[Broken]:
    """Yield the builds that failed."""
    for outcome in outcomes:
        if outcome.complaint and outcome.tool:
            message = f"{outcome.tool} cannot build it: {outcome.complaint}"
            path = outcome.closure.shown_path(outcome.closure.kustomizations[0])
            tool = outcome.tool.partition(" ")[0] if outcome.is_bounded else outcome.tool
            problem = Problem(path, 0, "", message)
            yield Broken(problem=problem, files=outcome.closure.inputs, tool=tool, makes=path)


def _problem_of_missing_tool(outcomes: Iterable[BuildOutcome]) -> Iterator[Broken]:
    """Yield the one problem of all builds that need the tool where there is none."""
    closures = [outcome.closure for outcome in outcomes if outcome.complaint and not outcome.tool]
    if closures:
        folders = first_few(sorted(closure.folder or "." for closure in closures))
        message = f"{MISSING}, so {counted_noun(len(closures), 'kustomization')} cannot be built: {folders}"
        inputs = {each for closure in closures for each in closure.inputs}
        problem = Problem(closures[0].kustomizations[0], 0, "", message, INSTALL)
        yield Broken(problem=problem, files=tuple(sorted(inputs)), tool="kustomize")


def folders_to_build(known: Kustomizations, chosen: Iterable[str], named: Collection[str]) -> list[str]:
    """Return the folders to build, of those that the fleet does not leave out.

    What any kustomization of the tree refers to is a part of that one, even if the fleet leaves that out; a folder that
    the fleet's paths name is built all the same. A component is never built by itself. Of kustomizations that refer to
    each other in a circle the first is built, so that kustomize says so.
    """
    parts = {base for folder in known.folders for base in known.bases_of(folder)}
    ends = [folder for folder in known.folders if folder not in parts]
    circles = sorted(known.folders - _folders_built_upon(known, ends))
    chosen = sorted(set(chosen))
    roots = [each for each in chosen if not known.is_component(each) and (each not in parts or each in named)]
    return sorted({*roots, *(each for each in circles[:1] if each in chosen)})


def _folders_built_upon(known: Kustomizations, folders: Iterable[str]) -> set[str]:
    """Return these folders and all that they build upon."""
    unseen, reached = list(folders), set(folders)
    while unseen:
        for base in known.bases_of(unseen.pop()):
            if base not in reached:
                reached.add(base)
                unseen.append(base)
    return reached
