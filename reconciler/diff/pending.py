"""Pending objects in a comparison: those that suspended clusters do not get, and those whose policies wait.

Both sides of a comparison have their own. What a change adds to it is told with the fields that suspended clusters
miss then, and what ends is told as well, so that no change of a suspension is no difference.
"""

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from overrides.changes import ChangedField
from reconciler.pipeline.assembly import TreeContext, clusters_with_suspended_dispatch
from reconciler.pipeline.pending import LAZY, PENDING_REASONS, SUSPENDED
from reconciler.rendering.outcome import Outcome
from render.binding import Binding
from render.bits import Mask, indexes_of_mask
from render.gitobjects import Blob
from render.layout import object_path
from render.model import ObjectRef
from render.parsing import binding_manifest
from render.works import Works

from .difference import PendingChange
from .objects import FileChange, Texts, field_changes, object_changes


class PendingDifference(Struct, frozen=True, kw_only=True):
    """The pending changes that a change of the source adds, and those that it ends."""

    added: tuple[PendingChange, ...]
    ended: tuple[PendingChange, ...]


def pending_difference(base: Outcome, head: Outcome) -> PendingDifference:
    """Return what a change leaves pending, and what ends."""
    before, after = (tuple(pending_changes(side)) for side in (base, head))
    known, named = set(map(_comparable_text, before)), {(each.ref, each.reason) for each in after}
    return PendingDifference(
        added=tuple(each for each in after if _comparable_text(each) not in known),
        ended=tuple(each for each in before if (each.ref, each.reason) not in named),
    )


def _comparable_text(change: PendingChange) -> str:
    """Return a text that is equal for equal changes; the values of fields may be lists."""
    return repr(change)


def pending_changes(outcome: Outcome) -> Iterator[PendingChange]:
    """Yield all that is pending in an outcome, by object: for suspended clusters, the change that they miss."""
    for binding in outcome.rendered.built.bindings:
        for condition in binding.conditions:
            if condition.reason == SUSPENDED:
                yield from _suspended_changes(binding, outcome)
            elif condition.reason in PENDING_REASONS:
                fields = _fields_waiting_for_change(binding, outcome) if condition.reason == LAZY else ()
                yield PendingChange(ref=binding.ref, reason=condition.reason, message=condition.message, fields=fields)


def _fields_waiting_for_change(binding: Binding, outcome: Outcome) -> tuple[ChangedField, ...]:
    """Return the fields of a binding that a lazy policy will change."""
    policy = outcome.rendered.built.claims.matches[binding.ref].policy
    if policy is None:
        return ()
    after = replace(
        binding,
        placement=policy.placement,
        propagate_deps=policy.propagate_deps,
        scheduler_name=policy.scheduler_name,
        failover=policy.failover,
        conflict_resolution=policy.conflict_resolution,
        preserve_resources_on_deletion=policy.preserve_resources_on_deletion,
        suspension=policy.suspension,
    )
    return field_changes(*(binding_manifest(each)["spec"] for each in (binding, after)))


def _suspended_changes(binding: Binding, outcome: Outcome) -> Iterator[PendingChange]:
    """Yield what suspended clusters miss of an object, those that miss nothing last."""
    built = outcome.rendered.built
    context = TreeContext(index=built.index, previous=outcome.previous.tree if outcome.previous else None)
    mask, works = clusters_with_suspended_dispatch(binding, context), built.works[binding.ref]
    files = _files_kept_from_suspended(binding.ref, works, mask, context)
    texts = Texts(_contents_of_changed_files(files, works, outcome))
    found = tuple(object_changes(files, {"/".join(object_path(binding.ref)): binding.ref}, texts))
    for each in found:
        wanted = {file.after for file, clusters in files.items() if file.after and set(clusters) & set(each.clusters)}
        yield PendingChange(
            ref=each.ref,
            reason=SUSPENDED,
            clusters=each.clusters,
            action=each.action,
            fields=each.fields,
            wanted=tuple(sorted(wanted)),
        )
    missing = {name for each in found for name in each.clusters}
    current = tuple(sorted({built.index.names[index] for index in indexes_of_mask(mask)} - missing))
    if current:
        yield PendingChange(ref=binding.ref, reason=SUSPENDED, clusters=current)


def _files_kept_from_suspended(
    ref: ObjectRef, works: Works, mask: Mask, context: TreeContext
) -> dict[FileChange, list[str]]:
    """Return the files that suspended clusters would get, with what they hold instead."""
    found = context.variants_of(ref, mask)
    files: dict[FileChange, list[str]] = {}
    for clusters, wanted in works.variants:
        absent = clusters & mask
        for holders, blob_id in found:
            absent &= ~holders
            if blob_id != wanted:
                _add_file_change(
                    files, FileChange("/".join(object_path(ref)), blob_id, wanted), clusters & holders, context
                )
        _add_file_change(files, FileChange("/".join(object_path(ref)), None, wanted), absent, context)
    return files


def _add_file_change(
    files: dict[FileChange, list[str]], change: FileChange, clusters: Mask, context: TreeContext
) -> None:
    if clusters:
        files.setdefault(change, []).extend(context.index.names[index] for index in indexes_of_mask(clusters))


def _contents_of_changed_files(files: Iterable[FileChange], works: Works, outcome: Outcome) -> Mapping[bytes, Blob]:
    """Return the contents to compare: those a pass made, and those that clusters hold."""
    wanted = {blob_id for file in files if file.before and file.after for blob_id in (file.before, file.after)}
    made = {blob_id: works.blobs[blob_id] for blob_id in wanted if blob_id in works.blobs}
    missing = wanted - made.keys()
    return {**made, **outcome.repository.read_blobs(missing)} if missing else made
