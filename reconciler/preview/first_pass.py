"""The outcome of the first pass over a fleet that is being begun, before its files are written."""

from collections.abc import Iterator

from reconciler.branches.reading import source_of_loaded
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.edit.beginning import NewFleet
from reconciler.edit.cluster_files import MemberSource
from reconciler.pipeline.unselected import unselected_templates
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.rendering.problems import problems_by_object
from reconciler.repository import Repository
from reconciler.source.loading import Loaded
from reconciler.source.variant_folders import ignore_line_of
from render.words import counted_noun, first_few


def outcome_of_first_pass(repository: Repository, loaded: Loaded, log: Log) -> Outcome | None:
    """Return what a first pass makes of a source; None where it would be refused."""
    if loaded.problems_that_block:
        return None
    return run_pass(repository, source_of_loaded("", loaded), None, RenderInputs(now=given_or_current_time()), log)


def lines_on_what_stops_first_pass(source: MemberSource, fleet: NewFleet) -> Iterator[str]:
    """Yield how many problems stop every pass, and the lines for argosy.yaml that leave their files out.

    Only a person knows whether somebody applies these files, or whether they are samples or data of tests.
    """
    problems, home = fleet.after.problems_that_block, source.home.folder
    if not problems:
        return
    those_of_others = {file.path for file in source.files}.difference(fleet.files)
    paths = {problem.path for problem in problems} & those_of_others
    stop, them = ("stops", "it") if len(problems) == 1 else ("stop", "them")
    yield f"{counted_noun(len(problems), 'problem')} {stop} every pass: argosy validate names {them}"
    if paths:
        lines = (ignore_line_of(path, home, is_file=True) for path in sorted(paths))
        yield f"  are their files meant? If not, add them to spec.source.ignore of argosy.yaml: {', '.join(lines)}"


def first_pass_lines(outcome: Outcome) -> Iterator[str]:
    """Yield what a first pass places, what it cannot place, and what goes nowhere."""
    built = outcome.rendered.built
    placed = sum(bool(binding.targets or binding.required_by) for binding in built.bindings)
    if placed:
        clusters = first_few(sorted(outcome.rendered.tree.clusters))
        yield f"the first pass places {counted_noun(placed, 'object')} in {clusters}"
    if unplaced := len({each.ref for each in problems_by_object(outcome)}):
        yield f"{counted_noun(unplaced, 'object')} cannot be placed or built, as argosy validate says"
    unselected = unselected_templates(outcome.source.desired, {binding.ref for binding in built.bindings})
    if unselected:
        them = "it" if len(unselected) == 1 else "them"
        yield f"{counted_noun(len(unselected), 'object goes', 'objects go')} nowhere until a policy selects {them}"
