"""The ownership of fields, moved: from a tool we replace to us, and from us to nobody when an object is handed off.

Managed fields are changed by a JSON patch that carries the resourceVersion they were read at, so nobody's change in
between is lost. An empty list would mean "forget it all"; ``[{}]`` is how a server is told that there are no owners.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from reconciler.members.exchange import JSON_PATCH, Answer, Client, Expected, Failure, Request
from reconciler.plans.applyset import PART_OF, ApplySet
from reconciler.plans.membership import fleet_entry, is_fleet
from reconciler.plans.model import PlannedObject
from reconciler.plans.ownership import Fields, own_entry
from reconciler.plans.payload import LAST_APPLIED
from render.model import Manifest

_OUR_LABEL: Fields = {"f:metadata": {"f:labels": {f"f:{PART_OF}": {}}}}


def take_ownership(client: Client, planned: PlannedObject, live: Manifest, manager: str) -> Answer | Failure:
    """Make the fields of the managers being replaced ours, so that applying removes what the manifest lacks.

    Without this a field that was removed from the manifest stays, for its old manager still owns it.
    """
    entries = live["metadata"].get("managedFields") or []
    assert planned.resource is not None
    resource = planned.resource
    former = (own_entry(live, name) for name in (manager, *planned.migrate) if name == manager or is_fleet(name))
    own = next(filter(None, former), None)
    version = own["apiVersion"] if own else resource.api_version
    # Where nobody is recorded, a server would take everything for somebody else's; our label shows that it is not.
    fields: Fields = (own or {}).get("fieldsV1") or ({} if entries else _OUR_LABEL)
    kept = []
    for entry in entries:
        operation = "Apply" if is_fleet(str(entry.get("manager"))) else "Update"
        is_taken = entry.get("manager") in planned.migrate and entry.get("operation") == operation
        if is_taken and not entry.get("subresource") and entry.get("apiVersion") == version:
            fields = united(fields, entry.get("fieldsV1") or {})
        elif entry != own:
            kept.append(entry)
    mine = {
        "manager": manager,
        "operation": "Apply",
        "apiVersion": version,
        "fieldsType": "FieldsV1",
        "fieldsV1": without_path(fields, ("f:metadata", "f:annotations", f"f:{LAST_APPLIED}")),
    }
    steps = [*_locked(live, [*kept, mine])]
    if LAST_APPLIED in (live["metadata"].get("annotations") or {}):
        steps.append({"op": "remove", "path": f"/metadata/annotations/{_escaped(LAST_APPLIED)}"})
    return _patch(client, resource.path(planned.ref), steps, manager)


def give_up_ownership(client: Client, path: str, live: Manifest, applyset: ApplySet) -> Answer | Failure:
    """Take our label and our claim off an object that stays as it is."""
    own = fleet_entry(live, applyset, is_held=True)
    kept = [entry for entry in live["metadata"].get("managedFields") or () if entry != own]
    steps = [*_locked(live, kept or [{}])]
    if PART_OF in (live["metadata"].get("labels") or {}):
        steps.append({"op": "remove", "path": f"/metadata/labels/{_escaped(PART_OF)}"})
    return _patch(client, path, steps, applyset.manager)


def set_managers(
    client: Client, path: str, live: Manifest, entries: Iterable[Mapping[str, Any]], manager: str
) -> Answer | Failure:
    """Record who owns which fields of an object, unless that changed since it was read."""
    return _patch(client, path, _locked(live, list(entries)), manager)


def _locked(live: Manifest, entries: list[Any]) -> list[dict[str, Any]]:
    return [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
    ]


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _patch(client: Client, path: str, steps: list[dict[str, Any]], manager: str) -> Answer | Failure:
    return client.send(
        Request(
            method="PATCH",
            path=path,
            expects=Expected.OBJECT,
            query={"fieldManager": manager},
            body=steps,
            content_type=JSON_PATCH,
        )
    )


def united(one: Fields, other: Fields) -> dict[str, Any]:
    """Return the fields of two sets together.

    >>> united({"f:a": {}}, {"f:b": {"f:c": {}}})
    {'f:a': {}, 'f:b': {'f:c': {}}}
    """
    merged: dict[str, Any] = dict(one)
    for key, inner in other.items():
        merged[key] = united(merged[key], inner) if key in merged else inner
    return merged


def without_path(fields: Fields, path: tuple[str, ...]) -> Fields:
    """Return a set of fields without one of them."""
    name, rest = path[0], path[1:]
    if name not in fields:
        return fields
    if not rest:
        return {key: inner for key, inner in fields.items() if key != name}
    inner: Mapping[str, Any] = without_path(fields[name], rest)
    return {**fields, name: inner}
