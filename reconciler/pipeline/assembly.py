"""The rendered tree put together: what each cluster holds, its ResourceQuotas, the bindings, facts and front page.

What cannot or must not change keeps its previous bytes: clusters where dispatching is suspended or an object could not
be built, bindings no policy holds any more, and whole clusters that left the source.
"""

from collections.abc import Container, Iterable, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from render.binding import Binding
from render.bits import Mask, indexes_of_mask, mask_of
from render.cluster import loses_last_copies
from render.cluster_index import ClusterIndex
from render.documents import emit
from render.failover.eviction import DIRECTLY
from render.gitobjects import TREE_MODE, Blob, Joined, TreeEntry, encode_tree, git_object_id, parse_tree
from render.layout import object_path
from render.model import ObjectRef, Template
from render.quota.shares import resource_quotas_by_cluster
from render.tree import (
    Base,
    PlacedFile,
    TreeStore,
    Variant,
    build_nested_tree,
    clusters_of_variants,
    trees_of_clusters,
    variants_with_equal_ids_joined,
)
from render.works import Works

from .previous import RenderedTree


class TreeContext(Struct, frozen=True, kw_only=True):
    """The member clusters as bits, and the tree they hold now (None on a first run).

    ``keeps_undispatched``: what leaves a cluster stays there while its new places do not get it.
    """

    index: ClusterIndex
    previous: RenderedTree | None
    keeps_undispatched: bool = True

    def variants_of(self, ref: ObjectRef, among: Mask) -> tuple[Variant, ...]:
        """Return the bytes that some clusters hold of an object now."""
        if self.previous is None or not among:
            return ()
        return self.previous.variants(object_path(ref), self.index.index_by_name, among)


def clusters_an_object_goes_to(binding: Binding, fleet: TreeContext) -> Mask:
    """Return the clusters an object goes to: its own targets and those of what requires it."""
    required = (target.name for snapshot in binding.required_by for target in snapshot.clusters)
    return fleet.index.clusters_named(target.name for target in binding.targets) | fleet.index.clusters_named(required)


def clusters_with_suspended_dispatch(binding: Binding, fleet: TreeContext) -> Mask:
    """Return the target clusters that keep what they have because dispatching is suspended there."""
    if binding.suspension is None:
        return 0
    if binding.suspension.dispatching:
        return clusters_an_object_goes_to(binding, fleet)
    return fleet.index.clusters_named(binding.suspension.dispatching_on_clusters) & clusters_an_object_goes_to(
        binding, fleet
    )


def clusters_at_former_versions(binding: Binding, fleet: TreeContext) -> Mask:
    """Return the clusters that stand at another version of an object than the one that goes out."""
    rollout = binding.rollout
    if rollout is None or not rollout.is_under_way:
        return 0
    former = (name for each in rollout.clusters if each.version != rollout.target for name in each.names)
    found = fleet.index.clusters_named(former)
    if rollout.completed != rollout.target:
        listed = fleet.index.clusters_named(rollout.version_by_cluster)
        found |= clusters_an_object_goes_to(binding, fleet) & ~listed
    return found


def clusters_left_gracefully(binding: Binding, fleet: TreeContext) -> Mask:
    """Return the clusters that an object leaves gracefully: they keep what they have of it until it may go."""
    leaving = fleet.index.clusters_named(
        task.from_cluster for task in binding.eviction_tasks if task.purge_mode != DIRECTLY
    )
    return leaving & ~clusters_an_object_goes_to(binding, fleet) if leaving else 0


def clusters_left_step_by_step(binding: Binding, fleet: TreeContext) -> Mask:
    """Return the clusters that have copies of an object only until their successors in others are ready."""
    if binding.moving is None:
        return 0
    names = {target.name for target in binding.targets} - {target.name for target in binding.final_targets}
    return fleet.index.clusters_named(names)


def clusters_left_without_dispatch(binding: Binding, fleet: TreeContext) -> Mask:
    """Return the clusters that an object leaves while its new places do not get it: dispatching is suspended there.

    They keep what they have of it. A divided object leaves once its targets have all their replicas, another one once
    any of its targets has it. A drain that allows the loss of last copies takes it away all the same.
    """
    if not (fleet.keeps_undispatched and binding.kept and binding.targets and _is_missing_in_new_places(binding)):
        return 0
    others = fleet.index.all & ~clusters_an_object_goes_to(binding, fleet)
    left = indexes_of_mask(clusters_of_variants(fleet.variants_of(binding.ref, others)))
    return mask_of(index for index in left if not loses_last_copies(fleet.index.clusters[index]))


def _is_missing_in_new_places(binding: Binding) -> bool:
    """Say whether suspended targets miss replicas, or whether none of all targets has the object."""
    if binding.is_divided and binding.replicas:
        there = binding.assigned_replicas
        return any(there.get(target.name, 0) < target.replicas for target in binding.targets)
    return {target.name for target in binding.targets} <= binding.undispatched_clusters


def clusters_that_keep_what_they_have(binding: Binding, works: Works | None, fleet: TreeContext) -> Mask:
    """Return the clusters that keep what they have of a binding's object, whatever its template says now."""
    leaving = clusters_left_gracefully(binding, fleet) | clusters_left_without_dispatch(binding, fleet)
    if works is None:
        return clusters_an_object_goes_to(binding, fleet) | leaving
    kept = clusters_with_suspended_dispatch(binding, fleet) | leaving
    for failure in works.failures:
        kept |= failure.clusters
    return kept


def placed_variants(binding: Binding, works: Works | None, fleet: TreeContext) -> tuple[Variant, ...]:
    """Return who holds which bytes of a binding's object after this pass.

    ``works`` None means that nothing was built: a released binding keeps every byte.
    """
    kept = clusters_that_keep_what_they_have(binding, works, fleet)
    if works is None:
        return variants_with_equal_ids_joined(fleet.variants_of(binding.ref, kept))
    if not kept:
        return works.variants
    fresh = [Variant(clusters & ~kept, blob_id) for clusters, blob_id in works.variants]
    return variants_with_equal_ids_joined([*fresh, *fleet.variants_of(binding.ref, kept)])


class Assembly(Struct):
    """A rendered tree in the making: files of clusters, files beside them (None: gone), and the objects they need.

    On a base - the folders that clusters hold now - it says what changes in them, and only that.
    """

    fleet: TreeContext
    base: Base | None = None
    files: list[PlacedFile] = field(default_factory=list)
    beside: dict[tuple[str, ...], bytes | None] = field(default_factory=dict)
    blobs: dict[bytes, Blob] = field(default_factory=dict)
    store: TreeStore = field(default_factory=TreeStore)

    def place_object(self, ref: ObjectRef, variants: tuple[Variant, ...], blobs: Mapping[bytes, Blob]) -> None:
        """Put an object into the folders of the clusters that hold it."""
        if variants:
            *folders, name = object_path(ref)
            self.files.append(PlacedFile(folders=tuple(folders), name=name, variants=variants))
            self.blobs.update(blobs)

    def add(self, path: tuple[str, ...], content: bytes | Joined) -> None:
        """Put a file beside the clusters' folders."""
        blob_id = git_object_id("blob", content) if isinstance(content, bytes) else content.id()
        self.beside[path] = blob_id
        self.blobs[blob_id] = content

    def entries(self, tree_id: bytes) -> Iterable[TreeEntry]:
        """Return the entries of a folder that was made, or that clusters hold now."""
        content = self.store.trees.get(tree_id)
        if content is None and self.fleet.previous is not None:
            return self.fleet.previous.trees.entries(tree_id).values()
        return parse_tree(content or b"")

    def remove_objects(self, refs: Iterable[ObjectRef]) -> None:
        """Take what was not placed out of the base, with the bindings that are not there any more."""
        placed = {(*file.folders, file.name) for file in self.files}
        for ref in refs:
            path = object_path(ref)
            self.beside.setdefault(("bindings", *path), None)
            if path not in placed:
                self.files.append(PlacedFile(folders=path[:-1], name=path[-1], variants=()))

    def needed_namespaces(self, waiting: Iterable[str] = ()) -> dict[str, Mask]:
        """Return the namespaces that hold an object, with the clusters that need them; on a base, those it changes.

        ``waiting`` are those that policies place in clusters which do not have them yet.
        """
        inside: dict[str, list[PlacedFile]] = {name: [] for name in waiting}
        for file in self.files:
            if not file.folders[0].startswith("_"):
                inside.setdefault(file.folders[0], []).append(file)
        found = {namespace: self._holders(namespace, files) for namespace, files in inside.items()}
        return {namespace: holders for namespace, holders in found.items() if holders or inside[namespace]}

    def _holders(self, namespace: str, files: Iterable[PlacedFile]) -> Mask:
        """Return the clusters that hold anything in a namespace."""
        holders = 0
        if self.base is None:
            for file in files:
                holders |= file.clusters
            return holders
        within = [replace(file, folders=file.folders[1:]) for file in files]
        for clusters, _ in trees_of_clusters(within, self.fleet.index.all, self.store, self.base.below(namespace)):
            holders |= clusters
        return holders


class Tree(Struct, frozen=True, kw_only=True):
    """A rendered tree as Git objects: ``clusters`` maps each cluster that holds anything to its folder's id."""

    root: bytes
    clusters: Mapping[str, bytes]
    disconnected: tuple[str, ...]
    blobs: Mapping[bytes, Blob]
    trees: Mapping[bytes, bytes]


def cluster_folders(assembly: Assembly) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """Build the folder of every cluster; a cluster that left the source keeps the one it had."""
    fleet = assembly.fleet
    names = fleet.index.names
    folders: dict[str, bytes] = {}
    for clusters, tree_id in trees_of_clusters(assembly.files, fleet.index.all, assembly.store, assembly.base):
        folders.update(dict.fromkeys((names[index] for index in indexes_of_mask(clusters)), tree_id))
    before = fleet.previous.clusters if fleet.previous else {}
    disconnected = tuple(sorted(name for name in before if name not in fleet.index.index_by_name))
    folders.update({name: before[name] for name in disconnected})
    return folders, disconnected


def build_tree(assembly: Assembly, folders: Mapping[str, bytes], disconnected: tuple[str, ...]) -> Tree:
    """Put the clusters' folders and the files beside them under one root."""
    store, previous = assembly.store, assembly.fleet.previous if assembly.base else None
    entries = [TreeEntry(name.encode(), TREE_MODE, tree_id) for name, tree_id in folders.items()]
    clusters = store.add(encode_tree(entries)) if entries else None
    paths: dict[tuple[str, ...], TreeEntry | bytes | None] = dict(assembly.beside)
    paths["clusters",] = TreeEntry(b"clusters", TREE_MODE, clusters) if clusters else None
    read = previous.trees.entries if previous else None
    root = build_nested_tree(paths, store, read(previous.root) if previous and read else None, read) or store.add(b"")
    return Tree(root=root, clusters=folders, disconnected=disconnected, blobs=assembly.blobs, trees=store.trees)


def place_resource_quotas(
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
        for cluster, manifest in resource_quotas_by_cluster(quota.manifest, index.index_by_name):
            content = emit(manifest)
            blob_id = git_object_id("blob", content)
            clusters[blob_id] = clusters.get(blob_id, 0) | 1 << index.index_by_name[cluster]
            blobs[blob_id] = content
        assembly.place_object(ref, tuple(Variant(mask, blob_id) for blob_id, mask in clusters.items()), blobs)
