"""The override policies that select a manifest, in the order they apply."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from render.model import Manifest, ObjectRef, Template
from render.selectors import ImplicitPriority, implicit_priority

from .overriders.labels import entries_of
from .policy import OverridePolicy
from .rules import CompiledPolicy, CompiledRule

_Api = tuple[str, str]


class OverridePolicyIndex:
    """Policies of one scope, found by the apiVersion and kind they select."""

    __slots__ = ("_everything", "_policies_by_api")

    def __init__(self, policies: Iterable[CompiledPolicy]) -> None:
        self._everything: list[CompiledPolicy] = []
        self._policies_by_api: Mapping[_Api, list[CompiledPolicy]] = defaultdict(list)
        for compiled in policies:
            apis = {(selector.api_version, selector.kind) for selector in compiled.policy.resource_selectors}
            for api in apis:
                self._policies_by_api[api].append(compiled)
            if not apis:
                self._everything.append(compiled)

    def rules_for(self, manifest: Manifest) -> tuple[CompiledRule, ...]:
        """Return the rules of every policy that selects a manifest, in the order they apply.

        The less specific selector goes first, then the smaller name; so the more specific and the later name win.
        """
        candidates = self._policies_by_api.get((manifest["apiVersion"], manifest["kind"]), ())
        ranked = [(ImplicitPriority.ALL, compiled.policy.name, compiled) for compiled in self._everything]
        if candidates:
            template = subject_of(manifest)
            ranked += [
                (priority_of(compiled.policy, template), compiled.policy.name, compiled) for compiled in candidates
            ]
        selecting = sorted((entry for entry in ranked if entry[0]), key=lambda entry: entry[:2])
        return tuple(rule for *_, compiled in selecting for rule in compiled.rules)


def priority_of(policy: OverridePolicy, template: Template) -> ImplicitPriority:
    """Return how specifically a policy selects a template; without selectors it selects everything."""
    if not policy.resource_selectors:
        return ImplicitPriority.ALL
    return max(implicit_priority(selector, template) for selector in policy.resource_selectors)


def subject_of(manifest: Manifest) -> Template:
    """Return a manifest as selectors read it: labels that are not all strings count as none."""
    labels = entries_of(manifest, "labels")
    subject = {"apiVersion": manifest["apiVersion"], "metadata": {"labels": labels or {}}}
    return Template(ref=ObjectRef.of(manifest), manifest=subject)
