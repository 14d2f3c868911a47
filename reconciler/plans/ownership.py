"""The differences between a live object and what we applied: our managed fields against the manifest and the values.

Server-side apply records which fields each manager owns. Walking our entry beside the manifest and the live object
shows, without any schema (the entry itself shows which lists are maps and which are sets), all that can have happened:

* a wanted field missing from our entry: somebody changed it since, or it is new in the manifest (``Lost``);
* an entry's field missing from the manifest: the manifest shrank (``Dropped``);
* a field in both whose live value does not have the wanted one: an old server missed the change (``Modified``), as
  Kubernetes 1.20 did for writes through the scale subresource, or an admission webhook wrote another one;
* a field that is one piece to the server - a selector, a list of rules, an item of a custom resource's list - whose
  live value has more than the wanted one (``FilledIn``): defaults, or what an earlier manifest said. Managed fields do
  not show which, so that only the server can say whether applying would change it.

No difference means that applying would change nothing, so nothing is sent.
"""

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from render.expressions import lazy_expression
from render.model import Manifest, group_of

from .containment import Likeness, likeness_of_values
from .field_paths import MISSING, Key, Member, Path, Step, item_matching, parse_step, value_at
from .stages import is_kubernetes_own

Fields = Mapping[str, Any]
"""A ``fieldsV1`` set: ``f:name``, ``k:{keys}`` and ``v:value`` to sets of the same kind; an empty one is a leaf."""

OWNED_METADATA = frozenset({"labels", "annotations", "finalizers", "ownerReferences"})
"""The metadata that managers decide about."""
NOT_CONTENT = (
    ("status",),
    ("metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration"),
    ("metadata", "labels", "kubernetes.io/metadata.name"),
)
"""The fields that are nobody's addition: kubectl keeps notes, and a server labels each Namespace by its name."""
_PEOPLE = lazy_expression(
    r"kubectl.*|k9s|lens|node-fetch|.*rancher.*|dashboard|headlamp|octant", re.IGNORECASE | re.DOTALL
)

# A deployer writes what somebody committed elsewhere, whatever the field.
_DEPLOYERS = lazy_expression(
    r"helm.*|kustomize-controller|argocd.*|fleet.*|flux.*|pulumi.*|terraform.*|.*hashicorp.*|karmada.*", re.DOTALL
)


class DifferenceKind(StrEnum):
    """The kind of difference between a field and what we applied."""

    LOST = "Lost"
    DROPPED = "Dropped"
    MODIFIED = "Modified"
    FILLED_IN = "FilledIn"
    REWRITTEN = "Rewritten"
    FOREIGN = "Foreign"


class FieldDifference(NamedTuple):
    """A field that is not as applied."""

    path: Path
    change: DifferenceKind


class Owner(NamedTuple):
    """A field manager, the subresource it wrote through, and when it last did."""

    manager: str
    subresource: str = ""
    time: str = ""

    @property
    def is_person(self) -> bool:
        """True for tools that people use by hand, so that what they changed is drift."""
        return _PEOPLE.fullmatch(self.manager) is not None

    @property
    def is_deployer(self) -> bool:
        """True for tools that deliver what is stated elsewhere, as we deliver what Git states."""
        return _DEPLOYERS.fullmatch(self.manager) is not None


def managed_fields_entry(live: Manifest, manager: str) -> Mapping[str, Any] | None:
    """Return the managed-fields entry of what a manager applied; None when it never applied the object."""
    for entry in live["metadata"].get("managedFields") or ():
        if entry.get("manager") == manager and entry.get("operation") == "Apply" and not entry.get("subresource"):
            return dict(entry)
    return None


def differences_from_wanted(want: Manifest, live: Manifest, fields: Fields) -> tuple[FieldDifference, ...]:
    """Compare the wanted fields with those we own and with the live values; nothing when applying changes nothing.

    Those that are only ``FILLED_IN`` may be no difference: that is for the server to say.
    """
    metadata = {key: value for key, value in want["metadata"].items() if key in OWNED_METADATA}
    content = {key: value for key, value in want.items() if key not in {"apiVersion", "kind", "metadata"}}
    comparison = _FieldComparison(has_forms=is_kubernetes_own(group_of(str(want.get("apiVersion")))))
    comparison.compare_fields({**({"metadata": metadata} if metadata else {}), **content}, live, fields, ())
    return tuple(comparison.found)


def certain_differences(found: Iterable[FieldDifference]) -> tuple[FieldDifference, ...]:
    """Return the differences that are such by their looks: no server need be asked."""
    return tuple(each for each in found if each.change is not DifferenceKind.FILLED_IN)


_CHANGE_BY_LIKENESS = {Likeness.FILLED_IN: DifferenceKind.FILLED_IN, Likeness.DIFFERENT: DifferenceKind.MODIFIED}


class _FieldComparison:
    """One comparison of an object: the differences found, and whether its kind ``has_forms`` of the server's own."""

    def __init__(self, *, has_forms: bool) -> None:
        self.found: list[FieldDifference] = []
        self._has_forms = has_forms

    def compare_fields(self, want: Mapping[str, Any], live: Any, owned: Fields, path: Path) -> None:
        live_value = live.get if isinstance(live, dict) else _missing_value
        matched = 0
        for name, value in want.items():
            present = live_value(name, MISSING)
            inner = owned.get(f"f:{name}")
            if inner is None:
                self._add_unowned(value, present, (*path, name))
                continue
            matched += 1
            # Most fields are text that did not change, and this loop is where a large cluster's time goes.
            if inner or type(value) is not str or value != present:
                self._compare(value, present, inner, (*path, name))
        if len(owned) - ("." in owned) > matched:
            dropped = (key[2:] for key in owned if key.startswith("f:") and key[2:] not in want)
            self.found.extend(FieldDifference((*path, name), DifferenceKind.DROPPED) for name in dropped)

    def _add_unowned(self, want: Any, live: Any, path: Path) -> None:
        """Add a field that we do not own; the server records no owner of values that are empty, and leaves some out."""
        found = (
            likeness_of_values(want, live, path, has_forms=self._has_forms)
            if _is_empty_value(want)
            else Likeness.DIFFERENT
        )
        if found is Likeness.EQUAL:
            return
        change = DifferenceKind.FILLED_IN if found is Likeness.FILLED_IN else DifferenceKind.LOST
        self.found.append(FieldDifference(path, change))

    def _compare(self, want: Any, live: Any, owned: Fields, path: Path) -> None:
        if not owned:
            self._compare_whole(want, live, path)
        elif isinstance(want, dict):
            self.compare_fields(want, live, owned, path)
        elif isinstance(want, list):
            self._compare_list(want, live if isinstance(live, list) else [], owned, path)
        elif want is not None:
            self.found.append(FieldDifference(path, DifferenceKind.MODIFIED))

    def _compare_whole(self, want: Any, live: Any, path: Path) -> None:
        """Compare a field that is one piece, or a single value."""
        change = _CHANGE_BY_LIKENESS.get(likeness_of_values(want, live, path, has_forms=self._has_forms))
        is_left_out = live is MISSING and self._has_forms and want in ("", False, 0, {}, [])
        if change is not None and not is_left_out:
            self.found.append(FieldDifference(path, change))

    def _compare_list(self, want: list[Any], live: list[Any], owned: Fields, path: Path) -> None:
        unclaimed, items = list(want), list[Any]()
        for text, inner in owned.items():
            step = parse_step(text)
            if step is None or isinstance(step, str):
                continue
            item = _take_matching_item(unclaimed, step)
            if item is MISSING:
                self.found.append(FieldDifference((*path, step), DifferenceKind.DROPPED))
            elif isinstance(step, Key):
                present = item_matching(live, step)
                items.append((item, present))
                self._compare(item, present, inner, (*path, step))
            elif step.value not in live:
                self.found.append(FieldDifference((*path, step), DifferenceKind.MODIFIED))
        names = _key_names(map(parse_step, owned))
        self.found.extend(
            FieldDifference((*path, _step_to_item(item, names)), DifferenceKind.LOST) for item in unclaimed
        )
        if len(items) > 1 and _are_items_reordered(items, want, live):
            self.found.append(FieldDifference(path, DifferenceKind.FILLED_IN))


def _missing_value(_name: str, missing: Any) -> Any:
    return missing


def _is_empty_value(want: Any) -> bool:
    """Return whether a value is empty, for the server records no owner of empty values."""
    return want is None or (isinstance(want, dict | list) and not want)


def _are_items_reordered(pairs: Iterable[tuple[Any, Any]], want: list[Any], live: list[Any]) -> bool:
    """Return whether the items of a list that are in both are in another order there, of which nobody is the owner."""
    wanted = {id(item): number for number, item in enumerate(want)}
    present = {id(item): number for number, item in enumerate(live)}
    places = sorted((wanted[id(item)], present.get(id(other), -1)) for item, other in pairs)
    return any(before > after for (_, before), (_, after) in pairwise(places))


def _take_matching_item(unclaimed: list[Any], step: Key | Member) -> Any:
    """Take the item a step stands for out of the list; MISSING when there is none."""
    item = item_matching(unclaimed, step) if isinstance(step, Key) else step.value
    for number, candidate in enumerate(unclaimed):
        if candidate is item or (isinstance(step, Member) and candidate == item):
            return unclaimed.pop(number)
    return MISSING


def _key_names(steps: Iterable[Step | None]) -> Sequence[tuple[str, Any]]:
    return next((step.values for step in steps if isinstance(step, Key)), (("name", ""),))


def _step_to_item(item: Any, names: Sequence[tuple[str, Any]]) -> Key | Member:
    if isinstance(item, Mapping):
        return Key(tuple((name, item[name]) for name, _ in names if name in item))
    return Member(item)


def owners_at(live: Manifest, path: Path, ours: Container[str]) -> tuple[Owner, ...]:
    """Return the managers other than us that own a field, something in it, or the piece it is part of."""
    return tuple(
        Owner(str(entry.get("manager") or ""), str(entry.get("subresource") or ""), str(entry.get("time") or ""))
        for entry in live["metadata"].get("managedFields") or ()
        if not _is_our_entry(entry, ours) and _do_fields_cover(entry.get("fieldsV1") or {}, path)
    )


def managers_at(live: Manifest, path: Path) -> tuple[Owner, ...]:
    """Return all managers that own a field, us among them."""
    return owners_at(live, path, frozenset())


def owned_leaves(live: Manifest, managers: Container[str]) -> tuple[Path, ...]:
    """Return the innermost fields that managers own: single values, and what is one piece to the server."""
    entries = (entry for entry in _managed_fields_entries(live) if _is_our_entry(entry, managers))
    return tuple(path for entry in entries for path in _leaf_paths(entry.get("fieldsV1") or {}, ()))


def _leaf_paths(fields: Fields, path: Path) -> Iterator[Path]:
    for text, inner in fields.items():
        step = parse_step(text)
        if step is not None and inner:
            yield from _leaf_paths(inner, (*path, step))
        elif step is not None:
            yield (*path, step)


def is_one_piece(live: Manifest, path: Path) -> bool:
    """Return whether a field is one piece to the server, as the entry of whoever owns it shows."""
    *parents, last = path
    holders = (fields_at(entry.get("fieldsV1") or {}, tuple(parents)) for entry in _managed_fields_entries(live))
    return any(_fields_within_step(holder, last) == {} for holder in holders)


def _managed_fields_entries(live: Manifest) -> Iterable[Mapping[str, Any]]:
    return live["metadata"].get("managedFields") or ()


def _is_our_entry(entry: Mapping[str, Any], ours: Container[str]) -> bool:
    return entry.get("manager") in ours and entry.get("operation") == "Apply"


def _do_fields_cover(fields: Fields, path: Path) -> bool:
    for step in path:
        if not fields:
            return True
        inner = _fields_within_step(fields, step)
        if inner is None:
            return False
        fields = inner
    return True


def _fields_within_step(fields: Fields, step: Step) -> Fields | None:
    if isinstance(step, str):  # every object of every cluster is asked this
        return fields.get(f"f:{step}")
    return next((inner for text, inner in fields.items() if parse_step(text) == step), None)


def steps_to_items(live: Manifest, path: Path, items: Sequence[Any]) -> tuple[tuple[Key | Member, Any], ...] | None:
    """Return the items of a wanted list, each with the step that leads to it; None for a list that is one piece.

    Whoever owns an item of the live list shows by which keys its items differ. The server merges such a list,
    so that two managers who want different items of it are not in conflict.
    """
    steps = dict.fromkeys(
        step
        for entry in live["metadata"].get("managedFields") or ()
        for step in map(parse_step, fields_at(entry.get("fieldsV1") or {}, path))
        if isinstance(step, Key | Member)
    )
    if not steps:
        return None
    unclaimed = list(items)
    claimed = [(step, item) for step in steps if (item := _take_matching_item(unclaimed, step)) is not MISSING]
    names = _key_names(steps)
    return (*claimed, *((_step_to_item(item, names), item) for item in unclaimed))


def fields_at(fields: Fields, path: Path) -> Fields:
    """Return those of a set of fields that are inside a field; none for one that is not in the set, or a leaf of it."""
    for step in path:
        fields = _fields_within_step(fields, step) or {}
    return fields


def item_steps(fields: Fields) -> tuple[Step, ...]:
    """Return the steps that a set of fields begins with."""
    return tuple(step for step in map(parse_step, fields) if step is not None)


def owned_part(live: Any, fields: Fields) -> Any:
    """Return those live values that a set of fields covers; sending them again would change nothing."""
    if not fields:
        return live
    if isinstance(live, Mapping):
        return {
            key[2:]: owned_part(live[key[2:]], inner)
            for key, inner in fields.items()
            if key.startswith("f:") and key[2:] in live
        }
    if isinstance(live, list):
        return list(_owned_items(live, fields))
    return live


def _owned_items(live: list[Any], fields: Fields) -> Iterator[Any]:
    for text, inner in fields.items():
        step = parse_step(text)
        if isinstance(step, Key):
            item = item_matching(live, step)
            if item is not MISSING:
                yield {**dict(step.values), **owned_part(item, inner)}
        elif isinstance(step, Member) and step.value in live:
            yield step.value


def fields_of_other_managers(
    want: Manifest, live: Manifest, manager: str, handed_over: Container[Path] = ()
) -> tuple[tuple[Owner, Path], ...]:
    """Return the fields that people and deployers state beyond what is wanted of an object.

    Applying never removes them: they were added, or Git had them once and has them no more, while another owns them.

    Those that are ``handed_over`` are for others to set, and no addition.
    """
    ours = managed_fields_entry(live, manager)
    own = (ours or {}).get("fieldsV1") or {}
    foreign = []
    for entry in live["metadata"].get("managedFields") or ():
        owner = Owner(
            str(entry.get("manager") or ""), str(entry.get("subresource") or ""), str(entry.get("time") or "")
        )
        if (owner.is_person or owner.is_deployer) and not owner.subresource:
            beyond = _paths_beyond_own(entry.get("fieldsV1") or {}, own, want, ())
            foreign += [(owner, path) for path in beyond if path not in handed_over]
    return tuple(foreign)


def _paths_beyond_own(fields: Fields, own: Fields, want: Any, path: Path) -> Iterator[Path]:
    """Yield the outermost paths of ``fields`` that ``own`` and ``want`` say nothing about."""
    for text, inner in fields.items():
        step = parse_step(text)
        is_wholly_ours = text in own and not own[text]
        if step is None or is_wholly_ours:
            continue
        wanted = value_at(want, (step,))
        if text in own or (wanted is not MISSING and inner):
            yield from _paths_beyond_own(inner, own.get(text) or {}, wanted, (*path, step))
        elif wanted is MISSING and _have_fields_content_at(inner, (*path, step)):
            yield (*path, step)


def _have_fields_content_at(fields: Fields, path: Path) -> bool:
    inside = [(step, inner) for text, inner in fields.items() if (step := parse_step(text)) is not None]
    if path in NOT_CONTENT:
        return False
    return not inside or any(_have_fields_content_at(inner, (*path, step)) for step, inner in inside)
