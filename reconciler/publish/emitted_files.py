"""The rendered tree with the objects of other tools beside it, where argosy.yaml asks for them."""

from collections.abc import Iterable
from typing import Protocol

from msgspec.structs import replace

from reconciler.emission.making import FOLDER, RenderedFiles, committed_files
from reconciler.pipeline.stages import Rendered
from render.gitobjects import TreeEntry, object_id
from render.settings.fleet import Fleet
from render.tree import TreeStore, nested_tree


class RenderedTrees(RenderedFiles, Protocol):
    """The trees of a pass."""

    def entries(self, tree_id: bytes) -> Iterable[TreeEntry]:
        """Return the entries of a tree."""


def with_emitted_files(rendered: Rendered, fleet: Fleet, trees: RenderedTrees) -> Rendered:
    """Return what a pass rendered with the files that ``spec.emit`` asks for, of clusters that the source has."""
    tree, built = rendered.tree, rendered.built
    clusters = {name: tree_id for name, tree_id in tree.clusters.items() if name in built.index.index_by_name}
    preserved = (binding.ref for binding in built.bindings if binding.preserve_resources_on_deletion)
    contents = dict(committed_files(fleet, clusters, preserved, trees))
    blobs = {object_id("blob", content): content for content in contents.values()}
    ids: dict[tuple[str, ...], TreeEntry | bytes | None] = {
        path: object_id("blob", content) for path, content in contents.items()
    }
    store = TreeStore(trees=dict(tree.trees))
    base = {entry.text: entry for entry in trees.entries(tree.root) if entry.text != FOLDER}
    root = nested_tree(ids, store, base) or tree.root
    return replace(rendered, tree=replace(tree, root=root, blobs={**tree.blobs, **blobs}, trees=store.trees))
