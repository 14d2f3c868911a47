"""Who wins when a field we want has another owner.

Rules the user wrote are asked first. After that: what people change by hand is drift, and is set right; what
controllers and autoscalers write is theirs, and is left to them; other deployment tools and strangers are a conflict,
reported and not touched, unless the binding says ``conflictResolution: Overwrite``.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from reconciler.members.exchange import FIELD_MANAGER
from render.model import ObjectRef

from .ownership import Owner

_DEPLOYERS = re.compile(
    r"helm.*|kustomize-controller|argocd.*|fleet.*|flux.*|pulumi.*|terraform.*|.*hashicorp.*|karmada.*"
)
_CONTROLLERS = re.compile(
    r".*-controller.*|.*controller-manager|.*autoscaler.*|vpa.*|keda.*|cert-manager.*|.*-operator.*"
)


class Decision(StrEnum):
    """What happens to a field two managers want."""

    OVERWRITE = "overwrite"
    YIELD = "yield"
    FAIL = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldRule:
    """A user's decision about fields: globs for the object and the path, a regular expression for the manager."""

    decision: Decision
    group_kind: str = "*"
    namespace: str = "*"
    name: str = "*"
    path: str = "*"
    manager: str = ".*"

    def covers(self, ref: ObjectRef, path: str, owner: Owner) -> bool:
        """Whether the rule is about this field of this object and this owner."""
        return (
            fnmatchcase(ref.group_kind, self.group_kind)
            and fnmatchcase(ref.namespace, self.namespace)
            and fnmatchcase(ref.name, self.name)
            and fnmatchcase(path, self.path)
            and re.fullmatch(self.manager, owner.manager) is not None
        )


def decide(ref: ObjectRef, path: str, owner: Owner, *, rules: tuple[FieldRule, ...], overwrite: bool) -> Decision:
    """Return who gets a field that another manager owns with another value."""
    for rule in rules:
        if rule.covers(ref, path, owner):
            return rule.decision
    if owner.is_person or owner.manager in {FIELD_MANAGER, "before-first-apply"}:
        return Decision.OVERWRITE
    if _DEPLOYERS.fullmatch(owner.manager):
        return Decision.OVERWRITE if overwrite else Decision.FAIL
    if owner.subresource == "scale" or _CONTROLLERS.fullmatch(owner.manager):
        return Decision.YIELD
    return Decision.OVERWRITE if overwrite else Decision.FAIL
