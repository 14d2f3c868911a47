"""Fields with two claims: what differs between a manifest and a live object, and who wins each field."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from reconciler.members.exchange import FIELD_MANAGER
from reconciler.members.masking import masked_value
from render.model import Manifest

from .containment import contained
from .field_paths import MISSING, Path, path_text, value_at, without
from .model import FieldChange
from .ownership import DifferenceKind, FieldDifference, Owner, foreign_fields, owners_at

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


def decide(owner: Owner, *, overwrite: bool) -> Decision:
    """Return who gets a field that another manager owns with another value.

    ``overwrite``: the binding says Overwrite.
    """
    if owner.is_person or owner.manager in {FIELD_MANAGER, "before-first-apply"}:
        return Decision.OVERWRITE
    if _DEPLOYERS.fullmatch(owner.manager):
        return Decision.OVERWRITE if overwrite else Decision.FAIL
    if owner.subresource == "scale" or _CONTROLLERS.fullmatch(owner.manager):
        return Decision.YIELD
    return Decision.OVERWRITE if overwrite else Decision.FAIL


@dataclass(frozen=True, slots=True, kw_only=True)
class Contest:
    """The outcome for fields with two claims: what is still wanted, and which claims were won, left or lost."""

    want: dict[str, Any]
    won: tuple[FieldChange, ...] = ()
    yielded: tuple[FieldChange, ...] = ()
    lost: tuple[FieldChange, ...] = ()


def contest(want: dict[str, Any], live: Manifest, found: tuple[FieldDifference, ...], *, overwrite: bool) -> Contest:
    """Decide every differing field that somebody else owns."""
    taken: dict[Decision, list[FieldChange]] = {decision: [] for decision in Decision}
    remaining = want
    for path in _differing_paths(want, live, found):
        for owner in owners_at(live, path):
            decision = decide(owner, overwrite=overwrite)
            taken[decision].append(field_change(want, live, FieldDifference(path, DifferenceKind.LOST), owner))
            if decision is Decision.YIELD:
                remaining = without(remaining, path)
    return Contest(
        want=remaining,
        won=tuple(taken[Decision.OVERWRITE]),
        yielded=tuple(taken[Decision.YIELD]),
        lost=tuple(taken[Decision.FAIL]),
    )


def _differing_paths(want: Manifest, live: Manifest, found: tuple[FieldDifference, ...]) -> Iterator[Path]:
    for difference in found:
        if difference.change is not DifferenceKind.DROPPED:
            wanted, there = value_at(want, difference.path), value_at(live, difference.path)
            if there is not MISSING:
                yield from (item.path for item in value_differences(wanted, there, difference.path))


def value_differences(want: Any, live: Any, path: Path = ()) -> Iterator[FieldDifference]:
    """Yield the innermost named fields whose live value does not hold the wanted one."""
    if isinstance(want, Mapping) and isinstance(live, Mapping):
        for name, value in want.items():
            if path or name not in {"apiVersion", "kind"}:
                yield from value_differences(value, live.get(name, MISSING), (*path, name))
    elif not contained(want, live, path):
        yield FieldDifference(path, DifferenceKind.MODIFIED)


def field_changes(want: Manifest, live: Manifest, found: tuple[FieldDifference, ...]) -> tuple[FieldChange, ...]:
    """Tell differences by their innermost fields, each with the manager that owns the field now."""
    return tuple(
        field_change(want, live, inner, next(iter(owners_at(live, inner.path)), Owner("")))
        for difference in found
        for inner in _innermost(want, live, difference)
    )


def _innermost(want: Manifest, live: Manifest, difference: FieldDifference) -> tuple[FieldDifference, ...]:
    """Return the fields in a field whose values differ; the field itself where only its owner does."""
    path, change = difference
    wanted, there = value_at(want, path), value_at(live, path)
    if change is DifferenceKind.DROPPED or wanted is MISSING or there is MISSING:
        return (difference,)
    return tuple(FieldDifference(inner.path, change) for inner in value_differences(wanted, there, path)) or (
        difference,
    )


def field_change(want: Manifest, live: Manifest, difference: FieldDifference, owner: Owner) -> FieldChange:
    """Tell one difference, masked where the field may hold a secret."""
    text = path_text(difference.path)
    there, wanted = value_at(live, difference.path), value_at(want, difference.path)
    return FieldChange(
        path=text,
        change=difference.change,
        live="" if there is MISSING else masked_value(there, text, live),
        want="" if wanted is MISSING else masked_value(wanted, text, want),
        manager=owner.manager,
        time=owner.time,
    )


def foreign_changes(want: Manifest, live: Manifest) -> tuple[FieldChange, ...]:
    """Tell the fields people added, which applying never removes."""
    return tuple(
        field_change(want, live, FieldDifference(path, DifferenceKind.FOREIGN), owner)
        for owner, path in foreign_fields(live)
        if value_at(want, path) is MISSING
    )
