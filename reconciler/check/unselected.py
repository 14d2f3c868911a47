"""Warnings about templates that no policy selects, and about words of argosy.yaml by which nothing is meant."""

from collections.abc import Iterator, Mapping

from overrides.lint import LineOf
from reconciler.pipeline.claims import released_bindings
from reconciler.pipeline.dependencies import Following, followers_of_bindings
from reconciler.pipeline.unselected import (
    Unselected,
    stays_by_not_propagated_entry,
    templates_with_nearest_policies,
    unselected_templates,
)
from reconciler.source.desired import Desired, interpreter_of_source
from render.binding import Binding
from render.errors import Problem
from render.model import ObjectRef, Template
from render.policy import PropagationPolicy
from render.syntax import quoted_text
from render.words import first_few

UNSELECTED, IDLE_ENTRY = "UnselectedTemplate", "IdleEntry"
_SETTING = "kind or folder in notPropagated of argosy.yaml"


def unselected_warnings(
    desired: Desired,
    claims: Mapping[ObjectRef, PropagationPolicy],
    previous: Mapping[ObjectRef, Binding],
    line_of: LineOf | None,
) -> Iterator[Problem]:
    """Yield a warning for the templates of a kind that go nowhere, at the first of them, and for idle settings.

    Those that clusters keep are told of as released ones. Of a namespace whose workloads do not tell what they depend
    on, nothing is said, for what they bring along is not known.
    """
    follows = _followers_of_claimed_templates(desired, claims)
    released = {each.ref for each in released_bindings(desired, previous)}
    unknown = {ref.namespace for ref, _ in follows.failed}
    found = [
        each
        for each in unselected_templates(desired, claims.keys() | follows.snapshots.keys() | released)
        if each.ref.namespace not in unknown
    ]
    groups: dict[tuple[str, str], list[Unselected]] = {}
    for each in templates_with_nearest_policies(found, desired):
        groups.setdefault((each.ref.group_kind, each.nearest), []).append(each)
    for (_, nearest), group in groups.items():
        first = group[0]
        line = line_of(first.path, first.document, "") if line_of else 0
        they, them, their = ("it goes", "it", "its") if len(group) == 1 else ("they go", "them", "their")
        message = f"no policy selects {first_few([str(each.ref) for each in group])}, so that {they} nowhere"
        nearest_policy = f"; the nearest policy is {nearest}" if nearest else ""
        hint = f"select {them}, or name {their} {_SETTING}{nearest_policy}"
        yield Problem(first.path, line, "", message, hint, UNSELECTED)
    yield from _warnings_of_idle_entries(desired, line_of)
    yield from _warnings_of_forgotten_members(desired, line_of)


def _followers_of_claimed_templates(desired: Desired, claims: Mapping[ObjectRef, PropagationPolicy]) -> Following:
    """Find what the templates that policies claim bring along."""
    template_by_ref: dict[ObjectRef, Template] = {each.ref: each for each in desired.templates}
    owners = [
        Binding(ref=ref, api_version=template_by_ref[ref].api_version, propagate_deps=True)
        for ref, policy in claims.items()
        if policy.propagate_deps
    ]
    return followers_of_bindings(owners, template_by_ref if owners else {}, interpreter_of_source(desired))


def _warnings_of_idle_entries(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each entry of ``notPropagated`` by which no template is meant."""
    fleet = desired.fleet
    for number, entry in enumerate(fleet.not_propagated):
        if not any(stays_by_not_propagated_entry(entry, template, fleet) for template in desired.templates):
            field = f"spec.notPropagated[{number}]"
            line = line_of(fleet.path, 0, field) if line_of else 0
            hint = "write a kind as Kind.group, and a folder with a / behind it"
            yield Problem(fleet.path, line, field, "no template is of this kind, or in this folder", hint, IDLE_ENTRY)


def _warnings_of_forgotten_members(desired: Desired, line_of: LineOf | None) -> Iterator[Problem]:
    """Yield a warning for each entry of ``forgotten`` that is a member: once disconnected, it would be lost at once."""
    fleet, members = desired.fleet, {cluster.name for cluster in desired.clusters}
    for number, name in enumerate(fleet.forgotten):
        if name in members:
            field = f"spec.forgotten[{number}]"
            line = line_of(fleet.path, 0, field) if line_of else 0
            message = f"{quoted_text(name)} is a member of the fleet, of which nothing is forgotten"
            hint = "take it off the list: if it is disconnected, what pruning goes by is lost at once"
            yield Problem(fleet.path, line, field, message, hint, IDLE_ENTRY)
