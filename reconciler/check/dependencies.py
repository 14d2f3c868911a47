"""Warnings about dependencies that a policy propagates in vain: nothing tells what objects of a kind depend on."""

from collections.abc import Iterator, Mapping

from overrides.lint import LineOf
from reconciler.source.desired import Desired, interpreter_of_source
from render.errors import Problem
from render.interpretation.pod_templates import pod_specs_in
from render.interpretation.references import pod_dependencies
from render.interpreter import InterpreterError, Operation
from render.kinds import BUILT_IN
from render.model import ObjectRef, Template, is_encrypted_by_sops
from render.policy import PropagationPolicy
from render.words import first_few

LEFT_BEHIND = "LeftBehind"
_FIELD = "spec.propagateDeps"


def warnings_of_missing_dependencies(
    desired: Desired, claims: Mapping[ObjectRef, PropagationPolicy], line_of: LineOf | None
) -> Iterator[Problem]:
    """Yield a warning for each kind whose pods need objects that go nowhere, though their policy propagates them."""
    interpreter = interpreter_of_source(desired)
    unclaimed = {each.ref for each in desired.templates if each.ref not in claims}
    needed: dict[tuple[str, str, str], set[ObjectRef]] = {}
    policy_by_name: dict[str, PropagationPolicy] = {}
    for template in desired.templates if unclaimed else ():
        policy = claims.get(template.ref)
        if policy is None or not policy.propagate_deps or not _may_have_pods(template):
            continue
        if interpreter.has(Operation.INTERPRET_DEPENDENCY, template.manifest):
            continue
        if missing := _objects_referred_to_by_pods(template) & unclaimed:
            policy_by_name[str(policy)] = policy
            needed.setdefault((str(policy), *template.versioned_kind), set()).update(missing)
    for (name, api_version, kind), refs in needed.items():
        policy, objects = policy_by_name[name], first_few([str(ref) for ref in sorted(refs)])
        message = f"nothing tells what objects of kind {kind} depend on: {objects}, which their pods need, go nowhere"
        hint = (
            f"write a ResourceInterpreterCustomization for {api_version} {kind} with dependencyInterpretation, or"
            " select these objects"
        )
        line = line_of(policy.path, policy.document, _FIELD) if line_of else 0
        yield Problem(policy.path, line, _FIELD, message, hint, LEFT_BEHIND)


def _may_have_pods(template: Template) -> bool:
    """Say whether a template is of a custom kind in a namespace: nothing follows what is in none."""
    is_custom = (template.ref.group, template.ref.kind) not in BUILT_IN
    return is_custom and bool(template.ref.namespace) and not is_encrypted_by_sops(template.manifest)


def _objects_referred_to_by_pods(template: Template) -> set[ObjectRef]:
    """Return the objects that the pods of a template refer to."""
    found = set()
    for spec in pod_specs_in(template.manifest.get("spec")):
        try:
            found |= pod_dependencies(spec, template.ref.namespace)
        except InterpreterError:
            continue  # what is no pod after all
    return {ObjectRef("", each.kind, each.namespace, each.name) for each in found}
