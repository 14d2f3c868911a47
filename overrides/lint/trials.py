"""Every rule tried on every template it selects, in every class of clusters: its effects, and the rules beside it.

Findings are the edits that can be applied to none of the objects, change none of them, or mangle images.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from overrides.draft import Draft
from overrides.edits import CompiledEdit
from overrides.engine import Overridden, OverrideEngine
from overrides.errors import LintFinding, PolicyOrigin, Refused
from overrides.overriders.image import parse_image, selected_images
from overrides.policy import ImageOverrider, OverridePolicy
from overrides.record import AppliedRule
from overrides.rules import CompiledRule, compiled_rule
from render.bits import Mask
from render.cluster_index import ClusterIndex
from render.model import Manifest, ObjectRef, Template
from render.words import listed

Place = tuple[PolicyOrigin, str]
"""A policy and a field path of it."""


class EditTrial(Struct, kw_only=True):
    """The outcome of the runs of one edit.

    ``refusals`` are counted by the refusal's place, message and hint; ``unreadable`` are objects it left an image in
    that cannot be parsed, ``undigested`` those in which an image lost its digest.
    """

    runs: int = 0
    objects: set[ObjectRef] = field(default_factory=set)
    has_effect: bool = False
    refusals: dict[tuple[str, str, str], int] = field(default_factory=dict)
    unreadable: set[ObjectRef] = field(default_factory=set)
    undigested: set[ObjectRef] = field(default_factory=set)


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

    def rule(self, applied: AppliedRule) -> CompiledRule:
        """Return a rule compiled, once."""
        place = (applied.origin, applied.rule)
        known = self._rules.get(place)
        if known is None:
            known = self._rules[place] = compiled_rule(applied)
        return known


def trials_of(policies: Sequence[OverridePolicy], templates: Sequence[Template], clusters: ClusterIndex) -> Trials:
    """Try every policy on every template in every class of clusters."""
    engine, trials = OverrideEngine(policies, clusters), Trials()
    for template in templates:
        for overridden in engine.override(template.manifest, clusters.all):
            _note_chain(trials, template, overridden)
            _try_rules(trials, template, overridden.applied)
    return trials


def _note_chain(trials: Trials, template: Template, overridden: Overridden) -> None:
    key = tuple((applied.origin, applied.rule) for applied in overridden.applied)
    chain = trials.chains.setdefault(key, Chain(applied=overridden.applied, template=template))
    chain.objects.add(template.ref)
    chain.clusters |= overridden.clusters


def _try_rules(trials: Trials, template: Template, applied: Sequence[AppliedRule]) -> None:
    manifest = template.manifest
    for record in applied:
        for index, edit in enumerate(trials.rule(record).edits):
            trial = trials.by_place.setdefault((record.origin, edit.field), EditTrial())
            trial.runs += 1
            trial.objects.add(template.ref)
            after = _try(trial, edit, manifest)
            if after is None:
                return
            if index < len(record.overriders.image):
                _note_images(trial, record.overriders.image[index], manifest, after)
            manifest = after


def _try(trial: EditTrial, edit: CompiledEdit, manifest: Manifest) -> Manifest | None:
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


def _note_images(trial: EditTrial, overrider: ImageOverrider, before: Manifest, after: Manifest) -> None:
    """Note images the next reader could not use; image overriders come first among the edits of a rule."""
    ref = ObjectRef.of(before)
    for (_, old), (_, new) in zip(selected_images(before, overrider), selected_images(after, overrider), strict=True):
        if not _is_readable(new):
            trial.unreadable.add(ref)
        if overrider.component != "Tag" and "@" in (old or "") and "@" not in (new or ""):
            trial.undigested.add(ref)


def _is_readable(image: str | None) -> bool:
    try:
        parse_image(image or "")
    except Refused:
        return False
    return True


_HINTS = {
    "imageOverrider": "images are found in Pods, ReplicaSets, Deployments, DaemonSets, StatefulSets and Jobs; elsewhere"
    " name the field by predicate.path",
    "commandOverrider": "check containerName and the kind of the objects",
    "argsOverrider": "check containerName and the kind of the objects",
    "labelsOverrider": "replace and remove touch only keys that exist",
    "annotationsOverrider": "replace and remove touch only keys that exist",
}
_LIST = re.compile(r"\.overriders\.([A-Za-z]+)")


def effect_findings(trials: Trials) -> Iterator[LintFinding]:
    """Yield the findings of the trials of each edit."""
    for place, trial in trials.by_place.items():
        yield from _unusable(place, trial)
        yield from _idle(place, trial)
        yield from _mangled(place, trial)


def _unusable(place: Place, trial: EditTrial) -> Iterator[LintFinding]:
    refused: dict[str, int] = {}
    for (within, _, _), count in trial.refusals.items():
        refused[within] = refused.get(within, 0) + count
    for (within, message, hint), _ in sorted(trial.refusals.items(), key=lambda item: (-item[1], item[0])):
        if refused.pop(within, 0) == trial.runs:
            why = f"cannot be applied to {_selected(trial)}: {message}"
            yield LintFinding(origin=place[0], field=f"{place[1]}{within}", message=why, hint=hint)


def _idle(place: Place, trial: EditTrial) -> Iterator[LintFinding]:
    match = _LIST.search(place[1])
    hint = _HINTS.get(match[1]) if match else None
    if hint and not trial.has_effect and not trial.refusals:
        message = f"changes nothing in {_selected(trial)}"
        yield LintFinding(origin=place[0], field=place[1], message=message, hint=hint)


def _mangled(place: Place, trial: EditTrial) -> Iterator[LintFinding]:
    if trial.unreadable:
        names = listed(sorted(map(str, trial.unreadable)))
        yield LintFinding(origin=place[0], field=place[1], message=f"leaves what is no image in {names}")
    if trial.undigested:
        names = listed(sorted(map(str, trial.undigested)))
        yield LintFinding(
            origin=place[0],
            field=place[1],
            message=f"drops the digest of an image that has a tag, too, in {names}",
            hint="write the image in the template with a tag or a digest, not both",
        )


def _selected(trial: EditTrial) -> str:
    count = len(trial.objects)
    return "the one object it selects" if count == 1 else f"any of the {count} objects it selects"
