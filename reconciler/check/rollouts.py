"""Warnings about rollout policies that hold back nothing, or other clusters than their author thinks."""

from collections.abc import Callable, Container, Iterable, Iterator
from datetime import datetime
from functools import partial

from overrides.lint import LineOf
from reconciler.source.desired import Desired, clusters_of_unknown_health
from render.admission.rollouts import FLEET_KIND, IMPLICIT_WAVE
from render.cluster import is_applied_by_own_agent
from render.cluster_index import ClusterIndex
from render.errors import Problem
from render.model import Template
from render.rollouts.calendar import ended_freezes
from render.rollouts.checks import JobSource, ObjectSource
from render.rollouts.fleet_calendar import clusters_covered_by, ended_freezes_of_fleet, is_object_covered
from render.rollouts.policy import (
    FailureAction,
    Gate,
    GroupKey,
    NewChangeAction,
    RolloutControl,
    RolloutPolicy,
    RolloutVerb,
    Wave,
)
from render.rollouts.selection import RolloutIndex, only_scales
from render.rollouts.waves import WaveOfClusters, names_fitting_wave, waves_of_clusters
from render.settings.rollouts import CoveredObjects, RolloutSettings
from render.words import counted_noun, first_few

_UNMATCHED, _WAVES, _SCALES, _CONTROL = "UnmatchedRollout", "RolloutWaves", "UngatedScaling", "UnmatchedControl"
_FREEZE = "EndedFreeze"
_STAYS = "NoWayBack"
_IDLE = "IdleEntry"
_APPROVAL = "UnknownApprovers"
_SIGNERS_HINT = "add the public key by which they sign commits to spec.rollouts.signers of argosy.yaml"
_TWO_PERSONS = 2
_UNKNOWN = "UnknownHealth"
_UNKNOWN_HINT = "say in argosy.yaml how they are reached, under spec.clusters, or who reports on them, under spec.emit"
_MOVES_HINT = "say in argosy.yaml how they are reached, under spec.clusters, or write moves: AtOnce"
_NOBODY_KNOWN = "no pass learns whether any cluster is well"
_NEVER_BACK = {
    "CustomResourceDefinition.apiextensions.k8s.io": "objects that are stored in a newer version stay in it",
    "Job.batch": "a Job that has run is not undone",
    "PersistentVolumeClaim": "a claim that has grown stays as large",
}
"""Kinds of which a rollback leaves something as it is."""
_UNANSWERED = "UnansweredCheck"
_Warn = Callable[..., Problem]


def rollout_warnings(desired: Desired, line_of: LineOf | None, now: datetime) -> Iterator[Problem]:
    """Yield a warning for policies that select nothing, waves that are not as they seem, and what is idle or over."""
    yield from _warnings_of_calendar(desired, line_of, now)
    if not desired.rollout_policies and not desired.rollout_controls:
        return
    index, fleet = RolloutIndex(desired.rollout_policies), ClusterIndex(desired.clusters)
    selected: dict[str, list[Template]] = {}
    for template in desired.templates:
        if (found := index.policy_for_template(template)) is not None:
            selected.setdefault(str(found), []).append(template)
    for policy in desired.rollout_policies:
        warn = partial(_warning, policy, line_of)
        if policy.on_failure is FailureAction.ROLLBACK:
            yield from _warnings_of_what_stays(selected.get(str(policy), ()), warn)
        if str(policy) not in selected:
            yield _warning_of_nothing_selected(policy, desired, warn)
        yield from _warnings_of_waves(policy, fleet, warn)
        yield from _warnings_of_approvals(policy, desired.fleet.rollouts, warn)
        yield from _warnings_of_free_rollout(policy, fleet, clusters_of_unknown_health(desired), warn)
        for number in ended_freezes(policy.freezes, now):
            yield warn(f"spec.freezes[{number}]", "is over, and holds nothing back", "remove it", _FREEZE)
    yield from _warnings_of_controls(desired, line_of)


def _warning(
    subject: RolloutPolicy | RolloutControl, line_of: LineOf | None, field: str, message: str, hint: str, kind: str
) -> Problem:
    line = line_of(subject.path, subject.document, field) if line_of else 0
    return Problem(subject.path, line, field, message, hint, kind)


def _warning_of_nothing_selected(policy: RolloutPolicy, desired: Desired, warn: _Warn) -> Problem:
    """Return the warning about a policy that no change goes out by."""
    field = "spec.resourceSelectors"
    index = RolloutIndex([policy])
    scaling = [each for each in desired.templates if only_scales(each) and index.selects(each)]
    if scaling:
        message = f"{first_few([str(each.ref) for each in scaling])} only scales others, which no rollout holds back"
        return warn(field, message, "select the workloads that are scaled", _SCALES)
    message = "no change goes out by this policy: it selects no object, or another one comes before it for all of them"
    return warn(field, message, "", _UNMATCHED)


def _warnings_of_what_stays(templates: Iterable[Template], warn: _Warn) -> Iterator[Problem]:
    """Yield a warning for each kind of objects of which something stays as it became, whatever they go back to."""
    for group_kind, why in _NEVER_BACK.items():
        refs = [str(each.ref) for each in templates if each.ref.group_kind == group_kind]
        if refs:
            message = f"what {first_few(refs)} did does not go back: {why}"
            yield warn("spec.onFailure", message, "leave it to a person: onFailure: Pause", _STAYS)


def _warnings_of_waves(policy: RolloutPolicy, fleet: ClusterIndex, warn: _Warn) -> Iterator[Problem]:
    """Yield a warning for each wave without clusters, for clusters that two take, and for those that none takes."""
    waves = {each.wave.name: each.clusters for each in waves_of_clusters(policy, fleet, fleet.names)}
    last = max((number for number, clusters in enumerate(waves.values()) if clusters), default=0)
    selected_before: set[str] = set()
    for number, wave in enumerate(policy.waves):
        field = f"spec.waves[{number}]"
        selected = _clusters_selected_whole(wave, fleet)
        taken = sorted(selected & selected_before)
        selected_before |= selected
        if not waves[wave.name] and not wave.is_empty_allowed and number < last:
            hint = "label a cluster, or write allowEmpty: true"
            yield warn(field, f"no cluster is in wave {wave.name}, so nobody gets a change after it", hint, _WAVES)
        elif taken:
            message = f"{first_few(taken)} would be in wave {wave.name}, too, but an earlier wave takes it"
            yield warn(field, message, "leave it out of one of them", _WAVES)
    if policy.waves and (left := waves.get(IMPLICIT_WAVE)):
        message = f"no wave takes {first_few(sorted(left))}: what none takes comes last, as wave {IMPLICIT_WAVE}"
        yield warn("spec.waves", message, "add a last wave with rest: true to say so", _WAVES)


def rollout_problems(desired: Desired, seen: Container[str], line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a problem for each gate that nobody can answer, so that no change gets past it, or all get past it.

    ``seen`` are clusters that passes have reached before, by whatever way. A last wave, and one that may be empty, is
    not waited for: where nobody knows of any cluster, no gate is kept.
    """
    if not desired.rollout_policies:
        return
    fleet = ClusterIndex(desired.clusters)
    unknown = frozenset(name for name in clusters_of_unknown_health(desired) if name not in seen)
    for policy in desired.rollout_policies:
        problem = partial(_warning, policy, line_of)
        stuck = _waves_of_unknown_health(policy, fleet, unknown)
        for each in stuck:
            number = next((at for at, wave in enumerate(policy.waves) if wave.name == each.wave.name), None)
            field = "spec.waves" if number is None else f"spec.waves[{number}]"
            names = first_few(sorted(each.clusters))
            message = f"no change goes out to wave {each.wave.name} or after it: no pass learns whether {names} is well"
            yield problem(field, message, _UNKNOWN_HINT, _UNKNOWN)
        if not stuck and _states_gate(policy) and _is_unknown_everywhere(policy, fleet, unknown):
            yield problem("spec", f"keeps no gate: {_NOBODY_KNOWN}", _UNKNOWN_HINT, _UNKNOWN)
        yield from _problems_of_unreached_checks(policy, fleet, _unreached_clusters(desired, seen), problem)


def move_problems(desired: Desired, seen: Container[str], line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a problem for each setting by which replicas wait for others that nobody ever sees ready.

    ``seen`` are clusters that passes have reached before, by whatever way. Other tools that apply to clusters report no
    number of replicas.
    """
    reached = desired.fleet.reachable_members
    if reached is None:
        return
    unknown = sorted(
        each.name
        for each in desired.clusters
        if each.name not in reached and each.name not in seen and not is_applied_by_own_agent(each)
    )
    if not unknown:
        return
    message = f"no replica leaves a cluster for {first_few(unknown)}: no pass learns how many are ready there"
    places = [(desired.fleet.path, 0)] if desired.fleet.moves.is_make_before_break else []
    places += [(each.path, each.document) for each in desired.rollout_policies if each.is_make_before_break]
    for path, document in places:
        line = line_of(path, document, "spec.moves") if line_of else 0
        yield Problem(path, line, "spec.moves", message, _MOVES_HINT, "UnknownHealth")


def _unreached_clusters(desired: Desired, seen: Container[str]) -> frozenset[str]:
    """Return the clusters in which no pass looks at anything: their agents apply, or nothing says how to reach them."""
    reached = desired.fleet.reachable_members
    return frozenset(
        each.name
        for each in desired.clusters
        if is_applied_by_own_agent(each) or (reached is not None and each.name not in reached and each.name not in seen)
    )


def _problems_of_unreached_checks(
    policy: RolloutPolicy, fleet: ClusterIndex, unreached: frozenset[str], problem: _Warn
) -> Iterator[Problem]:
    """Yield a problem for each wave that has clusters of which nobody can answer a check that asks the cluster."""
    for each in waves_of_clusters(policy, fleet, fleet.names):
        asking = [check for check in each.wave.gate.checks if isinstance(check.source, ObjectSource | JobSource)]
        names = sorted(unreached.intersection(each.clusters))
        if asking and names:
            number = next((at for at, wave in enumerate(policy.waves) if wave.name == each.wave.name), None)
            field = "spec.gate.checks" if number is None else f"spec.waves[{number}]"
            message = f"check {asking[0].name} asks {first_few(names)}, where no pass can look"
            hint = "ask a Prometheus or a web service, or let passes reach the cluster"
            yield problem(field, message, hint, _UNANSWERED)


def _warnings_of_free_rollout(
    policy: RolloutPolicy, fleet: ClusterIndex, unknown: Container[str], warn: _Warn
) -> Iterator[Problem]:
    """Yield a warning where a rollout asks for no gate, and could not keep any."""
    is_free = not _states_gate(policy) and not _waves_of_unknown_health(policy, fleet, unknown)
    if is_free and _is_unknown_everywhere(policy, fleet, unknown):
        yield warn("spec", f"keeps no gate: {_NOBODY_KNOWN}", _UNKNOWN_HINT, _UNKNOWN)


def _states_gate(policy: RolloutPolicy) -> bool:
    return any(gate != Gate() for gate in (policy.gate, *(wave.gate for wave in policy.waves)))


def _waves_of_unknown_health(
    policy: RolloutPolicy, fleet: ClusterIndex, unknown: Container[str]
) -> list[WaveOfClusters]:
    """Return the waves that no change gets past."""
    waves = [each for each in waves_of_clusters(policy, fleet, fleet.names) if each.clusters]
    return [each for each in waves[:-1] if not each.wave.is_empty_allowed and _are_all_in(each.clusters, unknown)]


def _is_unknown_everywhere(policy: RolloutPolicy, fleet: ClusterIndex, unknown: Container[str]) -> bool:
    waves = waves_of_clusters(policy, fleet, fleet.names)
    return any(each.clusters for each in waves) and all(_are_all_in(each.clusters, unknown) for each in waves)


def _are_all_in(names: Iterable[str], known: Container[str]) -> bool:
    return all(name in known for name in names)


def _clusters_selected_whole(wave: Wave, fleet: ClusterIndex) -> frozenset[str]:
    """Return the clusters that a wave selects by labels, places and names alone; none where it takes but some."""
    is_whole = wave.cluster_affinity is not None and wave.size is None
    return names_fitting_wave(wave, fleet) if is_whole else frozenset()


def _warnings_of_approvals(policy: RolloutPolicy, settings: RolloutSettings, warn: _Warn) -> Iterator[Problem]:
    """Yield a warning for approvers whom nobody knows, and for each wave that too few persons can approve."""
    signers, reviewers = _known_persons(settings)
    hint = _SIGNERS_HINT
    unknown = sorted({*policy.approvers} - signers - reviewers)
    if unknown:
        yield warn("spec.approvers", f"nobody knows the signature of {first_few(unknown)}", hint, _APPROVAL)
    # A signer and a reviewer may be one person.
    count = max(
        len(known.intersection(policy.approvers) if policy.approvers else known) for known in (signers, reviewers)
    )
    for number, wave in enumerate(policy.waves):
        needed = max(wave.approvals, int(wave.is_approval_required and bool(policy.approvers)))
        if needed > count:
            message = (
                f"no change gets past wave {wave.name}: {counted_noun(needed, 'person')} would have to approve it whose"
                f" signatures are known, and there {'is' if count == 1 else 'are'} {count}"
            )
            yield warn(f"spec.waves[{number}]", message, hint, _APPROVAL)


def _known_persons(settings: RolloutSettings) -> tuple[set[str], set[str]]:
    """Return the names of those who are known by their signatures, and of those by the forge."""
    return {each.partition(" ")[0] for each in settings.signers}, {*settings.reviewers}


def _warnings_of_controls(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each control of which no rollout hears: there is no such policy, or no such wave."""
    policies = {str(policy): policy for policy in desired.rollout_policies}
    persons = max(_known_persons(desired.fleet.rollouts), key=len)
    for control in desired.rollout_controls:
        warn, policy = partial(_warning, control, line_of), policies.get(control.rollout)
        if control.verb is RolloutVerb.EMERGENCY and len(persons) < _TWO_PERSONS:
            message = f"nobody can confirm this: the signatures of {counted_noun(len(persons), 'person')} are known"
            yield warn("spec.verb", message, _SIGNERS_HINT, _APPROVAL)
        if control.rollout == f"{FLEET_KIND} {desired.fleet.name}":
            continue
        if policy is None:
            message = f"there is no {control.rollout} in the source, so only a rollout that it left hears of this"
            yield warn("spec.rollout", message, "", _CONTROL)
        elif control.wave and control.wave not in {*(wave.name for wave in policy.waves), IMPLICIT_WAVE}:
            message = f"{policy} has no wave {control.wave!r}, so nothing is approved"
            yield warn("spec.wave", message, "", _CONTROL)
        elif control.verb is RolloutVerb.EXPEDITE and policy.on_new_change is not NewChangeAction.EXPEDITE:
            message = f"{policy} lets nobody expedite a change, so no rollout hears of this"
            yield warn("spec.verb", message, "write onNewChange: Expedite, and who may, in spec.approvers", _CONTROL)
        elif bool(control.group) is (policy.group_by is GroupKey.CHANGE):
            message = f"{policy} {'makes no groups' if control.group else 'makes groups'}, so no rollout hears of this"
            hint = "leave it out" if control.group else "name the group, as argosy rollout status prints it"
            yield warn("spec.rollout.group", message, hint, _CONTROL)


def _warnings_of_calendar(desired: Desired, line_of: LineOf | None, now: datetime) -> Iterator[Problem]:
    """Yield a warning for each freeze and window of argosy.yaml that holds nothing back."""
    settings, index = desired.fleet.rollouts, ClusterIndex(desired.clusters)

    def warning(field: str, message: str, hint: str, kind: str) -> Problem:
        line = line_of(desired.fleet.path, 0, field) if line_of else 0
        return Problem(desired.fleet.path, line, field, message, hint, kind)

    for number, _ in ended_freezes_of_fleet(settings, now):
        field = f"spec.rollouts.freezes[{number}]"
        yield warning(field, "is over, and holds nothing back", "remove it", _FREEZE)
    entries = (
        *((f"spec.rollouts.freezes[{number}]", each.covered) for number, each in enumerate(settings.freezes)),
        *((f"spec.rollouts.windows[{number}]", each.covered) for number, each in enumerate(settings.windows)),
    )
    for field, covered in entries:
        if message := _message_about_nothing_covered(covered, desired, index):
            yield warning(field, message, "name kinds as Kind.group, and clusters as the source does", _IDLE)


def _message_about_nothing_covered(covered: CoveredObjects, desired: Desired, index: ClusterIndex) -> str:
    """Return that an entry is about no cluster or about no object; "" where it is about some."""
    if not clusters_covered_by(covered, index):
        return "is about no cluster of the fleet, and holds nothing back"
    if not any(is_object_covered(covered, template.ref) for template in desired.templates):
        return "is about no object of the source, and holds nothing back"
    return ""
