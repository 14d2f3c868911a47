"""The override policies that select a manifest, in the order they apply."""

from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from render.matching.selector_index import SelectorIndex
from render.model import Manifest, ObjectRef, Template
from render.selectors import ImplicitPriority, implicit_priority_for_template, implicit_priority_of_selector

from .overriders.labels import labels_or_annotations_of
from .policy import OverridePolicy
from .rules import CompiledPolicy, CompiledRule


class OverridePolicyIndex:
    """Policies of one scope, found by what their selectors ask for."""

    __slots__ = ("_everything", "_selecting")

    def __init__(self, policies: Iterable[CompiledPolicy]) -> None:
        every = tuple(policies)
        self._everything = [compiled for compiled in every if not compiled.policy.resource_selectors]
        self._selecting = SelectorIndex(
            ("", selector, compiled) for compiled in every for selector in compiled.policy.resource_selectors
        )

    def rules_for(self, manifest: Manifest) -> tuple[CompiledRule, ...]:
        """Return the rules of every policy that selects a manifest, in the order they apply.

        The less specific selector goes first, then the smaller name; so the more specific and the later name win.
        """
        found = {id(compiled): (ImplicitPriority.ALL, compiled) for compiled in self._everything}
        for met in self._selecting.selecting_entries_by_bucket(template_for_selectors(manifest)):
            for entry in met.all_entries():
                priority = implicit_priority_of_selector(entry.selector)
                known = found.setdefault(id(entry.owner), (priority, entry.owner))
                if priority > known[0]:
                    found[id(entry.owner)] = (priority, entry.owner)
        ranked = sorted(found.values(), key=lambda entry: (entry[0], entry[1].policy.name))
        return tuple(rule for _, compiled in ranked for rule in compiled.rules)


def selected_templates(policies: Sequence[OverridePolicy], templates: Iterable[Template]) -> Iterator[Template]:
    """Yield those of some templates that a policy selects."""
    everywhere = {policy.namespace for policy in policies if not policy.resource_selectors}
    index = SelectorIndex(
        (policy.namespace, selector, policy) for policy in policies for selector in policy.resource_selectors
    )
    for template in templates:
        if {"", template.ref.namespace} & everywhere or index.selecting_entries_by_bucket(template):
            yield template


class PossibleOverrides:
    """The override policies that may apply to an object in some cluster, by what their selectors ask for.

    A policy of the object's namespace reads labels as the rules of the cluster scope left them, which may differ from
    cluster to cluster. So its selectors count whatever labels they ask for.
    """

    __slots__ = ("_everywhere", "_selecting")

    def __init__(self, policies: Iterable[OverridePolicy]) -> None:
        every = tuple(policies)
        self._everywhere = tuple(policy for policy in every if not policy.resource_selectors)
        self._selecting = SelectorIndex(
            (policy.namespace, replace(selector, label_selector=None) if policy.namespace else selector, policy)
            for policy in every
            for selector in policy.resource_selectors
        )

    def policies_for(self, manifest: Manifest) -> tuple[OverridePolicy, ...]:
        """Return the policies that may apply to a manifest, sorted by their scope and name."""
        subject = template_for_selectors(manifest)
        found = {
            (policy.namespace, policy.name): policy
            for policy in self._everywhere
            if policy.namespace in {"", subject.ref.namespace}
        }
        for met in self._selecting.selecting_entries_by_bucket(subject):
            found |= {(entry.owner.namespace, entry.owner.name): entry.owner for entry in met.all_entries()}
        return tuple(found[key] for key in sorted(found))


def implicit_priority_of_policy(policy: OverridePolicy, template: Template) -> ImplicitPriority:
    """Return how specifically a policy selects a template; without selectors it selects everything."""
    if not policy.resource_selectors:
        return ImplicitPriority.ALL
    return max(implicit_priority_for_template(selector, template) for selector in policy.resource_selectors)


def template_for_selectors(manifest: Manifest) -> Template:
    """Return a manifest as selectors read it: labels that are not all strings count as none."""
    labels = labels_or_annotations_of(manifest, "labels")
    subject = {"apiVersion": manifest["apiVersion"], "metadata": {"labels": labels or {}}}
    return Template(ref=ObjectRef.of(manifest), manifest=subject)
