"""Objects as their clusters get them, checked against the schemas that these clusters have.

1. What an override makes of an object is checked once for each class of clusters; the problem is one of the rule.
2. A template may be right for some version of Kubernetes and wrong for that of a cluster it goes to: it has a field
   that this version does not know, or an API version that it does not serve. The problem is one of the template.
3. Of a kind that neither Kubernetes nor the source defines, the schema is the one that was observed in a cluster. Each
   may have another one, and what was not observed is not judged.
4. What clusters hold already, byte for byte, is only a warning, so that no fleet stops by an upgrade.

A cluster of unknown version may run any that has a schema; one that runs another has no schema to be judged by.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, cast

from overrides.record import AppliedRule, RuleRun
from reconciler.console.log import Log
from reconciler.pipeline.assembly import TreeContext
from reconciler.source.kubernetes_schemas import minor_version
from reconciler.source.observed_schemas import KindVersion, ObservedSchemas
from reconciler.source.schema_checks import EVERY_MINOR, NO_MINOR, SchemaChecks
from render.bits import Mask, members
from render.errors import InputError, Problem
from render.fleet import TemplateValidation
from render.interpreter.pruning import pruned
from render.model import Manifest, ObjectRef, Template
from render.words import listed
from render.works import Content, Works

from .outcome import Outcome

_Edition = int | str | None
"""The reason for the schema that clusters have of a kind: the minor version of Kubernetes that they run, None where it
is not known; or the digest of what was observed, of a custom kind.
"""


@dataclass(slots=True)
class _Mistake:
    """A finding with its cause (None: the template), its objects and clusters.

    ``is_kept``: the clusters hold them so already. ``is_certain``: there are schemas of the versions that they run.
    ``is_observed``: the schema is one that was observed in them; ``takers`` have another one, which takes the object.
    """

    rule: AppliedRule | None
    finding: Problem
    refs: list[ObjectRef] = field(default_factory=list)
    clusters: Mask = 0
    is_kept: bool = True
    is_certain: bool = True
    is_observed: bool = False
    takers: Mask = 0


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
        return SchemaChecks(lambda: clusters, self.outcome.source.desired.templates, self.outcome.schemas)

    @cached_property
    def _clusters_by_minor(self) -> Mapping[_Edition, Mask]:
        masks: defaultdict[_Edition, Mask] = defaultdict(int)
        for number, cluster in enumerate(self.outcome.rendered.built.index.clusters):
            masks[minor_version(cluster.kubernetes_version)] |= 1 << number
        return masks

    @cached_property
    def _clusters_by_digest(self) -> "_ByDigest":
        return _ByDigest(self.outcome.schemas, self.outcome.rendered.built.index.names)

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
                for edition, clusters in self._wrong_groups(template, content):
                    for rule, finding in _findings(template, content, edition if self._is_known(edition) else None):
                        cause = (rule.origin, rule.rule) if rule else ref
                        key = (cause, finding.field, finding.message)
                        mistake = found.setdefault(key, _Mistake(rule, finding))
                        mistake.refs += [ref] if ref not in mistake.refs else []
                        mistake.clusters |= clusters
                        mistake.is_kept &= _is_held(ref, works, clusters, self._tree)
                        mistake.is_certain &= self._is_known(edition)
                        if isinstance(edition, str):
                            mistake.is_observed = True
                            mistake.takers |= self._takers(template, content, finding)
        return list(found.values())

    def _wrong_groups(self, template: "_CheckedTemplate", content: Content) -> Iterator[tuple[_Edition, Mask]]:
        """Yield the clusters of a content by edition, but for versions of Kubernetes that take it as it is."""
        if template.is_custom:
            yield from _groups(self._clusters_by_digest.of(template.kind), content.clusters)
            return
        right = template.right_minors(content)
        if right == EVERY_MINOR:
            return
        for minor, clusters in _groups(self._clusters_by_minor, content.clusters):
            if minor not in right if minor is not None and self._is_known(minor) else not right:
                yield minor, clusters

    def _takers(self, template: "_CheckedTemplate", content: Content, finding: Problem) -> Mask:
        """Return the clusters of a content whose schema of its kind does not have a finding."""
        groups = _groups(self._clusters_by_digest.of(template.kind), content.clusters)
        return sum(mask for digest, mask in groups if _key(finding) not in _keys(template.after(content, digest)))

    def _is_known(self, edition: _Edition) -> bool:
        return not isinstance(edition, int) or self._checks.schemas.oldest <= edition <= self._checks.schemas.newest


class _ByDigest:
    """The clusters by the digest of the schema that they were observed to have of a kind."""

    def __init__(self, schemas: ObservedSchemas, names: Sequence[str]) -> None:
        self._schemas, self._names = schemas, names
        self._known: dict[KindVersion, Mapping[_Edition, Mask]] = {}

    def of(self, kind: KindVersion) -> Mapping[_Edition, Mask]:
        """Return the clusters by digest, without those that were not observed to have the kind."""
        if kind not in self._known:
            masks: defaultdict[_Edition, Mask] = defaultdict(int)
            for number, name in enumerate(self._names):
                if digest := self._schemas.digest(name, *kind):
                    masks[digest] |= 1 << number
            self._known[kind] = masks
        return self._known[kind]


def _groups(masks: Mapping[_Edition, Mask], clusters: Mask) -> Iterator[tuple[_Edition, Mask]]:
    for edition, mask in masks.items():
        if clusters & mask:
            yield edition, clusters & mask


class _CheckedTemplate:
    """A template, and what versions of Kubernetes find wrong with it (None: whatever version takes it)."""

    def __init__(self, template: Template, right: range, checks: SchemaChecks) -> None:
        self._manifest, self._right, self._checks = template.manifest, right, checks
        self.kind: KindVersion = template.versioned_kind
        self.is_custom = not checks.has_schema(template.ref.group, template.ref.kind)
        self._known: dict[_Edition, tuple[Problem, ...]] = {}

    def right_minors(self, content: Content) -> range:
        """Return the versions for which what rules made of the template is known to be right."""
        if not _is_harmed(content):
            return self._right
        verdict = self._checks.verdict(content.manifest)
        return NO_MINOR if verdict.findings.problems else verdict.right

    def findings(self, manifest: Manifest, edition: _Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with what rules made of the template."""
        if isinstance(edition, str):
            return tuple(self._checks.findings_by_digest(manifest, edition).problems)
        return tuple(self._checks.findings(manifest, edition).problems)

    def after(self, content: Content, edition: _Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with the template after its rules."""
        return self.findings(content.manifest, edition) if _is_harmed(content) else self.own(edition)

    def own(self, edition: _Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with the template itself."""
        if edition not in self._known:
            self._known[edition] = self.findings(pruned(self._manifest), edition)
        return self._known[edition]

    def own_at(self, edition: _Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with the template, and was not found when the template was read."""
        if isinstance(edition, str):
            return self.own(edition)
        if edition is None or edition in self._right or not self.own(edition):
            return ()
        known = _keys(self.own(None))
        return tuple(self._with_version(each, edition) for each in self.own(edition) if _key(each) not in known)

    def _with_version(self, finding: Problem, minor: int) -> Problem:
        """Name the next version that takes a field, where it has one."""
        if finding.kind != "Unknown":
            return finding
        later = range(minor + 1, self._checks.schemas.newest + 1)
        known = next((each for each in later if _key(finding) not in _keys(self.own(each))), None)
        return replace(finding, hint=f"Kubernetes has it from 1.{known} on") if known else finding


def _findings(
    template: _CheckedTemplate, content: Content, edition: _Edition
) -> Iterator[tuple[AppliedRule | None, Problem]]:
    """Yield what is wrong with an object in clusters of a version, each finding with the first rule that causes it."""
    if not _is_harmed(content):
        yield from ((None, finding) for finding in template.own_at(edition))
        return
    findings = template.findings(content.manifest, edition)
    if not findings:
        return
    own, late = _keys(template.own(edition)), _keys(template.own_at(edition))
    runs = cast("list[RuleRun]", content.runs)
    after = [(run.applied, _keys(template.findings(pruned(run.after), edition))) for run in runs]
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
        message = f"{finding.message}{_observed(mistake, outcome) or _running(mistake, outcome)}"
    else:
        path, document, where = mistake.rule.origin.path, mistake.rule.origin.document, mistake.rule.rule
        what = f"{finding.field}: {finding.message}" if finding.field else finding.message
        message = f"makes {listed(list(map(str, mistake.refs)))} wrong in {_names(mistake.clusters, outcome)}: {what}"
        message += ", by the schema observed there" if mistake.is_observed else ""
    line = lines.line_of(path, document, where) if lines else 0
    return Problem(path, line, where, message, finding.hint, finding.kind)


def _names(clusters: Mask, outcome: Outcome) -> str:
    return listed([outcome.rendered.built.index.names[number] for number in members(clusters)])


def _observed(mistake: _Mistake, outcome: Outcome) -> str:
    """Return where the schema was observed that finds a mistake, and where one that does not; "" for Kubernetes'."""
    if not mistake.is_observed:
        return ""
    kind = mistake.refs[0].group_kind
    said = f", by the schema of {kind} observed in {_names(mistake.clusters, outcome)}"
    return f"{said}; that of {_names(mistake.takers, outcome)} takes it" if mistake.takers else said


def _running(mistake: _Mistake, outcome: Outcome) -> str:
    """Return which clusters run the versions that find a mistake."""
    clusters = [outcome.rendered.built.index.clusters[number] for number in members(mistake.clusters)]
    names, verb = listed([each.name for each in clusters]), "runs" if len(clusters) == 1 else "run"
    versions = listed(sorted({each.kubernetes_version for each in clusters}))
    if mistake.finding.field == "apiVersion":
        return f", and {names} {verb} {versions}"
    return f" in Kubernetes {versions}, which {names} {verb}"
