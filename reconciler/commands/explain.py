"""``argosy explain``: why an object is where it is, what a cluster holds and why, what a policy selects."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, cast

import click

from overrides.policy import OverridePolicy
from reconciler.console.idle_options import refuse_options
from reconciler.console.json_values import as_json, plain_value
from reconciler.console.log import VERBOSE, Log
from reconciler.console.text import Section, sections_markdown, sections_text
from reconciler.explain.capacity import CapacityOrigin
from reconciler.explain.cluster import cluster_explanation
from reconciler.explain.object import object_explanation
from reconciler.explain.policies import override_policy_explanation, policy_explanation
from reconciler.explain.replay import Replay, replay_of
from reconciler.explain.sections import cluster_sections, object_sections, override_policy_sections, policy_sections
from reconciler.names.kinds import named_object, parsed_subject
from reconciler.names.subjects import check_clusters, is_cluster_noun, is_policy_noun, named_policies
from reconciler.publish.outcome import Outcome
from reconciler.publish.uncommitted import AS_THEY_STAND, warn_of_uncommitted
from reconciler.repository import CommitInfo, open_repository
from render.model import ObjectRef
from render.policy import PropagationPolicy
from render.scheduling.explanation import Explanation

from .options.subject_options import with_namespace_options

API_VERSION = "argosy.dev/v1alpha1"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """The options of ``argosy explain``; ``seats`` tells divisions seat by seat, as ``-v`` asks for."""

    words: tuple[str, ...]
    namespace: str = ""
    rev: str = ""
    worktree: bool = False
    cluster: str = ""
    output: str = "text"
    seats: bool = False


def explain_and_show(log: Log, options: ExplainOptions) -> int:
    """Explain what the words name, and print it."""
    noun, name = parsed_subject(options.words)
    _refuse_idle(noun, options)
    options = replace(options, seats=options.seats or log.level >= VERBOSE)
    with open_repository(log.repository, progress=log.transfer) as repository:
        if not options.rev and not options.worktree:
            warn_of_uncommitted(repository, log, hint=AS_THEY_STAND)
        moment = replay_of(repository, log, revision=options.rev, worktree=options.worktree)
        answer, sections = _answer(noun, name, moment, options)
    if options.output == "json":
        click.echo(as_json({"apiVersion": API_VERSION, "kind": answer["kind"], **_origin(moment), **answer}), nl=False)
    else:
        write = sections_markdown if options.output == "markdown" else sections_text
        click.echo(write(sections), nl=False)
    return 0


def _refuse_idle(noun: str, options: ExplainOptions) -> None:
    """Refuse options that would do nothing beside others."""
    if options.worktree:
        refuse_options(["rev"], "goes without --worktree")
    if is_cluster_noun(noun):
        refuse_options(["namespace", "cluster"], "goes with an object or a policy")
    elif is_policy_noun(noun):
        refuse_options(["cluster"], "goes with an object")


Answer = tuple[dict[str, Any], Iterable[Section]]
"""An explanation as plain data and as sections."""


def _answer(noun: str, name: str, moment: Replay, options: ExplainOptions) -> Answer:
    check_clusters(filter(None, [options.cluster]), moment.outcome.rendered.built.index.names)
    if is_cluster_noun(noun):
        return _cluster_answer(name, moment.outcome)
    if is_policy_noun(noun):
        return _policy_answer(noun, name, moment.outcome, options.namespace)
    return _object_answer(noun, name, moment, options)


def _cluster_answer(name: str, outcome: Outcome) -> Answer:
    if name in outcome.rendered.tree.disconnected:
        sentence = "It left the source: nothing in it is read, written or pruned, and its folder stays as it was."
        shown = Section(title=f"Cluster {name}", before=(sentence,))
        return {"kind": "ClusterExplanation", "name": name, "disconnected": True}, [shown]
    check_clusters([name], outcome.rendered.built.index.names)
    found = cluster_explanation(name, outcome.rendered)
    return {"kind": "ClusterExplanation", **plain_value(found)}, cluster_sections(found)


def _policy_answer(noun: str, name: str, outcome: Outcome, namespace: str) -> Answer:
    desired = outcome.source.desired
    built = outcome.rendered.built
    policies = named_policies(noun, name, namespace, (*desired.policies, *desired.override_policies))
    found = [policy_explanation(each, desired, built) for each in policies if isinstance(each, PropagationPolicy)]
    overriding = [
        override_policy_explanation(each, desired, built) for each in policies if isinstance(each, OverridePolicy)
    ]
    sections = [each for policy in found for each in policy_sections(policy)]
    sections += [each for policy in overriding for each in override_policy_sections(policy)]
    shown = {"policies": plain_value(found), "overridePolicies": plain_value(overriding)}
    return {"kind": "PolicyExplanation", **shown}, sections


def _object_answer(noun: str, name: str, moment: Replay, options: ExplainOptions) -> Answer:
    ref = _found_ref(noun, name, moment.outcome, options.namespace)
    outcome = moment.outcome
    found = object_explanation(ref, outcome.source.desired, outcome.previous, outcome.rendered)
    decided = moment.decided(ref) if found.decision else None
    if any(room.origin is CapacityOrigin.OBSERVED for room in found.rooms):
        found = replace(found, facts=recorded_at((decided or moment).facts))
    if decided is not None:
        past = decided.outcome
        earlier = object_explanation(ref, past.source.desired, past.previous, past.rendered)
        found = replace(
            found,
            decision=earlier.decision,
            rooms=earlier.rooms,
            decided_in=decided.commit,
            decided_from=past.source.commit,
        )
    sections = object_sections(found, cluster=options.cluster, seats=options.seats)
    seats = {"seats": seats_of(found.decision)} if options.seats and found.decision else {}
    return {"kind": "ObjectExplanation", **plain_value(found), **seats}, sections


def seats_of(decision: Explanation) -> list[list[Any]]:
    """Return every division of a decision, replica by replica, as plain data."""
    divisions = (division for attempt in decision.attempts for division in attempt.divisions)
    return [[plain_value(seat) for seat in division.seats()] for division in divisions]


def recorded_at(facts: CommitInfo | None) -> str:
    """Say in which commit, and when, facts were recorded."""
    if facts is None:
        return ""
    return f"commit {facts.id[:12]} of {datetime.fromtimestamp(facts.time, UTC):%Y-%m-%d %H:%M} UTC"


def _found_ref(noun: str, name: str, outcome: Outcome, namespace: str) -> ObjectRef:
    along = (template for template, _ in outcome.rendered.namespaces)
    templates = {template.ref: template for template in (*along, *outcome.source.desired.templates)}
    return named_object(noun, name, namespace, templates.values())


def _origin(moment: Replay) -> dict[str, Any]:
    outcome = moment.outcome
    return {"source": outcome.source.commit or None, "previous": outcome.previous.commit if outcome.previous else None}


@click.command(
    epilog="Such as: argosy explain deploy/web -n shop; argosy explain cluster/paris; argosy explain policy/web;"
    " argosy explain cop/registry."
)
@click.argument("subject", nargs=-1, required=True, metavar="KIND/NAME | cluster/NAME | policy/NAME")
@with_namespace_options("The namespace the object or policy is in.")
@click.option("--rev", default="", metavar="REV", help="A source commit, or a rendered one  [default: HEAD]")
@click.option("--worktree", is_flag=True, help="Explain the files as they stand, committed or not.")
@click.option("--cluster", default="", metavar="NAME", help="Only what concerns this cluster.")
@click.option("-o", "--output", type=click.Choice(["text", "json", "markdown"]), default="text", help="Output format.")
@click.pass_obj
def command(log: Log, /, **options: object) -> int:
    """Say why an object is where it is.

    Which policies select it and why one of them won; which clusters were chosen, and every filter that refused the
    others; how replicas were divided, by which capacity; which overrides changed which fields; what keeps older bytes.
    KIND is what kubectl accepts: deploy, deployments, deployment.apps. A cluster tells what it holds and what refuses
    it the rest; a policy (pp, cpp, op, cop, or policy for any of them) what it selects, holds, loses and changes. With
    -v divisions are told seat by seat. No cluster is asked.
    """
    words = cast("tuple[str, ...]", options.pop("subject"))
    return explain_and_show(log, ExplainOptions(words=words, **options))  # type: ignore[arg-type]  # click checked them
