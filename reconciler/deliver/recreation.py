"""The recreation of an object whose immutable fields changed, where its manifest allows it: deleted, then created.

Asked for by the annotation ``argosy.dev/recreate: "true"``, for kinds that hold no data of their own. A StatefulSet
leaves its pods, everything else takes them along. Should creating fail, the object is simply missing: the next pass
creates it like any other.
"""

from collections.abc import Callable

from msgspec.structs import replace

from reconciler.members.exchange import Answer, Client, Failure, FailureKind, Request
from reconciler.members.listing import read_object
from reconciler.plans.model import Action, PlannedObject
from render.kinds import BUILT_IN
from render.model import ObjectRef
from render.template_annotations import RECREATE

from .results import ObjectResult, failed_result, object_result

_GONE_PAUSE = 0.2
_GONE_SECONDS = 60.0


def is_recreation_allowed(planned: PlannedObject) -> bool:
    """Return whether an object's manifest and kind allow deleting it to create it again."""
    annotations = (planned.manifest or {"metadata": {}})["metadata"].get("annotations") or {}
    return str(annotations.get(RECREATE)).lower() == "true" and _has_recreatable_kind(planned.ref) and bool(planned.uid)


def _has_recreatable_kind(ref: ObjectRef) -> bool:
    kind = BUILT_IN.get((ref.group, ref.kind))
    return kind is not None and kind.is_recreatable


def hint_for_immutable_field(ref: ObjectRef) -> str:
    """Return what to do about a change of a field that cannot change, by what the object's kind allows."""
    if not _has_recreatable_kind(ref):
        return "undo the change, or rename the object"
    again = (
        " - it then runs from the beginning, also what has been done" if BUILT_IN[ref.group, ref.kind].is_run else ""
    )
    return f'undo the change, rename the object, or let it be recreated: annotate it with {RECREATE}: "true"{again}'


def deletion_request(path: str, *, uid: str, resource_version: str = "", orphan: bool = False) -> Request:
    """Return the deletion of one incarnation (and version) of an object, its dependents with it unless orphaned."""
    preconditions = {"uid": uid} | ({"resourceVersion": resource_version} if resource_version else {})
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Orphan" if orphan else "Background",
        "preconditions": preconditions,
    }
    return Request(method="DELETE", path=path, body=body)


def recreate_object(
    client: Client, planned: PlannedObject, immutable: Failure, *, again: Callable[[PlannedObject], ObjectResult]
) -> ObjectResult:
    """Delete the object, wait until it is gone, create it."""
    assert planned.resource is not None
    path = planned.resource.path(planned.ref)
    deleted = client.send(deletion_request(path, uid=planned.uid, orphan=planned.ref.kind == "StatefulSet"))
    if isinstance(deleted, Failure) and deleted.kind is not FailureKind.NOT_FOUND:
        return _result_of_failed_step(planned, deleted, f"{immutable.message}; deleting it to create it again failed")
    if not _wait_until_deleted(client, planned):
        return replace(
            object_result(planned),
            action=Action.FAILED,
            reason="DeletionBlocked",
            message="it is being deleted to be created again, but does not go",
            hint="see what its finalizers wait for; the next pass creates it",
        )
    result = again(replace(planned, uid="", resource_version="", force=False, action=Action.CREATED))
    if result.is_failure:
        return replace(result, message=f"it was deleted to be created again, which failed: {result.message}")
    return replace(result, reason="Recreated", message=immutable.message)


def _wait_until_deleted(client: Client, planned: PlannedObject) -> bool:
    assert planned.resource is not None
    waited = 0.0
    while waited < _GONE_SECONDS:
        live = read_object(client, planned.resource, planned.ref)
        if live is None or (not isinstance(live, Failure) and live["metadata"]["uid"] != planned.uid):
            return True
        if not client.wait(_GONE_PAUSE):
            return False
        waited += _GONE_PAUSE
    return False


def _result_of_failed_step(planned: PlannedObject, failure: Failure, step: str) -> ObjectResult:
    message = f"{step}: {failure.message}"
    return replace(failed_result(planned, failure), message=message)


def was_deleted(outcome: Answer | Failure) -> bool:
    """Return whether a deletion succeeded, or there was nothing left to delete."""
    return isinstance(outcome, Answer) or outcome.kind in {FailureKind.NOT_FOUND, FailureKind.EXPIRED}
