"""Reading a cluster's objects: whole kinds page by page, or by name - never only a part of what was asked for."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from render.json_values import value_of_json_text
from render.model import ObjectRef
from render.values import DiscreetStruct

from .discovery import Resource
from .exchange import JSON, Answer, Client, Expected, Failure, FailureKind, Request

PAGE = 500
LARGEST_PAGE = 5000
_PAGE_BYTES = 4 << 20
_MOST_BYTES = 1 << 30
"""The bytes of all pages of a list together: about 150,000 pods, the most that a cluster is made for."""
_LIST_SECONDS = 40.0
_LIST_TRIES = 5
"""The most attempts at a page: a kind that cannot be listed leaves time for the others."""
_RESTARTS = 3
_ITEMS = b'"items":'
_LONGEST_HEAD = 16 << 10
_METADATA = f"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,{JSON}"


class Listing(Struct, frozen=True, kw_only=True):
    """The objects of a kind to list: ``selector`` by labels, ``fields`` by fields, ``metadata_only`` to spare contents.

    ``only_namespace`` bounds it; ``namespaces`` are asked one by one where the whole cluster may not be listed.
    """

    resource: Resource
    selector: str = ""
    fields: str = ""
    metadata_only: bool = False
    only_namespace: str = ""
    namespaces: tuple[str, ...] = ()


class Listed(DiscreetStruct, frozen=True, kw_only=True):
    """The objects of a listing as far as they can be had.

    ``failure`` is why there are none of the kind (None: it could be listed), ``unlisted`` are the namespaces that could
    not be listed where the others could, each with its failure.
    """

    UNSHOWN = ("objects",)

    objects: Mapping[ObjectRef, dict[str, Any]] = field(default_factory=dict)
    failure: Failure | None = None
    unlisted: Mapping[str, Failure] = field(default_factory=dict)

    @property
    def first_failure(self) -> Failure | None:
        """The failure for which some objects are missing; None where all are there."""
        return self.failure or next(iter(self.unlisted.values()), None)


def list_objects(client: Client, listing: Listing) -> dict[ObjectRef, dict[str, Any]] | Failure:
    """Return every object of a listing, or why they cannot all be had."""
    listed = list_objects_by_namespace_if_needed(client, listing)
    return listed.first_failure or dict(listed.objects)


def list_objects_by_namespace_if_needed(client: Client, listing: Listing) -> Listed:
    """Return the objects of a listing, where the rights for all of the cluster are missing from each namespace."""
    objects = _list_objects_in_pages(client, listing, listing.only_namespace)
    if not isinstance(objects, Failure):
        return Listed(objects=objects)
    if not _has_to_list_by_namespace(listing, objects):
        return Listed(failure=objects)
    together: dict[ObjectRef, dict[str, Any]] = {}
    unlisted: dict[str, Failure] = {}
    for namespace in listing.namespaces:
        part = _list_objects_in_pages(client, listing, namespace)
        if isinstance(part, Failure):
            unlisted[namespace] = part
        else:
            together.update(part)
    if len(unlisted) == len(listing.namespaces):
        return Listed(failure=next(iter(unlisted.values())))
    return Listed(objects=together, unlisted=unlisted)


def _has_to_list_by_namespace(listing: Listing, failure: Failure) -> bool:
    """Return whether a listing that failed is to be had from one namespace after the other."""
    is_refused = failure.kind is FailureKind.FORBIDDEN
    return is_refused and listing.resource.is_namespaced and bool(listing.namespaces)


def _list_objects_in_pages(
    client: Client, listing: Listing, namespace: str
) -> dict[ObjectRef, dict[str, Any]] | Failure:
    """List page by page; a list that expired in between begins again, for half of an old one is no answer.

    A continue token expires with the etcd revision it belongs to (410 Gone), after about five minutes.
    """
    failure: Failure | None = None
    for _ in range(_RESTARTS):
        objects: dict[ObjectRef, dict[str, Any]] = {}
        for page in list_pages(client, listing, namespace):
            if isinstance(page, Failure):
                failure = page
                break
            objects.update(page)
        else:
            return objects
        if failure.kind is not FailureKind.EXPIRED:
            break
    assert failure is not None
    return failure


def list_pages(client: Client, listing: Listing, namespace: str) -> Iterator[dict[ObjectRef, dict[str, Any]] | Failure]:
    """Yield the pages of a list; a failure is the last.

    A page of small objects is followed by larger ones: every page costs a question and its answer's way. A page that
    is larger than an answer may be is asked for again with half as many objects.
    """
    token, limit, total = "", PAGE, 0
    while True:
        request = _request_of_page(listing, namespace, token, limit)
        answer = client.send(request)
        if isinstance(answer, Failure) and answer.kind is FailureKind.ANSWER_TOO_LARGE and limit > 1:
            limit //= 2
            continue
        if isinstance(answer, Failure):
            yield answer
            return
        page = dict(_items_by_ref_in_answer(answer, listing.resource))
        yield page
        total += answer.size
        token = (answer.body.get("metadata") or {}).get("continue") or ""
        if not token:
            return
        if total > _MOST_BYTES:
            yield _failure_of_endless_list(request)
            return
        if answer.size:
            limit = min(max(PAGE, _PAGE_BYTES * len(page) // answer.size), LARGEST_PAGE)


def _request_of_page(listing: Listing, namespace: str, token: str, limit: int) -> Request:
    query = {"limit": str(limit), "timeoutSeconds": str(int(_LIST_SECONDS) - 10)}
    query |= {"labelSelector": listing.selector} if listing.selector else {}
    query |= {"fieldSelector": listing.fields} if listing.fields else {}
    query |= {"continue": token} if token else {}
    return Request(
        method="GET",
        path=listing.resource.collection(namespace),
        expects=Expected.LIST,
        query=query,
        accept=_METADATA if listing.metadata_only else JSON,
        timeout=_LIST_SECONDS,
        tries=_LIST_TRIES,
    )


class _ListHead(Struct, frozen=True, kw_only=True):
    metadata: dict[str, Any]


class _ItemMetadata(Struct, frozen=True, kw_only=True):
    name: str
    namespace: str | None = None
    version: str = field(name="resourceVersion")


class _ListedItem(Struct, frozen=True, kw_only=True):
    metadata: _ItemMetadata


class _ListedItems(Struct, frozen=True, kw_only=True):
    items: list[_ListedItem]


class ListedMetadata(DiscreetStruct, frozen=True, kw_only=True):
    """The metadata of every object of a listing as bytes that are the same as long as no object changes.

    ``digest`` is of all pages without what names the list itself; ``pages`` are these bytes, to be read with
    ``resource_versions``.
    """

    UNSHOWN = ("pages",)

    digest: str
    pages: tuple[bytes, ...] = ()

    def resource_versions(self, resource: Resource) -> dict[ObjectRef, str] | None:
        """Return the version of every object; None where the bytes are no such list."""
        versions: dict[ObjectRef, str] = {}
        for page in self.pages:
            listed = value_of_json_text(b'{"items":' + page, _ListedItems)
            if listed is None:
                return None
            for item in listed.items:
                ref = ObjectRef(resource.group, resource.kind, item.metadata.namespace or "", item.metadata.name)
                versions[ref] = item.metadata.version
        return versions


def list_metadata(client: Client, listing: Listing) -> ListedMetadata | Failure | None:
    """Return the metadata of all objects of a listing without reading it; None where an answer is of another shape.

    A server writes an object that did not change in the same bytes again. So equal digests mean that the same objects
    are there, each in the same version, while unequal ones mean nothing: then they have to be listed and compared.
    """
    everywhere = _list_metadata_in_namespace(client, listing, listing.only_namespace)
    if not (isinstance(everywhere, Failure) and _has_to_list_by_namespace(listing, everywhere)):
        return everywhere
    digest, found = hashlib.sha256(), list[bytes]()
    for namespace in listing.namespaces:
        part = _list_metadata_in_namespace(client, listing, namespace)
        if not isinstance(part, ListedMetadata):
            return part
        digest.update(f"{namespace}:{part.digest}\n".encode())
        found.extend(part.pages)
    return ListedMetadata(digest=digest.hexdigest(), pages=tuple(found))


def _list_metadata_in_namespace(client: Client, listing: Listing, namespace: str) -> ListedMetadata | Failure | None:
    digest, found, token = hashlib.sha256(), list[bytes](), ""
    while True:
        request = replace(
            _request_of_page(replace(listing, metadata_only=True), namespace, token, LARGEST_PAGE),
            expects=Expected.CONTENT,
        )
        answer = client.send(request)
        if isinstance(answer, Failure):
            return answer
        head, items = _list_metadata_and_item_bytes(answer.body)
        if "resourceVersion" not in head:
            return None
        digest.update(b"%d:" % len(items) + items)
        found.append(items)
        token = str(head.get("continue") or "")
        if not token:
            return ListedMetadata(digest=digest.hexdigest(), pages=tuple(found))
        if sum(map(len, found)) > _MOST_BYTES:
            return _failure_of_endless_list(request)


def _list_metadata_and_item_bytes(content: bytes) -> tuple[Mapping[str, Any], bytes]:
    """Return the metadata of a list, and its items and whatever follows them as bytes; no metadata if that fails."""
    # Inside of a text the quotes would be escaped, so this is the key, and what is before it is the head.
    position = content.find(_ITEMS, 0, _LONGEST_HEAD)
    head = value_of_json_text(content[:position] + b"%s[]}" % _ITEMS, _ListHead) if position >= 0 else None
    return ({}, b"") if head is None else (head.metadata, content[position + len(_ITEMS) :])


def _failure_of_endless_list(request: Request) -> Failure:
    return Failure(
        kind=FailureKind.ANSWER_TOO_LARGE,
        message=f"the pages of the answer to {request} do not end within {_MOST_BYTES >> 20} MiB",
        hint="see what stands between here and the cluster",
    )


def _items_by_ref_in_answer(answer: Answer, resource: Resource) -> Iterator[tuple[ObjectRef, dict[str, Any]]]:
    for item in answer.body.get("items") or ():
        yield ref_of_item(resource, item), item_with_kind(resource, item)


def item_with_kind(resource: Resource, item: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object with its kind written out, which the items of a list leave to the list."""
    return {**item, "apiVersion": resource.api_version, "kind": resource.kind}


def ref_of_item(resource: Resource, item: Mapping[str, Any]) -> ObjectRef:
    """Return the identity of a live object."""
    metadata = item["metadata"]
    return ObjectRef(resource.group, resource.kind, metadata.get("namespace") or "", metadata["name"])


def read_object(client: Client, resource: Resource, ref: ObjectRef) -> dict[str, Any] | Failure | None:
    """Return one object, None when there is none, or why it cannot be read."""
    answer = client.send(Request(method="GET", path=resource.path(ref), expects=Expected.OBJECT))
    if isinstance(answer, Answer):
        return item_with_kind(resource, answer.body)
    is_absent = answer.kind in {FailureKind.NOT_FOUND, FailureKind.NAMESPACE_MISSING}
    return None if is_absent else answer


def refs_that_exist(client: Client, resource: Resource, namespace: str, refs: Iterable[ObjectRef]) -> set[ObjectRef]:
    """Return those of many objects of a namespace that exist, or all of them where listing costs more than asking."""
    wanted = set(refs)
    existing: set[ObjectRef] = set()
    budget = 1 + len(wanted) // 10
    for number, page in enumerate(
        list_pages(client, Listing(resource=resource, metadata_only=True), namespace), start=1
    ):
        if isinstance(page, Failure) or number > budget:
            return wanted
        existing |= wanted & set(page)
    return existing
