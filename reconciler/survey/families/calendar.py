"""The calendar of argosy.yaml: its freezes and windows, numbered from 1, and what waits for them."""

from collections.abc import Iterator
from datetime import UTC, datetime

from reconciler.survey.surveying import Survey
from render.cluster_index import ClusterIndex
from render.rollouts.calendar import is_frozen_by, is_window_open, next_change_of_window
from render.rollouts.fleet_calendar import (
    NEXT_WINDOW,
    clusters_covered_by,
    freeze_of_setting,
    is_object_covered,
    window_of_setting,
)
from render.rollouts.selection import RolloutIndex
from render.settings.rollouts import CoveredObjects, FleetFreeze, FleetWindow
from render.timing import instant_text
from render.words import first_few

from .other_policy import OtherPolicy, PolicyFamily, WaitsByPolicy
from .rollout_policies import freeze_in_words, subject_of_rollout, window_in_words

FREEZE, WINDOW = "Freeze", "Window"


def _found_policies(survey: Survey) -> Iterator[OtherPolicy]:
    desired = survey.branches.fleet.source.desired
    settings, now = desired.fleet.rollouts, datetime.fromtimestamp(survey.branches.now, UTC)
    for number, setting in enumerate(settings.freezes):
        yield _freeze(survey, number, setting, now)
    for number, given in enumerate(settings.windows):
        yield _window(survey, number, given, now)


def _freeze(survey: Survey, number: int, setting: FleetFreeze, now: datetime) -> OtherPolicy:
    freeze = freeze_of_setting(setting)
    is_over = freeze.ends <= now
    state = "over: remove it from argosy.yaml" if is_over else "in force" if is_frozen_by(freeze, now) else "to come"
    waits = _rollouts_waiting_for(survey, setting.covered, f"the end of the freeze ({freeze.reason})")
    does = f"it is {state}", freeze_in_words(freeze)
    return _entry(survey, (FREEZE, number, "freezes"), setting.covered, does=does, waits=tuple(waits))


def _window(survey: Survey, number: int, setting: FleetWindow, now: datetime) -> OtherPolicy:
    window = window_of_setting(setting)
    is_open, change = is_window_open(window, now), next_change_of_window(window, now)
    until = f" until {instant_text(change)}" if change is not None else ""
    does = (
        f"it is {'open' if is_open else 'closed'}{until}",
        f"lets changes out {window_in_words(window)}",
    )
    waits = () if is_open else tuple(_rollouts_waiting_for(survey, setting.covered, NEXT_WINDOW))
    return _entry(survey, (WINDOW, number, "windows"), setting.covered, does=does, waits=waits)


def _entry(
    survey: Survey,
    place: tuple[str, int, str],
    covered: CoveredObjects,
    *,
    does: tuple[str, ...],
    waits: tuple[WaitsByPolicy, ...],
) -> OtherPolicy:
    """Return an entry of the calendar; ``place`` has its kind, its number in the list, and the name of the list."""
    kind, number, name = place
    index = ClusterIndex(survey.branches.fleet.source.desired.clusters)
    mask = clusters_covered_by(covered, index)
    return OtherPolicy(
        kind=kind,
        name=str(number + 1),
        path=f"argosy.yaml: spec.rollouts.{name}[{number}]",
        selectors=(_covered_in_words(covered),),
        does=does,
        decides=tuple(each for each in survey.objects if is_object_covered(covered, each.ref)),
        clusters=tuple(index.names[each] for each in index.indexes_in_mask(mask)),
        waits=waits,
    )


def _covered_in_words(covered: CoveredObjects) -> str:
    kinds = first_few(list(covered.kinds)) if covered.kinds else "every object"
    where = [
        f"of namespace {first_few(list(covered.namespaces))}" if covered.namespaces else "",
        f"in {first_few(list(covered.clusters))}" if covered.clusters else "",
        f"in region {first_few(list(covered.regions))}" if covered.regions else "",
        f"in clusters with {', '.join(covered.cluster_labels)}" if covered.cluster_labels else "",
    ]
    return " ".join([kinds, *filter(None, where)])


def _rollouts_waiting_for(survey: Survey, covered: CoveredObjects, words: str) -> Iterator[WaitsByPolicy]:
    """Yield the changes of covered objects whose next step is for the calendar to let them out."""
    refs = [each.ref for each in survey.templates if is_object_covered(covered, each.ref)]
    index = RolloutIndex(survey.branches.fleet.source.desired.rollout_policies)
    policies = {str(index.policy_for_template(each)) for each in survey.templates if each.ref in set(refs)}
    for state in survey.branches.fleet.rollouts_under_way:
        # A policy with windows of its own waits for these.
        is_covered = bool(refs) if state.plan.is_of_fleet else str(state.plan) in policies and not state.plan.windows
        if is_covered and words in state.next_step:
            yield WaitsByPolicy(subject=subject_of_rollout(state), message=state.next_step)


CALENDAR = PolicyFamily(kinds=(FREEZE, WINDOW), found=_found_policies)
