"""A template beside what rules made of it: what schemas find wrong with each, and which rule is the cause."""

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple, cast

from msgspec.structs import replace

from overrides.record import AppliedRule, RuleRun
from reconciler.ledger.member_schemas import KindVersion
from reconciler.source.schemas.checks import NO_MINOR, SchemaChecks
from render.admission.findings import Findings
from render.admission.template_annotations import check_template_annotations
from render.errors import Problem
from render.interpreter.pruning import manifest_without_pruned_fields
from render.model import ARGOSY_GROUP, Manifest, ObjectRef, Template
from render.template_annotations import CONFLICT_RESOLUTION
from render.works import Content

Edition = int | str | None
"""The reason for the schema that clusters have of a kind: the minor version of Kubernetes that they run, None where it
is not known; or the digest of what was observed, of a custom kind.
"""


_READ_HERE = (f"{ARGOSY_GROUP}/", CONFLICT_RESOLUTION)
"""The beginnings of the names of annotations that are read here."""


class AttributedFinding(NamedTuple):
    """A finding about an object, and the rule that is its cause (None: the template).

    ``is_left``: the template is as wrong as it stands; ``left_by`` is the last rule that could have corrected it.
    ``is_advice``: no cluster refuses the object, and nothing else does.
    """

    finding: Problem
    rule: AppliedRule | None = None
    is_left: bool = False
    left_by: AppliedRule | None = None
    is_advice: bool = False

    def key(self, ref: ObjectRef) -> tuple[object, ...]:
        """Return what tells a mistake from others; of a rule it is one however many objects it makes wrong."""
        places = [(rule.origin, rule.rule) if rule else None for rule in (self.rule, self.left_by)]
        return (*places, None if self.rule else ref, self.finding.field, self.finding.message, self.is_left)


class CheckedTemplate:
    """A template, and what schemas find wrong with it.

    ``right`` are the minor versions of Kubernetes for which it is right; ``is_new``: nothing was said of it yet.
    """

    def __init__(self, template: Template, right: range, checks: SchemaChecks, *, is_new: bool) -> None:
        self._manifest, self._right, self._checks, self._is_new = template.manifest, right, checks, is_new
        self.kind: KindVersion = template.versioned_kind
        self.is_custom = not checks.has_schema(template.ref.group, template.ref.kind)
        self._known: dict[Edition, tuple[Problem, ...]] = {}

    def right_minors(self, content: Content) -> range:
        """Return the versions for which what rules made of the template is known to be right."""
        if not _may_be_harmed_by_rules(content):
            return self._right
        verdict = self._checks.verdict(content.manifest, known=self._ids_left_unchanged(content.manifest))
        if verdict.findings.problems or not self._right:
            return NO_MINOR if verdict.findings.problems else verdict.right
        return range(max(self._right.start, verdict.right.start), min(self._right.stop, verdict.right.stop))

    def _ids_left_unchanged(self, manifest: Manifest) -> frozenset[int]:
        """Return the ids of the objects that rules left as they are in the template, if that is right."""
        before = self._manifest
        if not self._right or manifest["apiVersion"] != before["apiVersion"]:
            return frozenset()
        known: set[int] = set()
        for name, each in manifest.items():
            other = before.get(name)
            if type(each) is dict and type(other) is dict:
                parts = [each] if each == other else [part for key, part in each.items() if part == other.get(key)]
                known.update(id(part) for part in parts if type(part) is dict)
        return frozenset(known)

    def findings(self, manifest: Manifest, edition: Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with what rules made of the template."""
        if isinstance(edition, str):
            return tuple(self._checks.findings_by_digest(manifest, edition).problems)
        return tuple(self._checks.findings(manifest, edition).problems)

    def problems_after_rules(self, content: Content, edition: Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with the template after its rules."""
        return (
            self.findings(content.manifest, edition)
            if _may_be_harmed_by_rules(content)
            else self.problems_of_template(edition)
        )

    def problems_of_template(self, edition: Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with the template itself."""
        if edition not in self._known:
            self._known[edition] = self.findings(manifest_without_pruned_fields(self._manifest), edition)
        return self._known[edition]

    def problems_found_later(self, edition: Edition) -> tuple[Problem, ...]:
        """Return what a schema finds wrong with the template, and was not found when the template was read."""
        if isinstance(edition, str):
            return self.problems_of_template(edition)
        if edition is None or edition in self._right or not self.problems_of_template(edition):
            return ()
        known = _keys_of_findings(self.problems_of_template(None))
        return tuple(
            self._finding_with_next_version(each, edition)
            for each in self.problems_of_template(edition)
            if _key_of_finding(each) not in known
        )

    def findings_with_rules(self, content: Content, edition: Edition) -> Iterator[AttributedFinding]:
        """Yield what is wrong with an object in clusters of an edition, each finding with the rule that causes it."""
        if not _may_be_harmed_by_rules(content):
            findings = self.findings(content.manifest, edition) if self._is_new else self.problems_found_later(edition)
            yield from (AttributedFinding(finding, is_left=self._is_wrong_in_template(finding)) for finding in findings)
            return
        findings = self.findings(content.manifest, edition)
        if not findings:
            return
        own, late = (
            _keys_of_findings(self.problems_of_template(edition)),
            _keys_of_findings(self.problems_found_later(edition)),
        )
        runs = [run for run in cast("list[RuleRun]", content.runs) if run.applied.overriders.may_harm]
        after = [
            (run.applied, _keys_of_findings(self.findings(manifest_without_pruned_fields(run.after), edition)))
            for run in runs
        ]
        for finding in findings:
            key = _key_of_finding(finding)
            if key not in own:
                yield AttributedFinding(finding, next((rule for rule, keys in after if key in keys), after[0][0]))
            elif self._is_wrong_in_template(finding):
                yield AttributedFinding(finding, is_left=True, left_by=after[-1][0])
            elif self._is_new or key in late:
                yield AttributedFinding(finding)

    def annotation_causes(self, content: Content) -> Iterator[AttributedFinding]:
        """Yield what is wrong with annotations for Argosy that rules wrote, each finding with the rule that did."""
        if not _is_annotated_for_argosy(content.manifest) or _annotations_of_manifest(
            content.manifest
        ) == _annotations_of_manifest(self._manifest):
            return
        own = {_key_of_finding(each) for each, _ in _annotation_findings(self._manifest)}
        runs = cast("list[RuleRun]", content.runs)
        for finding, is_refused in _annotation_findings(content.manifest):
            key = _key_of_finding(finding)
            if key not in own:
                first = (
                    run.applied
                    for run in runs
                    if key in {_key_of_finding(each) for each, _ in _annotation_findings(run.after)}
                )
                yield AttributedFinding(finding, next(first, None), is_advice=not is_refused)

    def _is_wrong_in_template(self, finding: Problem) -> bool:
        """Say whether the template is wrong as it stands, whatever version takes it, and nobody has said so."""
        return self._is_new and has_finding(self.problems_of_template(None), finding)

    def _finding_with_next_version(self, finding: Problem, minor: int) -> Problem:
        """Name the next version that takes a field, where it has one."""
        if finding.kind != "Unknown":
            return finding
        later = range(minor + 1, self._checks.schemas.newest + 1)
        known = next(
            (
                each
                for each in later
                if _key_of_finding(finding) not in _keys_of_findings(self.problems_of_template(each))
            ),
            None,
        )
        return replace(finding, hint=f"Kubernetes has it from 1.{known} on") if known else finding


def _annotations_of_manifest(manifest: Manifest) -> Mapping[str, str]:
    return manifest["metadata"].get("annotations") or {}


def _is_annotated_for_argosy(manifest: Manifest) -> bool:
    """Say whether an annotation is for Argosy: of a thousand clusters' objects, hardly any has one."""
    annotations = manifest["metadata"].get("annotations")
    return bool(annotations) and any(name.startswith(_READ_HERE) for name in annotations)


def _annotation_findings(manifest: Manifest) -> list[tuple[Problem, bool]]:
    """Return what is wrong with annotations for Argosy, each finding with whether it is refused in a template."""
    findings = Findings()
    check_template_annotations(manifest, findings)
    return [*((each, True) for each in findings.problems), *((each, False) for each in findings.warnings)]


def _may_be_harmed_by_rules(content: Content) -> bool:
    """Say whether a rule may have made an object wrong."""
    return any(rule.overriders.may_harm for rule in cast("tuple[AppliedRule, ...]", content.applied))


def _key_of_finding(finding: Problem) -> tuple[str, str]:
    return finding.field, finding.message


def _keys_of_findings(findings: Iterable[Problem]) -> set[tuple[str, str]]:
    return set(map(_key_of_finding, findings))


def has_finding(findings: Iterable[Problem], finding: Problem) -> bool:
    """Say whether a finding is among others."""
    return _key_of_finding(finding) in _keys_of_findings(findings)
