"""Objects with every field that a CustomResourceDefinition has: one for each field, and the least one without any.

An object holds one field at a time beside what is required along its way, because some of Karmada's fields exclude each
other. Fields and values that a webhook requires stand in tables.
"""

import base64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from render.documents import parse_documents

Schema = Mapping[str, Any]
Steps = tuple[str, ...]

VALUES: Mapping[Steps, Any] = {
    ("apiVersion",): "apps/v1",
    ("kind",): "Deployment",
    ("namespace",): "shop",
    ("schedule",): "0 8 * * 1-5",
    ("timeZone",): "Europe/Paris",
    ("jsonPath",): "{ .replicas }",
    ("subPath",): "/replicas",
    ("fieldPath",): "/data/settings",
    ("path",): "/spec/replicas",
    ("luaScript",): "function GetReplicas(o) return 1, nil end",
    ("effect",): "NoSchedule",
    ("reason",): "Failing",
    ("fieldSelector", "matchExpressions", "key"): "region",
    ("fieldSelector", "matchExpressions", "operator"): "In",
    ("policies", "type"): "Pods",
    ("selectPolicy",): "Max",
    ("resource", "name"): "cpu",
    ("containerResource", "name"): "cpu",
    ("webhooks", "name"): "web.example.com",
    ("webhooks", "interpreterContextVersions"): "v1alpha1",
    ("webhooks", "rules", "operations"): "InterpretReplica",
    ("clientConfig", "url"): "https://interpreter.example.com/ask",
    ("clientConfig", "service", "path"): "/ask",
    ("caBundle",): base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode(),
}
"""The values of fields that Karmada's webhooks read, by the end of their path; the longest end counts."""
BESIDE: Mapping[Steps, Steps] = {
    ("fieldOverrider", "json"): ("value",),
    ("fieldOverrider", "yaml"): ("value",),
    ("resourceSelectors",): ("name",),
    ("object", "target"): ("averageValue",),
    ("pods", "target"): ("averageValue",),
    ("spec", "rules"): ("targetReplicas",),
}
"""The fields that Karmada's webhooks require, by the end of the path of the object that they are in."""
WITH: Mapping[Steps, Steps] = {("spec", "failover"): ("propagateDeps",)}
"""The fields that Karmada's webhooks require beside another one, by the path of that."""
EITHER: Mapping[Steps, Steps] = {
    ("fieldOverrider",): ("json", "yaml"),
    ("clientConfig",): ("url", "service"),
    ("resource", "target"): ("averageUtilization", "averageValue"),
    ("containerResource", "target"): ("averageUtilization", "averageValue"),
}
"""Fields of which one has to be there, the first where none is asked for, by the end of the path of their object."""
_SOURCES = ("resource", "containerResource", "pods", "object", "external")
METRICS = {name: name[:1].upper() + name[1:] for name in _SOURCES}
"""The sources of a metric, and the type of each."""


class Definition(NamedTuple):
    """A kind as its CustomResourceDefinition has it."""

    api_version: str
    kind: str
    is_namespaced: bool
    schema: Schema


def definitions_in(folder: Path) -> Iterator[Definition]:
    """Yield the kinds that the files of a folder define, by their stored versions."""
    for path in sorted(folder.rglob("*.yaml")):
        for document in parse_documents(path.read_bytes()):
            spec: Any = document.value["spec"]
            version = next(each for each in spec["versions"] if each["storage"])
            api_version, kind = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            schema = version["schema"]["openAPIV3Schema"]
            yield Definition(api_version, kind, spec["scope"] == "Namespaced", schema)


def objects_of(definition: Definition) -> Iterator[tuple[Steps, Any]]:
    """Yield an object for each field of a kind below its root, with the path of the field."""
    metadata = {"name": "web", **({"namespace": "shop"} if definition.is_namespaced else {})}
    head = {"apiVersion": definition.api_version, "kind": definition.kind, "metadata": metadata}
    parts = {name: each for name, each in definition.schema["properties"].items() if name not in head}
    schema = {**definition.schema, "properties": parts}
    schema["required"] = [name for name in definition.schema.get("required", ()) if name in parts]
    yield (), {**head, **value_with(schema, (), ())}
    for steps in _paths(schema):
        yield steps, {**head, **value_with(schema, steps, ())}


def _paths(schema: Schema, at: Steps = ()) -> Iterator[Steps]:
    """Yield the paths of all fields below a schema; the items of lists and maps have the paths of these.

    A field of which there is a choice has a path for each word, which ends with ``=`` and the word.
    """
    inner = schema.get("items") or _values(schema)
    if inner:
        yield from _paths(inner, at)
    for name, child in (schema.get("properties") or {}).items():
        yield (*at, name)
        yield from _paths(child, (*at, name))
        yield from ((*at, name, f"={word}") for word in child.get("enum", ()))


def _values(schema: Schema) -> Schema | None:
    """Return the schema of the values of a map; None where it is none."""
    values = schema.get("additionalProperties")
    return values if isinstance(values, dict) else None


def value_with(schema: Schema, wanted: Steps, at: Steps) -> Any:
    """Return the least value of a schema in which one field is there."""
    if "items" in schema:
        return [value_with(schema["items"], wanted, at)]
    if values := _values(schema):
        return {"example.com/key": value_with(values, wanted, at)}
    if "properties" not in schema:
        return wanted[0].removeprefix("=") if wanted else _leaf(schema, at)
    fields, first = schema["properties"], wanted[0] if wanted else ""
    names = [*schema.get("required", ()), *_at(BESIDE, at), *_at(WITH, (*at, first)), first]
    either = _at(EITHER, at)
    if either and first not in either:
        names.append(either[0])
    if at[-1:] == ("metrics",):
        names.append(first if first in METRICS else "resource")
    made = {
        name: value_with(fields[name], wanted[1:] if name == first else (), (*at, name))
        for name in dict.fromkeys(names)
        if name in fields
    }
    return _with_types(made) if at[-1:] == ("metrics",) else made


def _with_types(metric: dict[str, Any]) -> dict[str, Any]:
    """Return a metric whose types are those of its source and of its target."""
    source = next(name for name in metric if name in METRICS)
    target = metric[source]["target"]
    metric["type"] = METRICS[source]
    target["type"] = "Utilization" if "averageUtilization" in target else "AverageValue"
    return metric


def _at(table: Mapping[Steps, Any], at: Steps) -> Any:
    """Return what a table has for the longest end of a path."""
    return next((table[at[start:]] for start in range(len(at)) if at[start:] in table), ())


def _leaf(schema: Schema, at: Steps) -> Any:
    """Return the value of a field that has none below it."""
    known = _at(VALUES, at) or next(iter(schema.get("enum", ())), None)
    if known is None and schema.get("format") == "date-time":
        known = "2026-01-01T00:00:00Z"
    if known is None and schema.get("x-kubernetes-int-or-string"):
        known = "1"
    least = max(int(schema.get("minimum", 1)), 1)
    by_type = {"integer": least, "boolean": True, "object": {}}
    return by_type.get(schema.get("type", ""), "web") if known is None else known
