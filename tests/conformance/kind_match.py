"""Policy matching: the winners, the binding a policy makes, and the errors; under Karmada's sticky claims."""

from typing import Any

from msgspec.structs import replace

from render.binding import Binding
from render.interpreter import Interpreter, InterpreterError
from render.matching.bindings import binding_before_scheduling, interpreted_workload, is_same_object
from render.matching.match import Match, MatchOptions, NoPolicyReason, PolicyIndex
from render.matching.precedence import policy_named_by_claim
from render.model import ObjectRef, Template
from render.parsing import parse_binding, parse_propagation_policy
from render.quantity import format_quantity, parse_quantity
from render.resources import ReplicaRequirements
from render.settings.switches import ClaimMode

from . import Case

INTERPRETER = Interpreter.of(())
KARMADA = MatchOptions(claims=ClaimMode.STICKY)
WORDS_BY_REASON = {
    NoPolicyReason.NO_POLICY: "no matched propagation policy",
    NoPolicyReason.WAITING_FOR_OVERRIDES: "waiting for dependent overrides",
    NoPolicyReason.POLICY_TERMINATING: "is being deleted",
}


def check(case: Case) -> str | None:
    given, expected = case["input"], case["expected"]
    template = Template(ref=ObjectRef.of(given["template"]), manifest=given["template"])
    policies = [
        parse_propagation_policy(policy)
        for policy in given["propagationPolicies"] + given["clusterPropagationPolicies"]
    ]
    overrides = {
        (policy["metadata"].get("namespace", ""), policy["metadata"]["name"])
        for policy in given["overridePolicies"] + given["clusterOverridePolicies"]
    }
    index = PolicyIndex(policies, override_policies=overrides)
    match = index.match(template, claim=policy_named_by_claim(template), options=KARMADA)
    previous = _existing_binding(given.get("existingBinding"), match)
    return (
        _winners(index, template, expected)
        or _claims(match, template, expected)
        or _outcome(match, template, previous, case)
    )


def _existing_binding(manifest: dict[str, Any] | None, match: Match) -> Binding | None:
    """A PropagationPolicy makes ResourceBindings only, also of a cluster-scoped object claimed by hand."""
    if manifest is None:
        return None
    if match.policy is not None and match.policy.is_namespaced and manifest["kind"] == "ClusterResourceBinding":
        return None
    owner = next(each for each in manifest["metadata"]["ownerReferences"] if each.get("controller"))
    return replace(parse_binding(manifest), uid=owner["uid"])


def _winners(index: PolicyIndex, template: Template, expected: dict[str, Any]) -> str | None:
    alive = [each.policy for each in index.candidates(template) if not each.policy.is_terminating]
    best = {
        "pp": next((policy.name for policy in alive if policy.is_namespaced), None),
        "cpp": next((policy.name for policy in alive if not policy.is_namespaced), None),
    }
    wanted = {"pp": expected["pp"], "cpp": expected["cpp"]}
    return None if best == wanted else f"winners {best}, want {wanted}"


def _claims(match: Match, template: Template, expected: dict[str, Any]) -> str | None:
    """A vanished policy's claim is cleaned up first, and the template matched by the next event."""
    is_stale = bool(expected.get("templateCleanup"))
    held = policy_named_by_claim(template)
    if is_stale:
        return None if match.lost_claim == held else f"the claim of {held} is still held"
    return None


def _outcome(match: Match, template: Template, previous: Binding | None, case: Case) -> str | None:
    expected = case["expected"]
    if match.lost_claim:
        # Karmada leaves both alone in this event: the claim is gone, or its policy no longer selects the template.
        return None if expected["bindingOp"] == "none" and expected["error"] is None else "the claim should hold"
    try:
        workload = interpreted_workload(template, INTERPRETER)
    except InterpreterError as error:
        return None if expected["error"] else f"error {error}, want none"
    is_changed = not case["input"].get("resourceChangeByKarmada")
    made = binding_before_scheduling(template, match, workload, previous, is_changed=is_changed)
    if match.policy is None or expected["error"]:
        return _error(match, template, previous, expected["error"])
    if match.is_lazy and not is_changed:
        return None if expected["bindingOp"] == "none" else "a lazy policy should wait"
    if expected["bindingOp"] == "none":
        return f"bound by {match.policy}, want none"
    return _difference(made, expected)


def _error(match: Match, template: Template, previous: Binding | None, error: str | None) -> str | None:
    if match.reason is not None:
        words = WORDS_BY_REASON[match.reason]
        return None if error is not None and words in error else f"{match.reason}, want {error}"
    if previous is not None and not is_same_object(template, previous):
        return None if error is not None and "different owner reference UID" in error else f"another UID, want {error}"
    return f"bound by {match.policy}, want {error}"


def _difference(made: Binding | None, expected: dict[str, Any]) -> str | None:
    want = parse_binding(expected["binding"])
    # The recording has no API server that would write this default.
    want = replace(want, scheduler_name=want.scheduler_name or "default-scheduler")
    if made is None:
        return "no binding"
    made, want = (replace(each, requirements=_in_amounts(each.requirements)) for each in (made, want))
    names = [name for name in Binding.__struct_fields__ if getattr(made, name) != getattr(want, name)]
    return "; ".join(f"{name} {getattr(made, name)}, want {getattr(want, name)}" for name in names) or None


def _in_amounts(requirements: ReplicaRequirements | None) -> ReplicaRequirements | None:
    """Quantities of custom resources keep their notation in Karmada; only the amounts matter."""
    if requirements is None:
        return None
    amounts = {name: format_quantity(parse_quantity(text)) for name, text in requirements.resource_request.items()}
    return replace(requirements, resource_request=amounts)
