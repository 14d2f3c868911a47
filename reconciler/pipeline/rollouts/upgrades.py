"""An upgrade of the engine as a change of its own, where a ClusterRolloutPolicy selects an object.

Another engine may make other manifests of the very same version. A rendered commit says by which engine it was made. In
the pass after another one, each cluster whose manifest would be another object keeps what it has, by value in the
version that it stands at, until it is due like for any other change. Numbers are those of now, as always.

Objects that no ClusterRolloutPolicy selects get what the new engine makes at once: a RolloutPolicy of a namespace is
that of a team, which has no say in when a platform is upgraded. So do Jobs, whose pods cannot change, documents that
are carried as they are, and workloads whose replicas a script writes, for nobody could tell numbers from the rest.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from reconciler.pipeline.previous import RenderedTree
from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.gitobjects import Blob
from render.layout import object_path
from render.model import Manifest
from render.object_rollout import ABSENT

from .objects import VersionedObject
from .versions import KeptManifest, ObjectVersion
from .works import manifest_of_blob, manifest_with_number_of

_OF_FLEET = "ClusterRolloutPolicy "
_JOB = "Job"

Path = tuple[str, ...]


class EngineUpgrade(Struct, frozen=True, kw_only=True):
    """The tree that another engine made, and the engine that goes on with it ("": it is the same one)."""

    engine: str
    tree: RenderedTree | None

    def object_with_former_bytes(self, each: VersionedObject, before: Binding) -> VersionedObject:
        """Return an object whose clusters stand at versions that are the manifests of before."""
        path = each.contexts.newest.interpreter.replica_field(each.newest.template.manifest)
        has_known_numbers = path is not None or not each.binding.is_workload
        if not self._concerns(each) or not has_known_numbers or self.tree is None:
            return each
        others: dict[str, ObjectVersion] = {}
        for digest, clusters in each.clusters_by_version().items():
            concerned = clusters & ~_clusters_with_older_bytes(each, before)
            kept = () if digest == ABSENT else tuple(_kept_manifests(each, digest, concerned, path or (), self.tree))
            if kept:
                version = each.version(digest)
                others[digest] = replace(version, kept=(*version.kept, *kept))
        return each.with_other_versions(others, replace(each.newest, engine=self.engine)) if others else each

    def _concerns(self, each: VersionedObject) -> bool:
        template = each.newest.template
        is_selected = each.before.policy.startswith(_OF_FLEET)
        return bool(self.engine) and is_selected and not template.text and template.ref.kind != _JOB


def object_as_delivered(each: VersionedObject, before: Binding, tree: RenderedTree | None) -> VersionedObject:
    """Return an object of which no version was recorded yet as one whose clusters stand at what they have.

    A freeze that comes together with a change holds that back, too.
    """
    path = each.contexts.newest.interpreter.replica_field(each.newest.template.manifest)
    has_known_numbers = path is not None or not each.binding.is_workload
    if tree is None or not has_known_numbers or each.newest.template.text or each.ref.kind == _JOB:
        return each
    digest, concerned = each.before.completed, each.clusters & ~_clusters_with_older_bytes(each, before)
    kept = tuple(_kept_manifests(each, digest, concerned, path or (), tree))
    return each.with_other_versions({digest: replace(each.version(digest), kept=kept)}, each.newest) if kept else each


def _clusters_with_older_bytes(each: VersionedObject, before: Binding) -> Mask:
    """Return the clusters that have something else than their version, which could not be built or not be given."""
    if each.binding.suspension is not None or before.suspension is not None:
        return each.index.all
    failed = (name for condition in before.conditions if condition.type == "Rendered" for name in condition.clusters)
    kept = (name for copies in before.kept for name in copies.clusters)
    return each.index.clusters_named((*failed, *kept))


def _kept_manifests(
    each: VersionedObject, digest: str, clusters: Mask, path: Path, tree: RenderedTree
) -> Iterator[KeptManifest]:
    """Yield the manifests that clusters have, where a version would be another object now."""
    works = each.works_of_version(digest)
    found: list[tuple[Manifest, list[str]]] = []
    for had in tree.variants(tuple(object_path(each.ref)), each.index.index_by_name, clusters):
        before = manifest_of_blob(tree.contents([had.id])[had.id])
        for made in works.variants:
            both = had.clusters & made.clusters
            if both and had.id != made.id and not _is_same_but_for_number(before, works.blobs[made.id], path):
                names = [each.index.names[place] for place in indexes_of_mask(both)]
                _add_to_equal_manifest(found, before, names, path)
    for manifest, names in found:
        yield KeptManifest(clusters=tuple(sorted(names)), manifest=dict(manifest))


def _is_same_but_for_number(before: Manifest, blob: Blob, path: Path) -> bool:
    now = manifest_of_blob(blob)
    return manifest_with_number_of(before, now, path) == now


def _add_to_equal_manifest(
    found: list[tuple[Manifest, list[str]]], manifest: Manifest, names: Iterable[str], path: Path
) -> None:
    """Add clusters to those that have the same manifest but for its number, or as the first that have it."""
    for known, clusters in found:
        if manifest_with_number_of(manifest, known, path) == known:
            clusters.extend(names)
            return
    found.append((manifest, list(names)))
