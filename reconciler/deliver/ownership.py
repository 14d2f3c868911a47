"""The ownership of fields, moved: from tools we replace to us, and from us to nobody when an object is handed off.

Managed fields are changed by a JSON patch that carries the resourceVersion they were read at, so nobody's change in
between is lost. An empty list would mean "forget it all"; ``[{}]`` is how a server is told that there are no owners.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from reconciler.members.exchange import JSON_PATCH, Answer, Client, Expected, Failure, Request
from reconciler.plans.adoption import fields_of_both_sets, fields_taken_over
from reconciler.plans.applyset import PART_OF, ApplySet
from reconciler.plans.membership import is_manager_of_fleet, managed_fields_of_fleet
from reconciler.plans.model import PlannedObject
from reconciler.plans.ownership import Fields, managed_fields_entry
from reconciler.plans.payload import LAST_APPLIED
from render.model import Manifest

_OUR_LABEL: Fields = {"f:metadata": {"f:labels": {f"f:{PART_OF}": {}}}}


def take_ownership(
    client: Client, planned: PlannedObject, live: Manifest, manager: str, *, autoscaled: bool = False
) -> Answer | Failure:
    """Make the fields of the managers being replaced ours, so that applying removes what the manifest lacks.

    Without this a field that was removed from the manifest stays, for its old manager still owns it. Replicas of what
    is ``autoscaled`` stay with their owner.
    """
    assert planned.resource is not None
    assert planned.manifest is not None
    entries = live["metadata"].get("managedFields") or []
    names = (name for name in (manager, *planned.migrate) if name == manager or is_manager_of_fleet(name))
    former = [entry for name in names if (entry := managed_fields_entry(live, name))]
    version = former[0]["apiVersion"] if former else planned.resource.api_version
    former = [entry for entry in former if entry["apiVersion"] == version]
    others = [entry for entry in entries if entry not in former]
    wanted = {**planned.manifest, "apiVersion": version}
    taken = fields_taken_over(others, {*planned.migrate, *planned.takeover}, wanted, planned.ref, autoscaled=autoscaled)
    # Where nobody is recorded, a server would take everything for somebody else's; our label shows that it is not.
    fields = taken.fields if entries else _OUR_LABEL
    for entry in former:
        fields = fields_of_both_sets(fields, entry.get("fieldsV1") or {})
    mine = {
        "manager": manager,
        "operation": "Apply",
        "apiVersion": version,
        "fieldsType": "FieldsV1",
        "fieldsV1": fields,
    }
    steps = [*_patch_of_managed_fields(live, [*taken.kept, mine])]
    if LAST_APPLIED in (live["metadata"].get("annotations") or {}):
        steps.append({"op": "remove", "path": f"/metadata/annotations/{_json_pointer_token(LAST_APPLIED)}"})
    return _send_json_patch(client, planned.resource.path(planned.ref), steps, manager)


def give_up_ownership(client: Client, path: str, live: Manifest, applyset: ApplySet) -> Answer | Failure:
    """Take our label and our claim off an object that stays as it is."""
    own = managed_fields_of_fleet(live, applyset, is_held=True)
    kept = [entry for entry in live["metadata"].get("managedFields") or () if entry != own]
    steps = [*_patch_of_managed_fields(live, kept or [{}])]
    if PART_OF in (live["metadata"].get("labels") or {}):
        steps.append({"op": "remove", "path": f"/metadata/labels/{_json_pointer_token(PART_OF)}"})
    return _send_json_patch(client, path, steps, applyset.manager)


def set_managed_fields(
    client: Client, path: str, live: Manifest, entries: Iterable[Mapping[str, Any]], manager: str
) -> Answer | Failure:
    """Record who owns which fields of an object, unless that changed since it was read."""
    return _send_json_patch(client, path, _patch_of_managed_fields(live, list(entries)), manager)


def _patch_of_managed_fields(live: Manifest, entries: list[Any]) -> list[dict[str, Any]]:
    return [
        {"op": "replace", "path": "/metadata/resourceVersion", "value": live["metadata"]["resourceVersion"]},
        {"op": "replace", "path": "/metadata/managedFields", "value": entries},
    ]


def _json_pointer_token(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _send_json_patch(client: Client, path: str, steps: list[dict[str, Any]], manager: str) -> Answer | Failure:
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
