"""Writes the table of Kubernetes' own schemas: ``python -m tests.kubernetes.schema_table FOLDER``.

``FOLDER`` is where the package ``kubernetes-validate`` lies unpacked, which ships the schemas of every version. They
are said once for all versions that share them, without their texts. An API server is started and asked about every
requirement and every list of allowed values, by changing the objects of ``tests/vectors/rich_objects.yaml``: what it
does not refuse is no rule and is left out, and so is what these objects do not have.
"""

import copy
import json
import sys
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

from reconciler.source.schemas.kubernetes import TABLE
from render.documents import parse_documents
from render.schemas.checking import SINCE
from tests.clusters import Member

RICH = Path(__file__).parent.parent / "vectors" / "rich_objects.yaml"
OBJECT_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"
SPECIAL: Mapping[str, Any] = {
    "Quantity": {"format": "quantity"},
    "IntOrString": {"x-kubernetes-int-or-string": True},
    "Time": {"type": "string", "format": "date-time"},
    "MicroTime": {"type": "string", "format": "date-time"},
}
HEAD = (
    "# The schemas of Kubernetes' own kinds, one a line, with the first and last minor version 1.N that has them.\n"
    "# Made from Kubernetes' published OpenAPI (Apache License 2.0) by tests/kubernetes/schema_table.py.\n"
)


class Rules(NamedTuple):
    """The requirements that a server enforces, and the values it allows, by definition and field."""

    required: frozenset[tuple[str, str]]
    values: Mapping[tuple[str, str], list[str]]


def all_definitions(folder: Path) -> dict[int, dict[str, Any]]:
    """Return the definitions of each minor version."""
    found = folder.glob("kubernetes_validate/kubernetes-json-schema/v1.*-local-strict/_definitions.json")
    return {int(path.parent.name.split(".")[1]): json.loads(path.read_text())["$defs"] for path in found}


class Enforcement:
    """The rules of a server, found out by breaking each of them in objects that it accepts."""

    def __init__(self, member: Member, required: frozenset[tuple[str, str]]) -> None:
        self.member, self.required = member, required
        self.definitions = member.request("GET", "/openapi/v2")[1]["definitions"]
        self.refused: set[tuple[str, str, str]] = set()
        self.accepted: set[tuple[str, str, str]] = set()
        self.values: dict[tuple[str, str], list[str]] = {}

    def rules(self) -> Rules:
        """Return what is refused wherever it was tried."""
        names = {
            (kind["kind"], "/".join(filter(None, (kind["group"], kind["version"])))): name
            for name, schema in self.definitions.items()
            for kind in schema.get("x-kubernetes-group-version-kind", ())
        }
        for document in parse_documents(RICH.read_bytes()):
            manifest = document.value
            name = names[manifest["kind"], manifest["apiVersion"]]
            self._walk(manifest, manifest, (), {"$ref": name})
        kept = self.refused - self.accepted
        values = {(name, field): self.values[name, field] for what, name, field in kept if what == "values"}
        return Rules(frozenset((name, field) for what, name, field in kept if what == "required"), values)

    def _walk(self, root: Any, value: Any, path: tuple[Any, ...], schema: Mapping[str, Any]) -> None:
        name = _reference(schema) or ""
        schema = self.definitions[name] if name else schema
        if isinstance(value, dict):
            for field, each in value.items():
                child = schema.get("properties", {}).get(field) or schema.get("additionalProperties") or {}
                if path or field not in {"apiVersion", "kind"}:
                    self._try(root, (*path, field), (name, field), child)
                    self._walk(root, each, (*path, field), child)
        elif isinstance(value, list):
            for number, each in enumerate(value):
                self._walk(root, each, (*path, number), schema.get("items") or {})

    def _try(self, root: Any, path: tuple[Any, ...], where: tuple[str, str], schema: Mapping[str, Any]) -> None:
        if where in self.required:
            changed, parent = _copied(root, path)
            del parent[path[-1]]
            self._note("required", where, changed)
        values = schema.get("enum") or schema.get("items", {}).get("enum")
        if values:
            changed, parent = _copied(root, path)
            parent[path[-1]] = "Bogus" if schema.get("enum") else ["Bogus"]
            self.values[where] = values
            self._note("values", where, changed)

    def _note(self, what: str, where: tuple[str, str], changed: Any) -> None:
        is_refused = self.member.dry_run(changed)[0] != 201
        (self.refused if is_refused else self.accepted).add((what, *where))


def _copied(root: Any, path: tuple[Any, ...]) -> tuple[Any, Any]:
    """Return a copy of an object, and in it the parent of what a path leads to."""
    changed = copy.deepcopy(root)
    parent = changed
    for step in path[:-1]:
        parent = parent[step]
    return changed, parent


def _reference(schema: Any) -> str | None:
    return schema["$ref"].rpartition("/")[2] if "$ref" in schema else None


def slim(name: str, schema: Mapping[str, Any], rules: Rules) -> dict[str, Any]:
    """Return a definition without texts, and with the rules that a server enforces."""
    short = name.rpartition(".")[2]
    if name.startswith("io.k8s.apimachinery") and short in SPECIAL:
        return dict(SPECIAL[short])
    if "properties" not in schema:
        return {}
    properties = {
        field: {} if field == "status" else _slim_value(each, rules.values.get((name, field)))
        for field, each in sorted(schema["properties"].items())
    }
    required = sorted(field for field in schema.get("required", ()) if (name, field) in rules.required)
    return {"properties": properties, **({"required": required} if required else {})}


def _slim_value(schema: Mapping[str, Any], values: list[str] | None) -> dict[str, Any]:
    if name := _reference(schema):
        return {"$ref": name}
    types = schema.get("type")
    type_ = next(each for each in types if each != "null") if isinstance(types, list) else types
    slimmed: dict[str, Any] = {"type": type_} if type_ else {}
    if "format" in schema:
        slimmed["format"] = schema["format"]
    if type_ == "array":
        return {**slimmed, "items": _slim_value(schema["items"], values), **_keys(schema)}
    if isinstance(schema.get("additionalProperties"), dict):
        return {**slimmed, "additionalProperties": _slim_value(schema["additionalProperties"], None)}
    return {**slimmed, **({"enum": values} if values else {})}


def _keys(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the entries of a list are told apart by; servers before 1.30 only say how some are merged."""
    keys, kind = schema.get("x-kubernetes-list-map-keys"), schema.get("x-kubernetes-list-type")
    if kind is None and "merge" in schema.get("x-kubernetes-patch-strategy", "").split(","):
        keys = [key] if (key := schema.get("x-kubernetes-patch-merge-key")) else None
        kind = "map" if keys else "set"
    if kind == "set":
        return {"x-kubernetes-list-type": "set"}
    return {"x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": keys} if kind == "map" and keys else {}


def lines(definitions: Mapping[int, Mapping[str, Any]], rules: Rules) -> Iterator[str]:
    """Yield the lines of the table: kinds, then their schemas."""
    kinds: dict[str, list[tuple[int, str]]] = {}
    schemas: dict[str, list[tuple[int, str]]] = {}
    for minor, by_name in sorted(definitions.items()):
        waiting = dict(_kinds(by_name))
        for key, name in waiting.items():
            kinds.setdefault(key, []).append((minor, name))
        seen, names = set(waiting.values()), list(waiting.values())
        while names:
            name = names.pop()
            text = json.dumps(slim(name, by_name[name], rules), separators=(",", ":"))
            schemas.setdefault(name, []).append((minor, text))
            new = {each["$ref"] for each in _objects(json.loads(text)) if isinstance(each.get("$ref"), str)} - seen
            seen |= new
            names += sorted(new)
    for marked, found in ((True, kinds), (False, schemas)):
        for key, texts in sorted(found.items()):
            for text, run in groupby(texts if marked else list(_dated(texts)), key=lambda each: each[1]):
                minors = [minor for minor, _ in run]
                yield f"{minors[0]}-{minors[-1]} {'=' if marked else ''}{key} {text}"


def _dated(texts: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Yield the schemas of a definition with the version from which on each field that changed is as it is.

    "" is the object itself, where an earlier version requires what this one does not.
    """
    before: Any = None
    since: dict[str, int] = {}
    for minor, text in texts:
        schema = json.loads(text)
        fields = schema.get("properties", {})
        if before is not None:
            known = before.get("properties", {})
            since |= {name: minor for name, each in fields.items() if known.get(name) != each}
            since |= {"": minor} if set(before.get("required", ())) - set(schema.get("required", ())) else {}
        before = schema
        since = {name: first for name, first in since.items() if not name or name in fields}
        yield minor, json.dumps({**schema, SINCE: since} if since else schema, separators=(",", ":"))


def _kinds(by_name: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, schema in by_name.items():
        metadata = schema.get("properties", {}).get("metadata", {})
        for kind in schema.get("x-kubernetes-group-version-kind", ()):
            if _reference(metadata) == OBJECT_META:
                group = f"{kind['group']}/" if kind["group"] else ""
                yield f"{group}{kind['version']}:{kind['kind']}", name


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for each in value.values():
            yield from _objects(each)


def main(folder: Path) -> None:
    """Write the table."""
    definitions = all_definitions(folder)
    required = {
        (name, field)
        for by_name in definitions.values()
        for name, schema in by_name.items()
        for field in schema.get("required", ())
    }
    with Member("schemas") as member:
        rules = Enforcement(member, frozenset(required)).rules()
    TABLE.write_text(HEAD + "".join(f"{line}\n" for line in lines(definitions, rules)))
    print(f"{TABLE}: {len(rules.required)} requirements, {len(rules.values)} lists of values")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
