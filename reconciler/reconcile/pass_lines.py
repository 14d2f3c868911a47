"""A pass in the lines that people read: the commit it made, and what they should look at."""

from reconciler.publish.problems import problems_of
from render.words import counted

from .reconcile_pass import PassResult


def warning_lines(result: PassResult) -> tuple[str, ...]:
    """Return a line for each warning of an outcome, and for each object that could not be placed or built."""
    return (*result.outcome.warnings, *map(str, problems_of(result.outcome)))


def commit_line(result: PassResult, *, dry_run: bool) -> str:
    """Return the line that says which commit the fleet is at, or would be."""
    outcome = result.outcome
    branch, source = outcome.source.desired.fleet.rendered_branch, outcome.source.commit[:12]
    if not outcome.changed:
        tip = outcome.previous.commit[:12] if outcome.previous else ""
        return f"unchanged: {branch} {tip} holds source {source}"
    what = f"source {source} for {counted(len(outcome.rendered.tree.clusters), 'cluster')}"
    place = result.publication.place
    where = f"{branch} at {place}" if place else branch
    if dry_run:
        return f"would commit {what} to {where}"
    return f"committed {str(result.commit)[:12]} to {where}: {what}"
