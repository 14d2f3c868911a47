"""Warnings about override policies that can be used but are probably mistaken, found before anything is rendered.

Some mistakes show in the policies themselves; for the others every rule is tried on every template it selects, in every
class of clusters.
"""

from collections.abc import Callable, Iterable, Sequence

from overrides.errors import LintFinding
from overrides.policy import OverridePolicy
from render.cluster import Cluster
from render.cluster_index import ClusterIndex
from render.errors import Problem
from render.model import Template

from .conflicts import conflict_findings
from .edits import findings_of_overriders_alone
from .selectors import sealed_selections, unmatched_selectors, unmatched_targets
from .trials import effect_findings, trials_of

LineOf = Callable[[str, int, str], int]
"""A function that finds the line of a field: file, document in the file, field path -> line (0 if unknown)."""


def lint_overrides(
    policies: Sequence[OverridePolicy],
    templates: Sequence[Template],
    clusters: Iterable[Cluster],
    *,
    line_of: LineOf | None = None,
    charts: Sequence[Template] = (),
) -> tuple[Problem, ...]:
    """Return the warnings about override policies, given the templates, charts and clusters they meet, sorted."""
    index = ClusterIndex(clusters)
    trials = trials_of(policies, templates, index)
    certain = [*unmatched_targets(policies, index), *findings_of_overriders_alone(policies)]
    known = {(finding.origin, finding.field) for finding in certain}
    findings = [
        *certain,
        *unmatched_selectors(policies, [*templates, *charts], index),
        *sealed_selections(policies, templates),
        *(finding for finding in effect_findings(trials) if (finding.origin, finding.field) not in known),
        *conflict_findings(trials, index),
    ]
    return tuple(sorted({_problem_of_finding(finding, line_of) for finding in findings}))


def _problem_of_finding(finding: LintFinding, line_of: LineOf | None) -> Problem:
    origin, field = finding.origin, finding.field
    line = line_of(origin.path, origin.document, field) if line_of else 0
    return Problem(origin.path, line, field, finding.message, finding.hint)
