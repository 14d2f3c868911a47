"""First contact with an object that others made: it is adopted where no value changes, neither then nor afterwards.

1. A wanted value that the live object certainly does not have makes it another object; nobody need be asked.
2. Otherwise the server is asked, by a dry run of what would be sent, whether applying that changes a value.
3. The entries that kubectl left become ours when the object is adopted, for a field that two managers own is neither
   removed nor, in a list with keys, changed. So what only those entries own, and the manifest lacks, goes with the
   first apply. The server is asked, by a dry run of the object without it, whether it fills in the same again.

What other managers own beside the manifest stays theirs, and is no difference. A Namespace is a place that many share:
of kubectl's fields only those that the manifest names become ours there.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from render.model import Manifest, ObjectRef

from .field_paths import MISSING, Path, parse_step, value_at, value_without_path
from .membership import fleet_name_of_manager
from .ownership import NOT_CONTENT, OWNED_METADATA, Fields
from .payload import LAST_APPLIED

KUBECTL = frozenset(
    {
        "kubectl",
        "kubectl-annotate",
        "kubectl-autoscale",
        "kubectl-client-side-apply",
        "kubectl-create",
        "kubectl-edit",
        "kubectl-expose",
        "kubectl-label",
        "kubectl-patch",
        "kubectl-replace",
        "kubectl-rollout",
        "kubectl-run",
        "kubectl-set",
        "kubectl-taint",
        "before-first-apply",
    }
)
"""The managers whose fields become ours when an object is adopted: kubectl's commands, and the name that a server gives
to whoever wrote an object before owners of fields were recorded."""
_REPLICAS = ("f:spec", "f:replicas")
_NOTE = ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}")


class TakenFields(NamedTuple):
    """The managed fields of an object once some managers' entries are ours: our fields, and the entries that stay."""

    fields: Fields
    kept: tuple[Mapping[str, Any], ...] = ()


def kubectl_managers(live: Manifest, want: Manifest, ref: ObjectRef, *, autoscaled: bool) -> tuple[str, ...]:
    """Return those of kubectl's managers whose fields of an object become ours, in the order of their entries."""
    managers = dict.fromkeys(str(entry.get("manager")) for entry in live["metadata"].get("managedFields") or ())

    def gives(manager: str) -> bool:
        entries = live["metadata"]["managedFields"]
        return manager in KUBECTL and has_leaves(
            fields_taken_over(entries, {manager}, want, ref, autoscaled=autoscaled).fields
        )

    return tuple(filter(gives, managers))


def is_entry_takeable(entry: Mapping[str, Any], managers: Container[str], api_version: str) -> bool:
    """Return whether an entry is one of these managers' whose fields can become ours.

    What was written through a subresource, such as replicas by ``kubectl scale``, stays with its writer. Fields are
    written down by API version, and those of two versions cannot be put together.
    """
    is_meant = entry.get("manager") in managers and is_entry_replaceable(entry)
    return is_meant and entry.get("apiVersion") == api_version


def is_entry_replaceable(entry: Mapping[str, Any]) -> bool:
    """Return whether an entry is of a manager that somebody may replace; what a fleet of Argosy applied is not."""
    is_fleet = entry.get("operation") == "Apply" and fleet_name_of_manager(str(entry.get("manager") or ""))
    return not entry.get("subresource") and not is_fleet


def fields_taken_over(
    entries: Iterable[Mapping[str, Any]], managers: Container[str], want: Manifest, ref: ObjectRef, *, autoscaled: bool
) -> TakenFields:
    """Return the fields that become ours, and the entries that stay.

    Replicas that an autoscaler sets are never taken.
    """
    taken: Fields = {}
    kept: list[Mapping[str, Any]] = []
    for entry in entries:
        fields = entry.get("fieldsV1") or {}
        if not is_entry_takeable(entry, managers, str(want["apiVersion"])):
            kept.append(entry)
            continue
        ours, theirs = _fields_by_manifest(fields, want, ref, autoscaled=autoscaled)
        taken = fields_of_both_sets(taken, ours)
        if has_leaves(theirs):
            kept.append({**entry, "fieldsV1": theirs})
    return TakenFields(fields_without_path(taken, _NOTE), tuple(kept))


def _fields_by_manifest(fields: Fields, want: Manifest, ref: ObjectRef, *, autoscaled: bool) -> tuple[Fields, Fields]:
    if ref.group_kind == "Namespace":
        ours, theirs = _named_and_other_items(fields, want)
        return ours, fields_without_path(theirs, _NOTE)
    replicas: Fields = {"f:spec": {"f:replicas": {}}}
    if autoscaled and "f:replicas" in (fields.get("f:spec") or {}):
        return fields_without_path(fields, _REPLICAS), replicas
    return fields, {}


def _named_and_other_items(fields: Fields, want: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields that a value names, and the others."""
    named: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for text, inner in fields.items():
        step = parse_step(text)
        value = MISSING if step is None else value_at(want, (step,))
        if not inner or value is MISSING:
            (others if value is MISSING else named)[text] = inner
            continue
        parts = _named_and_other_items(inner, value)
        # A field without any in it would stand for all that is in it.
        named |= {text: parts[0]} if parts[0] else {}
        others |= {text: parts[1]} if parts[1] else {}
    return named, others


def has_leaves(fields: Fields) -> bool:
    """Return whether a set of fields has one that is not only the piece that others are in."""
    return any(text != "." and (not inner or has_leaves(inner)) for text, inner in fields.items())


def fields_removed_by_first_apply(want: Manifest, live: Manifest, taken: TakenFields) -> tuple[Path, ...]:
    """Return the live fields that the first apply removes: those that became ours and that the manifest lacks."""
    others = [entry.get("fieldsV1") or {} for entry in taken.kept]
    return tuple(path for path in _unowned_paths(taken.fields, want, others, ()) if value_at(live, path) is not MISSING)


def _unowned_paths(fields: Fields, want: Any, others: Sequence[Fields], path: Path) -> Iterator[Path]:
    """Yield the outermost paths of fields that a value lacks and that no other manager owns."""
    for text, inner in fields.items():
        step = parse_step(text)
        if step is None or _is_decided_by_server((*path, step)):
            continue
        remaining = [other[text] for other in others if text in other]
        wanted = value_at(want, (step,))
        if wanted is MISSING and not remaining:
            yield (*path, step)
        elif inner and all(remaining):
            yield from _unowned_paths(inner, wanted, remaining, (*path, step))


def _is_decided_by_server(path: Path) -> bool:
    """Return whether no manager decides about a field, whatever its entry says."""
    return path in NOT_CONTENT or (path[0] == "metadata" and len(path) == 2 and path[1] not in OWNED_METADATA)


def manifest_without_paths(live: Manifest, paths: Iterable[Path]) -> Manifest:
    """Return an object without some of its fields; everything beside them is shared."""
    for path in paths:
        live = value_without_path(live, path)
    return live


def fields_of_both_sets(one: Fields, other: Fields) -> dict[str, Any]:
    """Return the fields of two sets together.

    >>> fields_of_both_sets({"f:a": {}}, {"f:b": {"f:c": {}}})
    {'f:a': {}, 'f:b': {'f:c': {}}}
    """
    merged: dict[str, Any] = dict(one)
    for key, inner in other.items():
        merged[key] = fields_of_both_sets(merged[key], inner) if key in merged else inner
    return merged


def fields_without_path(fields: Fields, path: tuple[str, ...]) -> Fields:
    """Return a set of fields without one of them."""
    name, rest = path[0], path[1:]
    if name not in fields:
        return fields
    if not rest:
        return {key: inner for key, inner in fields.items() if key != name}
    inner: Mapping[str, Any] = fields_without_path(fields[name], rest)
    return {**fields, name: inner}
