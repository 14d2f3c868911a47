"""Objects asked of many members at once: as tables that their servers make, or whole."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.members.discovery import Discovery, Resource, discover_served_kinds
from reconciler.members.exchange import JSON, Answer, Client, Expected, Failure, FailureKind, Request
from reconciler.members.gathering import results_of_members
from reconciler.members.listing import Listing, item_with_kind, list_objects
from reconciler.members.visits import MemberReach
from render.model import ObjectRef
from render.values import DiscreetStruct

from .tables import TABLE, Table, table_of_answer
from .wanted import KindWithNames, ObjectsWanted, resources_meant_by, words_for_kinds

_PAGE = 500
_TRIES = 3
_OBJECTS_IN_ROWS = {"includeObject": "Object"}


class FoundKind(DiscreetStruct, frozen=True, kw_only=True):
    """The objects of one kind in a cluster: a table or the objects themselves, as it was asked for.

    ``absent`` are the names that no object has there, and ``failure`` is why more is not known.
    """

    UNSHOWN = ("objects",)

    resource: Resource
    table: Table = Table()
    objects: tuple[Mapping[str, Any], ...] = ()
    absent: tuple[str, ...] = ()
    failure: Failure | None = None

    @property
    def is_empty(self) -> bool:
        """True where there is no object of it."""
        return not (self.table.rows or self.objects)


class Answered(Struct, frozen=True, kw_only=True):
    """The answer of one cluster, and the words for which it serves no kind; ``known`` are those that it does serve."""

    kinds: tuple[FoundKind, ...] = ()
    unserved: tuple[str, ...] = ()
    known: frozenset[str] = field(default_factory=frozenset)


class ObjectQuestion(Struct, frozen=True, kw_only=True):
    """The question to every member: what is wanted, as tables or ``is_whole``, and the time ages are told at.

    ``has_objects``: the rows of tables have their objects, too. ``subresource`` is the part of objects that is wanted.
    """

    wanted: ObjectsWanted
    now: datetime
    is_whole: bool = False
    has_objects: bool = False
    subresource: str = ""


def answers_of_members(
    names: Sequence[str], question: ObjectQuestion, reach: MemberReach
) -> dict[str, Answered | Failure]:
    """Ask members at once; one that does not answer within its time has failed."""
    return results_of_members(names, lambda name: _answer_of_member(name, question, reach), reach)


def _answer_of_member(name: str, question: ObjectQuestion, reach: MemberReach) -> Answered | Failure:
    client = reach.open(name)
    if isinstance(client, Failure):
        return client
    discovery = discover_served_kinds(client)
    if isinstance(discovery, Failure):
        return discovery
    return _answer_of_client(client, discovery, question)


def _answer_of_client(client: Client, discovery: Discovery, question: ObjectQuestion) -> Answered | Failure:
    kinds, unserved = list[FoundKind](), list[str]()
    for wanted in question.wanted.kinds:
        resources = resources_meant_by(wanted.word, discovery)
        if not resources:
            unserved.append(wanted.word)
        for resource in resources:
            found = _found_kind(client, resource, wanted, question)
            if client.stopped is not None:
                return client.stopped
            kinds.append(found)
    known = words_for_kinds([discovery]) if unserved else frozenset()
    return Answered(kinds=tuple(kinds), unserved=tuple(unserved), known=known)


def _found_kind(client: Client, resource: Resource, wanted: KindWithNames, question: ObjectQuestion) -> FoundKind:
    namespace = question.wanted.namespace if resource.is_namespaced else ""
    if wanted.names:
        return _named_objects(client, resource, namespace, wanted.names, question)
    if question.is_whole:
        return _whole_objects(client, resource, namespace, question.wanted)
    return _rows_of_collection(client, resource, namespace, question)


def _named_objects(
    client: Client, resource: Resource, namespace: str, names: Iterable[str], question: ObjectQuestion
) -> FoundKind:
    found = FoundKind(resource=resource)
    for name in names:
        path = resource.path(ObjectRef(resource.group, resource.kind, namespace, name))
        answer = client.send(_request_of_object(path, question))
        if isinstance(answer, Failure):
            is_absent = answer.kind in {FailureKind.NOT_FOUND, FailureKind.NAMESPACE_MISSING}
            if not is_absent:
                return replace(found, failure=answer)
            found = replace(found, absent=(*found.absent, name))
        elif question.is_whole:
            item = {**answer.body} if question.subresource else item_with_kind(resource, answer.body)
            found = replace(found, objects=(*found.objects, item))
        else:
            found = replace(found, table=found.table.with_rows_of(table_of_answer(answer.body, question.now)))
    return found


def _request_of_object(path: str, question: ObjectQuestion) -> Request:
    path = f"{path}/{question.subresource}" if question.subresource else path
    if question.is_whole:
        return Request(method="GET", path=path, expects=Expected.OBJECT)
    query = _OBJECTS_IN_ROWS if question.has_objects else {}
    return Request(method="GET", path=path, expects=Expected.TABLE, accept=TABLE, query=query)


def _whole_objects(client: Client, resource: Resource, namespace: str, wanted: ObjectsWanted) -> FoundKind:
    listing = Listing(resource=resource, selector=wanted.labels, fields=wanted.fields, only_namespace=namespace)
    objects = list_objects(client, listing)
    if isinstance(objects, Failure):
        return FoundKind(resource=resource, failure=objects)
    return FoundKind(resource=resource, objects=tuple(objects.values()))


def _rows_of_collection(client: Client, resource: Resource, namespace: str, question: ObjectQuestion) -> FoundKind:
    """Return the rows of a list; one that expires in between begins again, for a part of it looks like all of it."""
    failure: Failure | None = None
    for _ in range(_TRIES):
        table = Table()
        pages = table_pages(client, resource.collection(namespace), question.wanted, has_objects=question.has_objects)
        for page in pages:
            if isinstance(page, Failure):
                failure = page
                break
            table = table.with_rows_of(table_of_answer(page.body, question.now))
        else:
            return FoundKind(resource=resource, table=table)
        if failure.kind is not FailureKind.EXPIRED:
            break
    return FoundKind(resource=resource, failure=failure)


def query_of_selectors(wanted: ObjectsWanted) -> dict[str, str]:
    """Return the part of a query that says which objects of a kind are wanted."""
    labels = {"labelSelector": wanted.labels} if wanted.labels else {}
    return {**labels, **({"fieldSelector": wanted.fields} if wanted.fields else {})}


def table_pages(
    client: Client, path: str, wanted: ObjectsWanted, *, is_whole: bool = False, has_objects: bool = False
) -> Iterator[Answer | Failure]:
    """Yield the pages of a list as tables, with objects or without, or as whole objects; a failure is the last."""
    expects, accept = (Expected.LIST, JSON) if is_whole else (Expected.TABLE, TABLE)
    token = ""
    while True:
        query = {"limit": str(_PAGE), **query_of_selectors(wanted), **(_OBJECTS_IN_ROWS if has_objects else {})}
        query |= {"continue": token} if token else {}
        answer = client.send(Request(method="GET", path=path, expects=expects, accept=accept, query=query))
        yield answer
        if isinstance(answer, Failure):
            return
        token = (answer.body.get("metadata") or {}).get("continue") or ""
        if not token:
            return
