"""The changes every applied rule made to a manifest, for ``argosy explain``; found when somebody asks.

The engine records which rules applied to a class of clusters; running them once more on the same manifest, one by one,
shows the changes of each, up to the one that was refused.
"""

from collections.abc import Iterable

from msgspec import Struct

from render.model import Manifest

from .changes import ChangedField, changes_of
from .draft import Draft
from .errors import OverrideError
from .record import AppliedRule
from .rules import compile_recorded_rule, run_edits_of_rule


class RuleEffect(Struct, frozen=True, kw_only=True):
    """The changes one rule made to a manifest, or the error that stopped it."""

    applied: AppliedRule
    changes: tuple[ChangedField, ...] = ()
    error: OverrideError | None = None


def effects_of_rules(manifest: Manifest, applied: Iterable[AppliedRule]) -> tuple[RuleEffect, ...]:
    """Apply rules to a manifest one by one and return the changes of each, up to the first that cannot be applied."""
    steps = []
    for record in applied:
        draft = Draft(manifest)
        error = run_edits_of_rule(compile_recorded_rule(record), draft)
        if error:
            steps.append(RuleEffect(applied=record, error=error))
            break
        steps.append(RuleEffect(applied=record, changes=changes_of(manifest, draft.root)))
        manifest = draft.root
    return tuple(steps)
