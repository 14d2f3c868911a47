"""The rules of delivery that policies set and no object shows: who wins a conflict, and what stays when it is removed.

An object is the same file before and after such a change, but a pass does something else with it in its clusters.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress

from msgspec.structs import replace

from reconciler.branches.publication import publication_of
from reconciler.ledger.branch_file import FileFault
from reconciler.ledger.work import WorkFile
from reconciler.pipeline.karmada_works import conflict_resolution
from reconciler.pipeline.movements import Bindings
from reconciler.record.work_status import APPLIED
from reconciler.rendering.outcome import Outcome
from render.errors import ReconcileError
from render.layout import object_path
from render.model import Manifest, ObjectRef, Template
from render.policy import ConflictResolution

from .difference import CONFLICTS, PRESERVES, DeliveryChange

_WORDS = {"overwrite": str(ConflictResolution.OVERWRITE), "abort": str(ConflictResolution.ABORT)}


def delivery_changes(before: Bindings, after: Bindings, base: Outcome, head: Outcome) -> tuple[DeliveryChange, ...]:
    """Return the objects, out of those both sides place, that are delivered by other rules afterwards."""
    templates = [{each.ref: each for each in side.source.desired.templates} for side in (base, head)]
    found = tuple(_delivery_changes(before, after, *templates))
    return tuple(_with_recorded_failures(found, head)) if any(each.takes_over for each in found) else found


def _delivery_changes(
    before: Bindings, after: Bindings, old: Mapping[ObjectRef, Template], new: Mapping[ObjectRef, Template]
) -> Iterator[DeliveryChange]:
    for ref in sorted(before.keys() & after.keys()):
        sides = before[ref], after[ref]
        clusters = tuple(sorted(target.name for target in after[ref].targets))
        if not clusters:
            continue
        if sides[0].conflict_resolution is not sides[1].conflict_resolution and ref in old and ref in new:
            words = [
                _WORDS[conflict_resolution(each[ref].manifest, side)]
                for each, side in zip((old, new), sides, strict=True)
            ]
            if words[0] != words[1]:
                yield DeliveryChange(ref=ref, rule=CONFLICTS, before=words[0], after=words[1], clusters=clusters)
        flags = ["true" if each.preserve_resources_on_deletion else "false" for each in sides]
        if flags[0] != flags[1]:
            yield DeliveryChange(ref=ref, rule=PRESERVES, before=flags[0], after=flags[1], clusters=clusters)


def _with_recorded_failures(changes: Iterable[DeliveryChange], head: Outcome) -> Iterator[DeliveryChange]:
    """Yield changes with what the status branch, as it is known here, says was not applied of their objects."""
    repository, fleet = head.repository, head.source.desired.fleet
    tip = repository.tip(publication_of(repository, fleet).ref(fleet.status_branch))
    ids = {file.path: file.id for file in repository.snapshot(tip).files} if tip else {}
    for change in changes:
        paths = {name: f"works/{name}/{'/'.join(object_path(change.ref))}" for name in change.clusters}
        known = {name: path for name, path in paths.items() if path in ids} if change.takes_over else {}
        contents = repository.read_blobs({ids[path] for path in known.values()}) if known else {}
        failures = {
            name: message
            for name, path in known.items()
            if (message := _failure_in_work(path, bytes(contents[ids[path]])))
        }
        yield replace(change, failures=failures)


def _failure_in_work(path: str, content: bytes) -> str:
    """Return why an object was not applied to a cluster; empty where it was, and where the file is damaged."""
    value: Manifest = {}
    with suppress(ReconcileError, FileFault):
        value = WorkFile.read(path, content).value
    conditions = (value.get("status") or {}).get("conditions") or ()
    failed = (each for each in conditions if each.get("type") == APPLIED and each.get("status") == "False")
    return next((str(each.get("message", "")) for each in failed), "")
