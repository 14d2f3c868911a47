"""Warnings about objects that only a webhook interprets, of which no answer is known: no check can render them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import suppress

from overrides.lint import LineOf
from reconciler.ledger.webhook_answers import Answers
from reconciler.pipeline.webhook_answers import Recording
from reconciler.source.desired import Desired, interpreter_of_source, is_about_kind
from reconciler.source.lines import template_problem
from render.errors import Problem
from render.interpreter import Interpreter, InterpreterError, Layer, Operation
from render.matching.bindings import interpreted_workload
from render.model import ObjectRef, Template
from render.placement import ReplicaSchedulingType
from render.policy import PropagationPolicy
from render.words import first_few

UNANSWERED = "UnansweredWebhook"


def unanswered_webhooks(
    desired: Desired, claims: Mapping[ObjectRef, PropagationPolicy], answers: Answers, line_of: LineOf | None
) -> Iterator[Problem]:
    """Yield a warning for each kind with objects that a pass without clusters cannot interpret."""
    if not desired.webhooks:
        return
    known = frozenset((each.operation, each.object) for each in answers.values())
    unanswered: dict[tuple[str, str, str], list[Template]] = defaultdict(list)
    for template in desired.templates:
        policy = claims.get(template.ref)
        if policy is None or not any(is_about_kind(each, *template.versioned_kind) for each in desired.webhooks):
            continue
        recording = Recording(answers)
        interpreter = interpreter_of_source(desired, recording.send)
        _ask_what_rendering_asks(template, policy, interpreter, desired)
        webhook = next((each.webhook.name for each in recording.open.values()), "")
        if webhook := webhook or _webhook_that_would_revise(template, policy, interpreter, known):
            unanswered[webhook, template.api_version, template.ref.kind].append(template)
    for (webhook, api_version, kind), templates in unanswered.items():
        objects, first = first_few([str(each.ref) for each in templates]), templates[0]
        message = f"webhook {webhook} alone interprets {objects}, and no answer is known here: no check can render it"
        hint = (
            f"write a ResourceInterpreterCustomization for {api_version} {kind}, which needs no network, or let a pass"
            " that reaches the clusters ask it: argosy reconcile"
        )
        yield template_problem(first, Problem(first.path, 0, "kind", message, hint, UNANSWERED), line_of)


def _ask_what_rendering_asks(
    template: Template, policy: PropagationPolicy, interpreter: Interpreter, desired: Desired
) -> None:
    """Ask what rendering an object asks first, whatever becomes of it."""
    divides_components = desired.fleet.feature_gates.multiple_pod_templates_scheduling
    with suppress(InterpreterError):
        interpreted_workload(template, interpreter, divides_components=divides_components)
    if policy.propagate_deps:
        with suppress(InterpreterError):
            interpreter.dependencies(template.manifest)


def _webhook_that_would_revise(
    template: Template, policy: PropagationPolicy, interpreter: Interpreter, known: frozenset[tuple[str, str]]
) -> str:
    """Return the webhook that has to write the shares of an object and never wrote any; empty for none."""
    scheduling, operation = policy.placement.replica_scheduling, Operation.REVISE_REPLICA
    is_divided = scheduling is not None and scheduling.type is ReplicaSchedulingType.DIVIDED
    is_asked = is_divided and interpreter.answering_layer(operation, template.manifest) is Layer.WEBHOOK
    if not is_asked or (str(operation), str(template.ref)) in known:
        return ""
    revisers = (
        webhook.name
        for webhook in interpreter.webhooks
        if any(rule.matches(operation, *template.versioned_kind) for rule in webhook.rules)
    )
    return next(revisers, "")
