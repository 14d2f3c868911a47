"""The schemas of a member's custom kinds: what is asked for, what is kept of the answers, and what of a bad one."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from reconciler.ledger.branch_file import FileFault
from reconciler.ledger.member_schemas import MemberSchemas, VersionSchemas
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import Answer, Failure, FailureKind, Request
from reconciler.observe.schemas import SchemaObservation, observe_schemas
from reconciler.source.loading import load_source
from reconciler.source.reading import SourceReading
from reconciler.source.schemas.observed import MOST_BYTES, ObservedSchemas, digest_of_schema, schema_file_content
from reconciler.source.scopes.kind_scopes import kinds_to_observe
from render.documents import parse_documents
from render.schemas.published import checked_parts_of_published_schema
from tests.build import a_deployment, a_policy, as_bytes
from tests.fakes import FakeCluster
from tests.sources import source_of
from tests.tables import each_row

API, KIND = "example.com/v1", "Widget"
SIZE = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}}}
COLOUR = {"type": "object", "properties": {"spec": {"type": "object", "properties": {"colour": {"type": "string"}}}}}
METADATA = {"allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}]}
DENIED = Failure(kind=FailureKind.FORBIDDEN, message="the user may not get it", status=403)


class Kept(NamedTuple):
    why: str
    published: Any
    want: Any


KEPT = [
    Kept(
        "words about a field and rules that are not checked",
        {
            "type": "object",
            "description": "A widget.",
            "properties": {
                "spec": {
                    "type": "object",
                    "x-kubernetes-validations": [{"rule": "self.size > 1"}],
                    "properties": {"size": {"type": "integer", "minimum": 1, "example": 3, "pattern": "a"}},
                    "anyOf": [{"required": ["size"]}],
                }
            },
        },
        {
            "type": "object",
            "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}},
        },
    ),
    Kept(
        "what every object has is known without it",
        {"properties": {"apiVersion": {"type": "string"}, "kind": {"type": "string"}, "metadata": METADATA}},
        {"properties": {}},
    ),
    Kept(
        "an object inside an object may be any",
        {
            "properties": {
                "inner": {
                    "x-kubernetes-embedded-resource": True,
                    "properties": {"kind": {"type": "string"}, "metadata": METADATA, "data": {"type": "object"}},
                }
            }
        },
        {"properties": {"inner": {"x-kubernetes-embedded-resource": True, "properties": {"data": {"type": "object"}}}}},
    ),
    Kept(
        "a default counts, and its value where it tells entries apart",
        {"properties": {"a": {"default": {"b": 1}}}},
        {"properties": {"a": {"default": {}}}},
    ),
    Kept(
        "words that are objects are not compared",
        {"properties": {"a": {"enum": [{"b": 1}]}}},
        {"properties": {"a": {"enum": []}}},
    ),
    Kept(
        "an enumeration that may be null",
        {"properties": {"a": {"enum": ["b", None]}}},
        {"properties": {"a": {"enum": ["b", None]}}},
    ),
    Kept("a definition without a structure", {"type": "object"}, None),
    Kept("no schema at all", None, None),
    Kept(
        "a type of a program, which refers to others",
        {"properties": {"spec": {"$ref": "#/components/schemas/a.Spec"}}},
        None,
    ),
    Kept("a reference that is no text", {"properties": {"spec": {"$ref": 1}}}, None),
    Kept("a type that is none", {"properties": {"a": {"type": ["string", "null"]}}}, None),
    Kept("fields that are a list", {"properties": {"a": {"properties": [1]}}}, None),
    Kept("a field that is a text", {"properties": {"a": "string"}}, None),
    Kept("a bound that is a text", {"properties": {"a": {"minimum": "1"}}}, None),
    Kept("required names that are numbers", {"properties": {"a": {"required": [1]}}}, None),
    Kept("a switch that is a text", {"properties": {"a": {"nullable": "yes"}}}, None),
    Kept("an enumeration that is a text", {"properties": {"a": {"enum": "b"}}}, None),
]


@each_row("case", KEPT, ids=lambda case: case.why)
def test_what_is_kept_of_a_published_schema(case: Kept) -> None:
    assert checked_parts_of_published_schema(case.published) == case.want


def publishing(schemas: Mapping[str, Any], hash_: str = "A1", *, url: Any = None) -> Callable[[Request], Answer | None]:
    """Publish schemas by name, for the one group version."""
    index = {
        f"apis/{API}": {"serverRelativeURL": url or f"/openapi/v3/apis/{API}?hash={hash_}"},
        "api/v1": {},
        "odd": 1,
    }

    def answer(request: Request) -> Answer | None:
        if request.path == "/openapi/v3":
            return Answer(status=200, body={"paths": index})
        if request.path == f"/openapi/v3/apis/{API}":
            return Answer(status=200, body={"components": {"schemas": schemas}})
        return None

    return answer


def served(*kinds: tuple[str, str], unavailable: str = "") -> Discovery:
    resources = {
        (api_version, kind): Resource(
            group=api_version.rpartition("/")[0], version="v1", kind=kind, plural=f"{kind.lower()}s", is_namespaced=True
        )
        for api_version, kind in kinds
    }
    return Discovery(resources=resources, unavailable=frozenset({unavailable} - {""}))


def schemas_of(hash_: str, **digests: str) -> MemberSchemas:
    return MemberSchemas(versions={API: VersionSchemas(hash=hash_, digests=digests)})


def content_of(published: Any) -> bytes:
    schema = checked_parts_of_published_schema(published)
    assert schema is not None
    return schema_file_content(schema)


FIRST, SECOND = content_of(SIZE), content_of(COLOUR)
KNOWN = schemas_of("A1", Widget=digest_of_schema(FIRST))
LARGE = {"properties": {f"field{number}": {"type": "string"} for number in range(MOST_BYTES // 32)}}
NAME = "com.example.v1.Widget"


class Observed(NamedTuple):
    why: str
    fault: Callable[[Request], Answer | Failure | None]
    known: MemberSchemas
    want: SchemaObservation
    asked: list[str]
    kinds: tuple[tuple[str, str], ...] = ((API, KIND),)
    discovery: Discovery = served((API, KIND))


INDEX, VERSION = "/openapi/v3", f"/openapi/v3/apis/{API}"
OBSERVED = [
    Observed("no custom kind is asked for", publishing({}), KNOWN, SchemaObservation(), [], kinds=()),
    Observed("a kind that it does not serve", publishing({}), KNOWN, SchemaObservation(), [], discovery=served()),
    Observed(
        "a schema seen for the first time",
        publishing({NAME: SIZE}),
        MemberSchemas(),
        SchemaObservation(schemas=KNOWN, contents={digest_of_schema(FIRST): FIRST}),
        [INDEX, VERSION],
    ),
    Observed("the same hash", publishing({NAME: SIZE}), KNOWN, SchemaObservation(schemas=KNOWN), [INDEX]),
    Observed(
        "another hash",
        publishing({NAME: COLOUR}, "B2"),
        KNOWN,
        SchemaObservation(
            schemas=schemas_of("B2", Widget=digest_of_schema(SECOND)), contents={digest_of_schema(SECOND): SECOND}
        ),
        [INDEX, VERSION],
    ),
    Observed(
        "another kind of a version that was read",
        publishing({NAME: SIZE}),
        schemas_of("A1", Gadget=digest_of_schema(SECOND)),
        SchemaObservation(schemas=KNOWN, contents={digest_of_schema(FIRST): FIRST}),
        [INDEX, VERSION],
    ),
    Observed(
        "a kind that is asked for no more",
        publishing({NAME: SIZE}),
        schemas_of("A1", Gadget=digest_of_schema(SECOND), Widget=digest_of_schema(FIRST)),
        SchemaObservation(schemas=KNOWN),
        [INDEX],
    ),
    Observed(
        "a kind that is no definition's is remembered as one without a schema",
        publishing({"io.program.pkg.apis.v1.Widget": SIZE}),
        MemberSchemas(),
        SchemaObservation(schemas=schemas_of("A1", Widget="")),
        [INDEX, VERSION],
    ),
    Observed(
        "a schema that is too large",
        publishing({NAME: LARGE}),
        MemberSchemas(),
        SchemaObservation(schemas=schemas_of("A1", Widget="")),
        [INDEX, VERSION],
    ),
    Observed("a server without an index", lambda _: None, KNOWN, SchemaObservation(), [INDEX]),
    Observed(
        "an account that may not read the index",
        lambda _: DENIED,
        KNOWN,
        SchemaObservation(schemas=KNOWN, failure=DENIED),
        [INDEX],
    ),
    Observed(
        "a version that cannot be read stays as it was",
        lambda each: DENIED if each.path == VERSION else publishing({}, "B2")(each),
        KNOWN,
        SchemaObservation(schemas=KNOWN, failure=DENIED),
        [INDEX, VERSION],
    ),
    Observed(
        "a group that does not answer stays as it was",
        publishing({}),
        KNOWN,
        SchemaObservation(schemas=KNOWN),
        [],
        discovery=served(unavailable="example.com"),
    ),
    Observed("an address without a hash", publishing({}, url="//[?hash="), KNOWN, SchemaObservation(), [INDEX]),
    Observed("an address that is a number", publishing({}, url=7), KNOWN, SchemaObservation(), [INDEX]),
    Observed(
        "answers of another shape",
        lambda _: Answer(status=200, body={"paths": ["a"], "components": 1}),
        KNOWN,
        SchemaObservation(),
        [INDEX],
    ),
]


@each_row("case", OBSERVED, ids=lambda case: case.why)
def test_the_schemas_of_a_member(case: Observed) -> None:
    member = FakeCluster(faults=[case.fault])
    assert observe_schemas(member, case.discovery, case.kinds, case.known) == case.want
    assert [each.path for each in member.requests] == case.asked


def test_an_index_is_read_back_as_it_was_written() -> None:
    some = MemberSchemas(
        versions={**KNOWN.versions, "a.example.com/v2": VersionSchemas(hash="", digests={"Large": "", "Small": "ab"})}
    )
    assert some.content().decode() == (
        "apiVersion: argosy.dev/v1alpha1\nkind: ObservedSchemas\nversion: 1\nversions:\n"
        '- apiVersion: a.example.com/v2\n  hash: ""\n  kinds:\n  - kind: Large\n  - kind: Small\n    schema: ab\n'
        f"- apiVersion: example.com/v1\n  hash: A1\n  kinds:\n  - kind: Widget\n    schema: {digest_of_schema(FIRST)}\n"
    )
    assert MemberSchemas.read("", some.content()) == some


@each_row(
    "manifest",
    [
        None,
        {},
        {"versions": {}},
        {"versions": [1]},
        {"versions": [{"apiVersion": "a", "hash": "b"}]},
        {"versions": [{"apiVersion": "a", "hash": 1, "kinds": []}]},
        {"versions": [{"apiVersion": "a", "hash": "b", "kinds": [{"schema": "c"}]}]},
        {"versions": [{"apiVersion": "a", "hash": "b", "kinds": ["c"]}]},
    ],
    ids=json.dumps,
)
def test_an_index_of_another_shape_is_none(manifest: Any) -> None:
    with pytest.raises(FileFault, match=r"versions|^it is no object$"):
        MemberSchemas.of(manifest)


DEFINITION, GADGET = (
    each.value for each in parse_documents((Path(__file__).parent / "vectors" / "custom_kind.yaml").read_bytes())
)


def test_only_kinds_are_asked_for_that_nothing_better_defines() -> None:
    """A kind that is only selected is asked for as well, so that its first object is checked before it is merged."""
    selectors = [
        {"apiVersion": "apps/v1", "kind": "Deployment"},
        {"apiVersion": "other.example.com/v2", "kind": "Lamp"},
    ]
    source = source_of(
        {
            "definition.yaml": as_bytes(DEFINITION),
            "gadget.yaml": as_bytes(GADGET),
            "widget.yaml": as_bytes({**GADGET, "apiVersion": API, "kind": "Widget"}),
            "web.yaml": as_bytes(a_deployment()),
            "policy.yaml": as_bytes(a_policy(selectors=selectors)),
        }
    )
    desired = load_source(source.files, SourceReading(source.read, facts=None)).desired
    assert kinds_to_observe(desired) == {(API, "Widget"), ("other.example.com/v2", "Lamp")}


def test_schemas_are_found_for_a_cluster_and_read_once_asked() -> None:
    read: list[str] = []

    def recorded(digest: str) -> bytes:
        read.append(digest)
        return FIRST if digest == digest_of_schema(FIRST) else b""

    schemas = ObservedSchemas(by_cluster={"eu": KNOWN}, new={digest_of_schema(SECOND): SECOND}, recorded=recorded)
    assert schemas.digest("eu", API, KIND) == digest_of_schema(FIRST)
    assert (schemas.digest("us", API, KIND), schemas.digest("eu", API, "Gadget")) == ("", "")
    assert (schemas.has([(API, KIND)]), schemas.has([(API, "Gadget")]), read) == (True, False, [])
    assert schemas.schema(digest_of_schema(FIRST)) == json.loads(FIRST)
    assert schemas.schema(digest_of_schema(SECOND)) == json.loads(SECOND)
    assert schemas.schema("0" * 64) is None
    assert read == [digest_of_schema(FIRST), "0" * 64]
