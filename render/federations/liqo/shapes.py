"""The shapes of Liqo's documents, as far as anything is made of them."""

from collections.abc import Mapping

from render.federations.decoding import struct, text
from render.federations.shapes import Read, check_metadata, fields, list_of, map_of
from render.model import Manifest

_SPECS: Mapping[str, Read] = {
    "ForeignCluster": fields(clusterID=text),
    "NamespaceOffloading": fields(
        namespaceMappingStrategy=text, remoteNamespaceName=text, podOffloadingStrategy=text, clusterSelector=struct
    ),
    "ResourceSlice": fields(consumerClusterID=text),
    "VirtualNode": fields(
        clusterID=text, labels=map_of(text), taints=list_of(fields(key=text, effect=text)), offloadingPatch=struct
    ),
}
_WORKLOAD = fields(template=fields(spec=struct))


def check_shape(manifest: Manifest, *, is_its: bool) -> None:
    """Raise WrongShape for a document whose fields are not of the types that Liqo and Kubernetes give them."""
    check_metadata(manifest)
    read = _SPECS.get(manifest.get("kind") or "", struct) if is_its else _WORKLOAD
    read(manifest.get("spec"), "spec")
