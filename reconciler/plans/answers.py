"""The answers of servers to what cannot be known by looking, remembered so that each is asked for once.

A field that is one piece may have more in the cluster than is wanted: a server's defaults, what an earlier manifest
said, or what an admission webhook wrote. Applying tells. Where that changed nothing, a digest is remembered of the
wanted and the live values in question, of the object (its UID), and of what intercepts writes in that cluster. While
all of these are the same, so is the answer. An inventory keeps the digests of its cluster.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from reconciler.members.discovery import Resource
from reconciler.members.masking import is_content_secret, value_for_report
from render.model import Manifest, group_of

from .admission import Admission
from .containment import is_equal_to_server
from .field_paths import MISSING, Key, Path, path_text, value_at
from .model import Action, FieldChange, PlannedObject
from .ownership import DifferenceKind, FieldDifference, Fields, owned_part
from .payload import SERVER_METADATA
from .stages import is_kubernetes_own

UNKNOWN_ANSWER = "?"
"""The place of the digest of an answer that may not be remembered, so that the server is asked again."""
UNPROVEN = "Unproven"
"""The reason of an object of which only the server can say whether it is as wanted."""
_SERVER_FORM = "the cluster keeps some fields in a form of its own, and would again"
_DIGEST_BYTES = 12


def answer_digest(
    want: Manifest, live: Manifest, found: Iterable[FieldDifference], admission: Admission, desired: Manifest
) -> str:
    """Return the digest of what differs in an object while applying it changes nothing.

    It is empty for Secrets, of which nothing is remembered, and ``UNKNOWN_ANSWER`` where nobody looked at what
    intercepts writes.
    """
    if is_content_secret(desired):
        return ""
    if not admission.digest:
        return UNKNOWN_ANSWER
    places = [
        (path_text(path), change, _plain_value_at(want, path), _plain_value_at(live, path)) for path, change in found
    ]
    return _digest_of_parts([live["metadata"].get("uid"), admission.digest, places])


def stranger_digest(planned: PlannedObject, admission: Admission) -> str:
    """Return the digest of an object that nobody of ours applied, and of what would be sent of it.

    A server that said once that applying would change a value says so as long as all of this is the same: what is
    wanted, what is there, who owns it, and what intercepts writes. As for ``answer_digest``, nothing is remembered of
    Secrets, and ``UNKNOWN_ANSWER`` stands where nobody looked at what intercepts writes.
    """
    live, desired = planned.live or {}, planned.desired
    if desired is None or is_content_secret(desired.manifest):
        return ""
    if not admission.digest:
        return UNKNOWN_ANSWER
    owners = [
        [entry.get(name) for name in ("manager", "operation", "apiVersion", "subresource", "fieldsV1")]
        for entry in live["metadata"].get("managedFields") or ()
        if entry.get("subresource") != "status"
    ]
    wanted = [planned.manifest, planned.takeover]
    return _digest_of_parts([live["metadata"].get("uid"), admission.digest, wanted, _content_of_manifest(live), owners])


def applied_digest(desired: Manifest, live: Manifest, fields: Fields) -> str:
    """Return the digest of a manifest that was applied and of what we own of the object since; empty for Secrets."""
    if is_content_secret(desired):
        return ""
    return _digest_of_parts([live["metadata"].get("uid"), desired, fields, owned_part(live, fields)])


def _plain_value_at(value: Manifest, path: Path) -> Any:
    found = value_at(value, path)
    return [] if found is MISSING else [found]


def _digest_of_parts(parts: Any) -> str:
    text = json.dumps(parts, sort_keys=True, default=str)
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()[:_DIGEST_BYTES]).decode()


def differences_to_report(want: Manifest, found: Iterable[FieldDifference]) -> tuple[FieldDifference, ...]:
    """Return the differences that somebody may have made by rewriting what was applied.

    Of what is only filled in these are pieces of Kubernetes' own kinds that have more than is wanted and than servers
    are known to fill in there. What a custom resource has more is a default of its schema as a rule.
    """
    has_forms = is_kubernetes_own(group_of(str(want.get("apiVersion"))))
    return tuple(
        each
        for each in found
        if each.change is not DifferenceKind.FILLED_IN or (has_forms and _is_container(value_at(want, each.path)))
    )


def _is_container(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)


def rewritten_fields(
    changes: Iterable[FieldChange], resource: Resource | None, admission: Admission
) -> tuple[FieldChange, ...]:
    """Return fields that differ although they were applied, for whoever intercepts writes decides them.

    Where nobody does, the server has another way of writing what was applied, and nothing differs.
    """
    if not admission.may_change(resource):
        return ()
    return tuple(replace(change, change=DifferenceKind.REWRITTEN, manager="", time="") for change in changes)


def fields_left_but_rewritten(fields: Iterable[FieldChange]) -> tuple[FieldChange, ...]:
    """Return those of the fields left to others that were applied and have another value all the same."""
    return tuple(change for change in fields if change.change == DifferenceKind.REWRITTEN)


def plan_to_leave_as_it_is(planned: PlannedObject, admission: Admission, answer_id: str = "") -> PlannedObject:
    """Return the plan for an object that applying would not change; what differs in it has a line of its own."""
    rewritten = rewritten_fields(planned.changes, planned.resource, admission)
    return replace(
        planned,
        action=Action.UNCHANGED,
        reason="Settled" if rewritten else "UpToDate",
        message=_SERVER_FORM if rewritten else "",
        changes=(),
        yielded=(*planned.yielded, *rewritten),
        is_asked=False,
        answer_id=answer_id,
    )


def plan_by_answer_of_server(planned: PlannedObject, answer: Manifest, admission: Admission) -> PlannedObject:
    """Return the plan for an object by what the server would make of applying it."""
    changes = changed_values(planned.live, answer, planned.manifest)
    if not changes:
        return plan_to_leave_as_it_is(planned, admission)
    reason = "Drifted" if planned.reason == "Drifted" else "Changed"
    return replace(planned, changes=changes, reason=reason, is_asked=False)


def changed_values(
    live: Manifest | None, answer: Manifest, sent: Mapping[str, Any] | None = None
) -> tuple[FieldChange, ...]:
    """Return the fields that an answer has otherwise than the live object, masked where they may hold a secret.

    Of a new object these are all. ``sent`` is the manifest that the server answered, which tells whether it was
    encrypted. What only servers write - managed fields, versions, the status - is left out.
    """
    secret = sent if is_content_secret(sent) else answer
    before, after = _content_of_manifest(live or {}), _content_of_manifest(answer)
    return tuple(
        FieldChange(
            path=path_text(path),
            change=_kind_of_change(old, new),
            live="" if old is MISSING else value_for_report(old, path_text(path), secret),
            want="" if new is MISSING else value_for_report(new, path_text(path), secret),
        )
        for path, old, new in _changed_values(before, after, ())
    )


def _kind_of_change(old: Any, new: Any) -> DifferenceKind:
    if old is MISSING:
        return DifferenceKind.LOST
    return DifferenceKind.DROPPED if new is MISSING else DifferenceKind.MODIFIED


def _content_of_manifest(manifest: Manifest) -> dict[str, Any]:
    metadata = {key: value for key, value in (manifest.get("metadata") or {}).items() if key not in SERVER_METADATA}
    body = {key: value for key, value in manifest.items() if key not in {"apiVersion", "kind", "metadata", "status"}}
    return {"metadata": metadata, **body}


def _changed_values(old: Any, new: Any, path: Path) -> Iterator[tuple[Path, Any, Any]]:
    """Yield the innermost fields that differ, items of lists found by their names."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for name in dict.fromkeys([*old, *new]):
            yield from _changed_values(old.get(name, MISSING), new.get(name, MISSING), (*path, name))
    elif _are_items_named(old) and _are_items_named(new) and not _are_items_reordered(old, new):
        olds, news = _items_by_name(old), _items_by_name(new)
        for name in dict.fromkeys([*olds, *news]):
            step = Key((("name", name),))
            yield from _changed_values(olds.get(name, MISSING), news.get(name, MISSING), (*path, step))
    elif not is_equal_to_server(old, new):
        yield path, old, new


def _are_items_reordered(old: list[Mapping[str, Any]], new: list[Mapping[str, Any]]) -> bool:
    names, others = list(_items_by_name(old)), list(_items_by_name(new))
    return names != others and sorted(names) == sorted(others)


def _are_items_named(items: Any) -> bool:
    """Return whether the items of a list are distinguished by their names."""
    if not isinstance(items, list) or not items:
        return False
    return all(isinstance(item, Mapping) and "name" in item for item in items) and len(_items_by_name(items)) == len(
        items
    )


def _items_by_name(items: list[Mapping[str, Any]]) -> dict[str, Any]:
    return {str(item["name"]): item for item in items}
