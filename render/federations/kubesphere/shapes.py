"""The shapes of KubeSphere's documents, as far as anything is made of them."""

from collections.abc import Mapping

from render.federations.decoding import struct, text, truth
from render.federations.shapes import Read, check_metadata, fields, map_of, texts
from render.model import Manifest

_SPECS: Mapping[str, Read] = {
    "Cluster": fields(
        joinFederation=truth, enable=truth, provider=text, connection=fields(type=text, kubernetesAPIEndpoint=text)
    ),
    "HelmRelease": fields(name=text, chartName=text, chartVersion=text, repoId=text, values=text),
    "HelmRepo": fields(url=text),
    "InstallPlan": fields(
        extension=fields(name=text, version=text),
        enabled=truth,
        config=text,
        clusterScheduling=fields(placement=fields(clusters=texts, clusterSelector=struct), overrides=map_of(text)),
    ),
    "WorkspaceTemplate": fields(template=struct, placement=struct),
}


def check_shape(manifest: Manifest) -> None:
    """Raise WrongShape for a document whose fields are not of the types that KubeSphere gives them."""
    check_metadata(manifest)
    kind = manifest.get("kind") or ""
    if kind in _SPECS:
        _SPECS[kind](manifest.get("spec"), "spec")
