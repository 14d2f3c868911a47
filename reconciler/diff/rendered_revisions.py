"""Rendered commits beside the sources that are compared: named by mistake, or different from what the sources say."""

from reconciler.branches.publication import publication_of
from reconciler.branches.reading import read_observed_inputs, read_previous
from reconciler.console.clock import given_or_current_time
from reconciler.console.log import Log
from reconciler.pipeline.previous import Previous
from reconciler.rendering.inputs import RenderInputs
from reconciler.rendering.outcome import Outcome, run_pass
from reconciler.repository import Repository
from reconciler.repository.trailers import source_of_rendered_commit
from render.errors import ConfigError, InputError

from .comparison import Comparison
from .past import last_render_before


def refuse_rendered_commits(repository: Repository, commit_by_revision: dict[str, str]) -> None:
    """Refuse to compare rendered commits as if they were sources: ConfigError names the sources of what was meant.

    ``commit_by_revision`` has the commits by the words that people gave for them.
    """
    sources = {words: source_of_rendered_commit(repository, commit) for words, commit in commit_by_revision.items()}
    rendered = {words: source for words, source in sources.items() if source}
    for words, source in rendered.items():
        meant = " ".join((rendered.get(each) or commit_by_revision[each])[:12] for each in commit_by_revision)
        hint = f"argosy diff {meant} compares the sources"
        if len(rendered) == len(commit_by_revision) > 1:
            before, after = (commit[:12] for commit in commit_by_revision.values())
            hint += f"; git diff {before} {after} -- clusters bindings shows what passes rendered"
        raise ConfigError(f"{words} is a rendered commit, made from source {source[:12]}", hint=hint)


def words_about_rendered_difference(comparison: Comparison, log: Log) -> str:
    """Return a warning where passes rendered other trees for two sources than a difference of these explains.

    Decisions that passes made in between go on, such as those of a drain that was taken back: a pass over a source that
    asks for nothing else commits nothing. It is empty where no pass rendered the base, where one over the head would
    still commit something, and where all rendered the same.
    """
    repository, base, head = comparison.head.repository, comparison.base.source, comparison.head.source
    if comparison.base.previous is None or not (base.commit and head.commit):
        return ""
    fleet = head.desired.fleet
    tip = publication_of(repository, fleet).known_tip(fleet.rendered_branch)
    if tip is None:
        return ""
    commits = [last_render_before(repository, tip, each.commit).commit for each in (base, head)]
    if not all(commits):
        return ""
    before, after = (read_previous(repository, commit) for commit in commits)
    if before.source != base.commit or before.tree.clusters == after.tree.clusters:
        return ""
    if after.source != head.commit and not _is_rendered_by(after, comparison.head, log):
        return ""
    command = f"git diff {commits[0][:12]} {commits[1][:12]} -- clusters bindings"
    return (
        "passes rendered other trees for these two sources, for what they decided in between goes on"
        f"\n  hint: {command} shows it; argosy rebalance has replicas placed afresh"
    )


def _is_rendered_by(rendered: Previous, head: Outcome, log: Log) -> bool:
    """Say whether a pass over a source would leave a rendered commit as it is; one that is refused would not."""
    observed = read_observed_inputs(head.repository, rendered.commit)
    inputs = RenderInputs(observed=observed, now=given_or_current_time())
    try:
        return not run_pass(head.repository, head.source, rendered, inputs, log).is_changed
    except InputError:
        return False
