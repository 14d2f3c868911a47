"""The ResourceQuotas that FederatedResourceQuotas assign to clusters, put into the folders of those clusters."""

from collections.abc import Container, Iterable

from render.cluster_index import ClusterIndex
from render.documents import emit
from render.gitobjects import Blob, object_id
from render.model import ObjectRef, Template
from render.quota.shares import resource_quotas
from render.tree import Variant

from .assembly import Assembly


def place_shares(
    quotas: Iterable[Template],
    taken: Container[ObjectRef],
    index: ClusterIndex,
    assembly: Assembly,
    *,
    among: Container[ObjectRef] | None = None,
) -> None:
    """Place a ResourceQuota for every assignment, but where a template has its name.

    ``among`` are the objects that a pass looks at (None: all); what clusters hold of others stays.
    """
    for quota in quotas:
        ref = ObjectRef("", "ResourceQuota", quota.ref.namespace, quota.ref.name)
        if ref in taken or (among is not None and ref not in among):
            continue
        clusters: dict[bytes, int] = {}
        blobs: dict[bytes, Blob] = {}
        for cluster, manifest in resource_quotas(quota.manifest, index.index_by_name):
            content = emit(manifest)
            blob_id = object_id("blob", content)
            clusters[blob_id] = clusters.get(blob_id, 0) | 1 << index.index_by_name[cluster]
            blobs[blob_id] = content
        assembly.place(ref, tuple(Variant(mask, blob_id) for blob_id, mask in clusters.items()), blobs)
