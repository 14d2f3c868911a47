"""Fields that two managers own: how they differ between manifest and live object, and which manager gets each."""

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from reconciler.members.masking import value_for_report
from render.expressions import lazy_expression
from render.model import Manifest

from .applyset import TOOL
from .containment import is_contained_in, is_equal_to_server
from .field_paths import MISSING, Path, path_text, value_at, value_without_path
from .membership import fleet_name_of_manager
from .model import FieldChange
from .ownership import DifferenceKind, FieldDifference, Owner, is_one_piece, owners_at, steps_to_items

# What others are known to decide at run time; what a manager is called says nothing of which fields are its own.
_RUNTIME_FIELDS = lazy_expression(
    r"(.*\.caBundle|\.spec\.(clusterIPs?|healthCheckNodePort|volumeName|claimRef)|\.spec\.ports\[[^]]*]\.nodePort)([.\[].*)?",
    re.DOTALL,
)

# Of all that the manager of Kubernetes' controllers runs, only its autoscaler scales.
_AUTOSCALED = ("kube-controller-manager", "scale", ("spec", "replicas"))


def _rule_nothing(_path: Path, _owner: Owner) -> None:
    return None


class Decision(StrEnum):
    """The decision about a field that two managers want: it is ours, the other's, or nobody decides."""

    OVERWRITE = "overwrite"
    YIELD = "yield"
    FAIL = "fail"


class OwnershipClaims(Struct, frozen=True, kw_only=True):
    """An object claims fields that others own: all of them by ``overwrite``, or single ones by ``ruling``.

    ``is_unscaled``: no autoscaler of the cluster is about the object. ``replaced`` are managers whose fields become
    ours before the object is applied.
    """

    overwrite: bool = False
    replaced: frozenset[str] = frozenset()
    is_unscaled: bool = False
    ruling: Callable[[Path, Owner], Decision | None] = _rule_nothing


def decide_on_foreign_field(owner: Owner, path: Path, claims: OwnershipClaims) -> Decision:
    """Decide about a field that another manager owns with another value.

    Another fleet's is a conflict in any case. What a manager owns that is replaced becomes ours. A field rule decides
    otherwise. People's changes are drift and are overwritten, and so is a number of replicas that an autoscaler left
    behind. Fields known to be decided at run time - replicas, which alone are set through the scale subresource, CA
    bundles, allocated values - are left to their owner, which no deployer is. The rest is a conflict unless the binding
    says ``overwrite``.
    """
    if fleet_name_of_manager(owner.manager):
        return Decision.FAIL
    if owner.manager in claims.replaced and not owner.subresource:
        return Decision.OVERWRITE
    ruled = claims.ruling(path, owner)
    if ruled is not None:
        return ruled
    is_scaled = owner.subresource == "scale"
    is_left_behind = claims.is_unscaled and (owner.manager, owner.subresource, path) == _AUTOSCALED
    if owner.is_person or is_left_behind or owner.manager in {TOOL, "before-first-apply"}:
        return Decision.OVERWRITE
    if not owner.is_deployer and (is_scaled or _RUNTIME_FIELDS.fullmatch(path_text(path))):
        return Decision.YIELD
    return Decision.OVERWRITE if claims.overwrite else Decision.FAIL


def hint_about_conflict(managers: Iterable[str]) -> str:
    """Return what to do about fields that managers own; those of another fleet are never overwritten."""
    names = tuple(dict.fromkeys(managers))
    if any(map(fleet_name_of_manager, names)):
        return "let one fleet decide the field: take it out of the template of the other"
    options = " ".join(f"--migrate-from {name}" for name in names)
    replaced = f", or take all of its fields over: argosy apply {options}" if options else ""
    return f"drop that manager's change, or set conflictResolution: Overwrite in its policy{replaced}"


class DecidedConflicts(Struct, frozen=True, kw_only=True):
    """The fields that two managers own, by the decision about each, and the manifest without the yielded ones."""

    want: dict[str, Any]
    overwritten: tuple[FieldChange, ...] = ()
    yielded: tuple[FieldChange, ...] = ()
    failed: tuple[FieldChange, ...] = ()


def decide_conflicts(
    want: dict[str, Any],
    live: Manifest,
    different: tuple[FieldDifference, ...],
    claims: OwnershipClaims,
    ours: Container[str],
) -> DecidedConflicts:
    """Decide about every field that differs and has another owner; ``ours`` are the managers that are our own."""
    decided: dict[Decision, list[FieldChange]] = {decision: [] for decision in Decision}
    remaining = want
    for path in _conflicting_paths(want, live, different):
        for owner in owners_at(live, path, ours):
            decision = decide_on_foreign_field(owner, path, claims)
            decided[decision].append(field_change(want, live, FieldDifference(path, DifferenceKind.LOST), owner))
            if decision is Decision.YIELD:
                remaining = value_without_path(remaining, path)
    return DecidedConflicts(
        want=remaining,
        overwritten=tuple(decided[Decision.OVERWRITE]),
        yielded=tuple(decided[Decision.YIELD]),
        failed=tuple(decided[Decision.FAIL]),
    )


def _conflicting_paths(want: Manifest, live: Manifest, different: tuple[FieldDifference, ...]) -> Iterator[Path]:
    for difference in different:
        if difference.change is not DifferenceKind.DROPPED:
            wanted, present = value_at(want, difference.path), value_at(live, difference.path)
            if present is not MISSING:
                yield from _contested_paths(wanted, present, live, difference.path)


def _contested_paths(want: Any, other: Any, live: Manifest, path: Path) -> Iterator[Path]:
    """Yield the innermost fields that are wanted otherwise, and the pieces that somebody added to.

    Who added to a piece owns all of it, and has nothing in it that is wanted otherwise.
    """
    is_piece = other is not MISSING and is_one_piece(live, path)
    if isinstance(want, Mapping) and isinstance(other, Mapping) and not is_piece:
        for name, value in want.items():
            if path or name not in {"apiVersion", "kind"}:
                yield from _contested_paths(value, other.get(name, MISSING), live, (*path, name))
        return
    is_list = isinstance(want, list) and isinstance(other, list) and not is_piece
    items = steps_to_items(live, path, want) if is_list else None
    if items is not None:
        for step, item in items:
            yield from _contested_paths(item, value_at(other, (step,)), live, (*path, step))
        return
    inside = [item.path for item in value_differences(want, other, live, path)]
    is_added_to = is_piece and not inside and not is_equal_to_server(want, other)
    yield from [path] if is_added_to else inside


def value_differences(want: Any, other: Any, live: Manifest, path: Path = ()) -> Iterator[FieldDifference]:
    """Yield the innermost fields whose other value does not hold the wanted one.

    The managed fields of ``live`` tell which lists are compared item by item: those that the server merges.
    """
    if isinstance(want, Mapping) and isinstance(other, Mapping):
        for name, value in want.items():
            if path or name not in {"apiVersion", "kind"}:
                yield from value_differences(value, other.get(name, MISSING), live, (*path, name))
    elif not is_contained_in(want, other, path):
        is_list = isinstance(want, list) and isinstance(other, list)
        items = steps_to_items(live, path, want) if is_list else None
        if items is None:
            yield FieldDifference(path, DifferenceKind.MODIFIED)
        for step, item in items or ():
            yield from value_differences(item, value_at(other, (step,)), live, (*path, step))


def left_fields(asked: Manifest, want: Manifest, live: Manifest, ours: Container[str]) -> tuple[FieldChange, ...]:
    """Return the fields ``asked`` for that ``want`` leaves as the cluster has them, where that is another value."""
    if want is asked:
        return ()
    left = [each for each in value_differences(asked, want, live) if not _is_live_value_at(asked, live, each.path)]
    return tuple(
        field_change(asked, live, each, next(iter(owners_at(live, each.path, ours)), Owner(""))) for each in left
    )


def _is_live_value_at(asked: Manifest, live: Manifest, path: Path) -> bool:
    return is_contained_in(value_at(asked, path), value_at(live, path), path)


def field_changes(
    want: Manifest, live: Manifest, different: tuple[FieldDifference, ...], ours: Container[str]
) -> tuple[FieldChange, ...]:
    """Return differences by their innermost fields, each with the manager that owns the field now."""
    return tuple(
        field_change(want, live, inner, next(iter(owners_at(live, inner.path, ours)), Owner("")))
        for difference in different
        for inner in _innermost_differences(want, live, difference)
    )


def _innermost_differences(want: Manifest, live: Manifest, difference: FieldDifference) -> tuple[FieldDifference, ...]:
    """Return the fields in a field whose values differ; the field itself where only its owner does."""
    path, change = difference
    wanted, present = value_at(want, path), value_at(live, path)
    if change is DifferenceKind.DROPPED or wanted is MISSING or present is MISSING:
        return (difference,)
    inside = value_differences(wanted, present, live, path)
    return tuple(FieldDifference(inner.path, change) for inner in inside) or (difference,)


def field_change(want: Manifest, live: Manifest, difference: FieldDifference, owner: Owner) -> FieldChange:
    """Return one difference with both values, masked where the field may hold a secret."""
    text = path_text(difference.path)
    present, wanted = value_at(live, difference.path), value_at(want, difference.path)
    return FieldChange(
        path=text,
        change=difference.change,
        live="" if present is MISSING else value_for_report(present, text, live),
        want="" if wanted is MISSING else value_for_report(wanted, text, want),
        manager=owner.manager,
        time=owner.time,
    )


def foreign_changes(want: Manifest, live: Manifest, beyond: Iterable[tuple[Owner, Path]]) -> tuple[FieldChange, ...]:
    """Return the fields that people and deployers state beside us, which applying never removes.

    What deployers state of a Namespace, which many share, is none.
    """
    return tuple(
        field_change(want, live, FieldDifference(path, DifferenceKind.FOREIGN), owner)
        for owner, path in beyond
        if owner.is_person or want.get("kind") != "Namespace"
    )
