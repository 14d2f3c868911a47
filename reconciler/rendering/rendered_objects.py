"""Objects as their clusters get them, checked against the schemas that these clusters have.

1. What an override makes of an object is checked once for each class of clusters; the problem is one of the rule.
2. A template may be right for some version of Kubernetes and wrong for that of a cluster it goes to: it has a field
   that this version does not know, or an API version that it does not serve. The problem is one of the template.
   So is what a rule could have corrected in a template, and left as wrong as it was.
3. Of a kind that neither Kubernetes nor the source defines, the schema is the one that was observed in a cluster. Each
   may have another one, and what was not observed is not judged.
4. What annotations say to Argosy is read of what a cluster gets, so those that a rule writes are checked as those of a
   template are.
5. What clusters hold already, byte for byte, is only a warning, so that no fleet stops by an upgrade.

A cluster of unknown version may run any that has a schema; one that runs another has no schema to be judged by.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import Struct, field

from reconciler.console.log import Log
from reconciler.ledger.member_schemas import KindVersion
from reconciler.pipeline.assembly import TreeContext
from reconciler.source.lines import template_problem
from reconciler.source.schemas.checks import EVERY_MINOR, SchemaChecks
from reconciler.source.schemas.kubernetes import minor_version
from reconciler.source.schemas.observed import ObservedSchemas
from render.bits import Mask, indexes_of_mask
from render.errors import InputError, Problem
from render.model import ObjectRef, Template
from render.settings.switches import TemplateValidation
from render.words import first_few
from render.works import Content, Works

from .checked_templates import AttributedFinding, CheckedTemplate, Edition, has_finding
from .outcome import Outcome


class _Mistake(Struct):
    """A finding with its cause (None: the template), its objects and clusters.

    ``is_kept``: the clusters hold them so already. ``is_certain``: there are schemas of the versions that they run.
    ``is_observed``: the schema is one that was observed in them; ``takers`` have another one, which takes the object.
    """

    cause: AttributedFinding
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


def refuse_objects_clusters_reject(outcome: Outcome, log: Log) -> None:
    """Raise InputError for objects that their clusters would refuse; warn of those that are not new.

    A first run takes templates as they stand.
    """
    found = problems_of_rendered_objects(outcome, is_first_excused=True)
    if found.refused:
        raise InputError(found.refused)
    log.warn_of(found.warned)


def problems_of_rendered_objects(outcome: Outcome, *, is_first_excused: bool = False) -> RenderedProblems:
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
        and not (is_excused and each.cause.rule is None)
    ]
    if refused:
        return RenderedProblems(refused=tuple(sorted(_problem_of_mistake(each, outcome) for each in refused)))
    return RenderedProblems(warned=tuple(sorted(_problem_of_mistake(each, outcome) for each in mistakes)))


class _RenderedChecks(Struct, frozen=True, dict=True):
    """The checks of one outcome."""

    outcome: Outcome

    @cached_property
    def _schema_checks(self) -> SchemaChecks:
        clusters = self.outcome.rendered.built.index.clusters
        return SchemaChecks(lambda: clusters, self.outcome.source.desired.templates, self.outcome.schemas)

    @cached_property
    def _clusters_by_minor(self) -> Mapping[Edition, Mask]:
        masks: defaultdict[Edition, Mask] = defaultdict(int)
        for number, cluster in enumerate(self.outcome.rendered.built.index.clusters):
            masks[minor_version(cluster.kubernetes_version)] |= 1 << number
        return masks

    @cached_property
    def _clusters_by_digest(self) -> "_ByDigest":
        return _ByDigest(self.outcome.schemas, self.outcome.rendered.built.index.names)

    @cached_property
    def _previous_tree_context(self) -> TreeContext:
        previous = self.outcome.previous
        return TreeContext(index=self.outcome.rendered.built.index, previous=previous.tree if previous else None)

    def mistakes(self) -> list[_Mistake]:
        """Return one mistake for each finding of a rule, however many objects it makes wrong, and of a template."""
        desired = self.outcome.source.desired
        templates = {template.ref: template for template in desired.templates}
        found: dict[tuple[Any, ...], _Mistake] = {}
        made = ((ref, works) for ref, works in self.outcome.rendered.built.works.items() if ref in templates)
        for ref, works in made:  # what leaves wave by wave has no template any more
            template = self._check_template(templates[ref])
            for content in works.contents:
                for cause, edition, clusters in self._causes_with_clusters(template, content):
                    mistake = found.setdefault(cause.key(ref), _Mistake(cause))
                    mistake.refs += [ref] if ref not in mistake.refs else []
                    mistake.clusters |= clusters
                    mistake.is_kept &= _is_in_previous_tree(ref, works, clusters, self._previous_tree_context)
                    mistake.is_certain &= self._is_known(edition) and not cause.is_advice
                    if isinstance(edition, str):
                        mistake.is_observed = True
                        mistake.takers |= self._clusters_without_finding(template, content, cause.finding)
        return [*found.values(), *self._mistakes_delivered_nowhere(templates)]

    def _causes_with_clusters(
        self, template: CheckedTemplate, content: Content
    ) -> Iterator[tuple[AttributedFinding, Edition, Mask]]:
        """Yield what is wrong with a content, each finding with its cause, and with the clusters of an edition."""
        for edition, clusters in self._clusters_to_check_by_edition(template, content):
            for cause in template.findings_with_rules(content, edition if self._is_known(edition) else None):
                yield cause, edition, clusters
        for cause in template.annotation_causes(content):
            yield cause, None, content.clusters

    def _check_template(self, template: Template) -> CheckedTemplate:
        desired = self.outcome.source.desired
        right = desired.right_minors.get(template.ref, EVERY_MINOR)
        return CheckedTemplate(template, right, self._schema_checks, is_new=template.ref in desired.judged_by_clusters)

    def _mistakes_delivered_nowhere(self, templates: Mapping[ObjectRef, Template]) -> Iterator[_Mistake]:
        """Yield what is wrong with templates that an override could correct, and that go to no cluster."""
        if self.outcome.scope is not None:
            return
        for ref in sorted(self.outcome.source.desired.judged_by_clusters - self.outcome.rendered.built.works.keys()):
            yield from (
                _Mistake(AttributedFinding(finding), [ref])
                for finding in self._check_template(templates[ref]).problems_of_template(None)
            )

    def _clusters_to_check_by_edition(
        self, template: CheckedTemplate, content: Content
    ) -> Iterator[tuple[Edition, Mask]]:
        """Yield the clusters of a content by edition, but for versions of Kubernetes that take it as it is."""
        if template.is_custom:
            yield from _present_clusters_by_edition(self._clusters_by_digest.of(template.kind), content.clusters)
            return
        right = template.right_minors(content)
        if right == EVERY_MINOR:
            return
        for minor, clusters in _present_clusters_by_edition(self._clusters_by_minor, content.clusters):
            if minor not in right if minor is not None and self._is_known(minor) else not right:
                yield minor, clusters

    def _clusters_without_finding(self, template: CheckedTemplate, content: Content, finding: Problem) -> Mask:
        """Return the clusters of a content whose schema of its kind does not have a finding."""
        groups = _present_clusters_by_edition(self._clusters_by_digest.of(template.kind), content.clusters)
        return sum(
            mask for digest, mask in groups if not has_finding(template.problems_after_rules(content, digest), finding)
        )

    def _is_known(self, edition: Edition) -> bool:
        return (
            not isinstance(edition, int)
            or self._schema_checks.schemas.oldest <= edition <= self._schema_checks.schemas.newest
        )


class _ByDigest:
    """The clusters by the digest of the schema that they were observed to have of a kind."""

    def __init__(self, schemas: ObservedSchemas, names: Sequence[str]) -> None:
        self._schemas, self._names = schemas, names
        self._known: dict[KindVersion, Mapping[Edition, Mask]] = {}

    def of(self, kind: KindVersion) -> Mapping[Edition, Mask]:
        """Return the clusters by digest, without those that were not observed to have the kind."""
        if kind not in self._known:
            masks: defaultdict[Edition, Mask] = defaultdict(int)
            for number, name in enumerate(self._names):
                if digest := self._schemas.digest(name, *kind):
                    masks[digest] |= 1 << number
            self._known[kind] = masks
        return self._known[kind]


def _present_clusters_by_edition(masks: Mapping[Edition, Mask], clusters: Mask) -> Iterator[tuple[Edition, Mask]]:
    for edition, mask in masks.items():
        if clusters & mask:
            yield edition, clusters & mask


def _is_in_previous_tree(ref: ObjectRef, works: Works, clusters: Mask, tree: TreeContext) -> bool:
    """Say whether all these clusters hold these very bytes already."""
    there = {
        (variant.id, index)
        for variant in tree.variants_of(ref, clusters)
        for index in indexes_of_mask(variant.clusters)
    }
    now = ((variant.id, index) for variant in works.variants for index in indexes_of_mask(variant.clusters & clusters))
    return all(each in there for each in now)


def _problem_of_mistake(mistake: _Mistake, outcome: Outcome) -> Problem:
    """Return a mistake as a problem of the rule that makes it, or of the template."""
    rule, finding, lines = mistake.cause.rule, mistake.cause.finding, outcome.source.lines
    if rule is None:
        (template,) = (each for each in outcome.source.desired.templates if each.ref == mistake.refs[0])
        message = f"{finding.message}{_where_refused_in_words(mistake, outcome)}"
        problem = Problem(template.path, 0, finding.field, message, finding.hint, finding.kind)
        return template_problem(template, problem, lines.line_of if lines else None)
    path, document, where = rule.origin.path, rule.origin.document, rule.rule
    what = f"{finding.field}: {finding.message}" if finding.field else finding.message
    message = (
        f"makes {first_few(list(map(str, mistake.refs)))} wrong in {_cluster_names(mistake.clusters, outcome)}: {what}"
    )
    message += ", by the schema observed there" if mistake.is_observed else ""
    line = lines.line_of(path, document, where) if lines else 0
    return Problem(path, line, where, message, finding.hint, finding.kind)


def _cluster_names(clusters: Mask, outcome: Outcome) -> str:
    return first_few([outcome.rendered.built.index.names[number] for number in indexes_of_mask(clusters)])


def _where_refused_in_words(mistake: _Mistake, outcome: Outcome) -> str:
    """Return which clusters refuse a template, and why, as the end of what is wrong with it."""
    if not mistake.clusters:
        return ""
    if mistake.is_observed:
        return _where_observed_in_words(mistake, outcome)
    return (
        _where_left_wrong_in_words(mistake, outcome)
        if mistake.cause.is_left
        else _versions_run_in_words(mistake, outcome)
    )


def _where_left_wrong_in_words(mistake: _Mistake, outcome: Outcome) -> str:
    """Return which clusters get a template as wrong as it is, and the rule that could have corrected it."""
    rule, names = mistake.cause.left_by, _cluster_names(mistake.clusters, outcome)
    if rule is None:
        return f" in {names}, where no override changes that"
    return f" in {names}, also after {rule.rule} of {rule.policy}"


def _where_observed_in_words(mistake: _Mistake, outcome: Outcome) -> str:
    """Return where the schema was observed that finds a mistake, and where one that does not."""
    kind = mistake.refs[0].group_kind
    said = f", by the schema of {kind} observed in {_cluster_names(mistake.clusters, outcome)}"
    return f"{said}; that of {_cluster_names(mistake.takers, outcome)} takes it" if mistake.takers else said


def _versions_run_in_words(mistake: _Mistake, outcome: Outcome) -> str:
    """Return which clusters run the versions that find a mistake."""
    clusters = [outcome.rendered.built.index.clusters[number] for number in indexes_of_mask(mistake.clusters)]
    names, verb = first_few([each.name for each in clusters]), "runs" if len(clusters) == 1 else "run"
    versions = first_few(sorted({each.kubernetes_version for each in clusters}))
    if mistake.cause.finding.field == "apiVersion":
        return f", and {names} {verb} {versions}"
    return f" in Kubernetes {versions}, which {names} {verb}"
