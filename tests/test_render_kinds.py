"""The built-in kinds: each is one value, which says all there is to say about it, as real API servers have it."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from reconciler.plans.stages import is_kubernetes_own
from reconciler.source.schemas.kubernetes import TABLE
from render.kinds import BUILT_IN, BuiltInKind
from render.model import group_of

from .clusters import Member

Served = dict[tuple[str, str], dict[str, Any]]


def served_kinds(member: Member) -> Served:
    """Return the resources that a server serves of Kubernetes' own groups, by group and kind."""
    served: Served = {}
    versions = [each["groupVersion"] for group in member.read("/apis")["groups"] for each in group["versions"]]
    for path in ("/api/v1", *(f"/apis/{version}" for version in versions)):
        group = path.removeprefix("/apis/").rpartition("/")[0] if path != "/api/v1" else ""
        if "." in group and not group.endswith(".k8s.io"):
            continue
        # The definition of a custom group may be gone by now: other tests use the same members.
        for resource in (member.read(path) or {"resources": []})["resources"]:
            if "/" not in resource["name"]:
                served[group, resource["kind"]] = resource
    return served


NO_KINDS_OF_THEIR_OWN = {
    ("authentication.k8s.io", "TokenRequest"),
    ("autoscaling", "Scale"),
    ("lifecycle.k8s.io", "Eviction"),
    ("policy", "Eviction"),
}
"""The kinds of subresources, which are posted to an object and never stored; of one no server tells the scope yet."""


def kinds_with_schemas() -> set[tuple[str, str]]:
    """Return the kinds of Kubernetes in all versions that the table of schemas knows, by group and name."""
    entries = (line.split(" ", 2)[1] for line in TABLE.read_text().splitlines() if not line.startswith("#"))
    names = (name.removeprefix("=").partition(":") for name in entries if name.startswith("="))
    return {(group_of(api_version), kind) for api_version, _, kind in names}


def test_every_kind_that_has_a_schema_is_built_in() -> None:
    known = kinds_with_schemas()
    assert known - BUILT_IN.keys() == NO_KINDS_OF_THEIR_OWN
    assert [group for group, _ in sorted(known) if not is_kubernetes_own(group)] == []


NEVER_LEFT_OUT = {"group", "kind", "is_namespaced", "version", "short_names", "not_written", "has_no"}
BLANK = BuiltInKind(group="", kind="", is_namespaced=True)


def fields_unsaid(kind: BuiltInKind) -> set[str]:
    """Return the fields that a kind neither gives nor leaves out by name, and those that it does both of."""
    judged = set(BuiltInKind.__struct_fields__) - NEVER_LEFT_OUT
    given = {name for name in judged if getattr(kind, name) != getattr(BLANK, name)}
    return judged ^ (given ^ set(kind.has_no.split()))


def test_every_kind_says_all_there_is_to_say_about_it() -> None:
    """A new kind fails here until each field is given, or named among those that were thought of and left out."""
    assert {key: unsaid for key, kind in BUILT_IN.items() if (unsaid := fields_unsaid(kind))} == {}


def test_a_kind_that_says_nothing_is_told_what_to_say() -> None:
    gadget = BuiltInKind(group="apps", kind="Gadget", is_namespaced=True, is_scaled=True, has_no="is_scaled stage")
    assert fields_unsaid(gadget) == set(BuiltInKind.__struct_fields__) - NEVER_LEFT_OUT - {"stage"}


def newest_schemas() -> tuple[dict[str, str], dict[str, Any]]:
    """Return the definitions of kinds by apiVersion and kind, and schemas by definition, of the newest version."""
    kinds, schemas = {}, {}
    lines = [line.split(" ", 2) for line in TABLE.read_text().splitlines() if not line.startswith("#")]
    newest = max(int(span.partition("-")[2]) for span, _, _ in lines)
    for span, name, text in lines:
        if int(span.partition("-")[2]) == newest:
            if name.startswith("="):
                kinds[name[1:]] = text
            else:
                schemas[name] = json.loads(text)
    return kinds, schemas


def paths_to(wanted: str, definition: str, schemas: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[Any]:
    """Yield the paths of single fields that lead from a definition to another one."""
    if definition == wanted:
        yield path
        return
    for name, field in (schemas.get(definition, {}).get("properties") or {}).items():
        if "$ref" in field and len(path) < 6:
            yield from paths_to(wanted, field["$ref"], schemas, (*path, name))


def test_kinds_have_pods_and_replicas_where_their_schemas_do() -> None:
    kinds, schemas = newest_schemas()
    pods, scaled = {}, set()
    for name, definition in kinds.items():
        api_version, _, kind = name.partition(":")
        key = (group_of(api_version), kind)
        if key in BUILT_IN and BUILT_IN[key].api_version == api_version:
            pods[key] = next(paths_to("io.k8s.api.core.v1.PodSpec", definition, schemas), ())
            spec = schemas[definition]["properties"].get("spec", {}).get("$ref", "")
            if "replicas" in schemas.get(spec, {}).get("properties", {}):
                scaled.add(key)
    assert len(pods) > 30
    assert {key: BUILT_IN[key].pod_spec for key in pods} == pods
    assert {key for key in pods if BUILT_IN[key].is_scaled} == scaled


@pytest.mark.cluster
def test_a_real_api_server_agrees(members: tuple[Member, ...]) -> None:
    served = served_kinds(members[0])
    assert ("apps", "Deployment") in served
    told = {key: (each["namespaced"], tuple(each.get("shortNames", ()))) for key, each in served.items()}
    known = {key: BUILT_IN[key] for key in told if key in BUILT_IN}
    assert {key: (kind.is_namespaced, kind.short_names) for key, kind in known.items()} == told
