"""The rendered tree put together: what each cluster holds, the bindings, the facts and the front page.

What cannot or must not change keeps its previous bytes: clusters where dispatching is suspended or an object could not
be built, bindings no policy holds any more, and whole clusters that left the source.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from render.binding import Binding
from render.bits import Mask, members
from render.cluster_index import ClusterIndex
from render.gitobjects import TREE_MODE, Blob, TreeEntry, object_id
from render.layout import object_path
from render.model import ObjectRef
from render.tree import PlacedFile, TreeStore, Variant, cluster_trees, merged, nested_tree
from render.works import Works

from .previous import RenderedTree


@dataclass(frozen=True, slots=True, kw_only=True)
class Fleetwide:
    """The member clusters as bits, and the tree they hold now (None on a first run)."""

    index: ClusterIndex
    previous: RenderedTree | None

    def held(self, ref: ObjectRef, among: Mask) -> tuple[Variant, ...]:
        """Return the bytes that some clusters hold of an object now."""
        if self.previous is None or not among:
            return ()
        return self.previous.variants(object_path(ref), self.index.index_by_name, among)


def target_mask(binding: Binding, fleet: Fleetwide) -> Mask:
    """Return the clusters an object goes to: its own targets and those of what requires it."""
    required = (target.name for snapshot in binding.required_by for target in snapshot.clusters)
    return fleet.index.named(target.name for target in binding.targets) | fleet.index.named(required)


def suspended_mask(binding: Binding, fleet: Fleetwide) -> Mask:
    """Return the target clusters that keep what they have because dispatching is suspended there."""
    if binding.suspension is None:
        return 0
    if binding.suspension.dispatching:
        return target_mask(binding, fleet)
    return fleet.index.named(binding.suspension.dispatching_on_clusters) & target_mask(binding, fleet)


def placed_variants(binding: Binding, works: Works | None, fleet: Fleetwide) -> tuple[Variant, ...]:
    """Return who holds which bytes of a binding's object after this pass.

    ``works`` None means that nothing was built: a released binding keeps every byte.
    """
    if works is None:
        return merged(fleet.held(binding.ref, target_mask(binding, fleet)))
    kept = suspended_mask(binding, fleet)
    for failure in works.failures:
        kept |= failure.clusters
    if not kept:
        return works.variants
    fresh = [Variant(clusters & ~kept, blob_id) for clusters, blob_id in works.variants]
    return merged([*fresh, *fleet.held(binding.ref, kept)])


@dataclass(slots=True)
class Assembly:
    """A rendered tree in the making: files of clusters, files beside them, and the objects they need."""

    fleet: Fleetwide
    files: list[PlacedFile] = field(default_factory=list)
    beside: dict[tuple[str, ...], bytes] = field(default_factory=dict)
    blobs: dict[bytes, Blob] = field(default_factory=dict)

    def place(self, ref: ObjectRef, variants: tuple[Variant, ...], blobs: Mapping[bytes, Blob]) -> None:
        """Put an object into the folders of the clusters that hold it."""
        if variants:
            *folders, name = object_path(ref)
            self.files.append(PlacedFile(folders=tuple(folders), name=name, variants=variants))
            self.blobs.update(blobs)

    def add(self, path: tuple[str, ...], content: bytes) -> None:
        """Put a file beside the clusters' folders."""
        blob_id = object_id("blob", content)
        self.beside[path] = blob_id
        self.blobs[blob_id] = content

    def needed_namespaces(self) -> dict[str, Mask]:
        """Return the namespaces that hold an object, with the clusters that need them."""
        needed: dict[str, Mask] = {}
        for file in self.files:
            namespace = file.folders[0]
            if not namespace.startswith("_"):
                needed[namespace] = needed.get(namespace, 0) | file.holders
        return needed


@dataclass(frozen=True, slots=True, kw_only=True)
class Tree:
    """A rendered tree as Git objects: ``clusters`` maps each cluster that holds anything to its folder's id."""

    root: bytes
    clusters: Mapping[str, bytes]
    disconnected: tuple[str, ...]
    blobs: Mapping[bytes, Blob]
    trees: Mapping[bytes, bytes]


def cluster_folders(assembly: Assembly, store: TreeStore) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Build the folder of every cluster; a cluster that left the source keeps the one it had."""
    fleet = assembly.fleet
    names = fleet.index.names
    folders: dict[str, bytes] = {}
    for clusters, tree_id in cluster_trees(assembly.files, fleet.index.all, store):
        folders.update(dict.fromkeys((names[index] for index in members(clusters)), tree_id))
    before = fleet.previous.clusters if fleet.previous else {}
    disconnected = tuple(sorted(name for name in before if name not in fleet.index.index_by_name))
    folders.update({name: before[name] for name in disconnected})
    return folders, disconnected


def build_tree(
    assembly: Assembly, folders: Mapping[str, bytes], disconnected: tuple[str, ...], store: TreeStore
) -> Tree:
    """Put the clusters' folders and the files beside them under one root."""
    paths: dict[tuple[str, ...], TreeEntry | bytes] = dict(assembly.beside)
    for name, tree_id in folders.items():
        paths["clusters", name] = TreeEntry(name.encode(), TREE_MODE, tree_id)
    root = nested_tree(paths, store) or store.add(b"")
    return Tree(root=root, clusters=folders, disconnected=disconnected, blobs=assembly.blobs, trees=store.trees)
