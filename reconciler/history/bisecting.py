"""The rendered commit since which something is so of an object: unplaced, in a cluster, so many replicas, a value."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from reconciler.branches.reading import read_previous
from reconciler.diff.objects import leaves_of_manifest
from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.previous import parse_binding_file
from reconciler.pipeline.renames import renamed_binding
from reconciler.plans.rendered_object import mapping_of_rendered_file
from reconciler.repository import Repository
from render.binding import Binding
from render.layout import object_path
from render.model import ObjectRef

from .events import BINDINGS, CLUSTERS, ObjectEvent, events_of_step, names_given_by_commit
from .steps import RenderedStep, members_of_tree, rendered_steps
from .subjects import Subject


class ObjectState(Struct, frozen=True, kw_only=True):
    """An object at a rendered commit: its binding (None: it has none), and its file in each cluster that has it.

    A cluster that left the fleet keeps its files; ``members`` are those that are in it.
    """

    binding: Binding | None
    members: frozenset[str] = frozenset()
    files: Mapping[str, bytes] = field(default_factory=dict)

    def value(self, path: str, cluster: str) -> Any:
        """Return the value at a path in one cluster's manifest; None where it has none."""
        content = self.files.get(cluster)
        leaves = leaves_of_manifest(mapping_of_rendered_file(content)) if content is not None else ()
        return next((leaf.value for leaf in leaves if leaf.path == path), None)

    @property
    def is_unplaced(self) -> bool:
        """Say whether it has a binding that names no cluster."""
        return self.binding is not None and not self.binding.placed_replicas and not self.binding.required_by


Condition = Callable[[ObjectState], bool]


class Turn(Struct, frozen=True, kw_only=True):
    """The outcome of a search: whether a condition holds at the tip, and the commit since which that is so.

    ``step`` None: it is so in every commit that is here. ``event`` is what that commit changed of the object, if it is
    more than a record.
    """

    commit: str
    ref: ObjectRef
    holds: bool
    step: RenderedStep | None = None
    event: ObjectEvent | None = None
    is_cut_off: bool = False


def last_turn_of_condition(repository: Repository, tip: str, ref: ObjectRef, condition: Condition) -> Turn:
    """Return the newest rendered commit at which a condition became what it is at the tip."""
    past = _Past(ref=ref, state=_state_at(repository, tip, ref))
    is_cut_off, holds = False, condition(past.state)
    for step, contents in _steps_with_contents(repository, tip, ref):
        past.go_before(step, contents)
        is_cut_off = is_cut_off or step.is_cut_off
        if condition(past.state) != holds:
            event = next(events_of_step(step, contents, past.reader), None)
            return Turn(commit=tip, ref=ref, holds=holds, step=step, event=event)
    return Turn(commit=tip, ref=ref, holds=holds, is_cut_off=is_cut_off)


class _Past(Struct):
    """An object while one goes back through rendered commits; clusters have the names that they have at the tip."""

    ref: ObjectRef
    state: ObjectState
    reader: BindingReader = field(default_factory=BindingReader)
    name_now: dict[str, str] = field(default_factory=dict)

    def go_before(self, step: RenderedStep, contents: Mapping[bytes, bytes]) -> None:
        """Make it what it was before a rendered commit."""
        for old, new in names_given_by_commit(step).items():
            self.name_now[old] = self.name_now.pop(new, new)
        files = dict(self.state.files)
        # What a commit added goes first: a cluster with a new name has the file that one with its old name had.
        for file in sorted(step.files, key=lambda each: each.before is not None):
            kind, _, path = file.path.partition("/")
            name = path.partition("/")[0]
            content = contents[file.before] if file.before else None
            if kind == BINDINGS:
                self.state = replace(self.state, binding=self._binding(content))
            elif kind == CLUSTERS and content is not None:
                files[self.name_now.get(name, name)] = content
            elif kind == CLUSTERS:
                files.pop(self.name_now.get(name, name), None)
        members = frozenset(self.name_now.get(name, name) for name in step.members_before)
        self.state = replace(self.state, files=files, members=members)

    def _binding(self, content: bytes | None) -> Binding | None:
        if content is None:
            return None
        binding = parse_binding_file(f"a former binding of {self.ref}", self.reader.parse, content)
        return renamed_binding(binding, self.name_now)


def _steps_with_contents(
    repository: Repository, tip: str, ref: ObjectRef
) -> Iterator[tuple[RenderedStep, Mapping[bytes, bytes]]]:
    for step in rendered_steps(repository, tip, Subject(ref=ref).patterns):
        yield step, repository.read_blobs({id_ for file in step.files for id_ in file[1:] if id_})


def _state_at(repository: Repository, tip: str, ref: ObjectRef) -> ObjectState:
    previous, path = read_previous(repository, tip), object_path(ref)
    entries = {name: previous.tree.trees.entry(folder, path) for name, folder in previous.tree.clusters.items()}
    ids = {name: entry.id for name, entry in entries.items() if entry is not None}
    contents = repository.read_blobs(set(ids.values()))
    return ObjectState(
        binding=previous.bindings.get(ref),
        members=members_of_tree(repository, previous.tree),
        files={name: contents[id_] for name, id_ in ids.items()},
    )
