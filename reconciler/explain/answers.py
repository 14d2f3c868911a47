"""The answer to ``argosy explain``: an object, a cluster or policies, explained as plain data and as sections."""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from overrides.policy import OverridePolicy
from reconciler.console.json_values import value_as_plain_data
from reconciler.console.text import Section
from reconciler.names.kinds import ref_of_named_object
from reconciler.names.subjects import (
    is_cluster_noun,
    is_noun_of_any_policy,
    is_policy_noun,
    policies_meant_by,
    refuse_unknown_clusters,
)
from reconciler.rendering.outcome import Outcome
from render.errors import UnknownName
from render.model import ObjectRef
from render.policy import PropagationPolicy
from render.scheduling.explanation import Explanation

from .capacity import CapacityOrigin
from .cluster import cluster_explanation, outcome_of_rebalancing_in_words
from .object import ObjectExplanation, object_explanation
from .policies import override_policy_explanation, policy_explanation
from .replay import Replay, new_names_of_renamed_clusters, value_with_new_cluster_names
from .sections import cluster_sections, object_sections, override_policy_sections, policy_sections


class ExplainRequest(Struct, frozen=True, kw_only=True):
    """A request to explain what ``noun`` and ``name`` mean.

    ``cluster`` limits the answer to what concerns it ("": all); ``seats``: divisions are explained seat by seat.
    """

    noun: str
    name: str
    namespace: str = ""
    cluster: str = ""
    seats: bool = False


class ExplainAnswer(Struct, frozen=True, kw_only=True):
    """An explanation: the kind of its document, its fields as plain data, and its sections."""

    kind: str
    value: dict[str, Any]
    sections: tuple[Section, ...]


def explain_request(request: ExplainRequest, replay: Replay) -> ExplainAnswer:
    """Explain an object, a cluster or a policy in a replayed pass; UnknownName for a name that nothing goes by."""
    outcome = replay.outcome
    refuse_unknown_clusters(filter(None, [request.cluster]), outcome.rendered.built.index.names)
    if is_cluster_noun(request.noun):
        kind, (value, sections) = "ClusterExplanation", _answer_about_cluster(request.name, outcome)
    elif is_policy_noun(request.noun):
        kind, (value, sections) = "PolicyExplanation", _answer_about_policies(request, outcome)
    elif is_noun_of_any_policy(request.noun):
        words = f"{request.noun}/{request.name}" + (f" -n {request.namespace}" if request.namespace else "")
        raise UnknownName(f"nothing is placed by a {request.noun}", hint=f"argosy status {words} tells what it does")
    else:
        kind, (value, sections) = "ObjectExplanation", _answer_about_object(request, replay)
    origin = {
        "source": outcome.source.commit or None,
        "previous": outcome.previous.commit if outcome.previous else None,
    }
    return ExplainAnswer(kind=kind, value={**origin, **value}, sections=tuple(sections))


def _answer_about_cluster(name: str, outcome: Outcome) -> tuple[dict[str, Any], Iterable[Section]]:
    if name in outcome.rendered.tree.disconnected:
        sentence = "It left the source: nothing in it is read, written or pruned, and its folder stays as it was."
        left = Section(title=f"Cluster {name}", before=(sentence,))
        return {"name": name, "disconnected": True}, [left]
    refuse_unknown_clusters([name], outcome.rendered.built.index.names)
    explanation = cluster_explanation(name, outcome.rendered)
    return value_as_plain_data(explanation), cluster_sections(explanation)


def _answer_about_policies(request: ExplainRequest, outcome: Outcome) -> tuple[dict[str, Any], Iterable[Section]]:
    desired, built = outcome.source.desired, outcome.rendered.built
    every: tuple[PropagationPolicy | OverridePolicy, ...] = (*desired.policies, *desired.override_policies)
    named = policies_meant_by(request.noun, request.name, request.namespace, every)
    policies = [policy_explanation(each, desired, built) for each in named if isinstance(each, PropagationPolicy)]
    overriding = [
        override_policy_explanation(each, desired, built) for each in named if isinstance(each, OverridePolicy)
    ]
    sections = [section for each in policies for section in policy_sections(each)]
    sections += [section for each in overriding for section in override_policy_sections(each)]
    value = {"policies": value_as_plain_data(policies), "overridePolicies": value_as_plain_data(overriding)}
    return value, sections


def _answer_about_object(request: ExplainRequest, replay: Replay) -> tuple[dict[str, Any], Iterable[Section]]:
    outcome = replay.outcome
    ref = _ref_of_requested_object(request, outcome)
    explanation = object_explanation(ref, outcome.source.desired, outcome.rendered, outcome.previous)
    decided = replay.deciding_pass(ref) if explanation.decision else None
    if observed := [room.cluster for room in explanation.rooms if room.origin is CapacityOrigin.OBSERVED]:
        explanation = replace(explanation, facts=_note_on_recorded_facts(decided or replay, observed))
    if decided is not None:
        past = decided.outcome
        explained = object_explanation(ref, past.source.desired, past.rendered)
        earlier = value_with_new_cluster_names(explained, new_names_of_renamed_clusters(outcome))
        explanation = replace(
            explanation,
            decision=earlier.decision,
            rooms=earlier.rooms,
            left=earlier.left,
            decided_in=decided.commit,
            decided_from=past.source.commit,
            joined_later=tuple(
                _lines_about_clusters_joined_later(explanation.decision, outcome, past, request.cluster)
            ),
            refused_before=tuple(_lines_about_clusters_refused_before(explanation, earlier.decision, request.cluster)),
        )
    sections = object_sections(explanation, cluster=request.cluster, seats=request.seats)
    seats = (
        {"seats": _seats_of_divisions_as_plain_data(explanation.decision)}
        if request.seats and explanation.decision
        else {}
    )
    return {**value_as_plain_data(explanation), **seats}, sections


def _lines_about_clusters_joined_later(
    decision: Explanation | None, outcome: Outcome, past: Outcome, cluster: str
) -> Iterator[str]:
    """Yield what rescheduling an object would give each cluster that was no member when it was decided."""
    before, now = past.rendered.built.index, outcome.rendered.built.index
    names = new_names_of_renamed_clusters(outcome)
    known = {names.get(name, name) for name in before.names}
    for name in now.names:
        if decision is not None and name not in known and cluster in {"", name}:
            words = outcome_of_rebalancing_in_words(decision, name)
            yield f"{name} joined after this was decided{f'; {words}' if words else ''}"


def _lines_about_clusters_refused_before(
    explanation: ObjectExplanation, past: Explanation | None, cluster: str
) -> Iterator[str]:
    """Yield what rescheduling an object would give each cluster that was refused when it was decided, and is no more.

    ``explanation`` is that of today.
    """
    decision, held = explanation.decision, {target.name for target in explanation.targets}
    if decision is None or past is None or not decision.attempts:
        return
    attempt = decision.attempts[-1]
    free = {each.cluster for each in attempt.candidates} - held
    before = next((each.rejected for each in past.attempts if each.affinity == attempt.affinity), ())
    for rejected in before:
        name = rejected.cluster
        if name in free and cluster in {"", name}:
            words = outcome_of_rebalancing_in_words(decision, name)
            filters = ", ".join(dict.fromkeys(plugin for plugin, _ in rejected.reasons))
            yield f"{name} was refused when this was decided ({filters}), and is no more{f'; {words}' if words else ''}"


def _ref_of_requested_object(request: ExplainRequest, outcome: Outcome) -> ObjectRef:
    namespaces = (template for template, _ in outcome.rendered.namespaces)
    templates = {template.ref: template for template in (*namespaces, *outcome.source.desired.templates)}
    return ref_of_named_object(request.noun, request.name, request.namespace, templates.values())


def _seats_of_divisions_as_plain_data(decision: Explanation) -> list[list[Any]]:
    """Return every division of a decision, replica by replica, as plain data."""
    divisions = (division for attempt in decision.attempts for division in attempt.divisions)
    return [[value_as_plain_data(seat) for seat in division.seats()] for division in divisions]


def _note_on_recorded_facts(replay: Replay, clusters: Iterable[str]) -> str:
    """Say in which commit facts are recorded, and when they were seen: a rendered commit has the time of its source."""
    if replay.facts is None:
        return ""
    names, facts = new_names_of_renamed_clusters(replay.outcome), replay.outcome.facts
    seen = {names.get(name, name): each.observed_at for name, each in facts.items() if each.observed_at}
    times = sorted({seen[name] for name in clusters if name in seen})
    commit = f"commit {replay.facts.id[:12]}"
    if not times:
        return f"{commit} of {datetime.fromtimestamp(replay.facts.time, UTC):%Y-%m-%d %H:%M} UTC"
    return f"{commit}, seen at {times[0]}" if len(times) == 1 else f"{commit}, seen from {times[0]} to {times[-1]}"
