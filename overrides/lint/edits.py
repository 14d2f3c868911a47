"""Edits that are wrong whatever they meet: values that nothing can be made of, and renames."""

from collections.abc import Iterable, Iterator
from typing import Any

from overrides.errors import LintFinding
from overrides.identity import MOVED, identity_field
from overrides.overriders.overrider_type import Complaint, OverriderType
from overrides.pointer import tokens_of_pointer
from overrides.policy import OverridePolicy
from overrides.record import origin_of


def findings_of_overriders_alone(policies: Iterable[OverridePolicy]) -> Iterator[LintFinding]:
    """Yield the complaints of each type of overrider about its own, and the edits of an object's identity."""
    for policy in policies:
        for rule in policy.rules:
            for place, type_, overrider in rule.overriders:
                for message, hint in (*type_.complaints(overrider), *_complaints_of_identity_edits(type_, overrider)):
                    field = f"{rule.path}.overriders.{place}"
                    yield LintFinding(origin=origin_of(policy), field=field, message=message, hint=hint)


def _complaints_of_identity_edits(type_: OverriderType[Any], overrider: Any) -> Iterator[Complaint]:
    changed = identity_field(tokens_of_pointer(type_.pointer(overrider) or "") or ())
    if changed:
        yield Complaint(f"changes {changed}, which is an error in every cluster it applies to", MOVED)
