"""The causes of what differs: the inputs of an object that the two sides of a difference do not share.

An object's bytes come from its template, the build that made it, the policy that claims it, the override policies that
select it, and whatever interprets its kind. Each of these may stand in a folder of somebody else. Those that are others
are looked at once; an object is compared with those alone.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from overrides.matching import implicit_priority_of_policy, template_for_selectors
from overrides.policy import OverridePolicy
from reconciler.rendering.outcome import Outcome
from reconciler.source.desired import Desired, is_about_kind
from render.model import ObjectRef, Template

from .difference import ChangeAction, ChangedInput, Difference
from .words import TEMPLATE

_Api = tuple[str, str]
NamedInput = tuple[str, str, Any]
"""The name of an input, the path of its file, and what it says."""
_EVERYTHING: frozenset[_Api | None] = frozenset({None})


class _Changed(Struct, frozen=True, kw_only=True):
    """The inputs that are others: causes by name; override policies by what they select; and what interprets kinds."""

    policies: Mapping[str, ChangedInput]
    overrides: Mapping[_Api | None, list[tuple[ChangedInput, OverridePolicy]]]
    interpreters: list[tuple[ChangedInput, Template]]
    builds: Mapping[ObjectRef, ChangedInput]

    @classmethod
    def between(cls, base: Desired, head: Desired, difference: Difference) -> "_Changed":
        """Return what is other in a head than in a base."""
        overrides: dict[_Api | None, list[tuple[ChangedInput, OverridePolicy]]] = {}
        for cause, policies in changed_inputs(
            map(identity_and_content, base.override_policies), map(identity_and_content, head.override_policies)
        ):
            for policy in policies:
                apis: set[_Api] = {(each.api_version, each.kind) for each in policy.resource_selectors}
                for api in apis or _EVERYTHING:
                    overrides.setdefault(api, []).append((cause, policy))
        sides = (_interpreter_inputs(side) for side in (base, head))
        claiming = changed_inputs(map(identity_and_content, base.policies), map(identity_and_content, head.policies))
        return cls(
            policies={cause.name: cause for cause, _ in claiming},
            overrides=overrides,
            interpreters=[(cause, each) for cause, templates in changed_inputs(*sides) for each in templates],
            builds=dict(_changed_builds(base, head, difference)),
        )

    def causes_of(self, template: Template, claimed_by: Iterable[str]) -> Iterator[ChangedInput]:
        """Yield the causes of a difference in an object that has this template on one side."""
        api = str(template.manifest["apiVersion"]), str(template.manifest["kind"])
        if template.ref in self.builds:
            yield self.builds[template.ref]
        yield from (self.policies[name] for name in claimed_by if name in self.policies)
        subject = template_for_selectors(template.manifest)
        for cause, policy in (*self.overrides.get(api, ()), *self.overrides.get(None, ())):
            is_in_reach = not policy.namespace or policy.namespace == template.ref.namespace
            if is_in_reach and implicit_priority_of_policy(policy, subject):
                yield cause
        yield from (cause for cause, each in self.interpreters if is_about_kind(each, *api))


def difference_with_causes(difference: Difference, base: Outcome, head: Outcome) -> Difference:
    """Return a difference with the causes of each object that changes, and of each whose replicas move."""
    refs = {each.ref for each in difference.objects if each.action is ChangeAction.CHANGED}
    refs |= {each.ref for each in difference.movements}
    sides = base.source.desired, head.source.desired
    changed = _Changed.between(*sides, difference)
    templates = [{each.ref: each for each in side.templates if each.ref in refs} for side in sides]
    claims = [
        {each.ref: each.policy for each in side.rendered.built.bindings if each.ref in refs} for side in (base, head)
    ]
    causes: dict[ObjectRef, tuple[ChangedInput, ...]] = {}
    for ref in sorted(refs):
        found = [side[ref] for side in templates if ref in side]
        claimed_by = [side[ref] for side in claims if ref in side]
        known = dict.fromkeys(cause for each in found for cause in changed.causes_of(each, claimed_by))
        if len(found) == 2 and found[0].manifest != found[1].manifest and ref not in changed.builds:
            known = {ChangedInput(name=TEMPLATE, path=found[1].path, action=ChangeAction.CHANGED): None, **known}
        if known:
            causes[ref] = tuple(known)
    return replace(difference, causes=causes)


def identity_and_content(policy: Any) -> NamedInput:
    """Return the name of a policy, its path, and what it says, wherever it stands."""
    return str(policy), policy.path, replace(policy, path="", document=0)


def _interpreter_inputs(desired: Desired) -> Iterator[NamedInput]:
    for each in (*desired.customizations, *desired.webhooks):
        yield f"{each.ref.kind} {each.ref.name}", each.path, replace(each, path="", document=0)


def changed_inputs(base: Iterable[NamedInput], head: Iterable[NamedInput]) -> Iterator[tuple[ChangedInput, list[Any]]]:
    """Yield what only one side has, or has otherwise, with what it says on each side."""
    before, after = ({name: (path, value) for name, path, value in side} for side in (base, head))
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if old and new and old[1] == new[1]:
            continue
        action = ChangeAction.CHANGED if old and new else ChangeAction.ADDED if new else ChangeAction.REMOVED
        path = new[0] if new else old[0] if old else ""
        yield ChangedInput(name=name, path=path, action=action), [side[1] for side in (old, new) if side]


def _changed_builds(base: Desired, head: Desired, difference: Difference) -> Iterator[tuple[ObjectRef, ChangedInput]]:
    changed = {each.build: each for each in difference.builds}
    for side in (base, head):
        for build in side.builds:
            if build.name in changed:
                cause = ChangedInput(name=build.name, path=changed[build.name].path, action=ChangeAction.CHANGED)
                yield from ((ref, cause) for ref in build.refs)
