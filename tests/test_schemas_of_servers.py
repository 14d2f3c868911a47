"""The verdict of the schemas that ship with Argosy beside that of a real API server, asked to be strict."""

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from reconciler.source.schemas.checks import DefinitionSchemas
from reconciler.source.schemas.kubernetes import KubernetesSchemas, minor_version
from render.documents import parse_documents
from render.model import ObjectRef, Template
from render.schemas import check_manifest
from tests.clusters import Member
from tests.waiting import eventually

VECTORS = Path(__file__).parent / "vectors"
RICH = [each.value for each in parse_documents((VECTORS / "rich_objects.yaml").read_bytes())]
SCHEMAS = KubernetesSchemas()
VALUES: tuple[Any, ...] = ("Bogus!", 7, -1.5, True, ["Bogus!"], {"bogus": 1}, None)


def changes(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yield every place of an object with what is put there; ``...`` takes it away."""
    if path and path[0] not in {"apiVersion", "kind", "metadata"}:
        yield from ((path, each) for each in (..., *VALUES))
        if isinstance(value, dict):
            yield (*path, "bogus"), 1
    for key, each in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield from changes(each, (*path, key))


def changed(manifest: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(manifest)
    parent = made
    for step in path[:-1]:
        parent = parent[step]
    if value is ...:
        del parent[path[-1]]
    else:
        parent[path[-1]] = value
    return made


def is_refused(manifest: Any, minor: int) -> bool:
    check = SCHEMAS.check_of(manifest["apiVersion"], manifest["kind"], minor)
    assert check is not None
    return bool(check_manifest(check, manifest).problems)


@pytest.mark.cluster
@pytest.mark.parametrize("manifest", RICH, ids=lambda each: f"{each['kind']} {each['metadata']['name']}")
def test_what_schemas_refuse_a_server_refuses(manifest: Any, members: tuple[Member, ...]) -> None:
    """Each place of a rich object is taken away, or filled with something else; every fifth one is tried."""
    minor = minor_version(members[0].request("GET", "/version")[1]["gitVersion"])
    assert minor is not None
    assert members[0].dry_run(manifest)[0] == 201
    assert not is_refused(manifest, minor)
    wrong = [each for each in changes(manifest) if is_refused(changed(manifest, *each), minor)]
    assert wrong
    accepted = [each for each in wrong[::5] if members[0].dry_run(changed(manifest, *each))[0] == 201]
    assert accepted == []


@pytest.mark.cluster
def test_what_a_definition_refuses_a_server_refuses(members: tuple[Member, ...]) -> None:
    definition, gadget = (each.value for each in parse_documents((VECTORS / "custom_kind.yaml").read_bytes()))
    template = Template(ref=ObjectRef.of(definition), manifest=definition)
    schemas, member = DefinitionSchemas([template], SCHEMAS.metadata), members[0]
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    assert member.request("POST", path, definition)[0] == 201
    try:
        eventually(lambda: member.request("GET", "/apis/schemas.example.com/v1")[0] == 200, "the kind is served")
        eventually(lambda: member.dry_run(gadget)[0] == 201, "an object is accepted")
        wrong = [each for each in changes(gadget) if schemas.findings(changed(gadget, *each)).problems]
        assert len(wrong) > 80
        assert not schemas.findings(gadget).problems
        assert [each for each in wrong if member.dry_run(changed(gadget, *each))[0] == 201] == []
    finally:
        member.request("DELETE", f"{path}/{definition['metadata']['name']}")
