"""Objects that an override makes wrong: the schemas of their kinds are asked again, once for each class of clusters.

What clusters hold already, byte for byte, is only a warning, so that no fleet stops by an upgrade.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

from overrides.record import AppliedRule, RuleRun
from reconciler.console.log import Log
from reconciler.pipeline.assembly import TreeContext
from reconciler.source.schema_checks import SchemaChecks
from render.admission.findings import Findings
from render.bits import Mask, members
from render.errors import InputError, Problem
from render.fleet import TemplateValidation
from render.interpreter.pruning import pruned
from render.model import ObjectRef, Template
from render.words import listed
from render.works import Content, Works

from .outcome import Outcome


@dataclass(slots=True)
class _Mistake:
    """A finding that a rule causes, with its objects and clusters; ``is_kept``: the clusters hold them so already."""

    rule: AppliedRule
    finding: Problem
    refs: list[ObjectRef] = field(default_factory=list)
    clusters: Mask = 0
    is_kept: bool = True


class _Context(NamedTuple):
    checks: SchemaChecks
    tree: TreeContext


class RuleProblems(NamedTuple):
    """The problems of rules that make objects wrong, and those that are warnings only."""

    refused: tuple[Problem, ...] = ()
    warned: tuple[Problem, ...] = ()


def check_overridden(outcome: Outcome, log: Log) -> None:
    """Raise InputError for what overrides make of objects and no server would take; warn where that is not new."""
    found = overridden_problems(outcome)
    if found.refused:
        raise InputError(found.refused)
    for each in found.warned:
        log.warning(str(each))


def overridden_problems(outcome: Outcome) -> RuleProblems:
    """Return what overrides make of objects and no server would take."""
    fleet = outcome.source.desired.fleet
    if fleet.validation is TemplateValidation.OFF:
        return RuleProblems()
    index = outcome.rendered.built.index
    checks = SchemaChecks(lambda: index.clusters, outcome.source.desired.templates)
    previous = outcome.previous.tree if outcome.previous else None
    mistakes = _mistakes(outcome, _Context(checks, TreeContext(index=index, previous=previous)))
    if not mistakes:
        return RuleProblems()
    is_strict = fleet.validation is TemplateValidation.STRICT and checks.is_certain
    refused = [each for each in mistakes if is_strict and (not each.is_kept or fleet.source.is_strict)]
    if refused:
        return RuleProblems(refused=tuple(_problem(each, outcome) for each in refused))
    return RuleProblems(warned=tuple(_problem(each, outcome) for each in mistakes))


def _mistakes(outcome: Outcome, context: _Context) -> list[_Mistake]:
    """Return one mistake for each finding of a rule, however many objects it makes wrong."""
    templates = {template.ref: template for template in outcome.source.desired.templates}
    found: dict[tuple[Any, ...], _Mistake] = {}
    for ref, works in outcome.rendered.built.works.items():
        for content in works.contents:
            if not any(rule.overriders.may_harm for rule in cast("tuple[AppliedRule, ...]", content.applied)):
                continue
            for rule, finding in _new_findings(templates[ref], content, context.checks):
                key = (rule.origin, rule.rule, finding.field, finding.message)
                mistake = found.setdefault(key, _Mistake(rule, finding))
                mistake.refs += [ref] if ref not in mistake.refs else []
                mistake.clusters |= content.clusters
                mistake.is_kept &= _is_held(ref, works, content, context.tree)
    return list(found.values())


def _new_findings(template: Template, content: Content, checks: SchemaChecks) -> Iterator[tuple[AppliedRule, Problem]]:
    """Yield the findings that the template does not have, each with the first rule after which it is there."""
    findings = checks.findings(content.manifest).problems
    if not findings:
        return
    known = _keys(checks.findings(pruned(template.manifest)))
    runs = [(run.applied, _keys(checks.findings(pruned(run.after)))) for run in cast("list[RuleRun]", content.runs)]
    for finding in findings:
        key = (finding.field, finding.message)
        if key not in known:
            rules = [rule for rule, keys in runs if key in keys] or [rule for rule, _ in runs]
            yield rules[0], finding


def _keys(findings: Findings) -> set[tuple[str, str]]:
    return {(each.field, each.message) for each in findings.problems}


def _is_held(ref: ObjectRef, works: Works, content: Content, tree: TreeContext) -> bool:
    """Say whether all clusters of a class hold these very bytes already."""
    held = {(variant.id, index) for variant in tree.held(ref, content.clusters) for index in members(variant.clusters)}
    now = ((variant.id, index) for variant in works.variants for index in members(variant.clusters & content.clusters))
    return all(each in held for each in now)


def _problem(mistake: _Mistake, outcome: Outcome) -> Problem:
    """Return a mistake as a problem of the rule that makes it."""
    rule, finding, lines = mistake.rule, mistake.finding, outcome.source.lines
    names = [outcome.rendered.built.index.names[index] for index in members(mistake.clusters)]
    what = f"{finding.field}: {finding.message}" if finding.field else finding.message
    message = f"makes {listed(list(map(str, mistake.refs)))} wrong in {listed(names)}: {what}"
    path, document = rule.origin.path, rule.origin.document
    line = lines.line_of(path, document, rule.rule) if lines else 0
    return Problem(path, line, rule.rule, message, finding.hint, finding.kind)
