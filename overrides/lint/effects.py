"""Edits that can be applied to none of the objects their policy selects, or change none of them, or mangle images."""

import re
from collections.abc import Iterator

from overrides.errors import LintFinding
from render.words import listed

from .trials import EditTrial, Place, Trials

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
