"""Every rule tried on every template it selects, in every class of clusters: its effects, and the rules beside it.

Findings are the edits that can be applied to none of the objects, change none of them, or damage some.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from overrides.draft import Draft
from overrides.edits import CompiledEdit
from overrides.engine import Overridden, OverrideEngine
from overrides.errors import LintFinding, PolicyOrigin, Refused
from overrides.overriders.overrider_type import Complaint
from overrides.policy import OverridePolicy
from overrides.record import AppliedRule
from overrides.rules import CompiledRule, compile_recorded_rule
from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.model import Manifest, ObjectRef, Template
from render.words import first_few

Place = tuple[PolicyOrigin, str]
"""A policy and a field path of it."""


class EditTrial(Struct, kw_only=True):
    """The outcome of the runs of one edit.

    ``refusals`` are counted by the refusal's place, message and hint; ``damaged`` are the objects that it harmed, by
    the complaint about it; ``idle_hint`` says why an edit of this type may change nothing.
    """

    idle_hint: str = ""
    runs: int = 0
    objects: set[ObjectRef] = field(default_factory=set)
    has_effect: bool = False
    refusals: dict[tuple[str, str, str], int] = field(default_factory=dict)
    damaged: dict[Complaint, set[ObjectRef]] = field(default_factory=dict)


class Chain(Struct, kw_only=True):
    """Rules that apply together, in order, with the templates and the clusters they apply to."""

    applied: tuple[AppliedRule, ...]
    template: Template
    objects: set[ObjectRef] = field(default_factory=set)
    clusters: Mask = 0


class Trials(Struct, kw_only=True):
    """The trials by edit, and the chains of rules that occurred."""

    by_place: dict[Place, EditTrial] = field(default_factory=dict)
    chains: dict[tuple[Place, ...], Chain] = field(default_factory=dict)
    _rules: dict[Place, CompiledRule] = field(default_factory=dict)

    def compiled_rule(self, applied: AppliedRule) -> CompiledRule:
        """Return a rule compiled, once."""
        place = (applied.origin, applied.rule)
        known = self._rules.get(place)
        if known is None:
            known = self._rules[place] = compile_recorded_rule(applied)
        return known


def trials_of(policies: Sequence[OverridePolicy], templates: Sequence[Template], clusters: ClusterIndex) -> Trials:
    """Try every policy on every template in every class of clusters."""
    engine, trials = OverrideEngine(policies, clusters), Trials()
    for template in templates:
        for overridden in engine.override(template.manifest, clusters.all):
            _note_rules_on_template(trials, template, overridden)
            _try_rules_on_template(trials, template, overridden.applied)
    return trials


def _note_rules_on_template(trials: Trials, template: Template, overridden: Overridden) -> None:
    key = tuple((applied.origin, applied.rule) for applied in overridden.applied)
    chain = trials.chains.setdefault(key, Chain(applied=overridden.applied, template=template))
    chain.objects.add(template.ref)
    chain.clusters |= overridden.clusters


def _try_rules_on_template(trials: Trials, template: Template, applied: Sequence[AppliedRule]) -> None:
    manifest = template.manifest
    for record in applied:
        for edit in trials.compiled_rule(record).edits:
            trial = trials.by_place.setdefault((record.origin, edit.field), EditTrial(idle_hint=edit.type.idle_hint))
            trial.runs += 1
            trial.objects.add(template.ref)
            after = _manifest_after_trial(trial, edit, manifest)
            if after is None:
                return
            _note_damage(trial, edit, manifest, after)
            manifest = after


def _manifest_after_trial(trial: EditTrial, edit: CompiledEdit, manifest: Manifest) -> Manifest | None:
    draft = Draft(manifest)
    try:
        edit.change(draft)
    except Refused as refusal:
        key = (refusal.within, refusal.message, refusal.hint)
        trial.refusals[key] = trial.refusals.get(key, 0) + 1
        return None
    trial.has_effect = trial.has_effect or draft.root != manifest
    after: Manifest = draft.root
    return after


def _note_damage(trial: EditTrial, edit: CompiledEdit, before: Manifest, after: Manifest) -> None:
    for overrider in edit.overriders:
        for complaint in edit.type.damage(overrider, before, after):
            trial.damaged.setdefault(complaint, set()).add(ObjectRef.of(before))


def effect_findings(trials: Trials) -> Iterator[LintFinding]:
    """Yield the findings of the trials of each edit."""
    for place, trial in trials.by_place.items():
        yield from _findings_of_unusable_edits(place, trial)
        yield from _findings_of_idle_edits(place, trial)
        yield from _findings_of_damage(place, trial)


def _findings_of_unusable_edits(place: Place, trial: EditTrial) -> Iterator[LintFinding]:
    refused: dict[str, int] = {}
    for (within, _, _), count in trial.refusals.items():
        refused[within] = refused.get(within, 0) + count
    for (within, message, hint), _ in sorted(trial.refusals.items(), key=lambda item: (-item[1], item[0])):
        if refused.pop(within, 0) == trial.runs:
            why = f"cannot be applied to {_words_of_selected_templates(trial)}: {message}"
            yield LintFinding(origin=place[0], field=f"{place[1]}{within}", message=why, hint=hint)


def _findings_of_idle_edits(place: Place, trial: EditTrial) -> Iterator[LintFinding]:
    if trial.idle_hint and not trial.has_effect and not trial.refusals:
        message = f"changes nothing in {_words_of_selected_templates(trial)}"
        yield LintFinding(origin=place[0], field=place[1], message=message, hint=trial.idle_hint)


def _findings_of_damage(place: Place, trial: EditTrial) -> Iterator[LintFinding]:
    for complaint, objects in trial.damaged.items():
        message = f"{complaint.message} in {first_few(sorted(map(str, objects)))}"
        yield LintFinding(origin=place[0], field=place[1], message=message, hint=complaint.hint)


def _words_of_selected_templates(trial: EditTrial) -> str:
    count = len(trial.objects)
    return "the one object it selects" if count == 1 else f"any of the {count} objects it selects"
