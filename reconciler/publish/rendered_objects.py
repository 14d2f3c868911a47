"""Objects as their clusters get them, checked against the schemas of the versions that these clusters run.

1. What an override makes of an object is checked once for each class of clusters; the problem is one of the rule.
2. A template may be right for some version of Kubernetes and wrong for that of a cluster it goes to: it has a field
   that this version does not know, or an API version that it does not serve. The problem is one of the template.
3. What clusters hold already, byte for byte, is only a warning, so that no fleet stops by an upgrade.

A cluster of unknown version may run any that has a schema; one that runs another has no schema to be judged by.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

from overrides.record import AppliedRule, RuleRun
from reconciler.console.log import Log
from reconciler.pipeline.assembly import TreeContext
from reconciler.source.kubernetes_schemas import minor_version
from reconciler.source.schema_checks import EVERY_MINOR, NO_MINOR, SchemaChecks
from render.bits import Mask, members
from render.errors import InputError, Problem
from render.fleet import TemplateValidation
from render.interpreter.pruning import pruned
from render.model import Manifest, ObjectRef, Template
from render.words import listed
from render.works import Content, Works

from .outcome import Outcome

_Minor = int | None
"""The minor version of Kubernetes that clusters run; None where it is not known."""


@dataclass(slots=True)
class _Mistake:
    """A finding with its cause (None: the template), its objects and clusters.

    ``is_kept``: the clusters hold them so already. ``is_certain``: there are schemas of the versions that they run.
    """

    rule: AppliedRule | None
    finding: Problem
    refs: list[ObjectRef] = field(default_factory=list)
    clusters: Mask = 0
    is_kept: bool = True
    is_certain: bool = True


class RenderedProblems(NamedTuple):
    """The problems of objects as clusters get them, and those that are warnings only."""

    refused: tuple[Problem, ...] = ()
    warned: tuple[Problem, ...] = ()


def check_rendered(outcome: Outcome, log: Log) -> None:
    """Raise InputError for objects that their clusters would refuse; warn of those that are not new.

    A first run takes templates as they stand.
    """
    found = rendered_problems(outcome, is_first_excused=True)
    if found.refused:
        raise InputError(found.refused)
    for each in found.warned:
        log.warning(str(each))


def rendered_problems(outcome: Outcome, *, is_first_excused: bool = False) -> RenderedProblems:
    """Return the problems of objects that their clusters would refuse."""
    fleet = outcome.source.desired.fleet
    if fleet.validation is TemplateValidation.OFF:
        return RenderedProblems()
    mistakes = _RenderedChecks(outcome).mistakes()
    is_strict = fleet.validation is TemplateValidation.STRICT
    is_excused = is_first_excused and outcome.previous is None
    refused = [
        each
        for each in mistakes
        if is_strict
        and each.is_certain
        and (not each.is_kept or fleet.source.is_strict)
        and not (is_excused and each.rule is None)
    ]
    if refused:
        return RenderedProblems(refused=tuple(sorted(_problem(each, outcome) for each in refused)))
    return RenderedProblems(warned=tuple(sorted(_problem(each, outcome) for each in mistakes)))


@dataclass(frozen=True)
class _RenderedChecks:
    """The checks of one outcome."""

    outcome: Outcome

    @cached_property
    def _checks(self) -> SchemaChecks:
        clusters = self.outcome.rendered.built.index.clusters
        return SchemaChecks(lambda: clusters, self.outcome.source.desired.templates)

    @cached_property
    def _clusters_by_minor(self) -> Mapping[_Minor, Mask]:
        masks: defaultdict[_Minor, Mask] = defaultdict(int)
        for number, cluster in enumerate(self.outcome.rendered.built.index.clusters):
            masks[minor_version(cluster.kubernetes_version)] |= 1 << number
        return masks

    @cached_property
    def _tree(self) -> TreeContext:
        previous = self.outcome.previous
        return TreeContext(index=self.outcome.rendered.built.index, previous=previous.tree if previous else None)

    def mistakes(self) -> list[_Mistake]:
        """Return one mistake for each finding of a rule, however many objects it makes wrong, and of a template."""
        desired = self.outcome.source.desired
        templates = {template.ref: template for template in desired.templates}
        found: dict[tuple[Any, ...], _Mistake] = {}
        for ref, works in self.outcome.rendered.built.works.items():
            right = desired.right_minors.get(ref, EVERY_MINOR)
            template = _CheckedTemplate(templates[ref], right, self._checks)
            for content in works.contents:
                for minor, clusters in self._wrong_groups(template, content):
                    for rule, finding in _findings(template, content, minor if self._is_known(minor) else None):
                        cause = (rule.origin, rule.rule) if rule else ref
                        key = (cause, finding.field, finding.message)
                        mistake = found.setdefault(key, _Mistake(rule, finding))
                        mistake.refs += [ref] if ref not in mistake.refs else []
                        mistake.clusters |= clusters
                        mistake.is_kept &= _is_held(ref, works, clusters, self._tree)
                        mistake.is_certain &= self._is_known(minor)
        return list(found.values())

    def _wrong_groups(self, template: "_CheckedTemplate", content: Content) -> Iterator[tuple[_Minor, Mask]]:
        """Yield the clusters of a content by version, but for those versions that take it as it is."""
        right = template.right_minors(content)
        if right == EVERY_MINOR:
            return
        for minor, clusters in self._groups(content.clusters):
            if minor not in right if minor is not None and self._is_known(minor) else not right:
                yield minor, clusters

    def _groups(self, clusters: Mask) -> Iterator[tuple[_Minor, Mask]]:
        for minor, mask in self._clusters_by_minor.items():
            if clusters & mask:
                yield minor, clusters & mask

    def _is_known(self, minor: _Minor) -> bool:
        return minor is None or self._checks.schemas.oldest <= minor <= self._checks.schemas.newest


class _CheckedTemplate:
    """A template, and what versions of Kubernetes find wrong with it (None: whatever version takes it)."""

    def __init__(self, template: Template, right: range, checks: SchemaChecks) -> None:
        self._manifest, self._right, self._checks = template.manifest, right, checks
        self._known: dict[_Minor, tuple[Problem, ...]] = {}

    def right_minors(self, content: Content) -> range:
        """Return the versions for which what rules made of the template is known to be right."""
        if not _is_harmed(content):
            return self._right
        verdict = self._checks.verdict(content.manifest)
        return NO_MINOR if verdict.findings.problems else verdict.right

    def findings(self, manifest: Manifest, minor: _Minor) -> tuple[Problem, ...]:
        """Return what a version finds wrong with what rules made of the template."""
        return tuple(self._checks.findings(manifest, minor).problems)

    def own(self, minor: _Minor) -> tuple[Problem, ...]:
        """Return what a version finds wrong with the template itself."""
        if minor not in self._known:
            self._known[minor] = self.findings(pruned(self._manifest), minor)
        return self._known[minor]

    def own_at(self, minor: _Minor) -> tuple[Problem, ...]:
        """Return what a version finds wrong with the template, and was not found when the template was read."""
        if minor is None or minor in self._right or not self.own(minor):
            return ()
        known = _keys(self.own(None))
        return tuple(self._with_version(each, minor) for each in self.own(minor) if _key(each) not in known)

    def _with_version(self, finding: Problem, minor: int) -> Problem:
        """Name the next version that takes a field, where it has one."""
        if finding.kind != "Unknown":
            return finding
        later = range(minor + 1, self._checks.schemas.newest + 1)
        known = next((each for each in later if _key(finding) not in _keys(self.own(each))), None)
        return replace(finding, hint=f"Kubernetes has it from 1.{known} on") if known else finding


def _findings(
    template: _CheckedTemplate, content: Content, minor: _Minor
) -> Iterator[tuple[AppliedRule | None, Problem]]:
    """Yield what is wrong with an object in clusters of a version, each finding with the first rule that causes it."""
    if not _is_harmed(content):
        yield from ((None, finding) for finding in template.own_at(minor))
        return
    findings = template.findings(content.manifest, minor)
    if not findings:
        return
    own, late = _keys(template.own(minor)), _keys(template.own_at(minor))
    runs = cast("list[RuleRun]", content.runs)
    after = [(run.applied, _keys(template.findings(pruned(run.after), minor))) for run in runs]
    for finding in findings:
        key = _key(finding)
        if key not in own:
            yield next((rule for rule, keys in after if key in keys), after[0][0]), finding
        elif key in late:
            yield None, finding


def _is_harmed(content: Content) -> bool:
    """Say whether a rule may have made an object wrong."""
    return any(rule.overriders.may_harm for rule in cast("tuple[AppliedRule, ...]", content.applied))


def _key(finding: Problem) -> tuple[str, str]:
    return finding.field, finding.message


def _keys(findings: Iterable[Problem]) -> set[tuple[str, str]]:
    return set(map(_key, findings))


def _is_held(ref: ObjectRef, works: Works, clusters: Mask, tree: TreeContext) -> bool:
    """Say whether all these clusters hold these very bytes already."""
    held = {(variant.id, index) for variant in tree.held(ref, clusters) for index in members(variant.clusters)}
    now = ((variant.id, index) for variant in works.variants for index in members(variant.clusters & clusters))
    return all(each in held for each in now)


def _problem(mistake: _Mistake, outcome: Outcome) -> Problem:
    """Return a mistake as a problem of the rule that makes it, or of the template."""
    finding, lines = mistake.finding, outcome.source.lines
    if mistake.rule is None:
        (template,) = (each for each in outcome.source.desired.templates if each.ref == mistake.refs[0])
        path, document, where = template.path, template.document, finding.field
        message = f"{finding.message}{_running(mistake, outcome)}"
    else:
        names = [outcome.rendered.built.index.names[number] for number in members(mistake.clusters)]
        path, document, where = mistake.rule.origin.path, mistake.rule.origin.document, mistake.rule.rule
        what = f"{finding.field}: {finding.message}" if finding.field else finding.message
        message = f"makes {listed(list(map(str, mistake.refs)))} wrong in {listed(names)}: {what}"
    line = lines.line_of(path, document, where) if lines else 0
    return Problem(path, line, where, message, finding.hint, finding.kind)


def _running(mistake: _Mistake, outcome: Outcome) -> str:
    """Return which clusters run the versions that find a mistake."""
    clusters = [outcome.rendered.built.index.clusters[number] for number in members(mistake.clusters)]
    names, verb = listed([each.name for each in clusters]), "runs" if len(clusters) == 1 else "run"
    versions = listed(sorted({each.kubernetes_version for each in clusters}))
    if mistake.finding.field == "apiVersion":
        return f", and {names} {verb} {versions}"
    return f" in Kubernetes {versions}, which {names} {verb}"
