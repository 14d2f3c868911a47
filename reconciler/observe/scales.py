"""The scale subresources of a member's custom kinds, from the definitions that the member has.

Discovery tells that a kind has one; where its numbers stand, the CustomResourceDefinition alone tells. Definitions are
large. So of one that was read before, only the metadata is asked for, and the rest if it is another revision now.
"""

from collections.abc import Iterable, Mapping
from urllib.parse import quote

from reconciler.ledger.member_schemas import KindVersion
from reconciler.members.discovery import Discovery, Resource
from reconciler.members.exchange import JSON, Answer, Client, Expected, Request
from reconciler.members.parallel import results_in_parallel
from render.interpreter.scale import plain_scale, scales_of
from render.model import Manifest, mapping_or_empty

_DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_METADATA = f"{JSON};as=PartialObjectMetadata;g=meta.k8s.io;v=v1,{JSON}"
_REVISION = "revision"
_LONGEST_REVISION = 100


def observe_scales(
    client: Client, discovery: Discovery, kinds: Iterable[KindVersion], known: Mapping[KindVersion, Manifest]
) -> dict[KindVersion, Manifest]:
    """Return the scale subresources of these kinds; ``known`` are those that were recorded.

    What cannot be read stays as it was.
    """
    scaled = [
        resource
        for api_version, kind in sorted(kinds)
        if (resource := discovery.resource(api_version, kind)) is not None and resource.is_scaled and resource.group
    ]
    found = results_in_parallel(
        lambda each: _scale_of_kind(client, each, known.get(_kind_version_of_resource(each))),
        scaled,
        limit=client.concurrency,
    )
    return {
        _kind_version_of_resource(resource): scale
        for resource, scale in zip(scaled, found, strict=True)
        if scale is not None
    }


def _kind_version_of_resource(resource: Resource) -> KindVersion:
    return resource.api_version, resource.kind


def _scale_of_kind(client: Client, resource: Resource, known: Manifest | None) -> Manifest | None:
    """Return the scale subresource of a kind; None where it cannot be known."""
    if known is not None:
        metadata = _read_scale(client, resource, _METADATA)
        if metadata is None or _resource_version_of_definition(metadata) == known.get(_REVISION):
            return known
    definition = _read_scale(client, resource, JSON)
    if definition is None:
        return known
    scale = scales_of([definition]).get(_kind_version_of_resource(resource))
    return None if scale is None else {**plain_scale(scale), _REVISION: _resource_version_of_definition(definition)}


def _read_scale(client: Client, resource: Resource, accept: str) -> Manifest | None:
    """Return the definition of a kind, or what is asked of it; None where it cannot be read."""
    path = f"{_DEFINITIONS}/{quote(f'{resource.plural}.{resource.group}', safe='')}"
    answer = client.send(Request(method="GET", path=path, expects=Expected.JSON, accept=accept, tries=2))
    return mapping_or_empty(answer.body) if isinstance(answer, Answer) else None


def _resource_version_of_definition(definition: Manifest) -> str:
    metadata = mapping_or_empty(definition.get("metadata"))
    return f"{metadata.get('uid', '')}/{metadata.get('generation', '')}"[:_LONGEST_REVISION]
