"""The schemas of a member's custom kinds, from the OpenAPI that it publishes.

The index of that names every version of every group, with a hash of what is published for it. So one small request
tells that nothing changed, and a version is read only where it holds a kind that is asked for and its hash is not the
one that was recorded.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import field

from reconciler.ledger.member_schemas import KindVersion, MemberSchemas, VersionSchemas
from reconciler.members.discovery import Discovery
from reconciler.members.exchange import Client, Expected, Failure, FailureKind, Request
from reconciler.members.parallel import results_in_parallel
from reconciler.source.schemas.observed import MOST_BYTES, digest_of_schema, schema_file_content
from render.expressions import lazy_expression
from render.model import group_of, mapping_or_empty
from render.values import DiscreetStruct

INDEX = "/openapi/v3"
_ABSENT = frozenset({FailureKind.NOT_FOUND, FailureKind.NOT_SERVED})
_HASH = lazy_expression(r"[?&]hash=([0-9A-Za-z]{1,256})(?:&|$)")


class SchemaObservation(DiscreetStruct, frozen=True, kw_only=True):
    """The schemas of a member, the contents of those that were read, and why others were not, if so."""

    UNSHOWN = ("contents",)

    schemas: MemberSchemas = field(default_factory=MemberSchemas)
    contents: Mapping[str, bytes] = field(default_factory=dict)
    failure: Failure | None = None


def observe_schemas(
    client: Client, discovery: Discovery, kinds: Iterable[KindVersion], known: MemberSchemas
) -> SchemaObservation:
    """Return the schemas of these kinds, as far as a member serves them; ``known`` are those it had before.

    What could not be asked stays as it was.
    """
    wanted = _served_kinds(discovery, kinds)
    unanswered = {name: known.versions[name] for name in known.versions if group_of(name) in discovery.unavailable}
    if not wanted:
        return SchemaObservation(schemas=MemberSchemas(versions=unanswered))
    hashes = _schema_hashes_by_version(client)
    if isinstance(hashes, Failure):
        is_old = hashes.kind in _ABSENT
        return SchemaObservation() if is_old else SchemaObservation(schemas=known, failure=hashes)
    versions, contents = {**unanswered, **_unchanged_versions(known, wanted, hashes)}, dict[str, bytes]()
    failure: Failure | None = None
    missing = [name for name in sorted(wanted) if name in hashes and name not in versions]
    bodies = results_in_parallel(lambda name: _published_schema(client, name), missing, limit=client.concurrency)
    for name, body in zip(missing, bodies, strict=True):
        if isinstance(body, Failure):
            failure = body
            versions |= {name: known.versions[name]} if name in known.versions else {}
            continue
        found = {kind: _schema_file_content(body, name, kind) for kind in sorted(wanted[name])}
        digests = {kind: digest_of_schema(each) if each else "" for kind, each in found.items()}
        versions[name] = VersionSchemas(hash=hashes[name], digests=digests)
        contents |= {digests[kind]: each for kind, each in found.items() if each}
    return SchemaObservation(schemas=MemberSchemas(versions=versions), contents=contents, failure=failure)


def _served_kinds(discovery: Discovery, kinds: Iterable[KindVersion]) -> Mapping[str, set[str]]:
    """Return the kinds that a member serves, by apiVersion."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for api_version, kind in kinds:
        if discovery.resource(api_version, kind):
            wanted[api_version].add(kind)
    return wanted


def _unchanged_versions(
    known: MemberSchemas, wanted: Mapping[str, set[str]], hashes: Mapping[str, str]
) -> dict[str, VersionSchemas]:
    """Return what is known of those versions that are published as they were, as far as it is asked for."""
    return {
        name: VersionSchemas(hash=each.hash, digests={kind: each.digests[kind] for kind in sorted(wanted[name])})
        for name, each in known.versions.items()
        if name in wanted and each.hash == hashes.get(name) and wanted[name] <= each.digests.keys()
    }


def _schema_hashes_by_version(client: Client) -> dict[str, str] | Failure:
    """Return the hash of each version of a group that a member publishes."""
    answer = client.send(Request(method="GET", path=INDEX, expects=Expected.JSON, tries=2))
    if isinstance(answer, Failure):
        return answer
    paths = answer.body.get("paths")
    hashes = {}
    for name, each in paths.items() if isinstance(paths, dict) else ():
        url = each.get("serverRelativeURL") if isinstance(each, dict) else None
        found = _HASH.search(url) if isinstance(url, str) else None
        if found and name.startswith("apis/"):
            hashes[name.removeprefix("apis/")] = found[1]
    return hashes


def _published_schema(client: Client, api_version: str) -> Mapping[str, Any] | Failure:
    """Return the schemas that are published for a version of a group, by name."""
    path = f"{INDEX}/apis/{api_version}"
    answer = client.send(Request(method="GET", path=path, expects=Expected.JSON, tries=2))
    if isinstance(answer, Failure):
        return answer
    components = answer.body.get("components")
    schemas = components.get("schemas") if isinstance(components, dict) else None
    return mapping_or_empty(schemas)


def _schema_file_content(published: Mapping[str, Any], api_version: str, kind: str) -> bytes:
    """Return what is kept of a kind's schema, as its file; empty where nothing is."""
    from render.schemas.published import (  # only where a schema was read
        checked_parts_of_published_schema,
        published_definition_name,
    )

    group, _, version = api_version.rpartition("/")
    schema = checked_parts_of_published_schema(published.get(published_definition_name(group, version, kind)))
    content = schema_file_content(schema) if schema is not None else b""
    return content if len(content) <= MOST_BYTES else b""
