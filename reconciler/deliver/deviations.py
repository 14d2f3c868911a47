"""Deviations: the objects and fields of a cluster that are not as its commit says, each with the reason.

An object that nothing wants any more and that stays, one that hangs in its finalizers, one that could not be applied, a
field that another manager decides, a field that somebody added: each is one line, wherever a run is told of. Messages
hold no live values, so that a status commit is not due whenever an autoscaler moves.
"""

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from reconciler.ledger.cluster import Deviation
from reconciler.plans.answers import fields_left_but_rewritten
from reconciler.plans.model import Action, FieldChange, PlannedObject
from reconciler.plans.ownership import DifferenceKind, Owner
from reconciler.plans.stages import confirmation_of
from render.model import ObjectRef
from render.words import first_few, hint_of_most_similar_words

from .results import FAILED_ACTIONS, FINALIZING, ClusterReport, ObjectResult

YIELDED, FOREIGN, REWRITTEN = "Yielded", "Foreign", str(DifferenceKind.REWRITTEN)
HANGING = "finalizing"
"""The word for an object that was deleted, in the place of the action: it is not gone yet."""


def cluster_deviations(report: ClusterReport) -> tuple[Deviation, ...]:
    """Return everything in a cluster that is not as its commit says after a pass, or before one that only observed."""
    items: Iterable[ObjectResult | PlannedObject] = ()
    if report.applied is not None:
        items = report.applied.results
    elif report.plan is not None and not report.plan.refusal:
        items = (*report.plan.objects, *report.plan.deletions)
    return tuple(each for item in items for each in _deviations_of_item(item))


def deviations_of_fields_joined(deviations: Iterable[Deviation]) -> Iterator[Deviation]:
    """Yield deviations, with one for all fields of an object that are so for one reason and by one manager."""
    found = tuple(deviations)
    joined: dict[tuple[ObjectRef, str, str], list[Deviation]] = {}
    for each in found:
        if each.field:
            joined.setdefault((each.ref, each.reason, each.manager), []).append(each)
    for each in found:
        together = joined.get((each.ref, each.reason, each.manager), []) if each.field else [each]
        if together[0] is each:
            fields = first_few([one.field for one in together])
            yield replace(each, message=each.message.replace(each.field, fields)) if len(together) > 1 else each


def hint_about_foreign_fields(deviation: Deviation) -> str:
    """Return what has Git decide about the fields that another manager added; empty for any other deviation."""
    if deviation.reason != FOREIGN or not deviation.manager:
        return ""
    return f"if what it added is to go: argosy apply --migrate-from {deviation.manager}"


def recorded_deviations(report: ClusterReport) -> tuple[Deviation, ...]:
    """Return the deviations that a cluster's own record keeps: failures of wanted objects are in their Works."""
    wanted = frozenset(item.ref for item in (report.plan.objects if report.plan else ()))
    return tuple(
        each for each in cluster_deviations(report) if not (each.action in FAILED_ACTIONS and each.ref in wanted)
    )


def _deviations_of_item(item: ObjectResult | PlannedObject) -> Iterator[Deviation]:
    if item.action is Action.KEPT or item.action in FAILED_ACTIONS:
        yield Deviation(ref=item.ref, action=item.action, reason=item.reason, message=item.message)
    elif item.reason == FINALIZING:
        yield Deviation(ref=item.ref, action=HANGING, reason=item.reason, message=item.message)
    for change in fields_left_but_rewritten(item.yielded):
        message = f"an admission webhook, or the cluster, rewrites {change.path} whenever it is applied"
        yield _deviation_of_field(item.ref, REWRITTEN, change, message)
    for change in item.yielded:
        if change.change == REWRITTEN:
            continue
        owner = f"field manager {change.manager!r}" if change.manager else "the cluster"
        yield _deviation_of_field(item.ref, YIELDED, change, f"{owner} decides {change.path}")
    for change in item.foreign:
        yield _deviation_of_field(item.ref, FOREIGN, change, _message_about_foreign_field(change))


def _message_about_foreign_field(change: FieldChange) -> str:
    owner = f"field manager {change.manager!r}"
    if Owner(change.manager).is_deployer:
        return f"{owner} states {change.path}, which the manifest does not"
    return f"{owner} added {change.path}"


def _deviation_of_field(ref: ObjectRef, reason: str, change: FieldChange, message: str) -> Deviation:
    return Deviation(
        ref=ref, action=Action.KEPT, reason=reason, message=message, field=change.path, manager=change.manager
    )


def unconfirmed_removals(confirmed: Iterable[str], reports: Iterable[ClusterReport]) -> tuple[str, ...]:
    """Return a line for each confirmation (``Namespace/shop``) that was of no use, with the reason, by cluster."""
    seen = tuple(reports)
    where = "no chosen cluster" if all(map(_is_looked_at, seen)) else "no chosen cluster that was looked at"
    lines = []
    for word in dict.fromkeys(confirmed):
        about = [line for report in seen for line in _lines_about_refused_confirmation(word, report)]
        is_known = any(
            _is_confirmed_by(item.ref, word) for report in seen for item in _planned_objects_of_report(report)
        )
        lines += about if is_known else [f"--confirm {word}: {where} has such an object to delete"]
    return tuple(lines)


def unused_managers(managers: Iterable[str], reports: Iterable[ClusterReport]) -> tuple[str, ...]:
    """Return a line for each manager that was to be migrated from, and that has fields of no object.

    Where a cluster was not looked at, because it is idle, was refused or did not answer, nobody knows that.
    """
    named, seen = tuple(dict.fromkeys(managers)), tuple(reports)
    if not named or not all(map(_is_looked_at, seen)):
        return ()
    live = [item.live for report in seen for item in (report.plan.objects if report.plan else ()) if item.live]
    entries = [entry for each in live for entry in each["metadata"].get("managedFields") or ()]
    known = {str(entry.get("manager") or "") for entry in entries} - {""}
    used = {str(entry.get("manager")) for entry in entries if not entry.get("subresource")}
    return tuple(_line_about_unused_manager(name, known) for name in named if name not in used)


def _line_about_unused_manager(name: str, known: Collection[str]) -> str:
    if name in known:
        return f"--migrate-from {name}: it wrote through subresources alone, such as scale, and keeps what it wrote"
    hint = f"\n  hint: {hint_of_most_similar_words(name, known)}" if known else ""
    return f"--migrate-from {name}: no object of the chosen clusters has fields of such a manager{hint}"


def _is_looked_at(report: ClusterReport) -> bool:
    """Say whether a plan was made for a cluster by what is there; a refused one has no objects."""
    return report.plan is not None and not report.plan.refusal


def _planned_objects_of_report(report: ClusterReport) -> tuple[PlannedObject, ...]:
    return (*report.plan.objects, *report.plan.deletions) if report.plan else ()


def _lines_about_refused_confirmation(word: str, report: ClusterReport) -> Iterator[str]:
    wanted = frozenset(item.ref for item in (report.plan.objects if report.plan else ()))
    for ref in sorted(ref for ref in wanted if _is_confirmed_by(ref, word)):
        yield f"--confirm {word}: {report.cluster} must hold {ref}, so it is not deleted"
    for each in cluster_deviations(report):
        is_kept = each.action == Action.KEPT and not each.field and each.ref not in wanted
        if is_kept and _is_confirmed_by(each.ref, word):
            yield f"--confirm {word}: {report.cluster} keeps {each.ref} ({each.reason}): {each.message}"


def _is_confirmed_by(ref: ObjectRef, word: str) -> bool:
    return word in {confirmation_of(ref), f"{ref.kind}/{ref.name}"}
