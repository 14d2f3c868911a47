"""The owners of an object's fields, in memory: server-side apply and updates by a rule of thumb for a schema.

Mappings are granular, lists whose items all have a name are maps by name, finalizers are a set, any other list is one
piece. That is enough for everything above the client.
"""

import copy
import json
from collections.abc import Iterator
from typing import Any

OWNED_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
Fields = dict[str, Any]
Manifest = dict[str, Any]


def server_side_applied(live: Manifest, body: Manifest, manager: str) -> tuple[Manifest, list[dict[str, str]]]:
    """Return the object after an apply that takes what it wants, and the conflicts that takes."""
    fields = fields_of(body)
    new = copy.deepcopy(live)
    entries: list[dict[str, Any]] = new["metadata"].pop("managedFields", [])
    own = next((item for item in entries if (item["manager"], item["operation"]) == (manager, "Apply")), None)
    others = [item for item in entries if item is not own]
    causes = list(_conflicts(new, body, fields, others))
    for path in leaves((own or {"fieldsV1": {}})["fieldsV1"]):
        is_kept = covers(fields, path) and (path in set(leaves(fields)) or _value(body, path) is not None)
        if not is_kept and not any(covers(item["fieldsV1"], path) for item in others):
            remove(new, path)
    for path in leaves(fields):
        if _value(new, path) != _value(body, path):
            for item in others:
                drop(item["fieldsV1"], path)
    merged(new, body)
    entry = {"manager": manager, "operation": "Apply", "apiVersion": body["apiVersion"], "fieldsV1": fields}
    places = entries if own else [*entries, entry]
    owners = [entry if item is own else item for item in places]
    new["metadata"]["managedFields"] = [item for item in owners if item is entry or item["fieldsV1"]]
    return new, causes


def fields_of(body: dict[str, Any]) -> Fields:
    """The fields an apply of ``body`` owns."""
    metadata = {key: value for key, value in body["metadata"].items() if key in OWNED_METADATA}
    content = {key: value for key, value in body.items() if key not in {"apiVersion", "kind", "metadata", "status"}}
    return _fields({**({"metadata": metadata} if metadata else {}), **content})


def _fields(value: Any, name: str = "") -> Fields:
    if isinstance(value, dict):
        return {f"f:{key}": _fields(item, key) for key, item in value.items()}
    if isinstance(value, list) and value:
        if name == "finalizers":
            return {f"v:{json.dumps(item)}": {} for item in value}
        if all(isinstance(item, dict) and "name" in item for item in value):
            return {f"k:{json.dumps({'name': item['name']}, separators=(',', ':'))}": _item(item) for item in value}
    return {}


def _item(item: dict[str, Any]) -> Fields:
    return {".": {}, **_fields(item)}


def leaves(fields: Fields, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for key, inner in fields.items():
        if key == ".":
            continue
        if any(name != "." for name in inner):
            yield from leaves(inner, (*path, key))
        else:
            yield (*path, key)


def covers(fields: Fields, path: tuple[str, ...]) -> bool:
    for step in path:
        if step not in fields:
            return False
        fields = fields[step]
        if not fields:
            return True
    return True


def drop(fields: Fields, path: tuple[str, ...]) -> None:
    if path[0] in fields:
        if len(path) > 1 and fields[path[0]]:
            drop(fields[path[0]], path[1:])
        if len(path) == 1 or not set(fields[path[0]]) - {"."}:
            del fields[path[0]]


def _step(value: Any, step: str) -> Any:
    if step.startswith("f:"):
        return value.get(step[2:]) if isinstance(value, dict) else None
    if step.startswith("k:"):
        name = json.loads(step[2:])["name"]
        return next((item for item in value or [] if item.get("name") == name), None)
    return json.loads(step[2:]) if json.loads(step[2:]) in (value or []) else None


def _value(value: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        value = _step(value, step) if value is not None else None
    return value


def remove(value: Any, path: tuple[str, ...]) -> None:
    parent, step = _value(value, path[:-1]), path[-1]
    if parent is None:
        return
    if step.startswith("f:"):
        parent.pop(step[2:], None)
    else:
        found = _step(parent, step)
        parent[:] = [item for item in parent if item != found]
    if not parent and len(path) > 1:
        remove(value, path[:-1])


def _conflicts(live: Any, body: Any, fields: Fields, others: list[Any]) -> Iterator[dict[str, str]]:
    for path in leaves(fields):
        for other in others:
            if covers(other["fieldsV1"], path) and _value(live, path) != _value(body, path):
                text = "".join(f".{step[2:]}" if step[0] == "f" else _key_text(step) for step in path)
                message = f'conflict with "{other["manager"]}"'
                if other.get("subresource"):
                    message += f' with subresource "{other["subresource"]}"'
                yield {"reason": "FieldManagerConflict", "message": message, "field": text}


def _key_text(step: str) -> str:
    return f'[name="{json.loads(step[2:])["name"]}"]' if step[0] == "k" else f"[={step[2:]}]"


def merged(into: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    for key, value in body.items():
        if value is None:
            into.pop(key, None)
        elif isinstance(value, dict) and isinstance(into.get(key), dict):
            merged(into[key], value)
        elif isinstance(value, list) and isinstance(into.get(key), list):
            into[key] = _joined(into[key], value, key)
        else:
            into[key] = copy.deepcopy(value)
    return into


def _joined(into: list[Any], value: list[Any], key: str) -> list[Any]:
    if key == "finalizers":
        return [*into, *(item for item in value if item not in into)]
    if not all(isinstance(item, dict) and "name" in item for item in [*into, *value]):
        return copy.deepcopy(value)
    by_name = {item["name"]: item for item in into}
    for item in value:
        by_name[item["name"]] = merged(by_name.get(item["name"], {}), item)
    return list(by_name.values())


def owned_by_update(live: dict[str, Any], new: dict[str, Any], manager: str) -> dict[str, Any]:
    """Give what an update changed to its manager, and take what it removed or changed from everybody."""
    entries = new["metadata"].setdefault("managedFields", [])
    before, after = fields_of({"metadata": {}, **live}), fields_of(new)
    changed = [path for path in leaves(after) if _value(new, path) != _value(live, path)]
    gone = [path for path in leaves(before) if not covers(after, path)]
    for entry in entries:
        for path in [*changed, *gone]:
            drop(entry["fieldsV1"], path)
    if changed:
        fields: Fields = {}
        for path in changed:
            inner = fields
            for step in path:
                inner = inner.setdefault(step, {})
        entries.append({"manager": manager, "operation": "Update", "apiVersion": new["apiVersion"], "fieldsV1": fields})
    new["metadata"]["managedFields"] = [entry for entry in entries if entry["fieldsV1"]]
    return new


def json_patched(live: dict[str, Any], steps: list[dict[str, Any]]) -> dict[str, Any]:
    new = copy.deepcopy(live)
    for step in steps:
        *parents, last = [part.replace("~1", "/").replace("~0", "~") for part in step["path"].split("/")[1:]]
        target = new
        for name in parents:
            target = target[name]
        if step["op"] == "remove":
            del target[last]
        else:
            target[last] = step["value"]
    new["metadata"]["managedFields"] = [entry for entry in new["metadata"]["managedFields"] if entry]
    return new
