"""The files of rollouts on the rendered branch after a pass: the versions that are in use, and the states.

A version stays as it is recorded where nothing was built of it in this pass; what no cluster stands at any more goes.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from reconciler.pipeline.previous import RenderedTree
from render.binding import Binding
from render.model import ObjectRef

from .attributes import ATTRIBUTES_FILE
from .stage_values import RolledOut
from .state_files import RolloutStates, rollout_path, rollout_state_file
from .versions import version_folder, version_path

Path = tuple[str, ...]


class RolloutFiles(Struct, frozen=True, kw_only=True):
    """Files of rollouts on the rendered branch: contents to write, ids of those that stay, paths of those that go."""

    written: Mapping[Path, bytes] = field(default_factory=dict)
    kept: Mapping[Path, bytes] = field(default_factory=dict)
    gone: frozenset[Path] = frozenset()


def files_of_rollouts(
    rolled: RolledOut,
    bindings: Iterable[Binding],
    before: RolloutStates,
    tree: RenderedTree | None,
    among: Iterable[ObjectRef] | None,
) -> RolloutFiles:
    """Return the files of rollouts: versions that are in use, and states. ``among``: what the pass looks at."""
    written: dict[Path, bytes] = {}
    kept: dict[Path, bytes] = {}
    for binding in bindings:
        for digest in sorted(binding.rollout.versions) if binding.rollout else ():
            path = version_path(binding.ref, digest)
            content = rolled.contents.get((binding.ref, digest))
            if content is not None:
                written[path] = content
            elif tree is not None and (entry := tree.trees.entry(tree.root, path)) is not None:
                kept[path] = entry.id
    if rolled.attributes:
        written[ATTRIBUTES_FILE,] = rolled.attributes
    written |= {rollout_path(state): rollout_state_file(state) for state in rolled.states.values()}
    ended = {rollout_path(state) for name, state in before.items() if name not in rolled.states}
    gone = ended.union({(ATTRIBUTES_FILE,)}).union(path for ref in among or () for path in _version_paths(tree, ref))
    return RolloutFiles(written=written, kept=kept, gone=frozenset(gone - written.keys() - kept.keys()))


def _version_paths(tree: RenderedTree | None, ref: ObjectRef) -> Iterator[Path]:
    """Yield the paths of all versions that a rendered tree has of an object."""
    folder = version_folder(ref)
    entry = tree.trees.entry(tree.root, folder) if tree is not None else None
    if tree is not None and entry is not None:
        yield from ((*folder, name) for name in tree.trees.entries(entry.id))
