"""Lists of metadata compared as bytes: the same for the same objects, and never for others."""

import json
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import pytest

from reconciler.members.discovery import Resource
from reconciler.members.exchange import Answer, Expected, Failure, FailureKind, Request
from reconciler.members.listing import ListedMetadata, Listing, list_metadata
from render.model import ObjectRef

from .tables import each_row

MAPS = Resource(group="", version="v1", kind="ConfigMap", plural="configmaps", is_namespaced=True)
GONE = Failure(kind=FailureKind.EXPIRED, message="the list expired")


class Pages:
    """A server that answers with these contents, one after the other."""

    stopped = None
    concurrency = 8

    def __init__(self, *contents: bytes | Failure) -> None:
        self.contents: Iterator[bytes | Failure] = iter(contents)
        self.asked: list[Request] = []

    def send(self, request: Request) -> Answer | Failure:
        self.asked.append(request)
        content = next(self.contents)
        return content if isinstance(content, Failure) else Answer(status=200, body=content, size=len(content))

    def wait(self, _seconds: float) -> bool:
        return True

    def require_cluster_uid(self, uid: str) -> None:
        """Nothing is written here."""

    def within(self, _seconds: float) -> Self:
        return self


def item(name: str, version: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "shop", "resourceVersion": version}}


def page(*items: dict[str, Any], version: str = "1", token: str = "") -> bytes:
    metadata = {"resourceVersion": version, **({"continue": token} if token else {})}
    kind = {"kind": "PartialObjectMetadataList", "apiVersion": "meta.k8s.io/v1"}
    return json.dumps({**kind, "metadata": metadata, "items": list(items)}, separators=(",", ":")).encode()


def digest(*contents: bytes) -> str:
    listed = list_metadata(Pages(*contents), Listing(resource=MAPS))
    assert isinstance(listed, ListedMetadata)
    return listed.digest


A, B = item("a", "7"), item("b", "8")


def test_a_list_of_the_same_objects_has_the_same_digest_at_any_time() -> None:
    assert digest(page(A, B, version="10")) == digest(page(A, B, version="99"))


def test_every_page_is_asked_for_and_counts() -> None:
    server = Pages(page(A, token="more", version="10"), page(B, version="10"))
    listed = list_metadata(server, Listing(resource=MAPS, selector="a=b"))
    assert isinstance(listed, ListedMetadata)
    assert listed.resource_versions(MAPS) == {
        ObjectRef("", "ConfigMap", "shop", "a"): "7",
        ObjectRef("", "ConfigMap", "shop", "b"): "8",
    }
    assert [request.query.get("continue") for request in server.asked] == [None, "more"]
    assert {(request.query["labelSelector"], request.expects) for request in server.asked} == {
        ("a=b", Expected.CONTENT)
    }
    assert all("as=PartialObjectMetadataList" in request.accept for request in server.asked)
    assert listed.digest == digest(page(A, token="other", version="11"), page(B, version="11"))


class Other(NamedTuple):
    why: str
    contents: tuple[bytes, ...]


OTHERS = [
    Other("another version", (page(item("a", "9"), B),)),
    Other("another name", (page(item("c", "7"), B),)),
    Other("one object less", (page(A),)),
    Other("one object more", (page(A, B, item("c", "9")),)),
    Other("the same cut into pages", (page(A, token="more"), page(B))),
    Other("no objects", (page(),)),
]


@each_row("case", OTHERS, ids=lambda case: case.why)
def test_any_other_list_has_another_digest(case: Other) -> None:
    assert digest(*case.contents) != digest(page(A, B))


SHAPES = [
    Other("no JSON", (b"<html>",)),
    Other("no list", (b'{"kind":"Status"}',)),
    Other("items before the head, which may name a next page", (b'{"items":[],"metadata":{"resourceVersion":"1"}}',)),
    Other("a head that is no object", (b'["items",{"items":[]}]',)),
    Other("a head of another type", (b'{"metadata":[],"items":[]}',)),
    Other("nothing at all", (b"",)),
]


@each_row("case", SHAPES, ids=lambda case: case.why)
def test_an_answer_of_another_shape_says_nothing(case: Other) -> None:
    assert list_metadata(Pages(*case.contents), Listing(resource=MAPS)) is None


def test_a_list_that_fails_half_way_is_no_list() -> None:
    assert list_metadata(Pages(page(A, token="more"), GONE), Listing(resource=MAPS)) == GONE


REFUSED = Failure(kind=FailureKind.FORBIDDEN, message="not in all namespaces", status=403)
TWO = Listing(resource=MAPS, namespaces=("bank", "shop"))


def of_two(*contents: bytes | Failure) -> ListedMetadata | Failure | None:
    return list_metadata(Pages(REFUSED, *contents), TWO)


def test_where_the_cluster_may_not_be_listed_each_namespace_is() -> None:
    pages = Pages(REFUSED, page(A), page(B))
    listed = list_metadata(pages, TWO)
    assert isinstance(listed, ListedMetadata)
    paths = ["/api/v1/configmaps", "/api/v1/namespaces/bank/configmaps", "/api/v1/namespaces/shop/configmaps"]
    assert [request.path for request in pages.asked] == paths
    assert set((listed.resource_versions(MAPS) or {}).values()) == {"7", "8"}
    assert of_two(page(A, version="2"), page(B, version="3")) == listed


@pytest.mark.parametrize(
    "contents", [(page(B), page(A)), (page(A), page()), (page(), page(A, B)), (page(A, B), page())]
)
def test_objects_of_several_namespaces_that_differ_have_another_digest(contents: tuple[bytes, ...]) -> None:
    one, other = of_two(page(A), page(B)), of_two(*contents)
    assert isinstance(one, ListedMetadata)
    assert isinstance(other, ListedMetadata)
    assert one.digest != other.digest


def test_a_namespace_that_may_not_be_listed_either_is_a_failure() -> None:
    assert of_two(page(A), REFUSED) == REFUSED
    assert of_two(page(A), b"no list") is None
