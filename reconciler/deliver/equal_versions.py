"""Managed fields in another version of a kind, taken for those of the manifest's version where both read the same.

Owners are recorded by API version, and fields of two versions cannot be put together: an entry of another version
stays with its manager, whoever adopts the object. But most versions of a kind differ in little. So the server is asked
for the object in that version, and what has the same value at the same place in both may be recorded in the version of
the manifest as well. No value and no claim changes by that.
"""

from collections.abc import Callable, Container, Mapping
from typing import Any

from msgspec.structs import replace

from reconciler.members.discovery import Resource
from reconciler.members.exchange import Client
from reconciler.members.listing import read_object
from reconciler.plans.adoption import fields_of_both_sets, has_leaves, is_entry_takeable
from reconciler.plans.containment import is_equal_to_server
from reconciler.plans.field_paths import MISSING, Path, parse_step, value_at
from reconciler.plans.ownership import Fields
from render.model import Manifest, ObjectRef, group_of

Entry = Mapping[str, Any]


def with_equal_versions(
    client: Client, live: Manifest, resource: Resource, ref: ObjectRef, managers: Container[str]
) -> Manifest:
    """Return an object with the fields of these managers in the version of ``resource``, where that says the same."""
    entries = list[Entry](live["metadata"].get("managedFields") or ())
    versions = dict.fromkeys(
        version
        for entry in entries
        if (version := str(entry.get("apiVersion"))) != resource.api_version
        and is_entry_takeable(entry, managers, version)
    )
    for version in versions:
        other = _live_object_in_version(client, live, resource, ref, version)
        if other is not None:
            entries = _with_equal_fields(
                entries, managers, (version, resource.api_version), _predicate_of_equal_values(live, other)
            )
    return {**live, "metadata": {**live["metadata"], "managedFields": entries}} if versions else live


def _live_object_in_version(
    client: Client, live: Manifest, resource: Resource, ref: ObjectRef, version: str
) -> Manifest | None:
    """Return the same object in another version; None where it cannot be read in it, or changed since."""
    served = replace(resource, group=group_of(version), version=version.rpartition("/")[2])
    found = read_object(client, served, ref)
    is_it = isinstance(found, dict) and found["metadata"].get("resourceVersion") == live["metadata"]["resourceVersion"]
    return found if isinstance(found, dict) and is_it else None


def _predicate_of_equal_values(live: Manifest, other: Manifest) -> Callable[[Path], bool]:
    def is_equal_at(path: Path) -> bool:
        one, two = value_at(live, path), value_at(other, path)
        return one is two if MISSING in (one, two) else is_equal_to_server(one, two)

    return is_equal_at


def _with_equal_fields(
    entries: list[Entry], managers: Container[str], versions: tuple[str, str], is_equal: Callable[[Path], bool]
) -> list[Entry]:
    """Return entries whose fields in the first of two versions are in the second where their values are equal."""
    former, version = versions
    divided: list[Entry] = []
    for entry in entries:
        equal, others = dict[str, Any](), entry.get("fieldsV1") or {}
        if is_entry_takeable(entry, managers, former):
            equal, others = _equal_and_other_fields(others, (), is_equal)
        if not has_leaves(equal):
            _merge_entry_into(divided, entry)
            continue
        divided += [{**entry, "fieldsV1": others}] if has_leaves(others) else []
        _merge_entry_into(divided, {**entry, "apiVersion": version, "fieldsV1": equal})
    return divided


def _merge_entry_into(entries: list[Entry], added: Entry) -> None:
    """Add an entry to a list: a manager has one for all that it owns in a version."""
    key = [added.get(name) for name in ("manager", "operation", "apiVersion", "subresource")]
    for number, entry in enumerate(entries):
        if [entry.get(name) for name in ("manager", "operation", "apiVersion", "subresource")] == key:
            entries[number] = {
                **entry,
                "fieldsV1": fields_of_both_sets(entry.get("fieldsV1") or {}, added.get("fieldsV1") or {}),
            }
            return
    entries.append(added)


def _equal_and_other_fields(
    fields: Fields, path: Path, is_equal: Callable[[Path], bool]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the fields whose values are equal, and the others; the piece itself is of the latter where there are."""
    equal: dict[str, Any] = {}
    others: dict[str, Any] = {}
    for text, inner in fields.items():
        step = parse_step(text)
        if step is None:
            others |= {text: inner} if text != "." else {}
        elif not inner:
            (equal if is_equal((*path, step)) else others)[text] = inner
        else:
            parts = _equal_and_other_fields(inner, (*path, step), is_equal)
            equal |= {text: parts[0]} if parts[0] else {}
            others |= {text: parts[1]} if parts[1] else {}
    if "." in fields:
        (others or equal)["."] = {}
    return equal, others
