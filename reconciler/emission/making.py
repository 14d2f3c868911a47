"""The objects of any tool, and those that a fleet has committed beside its trees."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from msgspec.structs import replace

from reconciler.plans.model import DesiredObject
from reconciler.plans.rendered_object import object_of_rendered_file
from render.model import Manifest, ObjectRef, is_encrypted_by_sops
from render.settings.clusters import OTHERS
from render.settings.emission import Deployer, EmissionSettings, Placing
from render.settings.fleet import Fleet

from .argocd import argocd_objects
from .flux import flux_objects
from .model import ClusterTree, Emission, EmissionOptions, RenderedPlace, file_contents
from .trees import TreeRules, cluster_tree

FOLDER = "emit"
"""The folder of the rendered branch in which emitted objects are."""

_MAKERS = {Deployer.ARGO_CD: argocd_objects, Deployer.FLUX: flux_objects}


class RenderedFiles(Protocol):
    """The files of a rendered tree."""

    def files(self, tree_id: bytes, above: str = "") -> Iterable[tuple[str, bytes]]:
        """Return every file below a tree: its path and blob id."""

    def contents(self, blob_ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        """Return the bytes of blobs."""


def objects_of(deployer: Deployer, trees: Iterable[ClusterTree], options: EmissionOptions) -> Emission:
    """Return the objects by which a tool delivers the trees of clusters."""
    return _MAKERS[deployer](trees, options)


def rendered_place(fleet: Fleet, cluster: str, address: str, options: EmissionOptions) -> RenderedPlace:
    """Return where a tool finds a cluster's tree: a member reads its own mirror branch, where there is one."""
    is_mirrored = cluster in fleet.mirrors or OTHERS in fleet.mirrors
    if options.placing is Placing.MEMBER and is_mirrored:
        return RenderedPlace(address=address, branch=fleet.mirror_branch(cluster))
    return RenderedPlace(address=address, branch=fleet.rendered_branch, folder=f"clusters/{cluster}")


def committed_files(
    fleet: Fleet, clusters: Mapping[str, bytes], preserved: Iterable[ObjectRef], rendered: RenderedFiles
) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Yield the files that ``spec.emit`` asks for, of the folders that clusters have; equal files are parsed once."""
    known: dict[bytes, tuple[Manifest, bytes]] = {}
    objects = {name: tuple(_objects_of_tree_id(tree_id, rendered, known)) for name, tree_id in sorted(clusters.items())}
    rules = TreeRules(fields=fleet.field_rules, preserved=frozenset(preserved))
    for settings in fleet.emit:
        options = _emission_options(settings, fleet)
        trees = [
            cluster_tree(name, found, rendered_place(fleet, name, settings.repository, options), rules)
            for name, found in objects.items()
        ]
        for path, content in file_contents(objects_of(settings.deployer, trees, options)):
            yield (FOLDER, settings.deployer.value.lower(), path), content


def _objects_of_tree_id(
    tree_id: bytes, rendered: RenderedFiles, known: dict[bytes, tuple[Manifest, bytes]]
) -> Iterator[DesiredObject]:
    path_by_id = {blob_id: path for path, blob_id in rendered.files(tree_id)}
    for blob_id, content in rendered.contents(path_by_id.keys() - known.keys()).items():
        manifest = object_of_rendered_file(content, path_by_id[blob_id])
        known[blob_id] = manifest, content if is_encrypted_by_sops(manifest) else b""
    for blob_id in path_by_id:
        manifest, encrypted = known[blob_id]
        yield DesiredObject(ref=ObjectRef.of(manifest), manifest=manifest, encrypted=encrypted)


def _emission_options(settings: EmissionSettings, fleet: Fleet) -> EmissionOptions:
    """Return the choices of argosy.yaml; what it leaves out is as ``argosy emit`` has it."""
    said: dict[str, Any] = {
        name: getattr(settings, name)
        for name in ("namespace", "git_secret", "kubeconfig_secret", "interval", "project")
        if getattr(settings, name)
    }
    options = EmissionOptions(placing=settings.placing, grouping=settings.grouping, prefix=fleet.branch_prefix, **said)
    secret = fleet.decryption.secret
    return replace(options, decryption_secret=secret.name) if secret else options
