"""Changes of objects by rendered commits: of their clusters, replicas, policies and bytes, each with its reasons."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reconciler.diff.difference import ObjectChange
from reconciler.diff.objects import FileChange, Texts, object_changes
from reconciler.pipeline.binding_files import BindingReader
from reconciler.pipeline.movements import ReplicaChange
from reconciler.pipeline.previous import parse_binding_file, parse_file_at_root
from reconciler.pipeline.renames import NewNames, renamed_binding
from reconciler.pipeline.rollouts.state_files import ROLLOUTS_FOLDER, parse_rollout_state
from reconciler.repository import Repository
from reconciler.repository.changing_commits import ChangedPath, ListingLimits
from render.binding import Binding
from render.expressions import lazy_expression
from render.layout import ref_of_object_path
from render.model import ObjectRef

from .reasons import (
    ChangeCause,
    ChangeReason,
    WavesByRollout,
    overrides_that_differ,
    reason_of_other_bytes,
    reasons_of_change,
)
from .steps import RenderedStep, rendered_steps

Sides = tuple[Binding | None, Binding | None]
"""The bindings of an object before and after; both None where they are one and the same, or there is none."""

BINDINGS, CLUSTERS = "bindings", "clusters"
_AT_ONCE, _FILES_AT_ONCE = 8, 2_000
_NO_LIMITS = ListingLimits()
_RENAME = lazy_expression(r"(?<!\S)(\S++) is called (\S++) now(?!\S)")


class ObjectEvent(Struct, frozen=True, kw_only=True):
    """A change of an object by a rendered commit, and the reasons for it.

    ``gained`` and ``lost`` are the clusters that it came to and left, ``replicas`` those that it has otherwise in
    clusters that have it before or after. ``changes`` are those of its bytes in clusters that have it on both sides.
    ``policy`` is the one that claims it, or did last, and ``former_policy`` the one before; ``overrides`` are policies
    that make other changes of it than before. ``is_new`` and ``is_gone``: only one side has a binding of it.
    ``is_renamed``: a cluster that has it got another name.
    """

    ref: ObjectRef
    step: RenderedStep
    reasons: tuple[ChangeReason, ...] = ()
    policy: str = ""
    former_policy: str = ""
    overrides: frozenset[str] = frozenset()
    gained: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    replicas: tuple[ReplicaChange, ...] = ()
    changes: tuple[ObjectChange, ...] = ()
    is_new: bool = False
    is_gone: bool = False
    is_renamed: bool = False

    @property
    def is_change(self) -> bool:
        """Say whether its clusters, their names, its replicas, its policy or its bytes are others than before."""
        return self.is_changed_beside_names or self.is_renamed

    @property
    def is_changed_beside_names(self) -> bool:
        """Say whether anything but the names of its clusters is otherwise; not so for other records."""
        is_claimed_otherwise = self.former_policy != self.policy or self.is_new or self.is_gone
        return bool(self.gained or self.lost or self.replicas or self.changes or self.overrides or is_claimed_otherwise)

    @property
    def clusters(self) -> frozenset[str]:
        """The clusters in which something is otherwise."""
        changed = (name for change in self.changes for name in change.clusters)
        return frozenset({*self.gained, *self.lost, *(each.cluster for each in self.replicas), *changed})


def events_by_step(
    repository: Repository, tip: str, patterns: Sequence[str], limits: ListingLimits = _NO_LIMITS
) -> Iterator[tuple[RenderedStep, Iterator[ObjectEvent]]]:
    """Yield rendered commits with what each changed of the objects whose files have some patterns, the newest first.

    Files are those of bindings (``bindings/...``) and of objects in clusters (``clusters/<name>/...``).
    """
    reader = BindingReader()
    for several in _read_together(rendered_steps(repository, tip, patterns, limits)):
        contents = repository.read_blobs({id_ for step in several for file in step.files for id_ in file[1:] if id_})
        for step in several:
            yield step, events_of_step(step, contents, reader)


def _read_together(steps: Iterable[RenderedStep]) -> Iterator[tuple[RenderedStep, ...]]:
    """Yield rendered commits in groups whose files are read at once: few commits where each has many files."""
    group: list[RenderedStep] = []
    for step in steps:
        group.append(step)
        if len(group) == _AT_ONCE or sum(len(each.files) for each in group) > _FILES_AT_ONCE:
            yield tuple(group)
            group = []
    if group:
        yield tuple(group)


def events_of_step(step: RenderedStep, contents: Mapping[bytes, bytes], reader: BindingReader) -> Iterator[ObjectEvent]:
    """Yield what a rendered commit changed, by object; ``contents`` are those of the files that it changed."""
    bindings: dict[ObjectRef, ChangedPath] = {}
    in_clusters: dict[str, dict[str, list[ChangedPath]]] = {}
    renamed, waves = names_given_by_commit(step), _waves_by_rollout(step, contents)
    for file in step.files:
        kind, _, path = file.path.partition("/")
        if kind == BINDINGS:
            bindings[ref_of_object_path(path)] = file
        elif kind == CLUSTERS:
            cluster, _, below = path.partition("/")
            in_clusters.setdefault(below, {}).setdefault(renamed.get(cluster, cluster), []).append(file)
    path_by_ref = {ref_of_object_path(path): path for path in in_clusters}
    for ref in sorted({*bindings, *path_by_ref}):
        path = path_by_ref.get(ref, "")
        before, after = _bindings_of_file(ref, bindings.get(ref), contents, reader)
        sides = renamed_binding(before, renamed) if before else None, after
        files = in_clusters.get(path, {})
        event = _event_of_files(ref, step, files) if sides == (None, None) else _event_of_decision(ref, step, sides)
        has = _replicas_by_cluster(after)
        event = replace(
            event,
            changes=_changes_of_bytes(ref, path, files, contents),
            is_renamed=any(new in has or new in files for new in renamed.values()),
        )
        if event.is_change:
            yield replace(event, reasons=tuple(_reasons_of_event(event, sides, renamed, waves)))


def names_given_by_commit(step: RenderedStep) -> NewNames:
    """Return the names that a rendered commit gives to clusters, by those before; its message has them."""
    _, _, body = step.commit.message.partition("\n")
    return dict(_RENAME.findall(body.replace(";", "\n")))


def _bindings_of_file(
    ref: ObjectRef, file: ChangedPath | None, contents: Mapping[bytes, bytes], reader: BindingReader
) -> Sides:
    """Return the bindings of an object before and after."""
    if file is None:
        return None, None
    before, after = (
        parse_binding_file(f"a former binding of {ref}", reader.parse, contents[id_]) if id_ else None
        for id_ in (file.before, file.after)
    )
    return before, after


def _event_of_decision(ref: ObjectRef, step: RenderedStep, sides: Sides) -> ObjectEvent:
    """Return what a commit changed of an object by its bindings, without the reasons."""
    had, has = map(_replicas_by_cluster, sides)
    policies = [side.policy if side else "" for side in sides]
    return ObjectEvent(
        ref=ref,
        step=step,
        policy=policies[1] or policies[0],
        former_policy=policies[0],
        overrides=frozenset(overrides_that_differ(*sides)),
        gained=tuple(sorted(has.keys() - had.keys())),
        lost=tuple(sorted(had.keys() - has.keys())),
        replicas=tuple(
            ReplicaChange(cluster=name, before=had.get(name, 0), after=has.get(name, 0))
            for name in sorted(had.keys() | has.keys())
            if had.get(name, 0) != has.get(name, 0)
        ),
        is_new=sides[0] is None and sides[1] is not None,
        is_gone=sides[0] is not None and sides[1] is None,
    )


def _event_of_files(ref: ObjectRef, step: RenderedStep, files: Mapping[str, Sequence[ChangedPath]]) -> ObjectEvent:
    """Return what a commit changed of an object that has no other binding than before, by its files in clusters.

    The folder of a cluster that left the fleet is kept. Where it comes back, what went with it then is not lost again.
    """
    had, has = ({name for name, found in files.items() if any(each[side] for each in found)} for side in (1, 2))
    lost = (had - has) & step.members_before
    return ObjectEvent(ref=ref, step=step, gained=tuple(sorted(has - had)), lost=tuple(sorted(lost)))


def _replicas_by_cluster(binding: Binding | None) -> Mapping[str, int]:
    """Return the replicas of each cluster that an object goes to; none where it follows what requires it."""
    if binding is None:
        return {}
    following = (target.name for snapshot in binding.required_by for target in snapshot.clusters)
    return {**dict.fromkeys(following, 0), **binding.placed_replicas}


def _waves_by_rollout(step: RenderedStep, contents: Mapping[bytes, bytes]) -> WavesByRollout:
    """Return the wave of each cluster in rollouts that a rendered commit went on with, by their names."""
    found: dict[str, Mapping[str, str]] = {}
    for file in step.files:
        if file.after and file.path.startswith(f"{ROLLOUTS_FOLDER}/"):
            state = parse_file_at_root(file.path, contents[file.after], parse_rollout_state)
            found[state.name] = state.seats
    return found


def _reasons_of_event(
    event: ObjectEvent, sides: Sides, renamed: NewNames, waves: WavesByRollout
) -> Iterator[ChangeReason]:
    for old, new in sorted(renamed.items()):
        yield ChangeReason(cause=ChangeCause.CLUSTER_RENAMED, message=f"{old} is called {new} now")
    if not event.is_changed_beside_names:
        return
    if sides == (None, None):
        yield reason_of_other_bytes(event.step)
    else:
        yield from reasons_of_change(*sides, event.step, waves)


def _changes_of_bytes(
    ref: ObjectRef, path: str, files: Mapping[str, Sequence[ChangedPath]], contents: Mapping[bytes, bytes]
) -> tuple[ObjectChange, ...]:
    """Return the changes of an object's bytes in the clusters that have it on both sides, the same ones once."""
    grouped: dict[FileChange, list[str]] = {}
    for cluster, found in sorted(files.items()):
        before = next((each.before for each in found if each.before), None)
        after = next((each.after for each in found if each.after), None)
        if before and after and before != after:
            grouped.setdefault(FileChange(path, before, after), []).append(cluster)
    return object_changes(grouped, {path: ref}, Texts(contents))
