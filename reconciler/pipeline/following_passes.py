"""A pass as the next one reads it back, without any commit between the two.

Whoever plays passes in memory (PolicyTests over time, simulations) goes from one to the next by these functions, so
that what a pass leaves for its successor is said once.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime

from msgspec import Struct, field
from msgspec.structs import replace

from render.gitobjects import TREE_MODE, TreeEntry, content_of_blob, parse_tree

from .former_splits import NO_RESTORATIONS
from .movements import Bindings
from .pass_values import Inputs, Rendered
from .previous import Previous, RenderedTree
from .reserves import RESERVED_FILE, parse_reserves
from .rollouts.attributes import parse_attributes
from .rollouts.state_files import rollout_states_of_tree


class PassMemory(Struct):
    """The trees and files that passes in memory made, above those of the commit that the first of them started from.

    ``beneath`` is that commit's tree (None: the first pass started from nothing).
    """

    beneath: RenderedTree | None = None
    _known: dict[bytes, bytes] = field(default_factory=dict)

    def previous_from_rendered(
        self, before: Rendered, *, source: str = "", bindings: Bindings | None = None
    ) -> Previous:
        """Return a pass as the next one reads it back, as if it had been committed.

        ``bindings`` are those after it, where it did not look at all objects (None: it did).
        """
        self._known |= before.tree.trees
        blobs = before.tree.blobs.items()
        self._known |= {id_: content_of_blob(blob) for id_, blob in blobs}
        if bindings is None:
            bindings = {binding.ref: binding for binding in before.built.bindings}
        tree = RenderedTree.of(before.tree.root, self._read_trees, self._read_blobs)
        return Previous(commit="", source=source, version="", bindings=bindings, tree=tree)

    def forget_all_but(self, root: bytes) -> None:
        """Forget the trees and files of passes that the tree of the last one has no more."""
        kept: dict[bytes, bytes] = {}
        level = {root}
        while level:
            made = {id_: self._known[id_] for id_ in level if id_ in self._known}
            kept |= made
            entries = [entry for content in made.values() for entry in parse_tree(content)]
            files = (entry.id for entry in entries if entry.mode != TREE_MODE)
            kept |= {id_: self._known[id_] for id_ in files if id_ in self._known}
            level = {entry.id for entry in entries if entry.mode == TREE_MODE} - kept.keys()
        self._known = kept

    def _read_trees(self, ids: Iterable[bytes]) -> dict[bytes, tuple[TreeEntry, ...]]:
        wanted = set(ids)
        found = {id_: tuple(parse_tree(self._known[id_])) for id_ in wanted & self._known.keys()}
        missing = wanted - found.keys()
        if missing and self.beneath is not None:
            found |= {id_: tuple(entries) for id_, entries in self.beneath.trees.read(missing).items()}
        return found

    def _read_blobs(self, ids: Iterable[bytes]) -> Mapping[bytes, bytes]:
        wanted = set(ids)
        found = {id_: self._known[id_] for id_ in wanted & self._known.keys()}
        missing = wanted - found.keys()
        return {**found, **self.beneath.contents(missing)} if missing and self.beneath is not None else found


def inputs_of_next_pass(
    inputs: Inputs, before: Rendered, memory: PassMemory, now: datetime, bindings: Bindings | None = None
) -> Inputs:
    """Return the inputs of the pass after another, over the same source and by the same observations.

    ``bindings`` are those after the former, where it did not look at all objects. What the first pass was allowed to
    remove it has removed, and the engine is the same from now on.
    """
    previous = memory.previous_from_rendered(before, source=inputs.source, bindings=bindings)
    reserves = _file_at_root(previous.tree, RESERVED_FILE)
    attributes = before.built.rolled.attributes
    return replace(
        inputs,
        previous=previous,
        reserves=parse_reserves(reserves) if reserves else {},
        scope=None,
        restorations=NO_RESTORATIONS,
        allowed_removals=dict.fromkeys(previous.tree.clusters, 0) if inputs.allowed_removals else {},
        failover=replace(inputs.failover, now=now, taints=before.built.tainted.recorded),
        rollouts=replace(
            inputs.rollouts,
            states=rollout_states_of_tree(previous.tree),
            emergencies=before.built.rolled.emergencies,
            attributes=parse_attributes(attributes) if attributes else {},
            upgrade="",
        ),
    )


def _file_at_root(tree: RenderedTree, name: str) -> bytes:
    entry = tree.trees.entries(tree.root).get(name)
    return tree.contents([entry.id])[entry.id] if entry else b""
